internal import Foundation

extension NSManagedObjectContext {
    // MARK: Rows

    /// Asks the store for the rows of all that came with an object whose fault is about to fire, if it has not been asked yet.
    ///
    /// - Throws: the store's error; it is asked again the next time.
    func prepareRow(of object: NSManagedObject) throws {
        // A child has no rows of its own to prepare: its parent does it.
        guard parent == nil, let batch = faultBatches[object.batchNumber], !batch.isFired, let part = batch.part(of: object)
        else {
            return
        }
        try fire(part, of: batch, eagerly: false)
    }

    /// Asks the store for the rows of a part.
    ///
    /// - Parameter eagerly: whether a store that answers for one object at a time is asked for each.
    private func fire(_ part: Int, of batch: FaultBatch, eagerly: Bool) throws {
        guard batch.startFiring(part) else { return }
        let faults = batch.objects(ofPart: part, in: registry).filter(\.isFault)
        guard faults.count > 1 || eagerly else { return }
        do {
            if try !source.prepareRows(for: faults.map(\.objectID), in: self), eagerly {
                for object in faults { _ = try source.row(for: object.objectID, in: self) }
            }
        } catch {
            batch.stopFiring(part)
            throw error
        }
    }

    // MARK: Relationships

    /// Asks the store for a relationship of all that came with an object, if it has not been asked yet.
    ///
    /// What is found forms a batch in turn, so that walking on costs no more.
    ///
    /// - Throws: the store's error; it is asked again the next time.
    func prepareRelationship(_ relationship: NSRelationshipDescription, of object: NSManagedObject) throws {
        if let parentSource {
            if persistentStoreCoordinator?.batchesFaults ?? false {
                try parentSource.prepareRelationship(relationship, of: object.objectID)
            }
            return
        }
        guard let batch = faultBatches[object.batchNumber], batch.count > 1, let part = batch.part(of: object) else { return }
        _ = try follow(relationship.name, fromPart: part, of: batch, eagerly: false)
    }

    /// The objects at the other end of a relationship of the objects of a part.
    private func follow(_ name: String, fromPart part: Int, of batch: FaultBatch, eagerly: Bool) throws -> [NSManagedObject] {
        let step = FaultBatch.Step(relationship: name, part: part)
        if let known = batch.objects(of: step) { return known }
        // From here on, so that what this asks for does not ask for it again.
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
            // IDs that share an integer stand for each other here: a batch may lack some without harm.
            var seen: Set<Int64> = []
            let objects = found.followed(by: objects(with: related.filter { seen.insert($0.key).inserted }))
            faultBatches.add(objects, partSize: batch.partSize, replacing: eagerly, in: registry)
            batch.setObjects(objects, of: step)
            return objects
        } catch {
            batch.setObjects(nil, of: step)
            throw error
        }
    }

    /// What a to-many relationship of saved objects of one table leads to; nil where that has to be found out by IDs.
    private func relatedNumbers(of relationship: NSRelationshipDescription, from owners: [NSManagedObject]) throws -> RelatedNumbers? {
        guard relationship.isToMany, let origin = owners.first?.origin else { return nil }
        var numbers: [Int64] = []
        numbers.reserveCapacity(owners.count)
        owners.forEachUncounted { if $0.origin === origin { numbers.append($0.number) } }
        guard numbers.count == owners.count else { return nil }
        return try source.prepareRelatedNumbers(of: relationship, for: numbers, of: origin, in: self)
    }

    /// The objects that have a relationship of a name, by the relationship.
    private func grouped(_ owners: [NSManagedObject], by name: String) -> [(NSRelationshipDescription, [NSManagedObject])] {
        var groups: [(NSRelationshipDescription, [NSManagedObject])] = []
        for owner in owners {
            guard let relationship = owner.relationship(named: name) else { continue }
            if let index = groups.firstIndex(where: { $0.0 === relationship }) {
                groups[index].1.append(owner)
            } else {
                groups.append((relationship, [owner]))
            }
        }
        return groups
    }

    /// The IDs at the other end of a relationship, from what is known and then from the store.
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
            if let known = id.persistentStore?.asking({ $0.knownRelatedIDs(of: relationship, for: id) }) {
                ids += known
            } else if eagerly, !isPrepared {
                ids += try source.relatedIDs(of: relationship, for: id, in: self)
            }
        }
        return ids
    }

    // MARK: Fetches

    /// Objects that a fetch has found are one batch from now on; what the request says about faults is done.
    ///
    /// - Throws: the store's error.
    func settleFaults(_ objects: [NSManagedObject], of query: StoreQuery) throws {
        if query.shouldRefreshRefetchedObjects { refreshRefetched(objects, isRemote: true) }
        noteArrivalAsBatch(of: objects, query)
        guard source.batchesFaults else { return }
        if !query.returnsObjectsAsFaults, query.includesPropertyValues, query.fetchBatchSize <= 0 {
            try objects.forEachUncounted { if $0.slots == nil { try $0.fulfillFault() } }
        }
    }

    /// Objects that a fetch has found are one batch from now on.
    func noteArrivalAsBatch(of objects: [NSManagedObject], _ query: StoreQuery) {
        noteArrivalFromParent(of: objects, replacing: true)
        guard source.batchesFaults else { return }
        let size = query.fetchBatchSize > 0 ? query.fetchBatchSize : FaultBatch.standardPartSize
        faultBatches.add(objects, partSize: size, replacing: true, in: registry)
    }

    /// Objects have come by a relationship: they are one batch, unless they came as part of a larger one.
    func noteArrival(of objects: [NSManagedObject]) {
        noteArrivalFromParent(of: objects, replacing: false)
        guard objects.count > 1, objects.contains(where: { $0.batchNumber == 0 }), source.batchesFaults else { return }
        faultBatches.add(objects, replacing: false, in: registry)
    }

    /// Objects have come from the parent: while they are of use, its objects are kept, which remember that they came together.
    private func noteArrivalFromParent(of objects: [NSManagedObject], replacing: Bool) {
        guard let fetched = parentSource?.takeFetched(), !fetched.isEmpty else { return }
        faultBatches.add(objects, replacing: replacing, in: registry)
        for object in objects {
            // Those that stay in a larger batch of before have their parents there.
            guard let batch = faultBatches[object.batchNumber], batch.parents.isEmpty else { continue }
            batch.parents = fetched
            return
        }
    }

    /// Objects that a fetch has found again take the values that the store has now.
    ///
    /// - Parameter isRemote: whether rows that are kept in memory are not to be used.
    func refreshRefetched(_ objects: [NSManagedObject], isRemote: Bool) {
        var changes = ObjectChanges()
        refreshMerged(objects.filter { !$0.isFault && !$0.isInserted && !isBeingSaved($0) }, isRemote: isRemote, &changes)
        if !changes.isEmpty { post(Self.didChangeObjectsNotification, changes) }
    }

    /// Fetches what key paths lead to from the objects of a fetch, a relationship at a time for all of them.
    ///
    /// - Throws: code 134060 for a path that is none of relationships; the store's error.
    func prefetch(_ query: StoreQuery, for objects: [NSManagedObject]) throws {
        for path in query.relationshipKeyPathsForPrefetching {
            let names = try Self.relationshipNames(in: path, from: query.entity)
            // Stores that have their rows in memory need no asking.
            guard source.batchesFaults else { continue }
            var numbers = Set(objects.map(\.batchNumber))
            for name in names {
                var found: [NSManagedObject] = []
                for batch in numbers.compactMap({ faultBatches[$0] }) {
                    for part in 0..<batch.partCount { found += try follow(name, fromPart: part, of: batch, eagerly: true) }
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

extension NSManagedObject {
    /// The stored IDs at the other end of a relationship, as far as they are known without asking the store.
    func knownIDs(of relationship: NSRelationshipDescription) -> [NSManagedObjectID]? {
        let id = objectID
        guard let original = id.persistentStore else { return nil }
        // What is read of a former state is not known from the present one.
        let store = managedObjectContext?.generation.current?.view(of: original) ?? original
        defer { withExtendedLifetime(store) {} }
        let access: any RowAccess = store.rowAccess
        var stored = snapshot
        // A fault's row may lie in the store's cache.
        if isFault, access.batchesFaults, let row = access.knownRow(for: id) { stored = row }
        let slot = slot(of: relationship)
        if relationship.isToMany {
            if let list = stored?.objectIDs(at: slot) { return list.ids }
        } else if let stored {
            guard let target = stored.objectID(at: slot) else { return [] }
            if target !== NSManagedObjectID.unresolved { return [target] }
        } else {
            // The row will tell; asking for the relationship alone may be a question too many.
            return []
        }
        return access.knownRelatedIDs(of: relationship, for: id)
    }
}
