internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The source of faults' values: the file or the backend.
extension CachedStore {
    /// The time for which an object that the backend has confirmed is not requested again by a fault alone.
    private static let quietTime: Double = 30

    /// The request that a fault needs.
    private enum Need { case nothing, refresh, answer }

    private func need(of row: Row, _ key: CacheKey, _ entity: CacheEntity, for caller: StoreCaller) -> Need {
        guard entity.resourceText(of: row) != nil else { return .nothing }
        let policy = policy(of: entity.outer ?? entity.inner)
        let isStub = entity.state(of: row) == .stub
        if policy == .cacheOnly { return .nothing }
        if isStub || freshness.isWanted(key) { return .answer }
        let time = max(entity.fetchedAt(row) ?? -.infinity, freshness.time(of: key) ?? -.infinity)
        if caller.stalenessInterval >= 0, !isFresh(time, caller.stalenessInterval) { return .answer }
        switch policy {
        case .networkOnly: return .answer
        case .cacheFirst(let age): return isFresh(time, age) ? .nothing : .answer
        case .cachedThenFresh: return isFresh(time, Self.quietTime) ? .nothing : .refresh
        case .cacheOnly, .immutable, .appendOnly: return .nothing
        }
    }

    /// Returns rows from the file if the policy allows it, and otherwise from the backend.
    func fetchRows(for ids: [NSManagedObjectID], for caller: StoreCaller) async throws -> [Row] {
        let keys = ids.compactMap { file.key(ofOuter: $0) }
        let known = try file.rows(keys)
        var asked: [(key: CacheKey, id: NSManagedObjectID, lacksValues: Bool)] = []
        var refreshed: [NSManagedObjectID] = []
        for row in known {
            let key = file.key(of: row)
            let entity = key.entity
            switch need(of: row, key, entity, for: caller) {
            case .nothing: continue
            case .refresh: if let id = remoteID(row, entity) { refreshed.append(id) }
            case .answer:
                guard let id = remoteID(row, entity) else { continue }
                asked.append((key, id, entity.state(of: row) == .stub))
            }
        }
        if !refreshed.isEmpty {
            let ids = refreshed
            refreshes.begin("faults \(ids.map { $0.uriRepresentation().path }.sorted().joined(separator: " "))") { [weak self] in
                guard let self else { return }
                do { try await readFromBackend(ids, for: caller) } catch is CancellationError {
                } catch { report(error) }
            }
        }
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        if !asked.isEmpty {
            do { try await readFromBackend(asked.map(\.id), for: caller) } catch {
                let unread = error as? UnreadObjects
                if unread == nil { try rethrowUnlessPassing(error) }
                report(unread?.failures.values.first?.error ?? error)
                // The other objects are displayed as the file has them. An object without values cannot be answered.
                for one in asked where one.lacksValues {
                    let failure = try unread.map { $0.failures[one.id] } ?? RemoteReader.failure(error)
                    if let failure { failures[one.key.entity.outerID(one.key.number, token)] = failure }
                }
            }
            freshness.unwant(asked.map(\.key))
        }
        let rows = try shownRows(asked.isEmpty ? known : file.rows(keys))
        if !failures.isEmpty { throw UnreadObjects(failures, rows: rows.filter { failures[$0.knownObjectID] == nil }) }
        return rows
    }

    private func shownRows(_ rows: [Row]) throws -> [Row] {
        Array(file.outer(rows.lazy.filter { [file] in file!.entity(inner: $0.knownObjectID.owningEntity).state(of: $0).isShown }, token))
    }

    /// Reads objects by their identifiers, and imports them; objects that no longer exist are removed.
    ///
    /// - Throws: `UnreadObjects` for the objects that cannot be read, after the others were imported.
    func readFromBackend(_ ids: [NSManagedObjectID], for caller: StoreCaller) async throws {
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        try await ask {
            let (rows, unread) = try await reader.readAvailable(ids, isFresh: true, for: caller)
            failures = unread
            return reader.hasReferencesToKinds ? try await reader.knowingKinds(rows, for: caller) : rows
        } filing: { rows, askedAt in
            try take(rows, askedAt: askedAt)
            let found = Set(rows.map(\.knownObjectID))
            try remove(ids.filter { !found.contains($0) && failures[$0] == nil }.compactMap(key), askedAt: askedAt)
        }
        if !failures.isEmpty { throw UnreadObjects(failures) }
    }

    /// Returns the key of an object of the backend; nil if the file does not have it.
    func key(of id: NSManagedObjectID) throws -> CacheKey? {
        guard let resource = reader.decoding.resourceID(id) else { return nil }
        return try file.keys(of: [resource], in: file.entity(id.owningEntity))[resource]
    }

    /// Returns rows, with properties that were unknown.
    func fetchValues(
        of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [Row] {
        let keys = ids.compactMap { file.key(ofOuter: $0) }
        let names = Set(properties.map(\.name))
        let missing = try file.rows(keys).filter { row in
            let entity = file.entity(inner: row.knownObjectID.owningEntity)
            return policy(of: entity.outer ?? entity.inner) != .cacheOnly
                && (entity.state(of: row) == .stub || !entity.knowledge(of: row).unknown.isDisjoint(with: names))
        }
        var remote: [NSManagedObjectID: CacheKey] = [:]
        for row in missing {
            let key = file.key(of: row)
            if let id = remoteID(row, key.entity) { remote[id] = key }
        }
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        if !remote.isEmpty {
            do {
                try await ask {
                    failures = [:]
                    do { return try await reader.values(of: properties, for: Array(remote.keys), for: caller) } catch let unread
                        as UnreadObjects
                    {
                        failures = unread.failures
                        return unread.rows
                    }
                } filing: {
                    try take($0, askedAt: $1)
                }
            } catch {
                let failure = try RemoteReader.failure(error)
                for id in remote.keys { failures[id] = failure }
            }
        }
        let rows = try shownRows(file.rows(keys))
        if failures.isEmpty { return rows }
        if let first = failures.values.first(where: { !$0.isLogged }) { report(first.error) }
        let outer = Dictionary(failures.compactMap { id, failure in remote[id].map { ($0.entity.outerID($0.number, token), failure) } }) {
            $1
        }
        throw UnreadObjects(outer, rows: rows.filter { outer[$0.knownObjectID] == nil })
    }

    // MARK: Relationships

    /// Returns the destinations of a relationship.
    func fetchRelated(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        let keys = ids.compactMap { file.key(ofOuter: $0) }
        var owners: [NSManagedObjectID: CacheKey] = [:]
        var refreshed: [NSManagedObjectID: CacheKey] = [:]
        var unknown: Set<NSManagedObjectID> = []
        for row in try file.rows(keys) {
            let key = file.key(of: row)
            guard let remote = remoteID(row, key.entity) else { continue }
            switch try need(of: relationship, row, key, for: caller) {
            case (.nothing, _): continue
            case (.refresh, _): refreshed[remote] = key
            case (.answer, let isHeld):
                owners[remote] = key
                if !isHeld { unknown.insert(remote) }
            }
        }
        if !refreshed.isEmpty {
            let owners = refreshed
            let name = owners.keys.map { $0.uriRepresentation().path }.sorted().joined(separator: " ")
            refreshes.begin("list \(relationship.name) \(name)") { [weak self] in
                guard let self else { return }
                do { try await readList(relationship, owners, for: caller) } catch is CancellationError {
                } catch { report(error) }
            }
        }
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        if !owners.isEmpty {
            do { try await readList(relationship, owners, for: caller) } catch {
                let unread = error as? UnreadObjects
                if unread == nil { try rethrowUnlessPassing(error) }
                report(unread?.failures.values.first?.error ?? error)
                // The other lists are displayed as the file has them.
                for (id, key) in owners where unknown.contains(id) {
                    let failure = try unread.map { $0.failures[id] } ?? RemoteReader.failure(error)
                    if let failure { failures[key.entity.outerID(key.number, token)] = failure }
                }
            }
        }
        let related = try relatedInFile(relationship, keys)
        if !failures.isEmpty { throw UnreadObjects(failures, related: related.filter { failures[$0.key] == nil }) }
        return related
    }

    private func need(
        of relationship: NSRelationshipDescription, _ row: Row, _ key: CacheKey, for caller: StoreCaller
    ) throws -> (need: Need, isHeld: Bool) {
        let entity = key.entity
        let policy = policy(of: entity.outer ?? entity.inner)
        if policy == .cacheOnly || entity.state(of: row) == .pendingInsert { return (.nothing, true) }
        let knowledge = entity.knowledge(of: row)
        var time: Double?
        if relationship.isToMany {
            time = knowledge.lists[relationship.name]
            if let inverse = relationship.storedInverse, let destination = relationship.destinationEntity {
                let owner = PropertyValue.object(ObjectReference(entity.outerID(key.number, token)))
                let members = PredicateTree.compare(
                    .keyPath([inverse.name]), .equal, .constant(owner), modifier: inverse.isToMany ? .any : .direct)
                let query = try form(StoreQuery(destination).with(predicate: NSPredicate(tree: members)))
                if let coverage = coverages.whole(query), !inverse.isToMany || coverage.clauses == query.clauses {
                    time = max(time ?? -.infinity, coverage.fetchedAt)
                }
            }
        } else if entity.state(of: row) != .stub, !knowledge.unknown.contains(relationship.name) {
            return (.nothing, true)
        }
        guard var time else { return (.answer, false) }
        if let confirmed = freshness.time(of: relationship.name, key) { time = max(time, confirmed) }
        if freshness.isWanted(key) { return (.answer, true) }
        if caller.stalenessInterval >= 0, !isFresh(time, caller.stalenessInterval) { return (.answer, true) }
        switch policy {
        case .networkOnly: return (.answer, true)
        case .cacheFirst(let age): return (isFresh(time, age) ? .nothing : .answer, true)
        case .cachedThenFresh: return (isFresh(time, Self.quietTime) ? .nothing : .refresh, true)
        case .cacheOnly, .immutable, .appendOnly: return (.nothing, true)
        }
    }

    /// Requests the members of a relationship, and imports them.
    private func readList(
        _ relationship: NSRelationshipDescription, _ owners: [NSManagedObjectID: CacheKey], for caller: StoreCaller
    ) async throws {
        var unread: UnreadObjects?
        try await ask {
            unread = nil
            do { return try await reader.relatedReturned(by: relationship, from: Array(owners.keys), for: caller) } catch let error
                as UnreadObjects
            {
                unread = error
                return error.related
            }
        } filing: { found, askedAt in
            // The answer may contain new objects that were sent and not acknowledged, under identifiers that are not known yet: the file's own lists are kept.
            if let destination = relationship.destinationEntity,
                try withoutEchoes(Array(found.values.joined()), of: destination, pendingKeys(destination)) != nil
            {
                return
            }
            // The rows of the members may be embedded in the answer.
            var members = Array(Set(found.values.joined()))
            let rows = reader.parked.take(&members, since: nil).map(\.row)
            try take(rows, askedAt: askedAt) { transaction, _ in
                for (owner, list) in found {
                    guard let key = owners[owner] else { continue }
                    try self.importer.takeList(relationship, of: key, list, askedAt: askedAt, in: transaction)
                }
            }
            freshness.confirm(relationship.name, of: owners.filter { found[$0.key] != nil }.values, at: file.clock.now)
        }
        if let unread { throw unread }
    }

    /// Returns the members of a relationship in the file.
    func relatedInFile(
        _ relationship: NSRelationshipDescription, _ owners: [CacheKey]
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        guard let first = owners.first,
            let inner = first.entity.inner.frozenParts.byName[relationship.name] as? NSRelationshipDescription
        else { return [:] }
        return try shown(file.related(inner, of: owners))
    }

    /// Returns lists with the displayed members, by the IDs of contexts.
    ///
    /// A member may have been deleted since the lists were read: its row tells whether it exists.
    func shown(_ lists: [CacheKey: [CacheKey]]) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        let members = Array(Set(lists.values.joined()))
        let present = try Set(
            file.rows(members).filter { file.entity(inner: $0.knownObjectID.owningEntity).state(of: $0) != .pendingDelete }.map {
                file.key(of: $0)
            })
        var result: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for (owner, members) in lists {
            result[owner.entity.outerID(owner.number, token)] = members.filter { present.contains($0) }.map {
                $0.entity.outerID($0.number, token)
            }
        }
        return result
    }
}

extension CachedStore {
    func unreadValues(of id: NSManagedObjectID) -> [String: UnreadObjects.Failure] {
        remoteIDOfUnread(id).map { reader.unreadable.values(of: $0) } ?? [:]
    }

    /// Returns the backend's ID of an object, if some objects have values that could not be read.
    func remoteIDOfUnread(_ id: NSManagedObjectID) -> NSManagedObjectID? {
        // If the file cannot be read, no unreadable values are known: the read itself will report the error.
        if reader.unreadable.isEmpty { return nil }
        return try? remoteIDs([id])[id]
    }

    /// - Throws: The error of an unreadable value that an evaluation needs.
    func refuseUnread(_ names: Set<String>, of keys: [CacheKey]) throws {
        if names.isEmpty || reader.unreadable.isEmpty { return }
        for row in try file.rows(keys) {
            let entity = file.entity(inner: row.knownObjectID.owningEntity)
            let lacking = entity.knowledge(of: row).unknown.intersection(names)
            if !lacking.isEmpty, let id = remoteID(row, entity), let failure = reader.unreadable.failure(lacking, of: id) {
                throw failure.error
            }
        }
    }
}

extension CachedStore {
    func willReload(_ ids: [NSManagedObjectID]) {
        freshness.want(ids.compactMap { file.key(ofOuter: $0) })
        if !reader.unreadable.isEmpty { reader.unreadable.forget(ids.compactMap { remoteIDOfUnread($0) }) }
    }

    func isOlder(_ row: Row, than other: Row) -> Bool { row.version < other.version }
}
