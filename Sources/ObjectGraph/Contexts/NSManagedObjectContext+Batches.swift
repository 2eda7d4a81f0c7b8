internal import Foundation

extension NSManagedObjectContext {
    // MARK: Rows

    /// Loads the rows of all objects in the batch of an object whose fault is about to fire, unless they were requested before.
    ///
    /// - Throws: `CancellationError`; the next fault tries again. Any other error of the store is reported when the object is requested on its own.
    func prepareRow(of object: NSManagedObject) throws {
        // A child has no rows of its own; its parent loads them.
        guard parent == nil, let batch = faultBatches[object.batchNumber], !batch.isFired, let part = batch.part(of: object)
        else {
            return
        }
        try fire(part, of: batch, eagerly: false)
    }

    /// Loads the rows of a part.
    ///
    /// - Parameter eagerly: Whether a store that returns one object at a time is queried for each.
    private func fire(_ part: Int, of batch: FaultBatch, eagerly: Bool) throws {
        guard batch.startFiring(part) else { return }
        let faults = batch.objects(ofPart: part, in: registry).filter { $0.isFault && faultErrors.error(of: $0.objectID) == nil }
        guard faults.count > 1 || eagerly else { return }
        do {
            if try !source.prepareRows(for: faults.map(\.objectID), in: self), eagerly {
                for object in faults { try readUnlessNoted(object) { _ = try source.row(for: object.objectID, in: self) } }
            }
        } catch {
            // The error does not name an object: each object is requested on its own, and has its own error. A store that violates its contract may
            // do so there without an error.
            if !eagerly, !(error is CancellationError), !Self.isBreach(error) { return }
            batch.stopFiring(part)
            throw error
        }
    }

    /// Returns whether an error means that a store violates its contract, or that its answer cannot be used.
    private static func isBreach(_ error: any Error) -> Bool {
        let error = error as NSError
        return error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreOperationError
    }

    /// Reads an object among others: its own error is kept until it is read.
    private func readUnlessNoted(_ object: NSManagedObject, _ read: () throws -> Void) throws {
        do { try read() } catch {
            if faultErrors.error(of: object.objectID) == nil { throw error }
        }
    }

    // MARK: Relationships

    /// Loads a relationship of all objects in the batch of an object, unless it was requested before.
    ///
    /// The destination objects form a batch in turn.
    ///
    /// - Throws: `CancellationError`; the next read tries again.
    func prepareRelationship(_ relationship: NSRelationshipDescription, of object: NSManagedObject) throws {
        if let parentSource {
            if persistentStoreCoordinator?.batchesFaults ?? false {
                try parentSource.prepareRelationship(relationship, of: object.objectID)
            }
            return
        }
        guard let batch = faultBatches[object.batchNumber], batch.count > 1, let part = batch.part(of: object) else { return }
        _ = try loadDestinations(of: relationship.name, fromPart: part, of: batch, eagerly: false)
    }

    /// Returns the destination objects of a relationship of the objects of a part.
    private func loadDestinations(of name: String, fromPart part: Int, of batch: FaultBatch, eagerly: Bool) throws -> [NSManagedObject] {
        let step = FaultBatch.Step(relationship: name, part: part)
        if let known = batch.objects(of: step) { return known }
        // Set first, so that the reads below do not request it again.
        batch.setObjects([], of: step)
        do {
            let owners = batch.objects(ofPart: part, in: registry).filter { !$0.isInserted }
            var related: [NSManagedObjectID] = []
            var found: [NSManagedObject] = []
            for (relationship, group) in grouped(owners, by: name) where group.count > 1 || eagerly {
                if let numbers = try relatedNumbers(of: relationship, from: group) {
                    found += materialize(numbers)
                    continue
                }
                if !relationship.isToMany { try fire(part, of: batch, eagerly: eagerly) }
                related += try relatedIDs(of: relationship, from: group, eagerly: eagerly)
            }
            if related.isEmpty, found.isEmpty { return [] }
            // IDs with equal keys count as one here; a batch may omit objects.
            var seen: Set<Int64> = []
            let objects = found.appending(contentsOf: objects(with: related.filter { seen.insert($0.key).inserted }))
            faultBatches.add(objects, partSize: batch.partSize, replacing: eagerly, in: registry)
            batch.setObjects(objects, of: step)
            return objects
        } catch {
            // As for rows: otherwise each object is requested on its own.
            if !eagerly, !(error is CancellationError), !Self.isBreach(error) { return [] }
            batch.setObjects(nil, of: step)
            throw error
        }
    }

    /// Returns the row numbers that a to-many relationship refers to from saved objects of one table; nil if IDs are needed.
    private func relatedNumbers(of relationship: NSRelationshipDescription, from owners: [NSManagedObject]) throws -> RelatedNumbers? {
        guard relationship.isToMany, let origin = owners.first?.origin else { return nil }
        var numbers: [Int64] = []
        numbers.reserveCapacity(owners.count)
        owners.forEachUncounted { if $0.origin === origin { numbers.append($0.number) } }
        guard numbers.count == owners.count else { return nil }
        return try source.prepareRelatedNumbers(of: relationship, for: numbers, of: origin, in: self)
    }

    /// Groups the objects that have a relationship of a name, by the relationship.
    private func grouped(_ owners: [NSManagedObject], by name: String) -> [(NSRelationshipDescription, [NSManagedObject])] {
        var groups: [(NSRelationshipDescription, [NSManagedObject])] = []
        for owner in owners {
            guard let relationship = owner.relationship(named: name), !relationship.isTransient else { continue }
            if let index = groups.firstIndex(where: { $0.0 === relationship }) {
                groups[index].1.append(owner)
            } else {
                groups.append((relationship, [owner]))
            }
        }
        return groups
    }

    /// Returns the IDs of the destination objects, known ones first, then those from the store.
    private func relatedIDs(
        of relationship: NSRelationshipDescription, from owners: [NSManagedObject], eagerly: Bool
    ) throws -> [NSManagedObjectID] {
        var ids: [NSManagedObjectID] = []
        var unknown: [NSManagedObjectID] = []
        for owner in owners {
            if let known = owner.knownIDs(of: relationship) { ids += known } else { unknown.append(owner.objectID) }
        }
        guard !unknown.isEmpty else { return ids }
        let isPrepared = try source.prepareRelated(of: relationship, for: unknown, in: self)
        for id in unknown {
            if let known = id.store(for: self)?.withRowAccess({ $0.knownRelatedIDs(of: relationship, for: id) }) {
                ids += known
            } else if eagerly, !isPrepared {
                do { ids += try source.relatedIDs(of: relationship, for: id, in: self) } catch {
                    if faultErrors.error(of: id, relationship.name) == nil { throw error }
                }
            }
        }
        return ids
    }

    // MARK: Fetches

    /// Makes fetched objects one batch and applies the faulting options of the request.
    ///
    /// - Throws: The store's error.
    func applyFaultingOptions(to objects: [NSManagedObject], of query: StoreQuery) throws {
        if query.shouldRefreshRefetchedObjects { refreshRefetched(objects, isRemote: true) }
        makeBatch(of: objects, query)
        guard source.batchesFaults else { return }
        if !query.returnsObjectsAsFaults, query.includesPropertyValues, query.fetchBatchSize <= 0 {
            try objects.forEachUncounted { object in
                if object.slots == nil { try readUnlessNoted(object) { try object.loadRow() } }
            }
        }
    }

    /// Makes fetched objects one batch.
    func makeBatch(of objects: [NSManagedObject], _ query: StoreQuery) {
        makeBatchFromParent(of: objects, replacing: true)
        guard source.batchesFaults else { return }
        let size = query.fetchBatchSize > 0 ? query.fetchBatchSize : FaultBatch.standardPartSize
        faultBatches.add(objects, partSize: size, replacing: true, in: registry)
    }

    /// Makes the objects of a relationship one batch, unless they belong to a larger one.
    func makeBatch(of objects: [NSManagedObject]) {
        makeBatchFromParent(of: objects, replacing: false)
        guard objects.count > 1, objects.contains(where: { $0.batchNumber == 0 }), source.batchesFaults else { return }
        faultBatches.add(objects, replacing: false, in: registry)
    }

    /// Makes objects from the parent one batch, and retains the parent's objects, which keep their own batch, while the batch is in use.
    private func makeBatchFromParent(of objects: [NSManagedObject], replacing: Bool) {
        guard let fetched = parentSource?.takeFetched(), !fetched.isEmpty else { return }
        faultBatches.add(objects, replacing: replacing, in: registry)
        for object in objects {
            // Objects that remain in an earlier, larger batch have their parents there.
            guard let batch = faultBatches[object.batchNumber], batch.parents.isEmpty else { continue }
            batch.parents = fetched
            return
        }
    }

    /// Refreshes fetched objects with the current values of the store.
    ///
    /// - Parameter isRemote: Whether cached rows are to be ignored.
    func refreshRefetched(_ objects: [NSManagedObject], isRemote: Bool) {
        var changes = ObjectChanges()
        refreshMerged(objects.filter { !$0.isFault && !$0.isInserted && !isBeingSaved($0) }, isRemote: isRemote, &changes)
        if !changes.isEmpty { post(Self.didChangeObjectsNotification, changes) }
    }

    /// Prefetches the relationships along key paths, one relationship at a time for all objects of a fetch.
    ///
    /// - Throws: Code 134060 for a path that does not consist of relationships; the store's error.
    func prefetch(_ query: StoreQuery, for objects: [NSManagedObject]) throws {
        for path in query.relationshipKeyPathsForPrefetching {
            let names = try Self.relationshipNames(in: path, from: query.entity)
            // Stores with their rows in memory need no prefetching.
            guard source.batchesFaults else { continue }
            var numbers = Set(objects.map(\.batchNumber))
            for name in names {
                var found: [NSManagedObject] = []
                for batch in numbers.compactMap({ faultBatches[$0] }) {
                    for part in 0..<batch.partCount { found += try loadDestinations(of: name, fromPart: part, of: batch, eagerly: true) }
                }
                numbers = Set(found.map(\.batchNumber))
                for batch in numbers.compactMap({ faultBatches[$0] }) {
                    for part in 0..<batch.partCount { try fire(part, of: batch, eagerly: true) }
                }
            }
        }
    }

    static func relationshipNames(in path: String, from entity: NSEntityDescription) throws -> [String] {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var entity = entity
        for name in names {
            guard
                let relationship = entity.allKinds.lazy.compactMap({ $0.frozen?.byName[name] as? NSRelationshipDescription }).first,
                let destination = relationship.destinationEntity
            else {
                throw CoreDataError.make(
                    NSCoreDataError, "The fetch cannot prefetch “\(path)”.", reason: "“\(entity)” has no relationship “\(name)”.",
                    next: "Give relationshipKeyPathsForPrefetching paths of relationships.")
            }
            entity = destination
        }
        return names
    }
}

extension NSManagedObjectID {
    /// Returns the store of the object as a context reads it: the current state says nothing about a past one.
    fileprivate func store(for context: NSManagedObjectContext?) -> NSPersistentStore? {
        guard let original = persistentStore else { return nil }
        return context?.requestingContext.generation.current?.view(of: original) ?? original
    }
}

extension NSManagedObject {
    /// Returns the stored destination IDs of a relationship, if they are known without a query.
    func knownIDs(of relationship: NSRelationshipDescription) -> [NSManagedObjectID]? {
        let id = objectID
        guard let store = id.store(for: registry?.context) else { return nil }
        defer { withExtendedLifetime(store) {} }
        let access: any RowAccess = store.rowAccess
        var stored = snapshot
        // A fault's row may be in the store's cache.
        if isFault, access.batchesFaults, let row = access.knownRow(for: id) { stored = row }
        let slot = slot(of: relationship)
        if relationship.isToMany {
            if let list = stored?.objectIDs(at: slot) { return list.ids }
        } else if let stored {
            guard let target = stored.objectID(at: slot) else { return [] }
            if target !== NSManagedObjectID.unresolved { return [target] }
        } else {
            // The row contains it; loading the relationship alone might be an extra query.
            return []
        }
        return access.knownRelatedIDs(of: relationship, for: id)
    }
}
