internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Requests to the backend, and the import of its answers.
extension CachedStore {
    /// The result of an import.
    struct Filed {
        /// The keys of the requested rows, in order.
        var keys: [CacheKey] = []
        /// The rows of the query's entity that had pending changes at the time of the request, or of the answer.
        var pending: [CacheKey] = []
        /// The changes of the file.
        var changed = Changed()
        /// The changes that contexts were notified of.
        var outside = OutsideChanges()
    }
    /// The rows that a transaction has changed.
    typealias Changed = CacheTransaction.Changed

    /// Requests the results of a query, and imports them.
    ///
    /// - Parameter infersDeletions: Whether objects that a complete answer lacks are looked up.
    /// - Returns: The import; nil if the query cannot match any object of the backend.
    func fetchFromBackend(
        _ query: StoreQuery, infersDeletions: Bool = true, for caller: StoreCaller
    ) async throws -> Filed? {
        // Groups are computed from all objects.
        let query = query.combinesObjects ? query.with(fetchOffset: 0, fetchLimit: 0).sorted(by: []) : query
        guard let remote = try remoteQuery(query) else { return nil }
        let form = try form(query)
        var attempts = 0
        while true {
            attempts += 1
            let filed = try await ask(
                query, remote, form, infersDeletions: infersDeletions, isLast: attempts == Self.mostAttempts, for: caller)
            if let filed { return filed }
            reader.forgetEarlierAnswers()
        }
    }

    /// Requests the results of a query, and imports them.
    ///
    /// - Parameter isLast: Whether the answer is imported in any case, except for pending objects.
    /// - Returns: The import; nil if another process has settled changes meanwhile, which the answer may not contain.
    private func ask(
        _ query: StoreQuery, _ remote: StoreQuery, _ form: QueryForm, infersDeletions: Bool, isLast: Bool, for caller: StoreCaller
    ) async throws -> Filed? {
        let askedAt = file.order.begin()
        defer { file.order.end(askedAt) }
        let time = file.clock.now
        let mark = try PendingMark(self, keepsRows: isLast)
        let before = try pendingKeys(query.entity)
        guard case .rows(let list) = try await reader.fetch(remote, for: caller) else { return Filed() }
        let rows = Array(list)
        try await waitForIdentifiers(of: rows)
        let pending = try pendingKeys(query.entity)
        // Objects that were pending, or were saved since, may be acknowledged before the answer arrives, which is then older.
        if try mark.isOutdated(self), !isLast { return nil }
        var filed: Filed
        if let known = try withoutEchoes(rows.map(\.knownObjectID), of: query.entity, pending) {
            // The answer is imported in part: no conclusions are drawn from it.
            file.order.noteSkip()
            filed = try take(rows.filter { known.contains($0.knownObjectID) }, askedAt: askedAt)
        } else {
            filed = try await takeAll(rows, query, form, askedAt: askedAt, at: time, infersDeletions: infersDeletions, for: caller)
        }
        // Changes may also have been settled during the import.
        if !isLast, try mark.isOutdated(self) { return nil }
        filed.pending = before.isEmpty ? pending : Array(Set(before).union(pending))
        return filed
    }

    /// Imports the answer to a query, with the conclusions from it.
    ///
    /// - Parameter time: The time of the request, by the wall clock.
    private func takeAll(
        _ rows: [Row], _ query: StoreQuery, _ form: QueryForm, askedAt: UInt64, at time: Double, infersDeletions: Bool,
        for caller: StoreCaller
    ) async throws -> Filed {
        let isWhole = query.fetchOffset == 0 && (query.fetchLimit == 0 || rows.count < query.fetchLimit)
        guard let clauses = form.clauses, isWhole || query.fetchLimit > 0 && form.sorts?.isEmpty == false else {
            return try take(rows, askedAt: askedAt)
        }
        var coverage = Coverage(
            entity: query.entity.name ?? "", includesSubentities: query.includesSubentities, clauses: clauses,
            sorts: isWhole ? "" : form.sorts ?? "", offset: query.fetchOffset, members: nil, reachesEnd: true, fetchedAt: time)
        if !isWhole {
            return try take(rows, askedAt: askedAt) { transaction, keys in
                coverage.members = keys.map(\.number)
                coverage.reachesEnd = rows.count < query.fetchLimit
                try self.coverages.note(coverage, in: transaction)
            }
        }
        if !infersDeletions { return try take(rows, askedAt: askedAt) }
        var missing: [CacheKey] = []
        var filed = try take(rows, askedAt: askedAt) { transaction, keys in
            let all = try self.missing(query, KeySet(keys), adding: transaction.insertedCount, askedAt)
            missing = all.map(\.key)
            // The backend may have omitted more objects than are known here.
            if all.allSatisfy(\.isPending) { try self.coverages.note(coverage, in: transaction) }
        }
        if missing.isEmpty { return filed }
        let skips = file.order.skips
        try await lookFor(missing, form, for: caller)
        // An object that exists and still matches was omitted for some reason: the answer was not complete.
        missing = try self.missing(query, KeySet(filed.keys), askedAt).filter { !$0.isPending }.map(\.key)
        if missing.isEmpty || !file.keeps(.wholeAnswer) {
            try file.write { try self.coverages.note(coverage, in: $0) }
        } else {
            filed.keys += missing
            // No conclusions are drawn if an object may be too new for the answer.
            if file.order.skips != skips { return filed }
            try file.write { transaction in
                try self.coverages.remove(self.coverages.all.filter { $0.isSame(as: coverage) }, in: transaction)
            }
        }
        return filed
    }

    /// Returns the rows of the file that match a query, and that a complete answer lacks. An object with a pending change may match only because of the change.
    /// New objects are not included.
    ///
    /// - Parameter added: The number of found rows that are not in the file yet.
    private func missing(
        _ query: StoreQuery, _ found: KeySet, adding added: Int = 0, _ askedAt: UInt64
    ) throws -> [(key: CacheKey, isPending: Bool)] {
        let all = query.with(fetchOffset: 0, fetchLimit: 0).with(resultType: .managedObjectResultType).sorted(by: [])
        // Usually the counts are equal: either all rows were found, or all displayed rows.
        let any = StoreQuery(file.entity(query.entity).inner.top).with(resultType: .countResultType)
        if query.predicate == nil, case .count(let count) = try file.read(any), count == found.count - added { return [] }
        if query.predicate == nil, case .count(let count) = try file.read(innerQuery(all.with(resultType: .countResultType))) {
            // Found rows that are not displayed are not counted, and must not compensate for missing ones.
            let hidden = [CacheState.stub, .pendingDelete].map { PropertyValue.int64($0.rawValue) }
            let isHidden = try file.rows(of: file.entity(query.entity), where: file.names.state, isOneOf: hidden)
            if count == found.count - added - isHidden.filter({ found.contains(file.key(of: $0)) }).count { return [] }
        }
        guard case .rows(let rows) = try file.read(innerQuery(all)) else { return [] }
        return rows.compactMap { row in
            let key = file.key(of: row)
            let isPending = key.entity.state(of: row).isPending
            guard !found.contains(key), !isPending || key.entity.resourceText(of: row) != nil, !file.order.isNewer(key, than: askedAt)
            else {
                return nil
            }
            return (key, isPending)
        }
    }

    /// Requests rows by their identifiers that a complete answer lacks: those that no longer exist are deleted.
    ///
    /// If that request is impossible, rows that a query without a predicate lacks are deleted. For a query with a predicate, they may no longer match it, and
    /// the properties that the predicate reads become unknown.
    private func lookFor(_ missing: [CacheKey], _ form: QueryForm, for caller: StoreCaller) async throws {
        let askedAt = file.order.begin()
        defer { file.order.end(askedAt) }
        if !file.keeps(.wholeAnswer) { return try remove(missing, askedAt: askedAt) }
        let ids = try file.rows(missing).compactMap { remoteID($0, file.entity(inner: $0.knownObjectID.owningEntity)) }
        let found: [Row]
        var missing = missing
        do {
            // Unreadable objects count as existing.
            let answer = try await reader.readAvailable(ids, isFresh: true, for: caller)
            let unread = Set(try answer.failures.keys.compactMap(key))
            missing.removeAll(where: unread.contains)
            found = answer.rows
        } catch let error as NSError
            where error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreUnsupportedRequestTypeError
        {
            if form.clauses?.isEmpty == true { return try remove(missing, askedAt: askedAt) }
            return try forget(form.needs.properties, of: missing)
        }
        let keys = Set(try take(found, askedAt: askedAt).keys)
        try remove(missing.filter { !keys.contains($0) }, askedAt: askedAt)
    }

    /// Imports rows of the backend and embedded rows, and merges them into the contexts.
    ///
    /// - Parameters:
    ///   - also: A closure that stages further changes in the last transaction; it receives the keys of all rows.
    ///   - first: A closure that stages changes first, in the first transaction.
    @discardableResult
    func take(
        _ rows: [Row], askedAt: UInt64, tellsAll: Bool = false, also: (CacheTransaction, [CacheKey]) throws -> Void = { _, _ in },
        before first: (CacheTransaction) throws -> Void = { _ in }
    ) throws -> Filed {
        var filed = Filed()
        let along = alongside.take()
        var seen = KeySet()
        // The import is split, because a transaction's memory grows with its size.
        let size = 10_000
        var start = 0
        repeat {
            let part = Array(rows[start..<min(rows.count, start + size)])
            let isLast = start + size >= rows.count
            let following = max(0, rows.count - start - size)
            let before = NSPersistentStoreCoordinator.cacheTime
            let isFirst = start == 0
            let earlier = filed.keys
            let written = try file.write { transaction in
                if isFirst { try first(transaction) }
                let keys = try importer.take(part, askedAt: askedAt, following: following, in: transaction).compactMap { $0 }
                if isFirst { try importer.take(along.rows, askedAt: min(askedAt, along.askedAt), in: transaction) }
                if isLast { try also(transaction, earlier + keys) }
                let changed = transaction.changedKeys
                // A request that is made after the change is displayed must not be answered by an earlier one.
                if !changed.isEmpty { reader.runner.noteNews() }
                return (keys: keys, changed: changed)
            }
            for key in written.keys where seen.insert(key) { filed.keys.append(key) }
            filed.changed.add(written.changed)
            filed.outside.add(try merge(written.changed, queryTime: before, tellsAll: tellsAll))
            start += size
        } while start < rows.count
        freshness.confirm(filed.keys, at: file.clock.now)
        let doubtful = file.order.takeDoubtful()
        if !doubtful.isEmpty { readAgain(doubtful) }
        if !filed.changed.inserted.isEmpty { keepLimits() }
        return filed
    }

    /// Reads objects with crossing answers again, in the background.
    private func readAgain(_ keys: Set<CacheKey>) {
        freshness.want(keys)
        refreshes.begin("crossed \(keys.map { "\($0.entity.name)/\($0.number)" }.sorted().joined(separator: " "))") { [weak self] in
            guard let self else { return }
            do {
                let ids = try file.rows(keys.sorted { $0.number < $1.number }).compactMap {
                    self.remoteID($0, self.file.entity(inner: $0.knownObjectID.owningEntity))
                }
                if !ids.isEmpty { try await readFromBackend(ids, for: StoreCaller(stalenessInterval: 0)) }
                freshness.unwant(keys)
            } catch is CancellationError {
            } catch { report(error) }
        }
    }

    // MARK: Deletions

    /// Removes objects that the backend no longer has.
    func remove(_ keys: [CacheKey], askedAt: UInt64) throws {
        if keys.isEmpty { return }
        let before = NSPersistentStoreCoordinator.cacheTime
        let changed = try file.write { transaction in
            try remove(keys, askedAt: askedAt, in: transaction)
            return transaction.changedKeys
        }
        try merge(changed, queryTime: before)
    }

    /// - Parameter isTold: Whether the backend has reported the deletions. Otherwise an answer did not contain the objects, possibly from a lagging replica
    ///   that does not have recently saved objects yet.
    func remove(_ keys: [CacheKey], askedAt: UInt64, isTold: Bool = false, in transaction: CacheTransaction) throws {
        let uptime = file.order.uptime(of: askedAt)
        for row in try transaction.rows(keys) {
            let key = file.key(of: row)
            if file.order.isNewer(key, than: askedAt) {
                file.order.noteSkip()
                continue
            }
            // For a pending object, a mistaken deletion would create a second object.
            let mayBeNew =
                file.order.wasJustMade(key, uptime: uptime)
                || key.entity.state(of: row).isPending && file.order.mayBeNew(key, uptime: uptime)
            if !isTold, mayBeNew {
                file.order.noteSkip()
                continue
            }
            try end([key], askedAt: askedAt, isTold: isTold, in: transaction)
        }
    }

    /// Removes objects without checks: another object has their identifier, or nothing newer is known.
    func end(_ keys: [CacheKey], askedAt: UInt64, isTold: Bool, in transaction: CacheTransaction) throws {
        let uptime = file.clock.uptime
        for row in try transaction.rows(keys) {
            let key = file.key(of: row)
            let entity = file.entity(inner: row.knownObjectID.owningEntity)
            if let resource = entity.resource(of: row) {
                let version = entity.version(of: row)
                let order = file.order
                transaction.whenCommitted { order.noteGone(resource, key, version, at: askedAt, uptime: uptime) }
            }
            if entity.state(of: row).isPending {
                try folding?.receiveDeletion(askedAt: askedAt, key: key, in: transaction)
                continue
            }
            if try loosen(key, entity, in: transaction) {
                try transaction.delete(key)
            } else if let stub = try transaction.edit(key) {
                try stub.makeStub()
                // Another object may get its identifier: pending references to this object must not lead to it.
                if isTold { try transaction.setResource(nil, of: stub) }
            }
        }
    }

    /// Removes an object from the references to it.
    ///
    /// - Returns: Whether nothing refers to it any more; pending changes keep their references.
    private func loosen(_ key: CacheKey, _ entity: CacheEntity, in transaction: CacheTransaction) throws -> Bool {
        var isFree = true
        for owner in file.entities {
            for case let relationship as NSRelationshipDescription in owner.inner.declaredProperties
            where !relationship.isToMany && relationship.destinationEntity.map({ ObjectIdentifier($0.top) }) == key.entity.root {
                let value = PropertyValue.object(ObjectReference(entity.innerID(key.number, file.token)))
                for row in try file.rows(of: owner, where: relationship.name, isOneOf: [value]) {
                    guard let current = try transaction.row(file.key(of: row)) else { continue }
                    let own = file.entity(inner: current.knownObjectID.owningEntity)
                    guard current.relatedIDs(relationship).first.map({ file.key(of: $0) }) == key else { continue }
                    if own.state(of: current).isPending {
                        isFree = false
                    } else {
                        try transaction.edit(file.key(of: current))?.setOne(nil, relationship.name)
                    }
                }
            }
        }
        return isFree
    }

    /// Makes properties of objects unknown.
    private func forget(_ names: Set<String>, of keys: [CacheKey]) throws {
        try file.write { transaction in
            for key in keys {
                guard let row = try transaction.edit(key), !row.state.isPending else { continue }
                var knowledge = row.knowledge
                let own = names.filter { row.entity.inner.frozenParts.byName[$0] != nil }
                knowledge.setUnknown(knowledge.unknown.union(own))
                for name in own {
                    if row.entity.inner.frozenParts.byName[name] is NSAttributeDescription {
                        try row.set(.null, name)
                    } else {
                        try row.setOne(nil, name)
                    }
                }
                row.setKnowledge(knowledge)
            }
        }
    }

    // MARK: Contexts

    /// Notifies the contexts of changes of the file.
    ///
    /// - Parameter tellsAll: Whether the result names new objects even if no context merges them.
    @discardableResult func merge(_ changed: Changed, queryTime: UInt64, tellsAll: Bool = false) throws -> OutsideChanges {
        guard let coordinator = persistentStoreCoordinator, !changed.isEmpty else { return OutsideChanges() }
        let held = Set(coordinator.heldIDs(of: self).compactMap { file.key(ofOuter: $0) })
        var rows: [Row] = []
        var deleted = changed.deleted.filter(held.contains).map { $0.entity.outerID($0.number, token) }
        // New objects matter to contexts that merge changes.
        let news = coordinator.hasMergingContexts || tellsAll ? changed.inserted + changed.updated : changed.updated.filter(held.contains)
        for row in try file.rows(news) {
            let key = file.key(of: row)
            switch key.entity.state(of: row) {
            case .stub: continue
            case .pendingDelete: deleted.append(key.entity.outerID(key.number, token))
            default: rows.append(file.outer(row, token))
            }
        }
        if rows.isEmpty, deleted.isEmpty {
            coordinator.postRemoteChange(of: self)
            return OutsideChanges()
        }
        return coordinator.takeOutsideChanges(rows, deleted: deleted, of: self, queryTime: queryTime) { $0.version == $1.version }
    }
}
