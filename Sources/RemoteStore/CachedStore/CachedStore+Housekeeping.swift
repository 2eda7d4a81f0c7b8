internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Keeps the cache within its limits.
extension CachedStore {
    /// A use is recorded if the previous one was this number of seconds before.
    private static let precision: Double = 3600
    private static let sparedTime: Double = 30

    func didRelease(_ ids: [NSManagedObjectID]) {
        let keys = ids.compactMap { file.key(ofOuter: $0) }
        freshness.use(keys, at: file.clock.now)
    }

    /// Begins to remove objects beyond the limits of the options, unless that is already in progress.
    func keepLimits() {
        if cacheOptions.maximumObjects == nil, cacheOptions.maximumAge == nil, cacheOptions.maximumBytes == nil { return }
        refreshes.begin("limits") { [weak self] in
            guard let self else { return }
            do {
                if cacheOptions.maximumObjects == nil, cacheOptions.maximumAge == nil, let limit = cacheOptions.maximumBytes,
                    try file.usedBytes() <= limit
                {
                    return
                }
                _ = try removeUnused(sparing: Self.sparedTime)
            } catch { report(error) }
        }
    }

    /// Removes the objects that exceed the limits of the options, the least recently used first.
    ///
    /// Objects that a context has, and objects with pending changes, stay. If others refer to an object, its identity stays: its values are requested again
    /// when they are needed. A store calls this method when it is opened and while it grows. Call it on any thread.
    ///
    /// - Returns: The number of removed objects.
    /// - Throws: The errors of the file.
    @discardableResult public func removeUnused() throws -> Int { try removeUnused(sparing: nil) }

    /// - Parameter spared: The age in seconds below which objects stay: their fetch may not have returned them yet.
    private func removeUnused(sparing spared: Double?) throws -> Int {
        let now = file.clock.now
        let held = Set(persistentStoreCoordinator?.heldIDs(of: self).compactMap { file.key(ofOuter: $0) } ?? [])
        let used = freshness.takeUses()
        var candidates: [(key: CacheKey, time: Double)] = []
        var total = 0
        for entity in file.entities where entity.inner.superentity == nil {
            let there = PredicateTree.compare(.keyPath([file.names.state]), .notEqual, .constant(.int64(CacheState.stub.rawValue)))
            guard case .rows(let rows) = try file.read(StoreQuery(entity.inner).with(predicate: NSPredicate(tree: there))) else { continue }
            total += rows.count
            for row in rows {
                let key = file.key(of: row)
                guard key.entity.state(of: row) == .clean, !held.contains(key) else { continue }
                if let spared, let came = freshness.time(of: key), isFresh(came, spared) { continue }
                let time = max(used[key] ?? -.infinity, key.entity.lastUsed(row) ?? -.infinity, key.entity.fetchedAt(row) ?? -.infinity)
                candidates.append((key, time))
            }
        }
        candidates.sort { $0.time < $1.time }
        var gone: Set<CacheKey> = []
        if let age = cacheOptions.maximumAge { for (key, time) in candidates where now - time > age { gone.insert(key) } }
        if let limit = cacheOptions.maximumObjects {
            for (key, _) in candidates where total - gone.count > limit { gone.insert(key) }
        }
        try addExcess(candidates.map(\.key), to: &gone)
        try file.write { transaction in
            try evict(gone, in: transaction)
            for (key, time) in used where !gone.contains(key) {
                guard let row = try transaction.row(key), time - (key.entity.lastUsed(row) ?? -.infinity) > Self.precision else { continue }
                try transaction.edit(key)?.setLastUsed(time)
            }
        }
        if !gone.isEmpty { try file.giveBackSpace() }
        return gone.count
    }

    /// Adds the objects that must be removed to keep the file within its size limit.
    ///
    /// - Parameter candidates: The objects that may be removed, in the order of their removal.
    private func addExcess(_ candidates: [CacheKey], to gone: inout Set<CacheKey>) throws {
        guard let limit = cacheOptions.maximumBytes else { return }
        let used = try file.usedBytes()
        if used <= limit { return }
        var sizes: [ObjectIdentifier: [Int64: Int64]] = [:]
        for entity in file.allEntities where entity.inner.superentity == nil { sizes[entity.root] = try file.sizes(of: entity) }
        // Indexes and partly filled pages are attributed to the rows in proportion.
        let content = sizes.values.reduce(0) { $0 + $1.values.reduce(0, +) }
        var excess = Double(used - limit) * Double(content) / Double(max(used, 1))
        for key in gone { excess -= Double(sizes[key.entity.root]?[key.number] ?? 0) }
        for key in candidates where excess > 0 && !gone.contains(key) {
            gone.insert(key)
            excess -= Double(sizes[key.entity.root]?[key.number] ?? 0)
        }
    }

    /// Evicts objects that have no pending changes.
    ///
    /// - Parameter keepsQueries: Whether no stored query contains them.
    func evict(_ keys: Set<CacheKey>, keepsQueries: Bool = false, in transaction: CacheTransaction) throws {
        if keys.isEmpty { return }
        let referenced = try referenced(keys)
        for row in try transaction.rows(Array(keys)) {
            let key = file.key(of: row)
            // The object has a pending change now.
            guard key.entity.state(of: row) == .clean else { continue }
            // The lists that contain it are no longer complete.
            for relationship in key.entity.inner.frozenParts.relationships where !relationship.isToMany {
                guard let inverse = relationship.storedInverse, inverse.isToMany, let owner = row.relatedIDs(relationship).first,
                    let edit = try transaction.edit(file.key(of: owner))
                else { continue }
                var knowledge = edit.knowledge
                if knowledge.lists.removeValue(forKey: inverse.name) != nil { edit.setKnowledge(knowledge) }
            }
            if referenced.contains(key) { try transaction.edit(key)?.makeStub() } else { try transaction.delete(key) }
        }
        if keepsQueries { return }
        let roots = Set(keys.map(\.entity.root))
        try coverages.remove(
            coverages.all.filter { coverage in file.entity(named: coverage.entity).map { roots.contains($0.root) } ?? true },
            in: transaction)
    }

    /// Returns the rows that others refer to.
    private func referenced(_ keys: Set<CacheKey>) throws -> Set<CacheKey> {
        var found: Set<CacheKey> = []
        let byRoot = Dictionary(grouping: keys) { $0.entity.root }
        for owner in file.entities {
            for case let relationship as NSRelationshipDescription in owner.inner.declaredProperties {
                guard let destination = relationship.destinationEntity, let wanted = byRoot[ObjectIdentifier(destination.top)] else {
                    continue
                }
                if relationship.isToMany {
                    guard let inverse = relationship.storedInverse, inverse.isToMany else { continue }
                    let own = wanted.filter { $0.entity.inner.frozenParts.byName[inverse.name] === inverse }
                    for (key, owners) in try file.related(inverse, of: own) where !owners.isEmpty { found.insert(key) }
                } else {
                    let ids = wanted.map { PropertyValue.object(ObjectReference(file.innerID($0))) }
                    for row in try file.rows(of: owner, where: relationship.name, isOneOf: ids) {
                        for id in row.relatedIDs(relationship) { found.insert(file.key(of: id)) }
                    }
                }
            }
        }
        return found.intersection(keys)
    }

    /// Removes everything from the cache, including pending changes, for example when a user signs out. Contexts are notified that the objects are gone.
    ///
    /// Call it on any thread. Answers to reads in flight may be stored afterwards.
    ///
    /// - Throws: The errors of the file; nothing is removed then.
    public func wipe() throws {
        refreshes.cancelAll()
        let before = NSPersistentStoreCoordinator.cacheTime
        let changed = try file.write { transaction in
            for entity in file.allEntities where entity.inner.superentity == nil {
                guard case .rows(let rows) = try file.read(StoreQuery(entity.inner)) else { continue }
                for row in rows { try transaction.delete(file.key(of: row)) }
            }
            try coverages.remove(coverages.all, in: transaction)
            return transaction.changedKeys
        }
        freshness.forgetAll()
        try merge(changed, queryTime: before)
    }
}
