internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The source of a fetch's answer: the file or the backend.
extension CachedStore {
    /// Answers a fetch according to the policy of the request or of its entity.
    func fetch(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer {
        if let answer = try answerAtOnce(query, for: caller) { return answer }
        let policy = policy(of: query)
        if policy == .networkOnly { return try await answerFromBackend(query, for: caller) }
        if case .appendOnly(let key) = policy, let held = try held(query) {
            do { try await fetchNewer(query, by: key, for: caller) } catch {
                try rethrowUnlessPassing(error)
                report(error)
            }
            return try answer(query, held) ?? answerFromFile(query)
        }
        do { return try await answerFromBackend(query, for: caller) } catch {
            try rethrowUnlessPassing(error)
            if let held = try held(query), let answer = try answer(query, held) {
                report(error)
                return answer
            }
            // A partial answer is better than none, but an empty one is not an answer.
            let answer = try answerFromFile(query)
            guard answer.hasResults else { throw error }
            report(error)
            return answer
        }
    }

    private func policy(of query: StoreQuery) -> CachePolicy { query.options[CachePolicyOption.self] ?? policy(of: query.entity) }

    /// Answers from the file if the policy allows it; nil if the backend must be awaited.
    func answerAtOnce(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer? {
        if try isAboutState(query) { return try answerFromFile(query) }
        if query.isFollowing { return try held(query).flatMap { try answer(query, $0) } ?? answerFromFile(query) }
        let policy = policy(of: query)
        switch policy {
        case .networkOnly, .appendOnly: return nil
        case .cacheOnly: return try answerFromFile(query)
        case .cacheFirst(let age):
            guard let held = try held(query), isFresh(held.coverage.fetchedAt, age) else { return nil }
            return try answer(query, held)
        case .immutable:
            guard let held = try held(query) else { return nil }
            return try answer(query, held)
        case .cachedThenFresh:
            guard let held = try held(query), let answer = try answer(query, held) else { return nil }
            refresh(query, held.form, for: caller)
            return answer
        }
    }

    /// Whether a time is at most a number of seconds ago, by the wall clock, which may have been set meanwhile.
    func isFresh(_ time: Double, _ age: Double) -> Bool {
        let passed = file.clock.now - time
        return passed >= 0 && passed <= age
    }

    /// Rethrows errors that a retry cannot resolve.
    func rethrowUnlessPassing(_ error: any Error) throws {
        if error is CancellationError || RemoteStoreError.isUnreadable(error) { throw error }
        // A backend that refuses a request has been reached: the results of earlier fetches are not its answer.
        if Prospect(error).mayPass == false { throw error }
        let error = error as NSError
        guard error.domain == NSCocoaErrorDomain else { return }
        switch error.code {
        case NSPersistentStoreUnsupportedRequestTypeError, NSCoreDataError, NSPersistentStoreOpenError:
            throw error
        default: return
        }
    }

    /// Repeats the request in the background; contexts that have the objects are updated.
    private func refresh(_ query: StoreQuery, _ form: QueryForm, for caller: StoreCaller) {
        refreshes.begin(form.text) { [weak self] in
            guard let self else { return }
            do { _ = try await fetchFromBackend(query, for: caller) } catch is CancellationError {
            } catch { report(error) }
        }
    }

    // MARK: The file

    /// A stored query with the results of another query.
    struct Held {
        let coverage: Coverage
        let form: QueryForm
    }

    /// Returns the form of a query.
    func form(_ query: StoreQuery) throws -> QueryForm {
        try QueryForm(query) { [file, token] id in
            guard id.token === token, let key = file!.key(ofOuter: id) else { return id.uriRepresentation().absoluteString }
            return "\(file!.entity(inner: key.entity.inner.top).name)/\(key.number)"
        }
    }

    /// Returns a stored query with the results of a query, if the file can evaluate it; nil if the backend must be asked.
    func held(_ query: StoreQuery) throws -> Held? {
        let form = try form(query)
        guard form.clauses != nil, let coverage = coverages.whole(form) ?? coverages.window(form),
            try canEvaluate(form.needs, file.entity(query.entity))
        else { return nil }
        return Held(coverage: coverage, form: form)
    }

    /// Whether the file knows everything that an evaluation reads.
    private func canEvaluate(_ needs: Needs, _ entity: CacheEntity) throws -> Bool {
        if !needs.properties.isEmpty, try file.gaps.lacks(needs.properties, entity, file) { return false }
        for (name, inner) in needs.relationships {
            guard
                let relationship = entity.outer?.allKinds.lazy.compactMap({ $0.frozenParts.byName[name] as? NSRelationshipDescription })
                    .first,
                let destination = relationship.destinationEntity
            else { return false }
            let target = file.entity(destination)
            if relationship.isToMany {
                // All members must be known: a complete query of their entity must be stored.
                guard let inverse = relationship.storedInverse, !inverse.isToMany,
                    coverages.whole(try form(StoreQuery(destination))) != nil
                else { return false }
            } else if try file.gaps.hasStubs(target, file) {
                return false
            }
            if try !canEvaluate(inner, target) { return false }
        }
        return true
    }

    /// Answers from the file; nil if a window has lost rows, so that it no longer has enough.
    func answer(_ query: StoreQuery, _ held: Held) throws -> StoreAnswer? {
        guard let members = held.coverage.members else { return try answerFromFile(query) }
        let entity = file.entity(query.entity)
        let keys = members.map { CacheKey(entity: entity, number: $0) }
        let pending = try pendingKeys(query.entity)
        let moved = query.with(fetchOffset: query.fetchOffset - held.coverage.offset, fetchLimit: query.fetchLimit)
        if query.combinesObjects { return nil }
        let answer = try file.read(innerQuery(moved, among: among(keys + pending)))
        if !held.coverage.reachesEnd, query.fetchLimit > 0, answer.resultCount < query.fetchLimit { return nil }
        return outer(answer)
    }

    /// Answers from the file, without the backend.
    func answerFromFile(_ query: StoreQuery) throws -> StoreAnswer { try outer(file.read(innerQuery(query))) }

    /// Returns the rows with pending changes.
    ///
    /// - Parameter entity: Their entity; nil for all.
    func pendingKeys(_ entity: NSEntityDescription? = nil) throws -> [CacheKey] {
        guard let records = file.entity(named: file.names.pending) else { return [] }
        var query = StoreQuery(records.inner)
        if let entity {
            let root = file.entity(inner: file.entity(entity).inner.top)
            query = query.with(
                predicate: NSPredicate(tree: .compare(.keyPath(["objectEntity"]), .equal, .constant(.string(root.name)))))
        }
        let parts = records.inner.frozenParts.byName
        guard case .rows(let rows) = try file.read(query), !rows.isEmpty, let name = parts["objectEntity"] as? NSAttributeDescription,
            let key = parts["objectKey"] as? NSAttributeDescription
        else { return [] }
        return rows.compactMap { row in
            guard case .int64(let number) = row.value(of: key), case .string(let root) = row.value(of: name),
                let entity = file.entity(named: root)
            else { return nil }
            return CacheKey(entity: entity, number: number)
        }
    }

    /// Returns the backend's IDs, except those that may belong to new objects of this cache, which were sent and not acknowledged yet.
    ///
    /// Call it once an answer has arrived. Objects that the file does not have are indistinguishable from such new objects; a later answer contains them.
    ///
    /// - Parameter pending: The rows of the entity with pending changes.
    func withoutEchoes(
        _ ids: [NSManagedObjectID], of entity: NSEntityDescription, _ pending: [CacheKey]
    ) throws -> Set<NSManagedObjectID>? {
        guard !pending.isEmpty, try file.rows(pending).contains(where: { file.key(of: $0).entity.resourceText(of: $0) == nil }) else {
            return nil
        }
        if try !outbox.isInserting(entity) { return nil }
        let resources = Dictionary(
            ids.compactMap { id in reader.decoding.resourceID(id).map { ($0, id) } }, uniquingKeysWith: { first, _ in first })
        return Set(try file.keys(of: Array(resources.keys), in: file.entity(entity)).keys.compactMap { resources[$0] })
    }

    // MARK: The backend

    /// Asks the backend, and answers with its results and the pending changes.
    private func answerFromBackend(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer {
        if query.resultType == .countResultType, policy(of: query) == .networkOnly,
            let count = try await countByBackend(query, for: caller)
        {
            return .count(count)
        }
        let pending = query.fetchOffset > 0 && !query.combinesObjects ? try pendingKeys(query.entity).count : 0
        if pending > 0 {
            // The backend would skip other objects than the first displayed ones: the offset is applied here.
            let limit = query.fetchLimit > 0 ? query.fetchOffset + query.fetchLimit + pending : 0
            guard let filed = try await fetchFromBackend(query.with(fetchOffset: 0, fetchLimit: limit), for: caller) else {
                return try answerFromFile(query)
            }
            return try outer(file.read(innerQuery(query, among: among(filed.keys + filed.pending))))
        }
        guard let filed = try await fetchFromBackend(query, for: caller) else { return try answerFromFile(query) }
        return try answer(query, filed)
    }

    /// Answers with the backend's latest results and the pending changes.
    private func answer(_ query: StoreQuery, _ filed: Filed) throws -> StoreAnswer {
        let pending = filed.pending
        if query.resultType == .dictionaryResultType || !pending.isEmpty { try refuseUnread(form(query).needs.properties, of: filed.keys) }
        if query.resultType != .dictionaryResultType, pending.isEmpty {
            switch query.resultType {
            case .countResultType: return .count(filed.keys.count)
            case .managedObjectIDResultType: return .ids(filed.keys.map { $0.entity.outerID($0.number, token) })
            default: return .rows(outer(try file.rows(filed.keys)))
            }
        }
        if query.combinesObjects { return try outer(file.read(innerQuery(query, among: among(filed.keys + pending)))) }
        // The backend has already applied the offset.
        let rest = query.with(fetchOffset: 0, fetchLimit: query.fetchLimit)
        return try outer(file.read(innerQuery(rest, among: among(query.fetchOffset > 0 ? filed.keys : filed.keys + pending))))
    }

    /// Requests objects with a greater value of an attribute than any in the file.
    private func fetchNewer(_ query: StoreQuery, by key: String, for caller: StoreCaller) async throws {
        guard let attribute = query.entity.attributesByName[key] else {
            throw RemoteStoreError.unknownProperty(key, of: query.entity.name ?? "?")
        }
        let all = query.with(fetchOffset: 0, fetchLimit: 0).with(resultType: .managedObjectResultType)
        let last = try innerQuery(all.sorted(by: [NSSortDescriptor(key: key, ascending: false)])).with(fetchOffset: 0, fetchLimit: 1)
        var newer = all
        if case .rows(let rows) = try file.read(last), let row = rows.first.map({ file.outer($0, token) }) {
            let value = row.value(of: attribute)
            if !value.isNull {
                let later = PredicateTree.compare(.keyPath([key]), .greaterThan, .constant(value))
                newer = all.with(predicate: NSPredicate(tree: .and([try all.predicateTree() ?? .true, later])))
            }
        }
        _ = try await fetchFromBackend(newer, infersDeletions: false, for: caller)
    }
}

extension StoreQuery {
    /// Whether a result may be computed from several objects.
    var combinesObjects: Bool { resultType == .dictionaryResultType && (isGrouped || returnsDistinctResults) }
}

extension StoreAnswer {
    /// The number of results.
    var resultCount: Int {
        switch self {
        case .rows(let rows): rows.count
        case .ids(let ids): ids.count
        case .dictionaries(let dictionaries): dictionaries.elements.count
        case .count(let count): count
        case .objects: 0
        }
    }

    var hasResults: Bool { resultCount > 0 }
}
