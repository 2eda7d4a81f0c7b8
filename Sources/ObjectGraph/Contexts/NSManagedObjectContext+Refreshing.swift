internal import CoreDataRuntime
internal import Foundation

extension NSManagedObjectContext {
    /// The result of refreshing an object.
    private enum Refreshment {
        /// The object was a fault already, or its store failed.
        case none
        case merged
        /// The changes of the object and of its inverse relationships were discarded.
        case discarded
    }

    /// Refreshes an object and posts the change; implements the public ``refresh(_:mergeChanges:)``.
    ///
    /// - Parameter isFresh: Whether the cached row was just loaded.
    func performRefresh(_ object: NSManagedObject, mergeChanges flag: Bool, isFresh: Bool = false) {
        checkQueue("refresh(_:mergeChanges:) is called")
        requireSameContext(object, "refreshed")
        // The stored values are known once the store has answered.
        if isBeingSaved(object) { waitForSaveInFlight() }
        if !object.isFault || object.hasChanges { processPendingChanges() }
        // Refreshing the object may have changed the inverse ends of its relationships.
        if bringUpToDate(object, mergeChanges: flag, isFresh: isFresh) != .none { postUnregistered(ObjectChanges(refreshed: [object])) }
    }

    /// - Parameter isFresh: Whether the cached row was just loaded.
    private func bringUpToDate(_ object: NSManagedObject, mergeChanges flag: Bool, isFresh: Bool = false) -> Refreshment {
        guard object.registry === registry else { return .none }
        if object.flags.contains(.inserted) { return flag ? .none : dropValues(of: object) }
        if isFresh { forgetFaultErrors(of: object.objectID) } else { forgetRow(of: object.objectID) }
        faultBatches[object.batchNumber]?.reset()
        object.extras?.fetched = [:]
        guard flag, object.hasChanges else {
            if object.isFault, !object.hasChanges {
                object.relationships = []
                return .none
            }
            let links = object.flags.contains(.deleted) ? [] : object.removedLinks
            object.removeFromInverses()
            if object.flags.contains(.updated) { updatedList.remove(object) }
            object.flags.remove(.updated)
            let transient = flag ? object.transientRelationships : []
            if !flag { object.leaveTransientRelationships() }
            object.turnIntoFault()
            restore(links)
            if flag { _ = object.loadedSlots() }
            object.restore(transient)
            return .discarded
        }
        do {
            guard let row = try source.row(for: object.objectID, in: self) else { return .none }
            object.rebase(onto: row)
            if object.flags.contains(.deleted) { repeatDeletion(of: object) }
            object.awake(fromSnapshotEvents: .refresh)
            return .merged
        } catch {
            noteFaultError(error, of: object)
            return .none
        }
    }

    /// Turns a new object into a fault: it reads its default values again, and its relationships are empty.
    private func dropValues(of object: NSManagedObject) -> Refreshment {
        if object.isFault || object.flags.contains(.deleted) { return .none }
        object.removeFromInverses()
        let undoState = object.extras?.undoState
        object.turnIntoFault()
        if undoState != nil {
            object.extras = ObjectExtras()
            object.extras?.undoState = undoState
        }
        return .discarded
    }

    /// Refreshes all registered objects and posts the changes once; implements the public ``refreshAllObjects()``.
    ///
    /// - Parameter fresh: The objects whose cached rows were just loaded.
    func performRefreshAllObjects(isFresh fresh: Set<ObjectIdentifier> = []) {
        checkQueue("refreshAllObjects() is called")
        waitForSaveInFlight()
        processPendingChanges()
        adoptPermanentIDs()
        var refreshed: Set<NSManagedObject> = []
        for object in registry.all where !object.flags.contains(.inserted) {
            if bringUpToDate(object, mergeChanges: object.hasChanges, isFresh: fresh.contains(ObjectIdentifier(object))) != .none {
                refreshed.insert(object)
            }
        }
        faultBatches.reset()
        if !refreshed.isEmpty { postUnregistered(ObjectChanges(refreshed: refreshed)) }
    }

    /// Posts changes that the program did not make, together with the inverse ends that they change. They are not undoable.
    func postUnregistered(_ changes: ObjectChanges) {
        var changes = changes
        for object in processEvent(posting: false) {
            if object.flags.contains(.deleted) { changes.deleted.insert(object) } else { changes.updated.insert(object) }
        }
        changes.refreshed.subtract(changes.updated)
        if !changes.isEmpty { post(Self.didChangeObjectsNotification, changes) }
    }

    /// Discards all unsaved changes and posts one notification; implements the public ``rollback()``.
    func performRollback() {
        checkQueue("rollback() is called")
        processPendingChanges()
        undoer?.removeAllActions()
        faultError = nil
        discardedRows = []
        lockedObjects = []
        var changes = ObjectChanges()
        for object in insertedList.elements + updatedList.elements + deletedList.elements { object.leaveObjectsWithoutContext() }
        for object in insertedList.elements {
            changes.deleted.insert(object)
            forget(object)
        }
        for object in deletedList.removeAll() {
            object.flags.subtract([.deleted, .preparedForDeletion])
            if object.flags.contains(.inserted) {
                changes.deleted.insert(object)
                forget(object)
            } else {
                object.restoreSnapshot()
                changes.inserted.insert(object)
            }
        }
        for object in updatedList.removeAll() {
            object.restoreSnapshot()
            changes.updated.insert(object)
        }
        eventObjects = []
        eventDeletions = []
        eventLog = EventLog()
        for object in changes.inserted.union(changes.updated) where !object.isFault { object.awake(fromSnapshotEvents: .rollback) }
        if !changes.isEmpty { post(Self.didChangeObjectsNotification, changes) }
    }

    /// Removes all objects and pending state from the context; implements the public ``reset()``.
    func performReset() {
        checkQueue("reset() is called")
        generation.advance()
        undoer?.removeActions(of: ObjectIdentifier(self))
        eventLog = EventLog()
        let objects = Array(Set(registry.all).union(insertedList.elements))
        let ids = objects.map(\.objectID)
        insertedList = ObjectList()
        updatedList = ObjectList()
        deletedList = ObjectList()
        eventObjects = []
        eventDeletions = []
        assignedStores = [:]
        insertedAgain = []
        faultError = nil
        discardedRows = []
        lockedObjects = []
        faultErrors.removeAll()
        for object in objects {
            registry.unregister(object)
            object.relationships = []
            // A fault that is never fulfilled, as on Apple's platforms.
            object.flags = []
            (object.row, object.snapshot) = (nil, nil)
        }
        RegistrationLocks.leave(objects)
        faultBatches.removeAll()
        retained = [:]
        notifySourceOfRelease()
        if !ids.isEmpty { post(Self.didChangeObjectsNotification, ObjectChanges(invalidatedAll: ids)) }
        source.releaseUnusedRows()
        // It walks the heap, which is worthwhile only for many objects.
        if objects.count >= Self.fewObjects { coredata_return_free_memory() }
    }

    /// Fewer objects than this leave no memory worth returning to the system.
    private static let fewObjects = 100
}

extension NSManagedObject {
    /// Discards the changes since the snapshot.
    func restoreSnapshot() {
        flags.subtract([.updated, .inEvent, .hasExclusiveRow])
        changed.removeAll()
        let transient = savedTransientRelationships
        relationships = []
        rejectedValues = nil
        eventRow = nil
        row = snapshot
        restore(transient)
        if let save = registry?.context?.asynchronousWork?.save { save.restoreRelationships(of: self) }
    }

    /// Takes `stored` as the new snapshot and reapplies local changes to it; the destinations that others have set in their place lose this
    /// object.
    func rebase(onto stored: Row) { rebaseItself(onto: stored).dropRivals() }

    /// Takes `stored` as the new snapshot and reapplies local changes to it.
    ///
    /// A value that was set back to its original is not a change. For to-many relationships, local additions and removals are merged with those of
    /// others.
    ///
    /// - Parameters:
    ///   - overwrites: Whether every attribute keeps its local value, changed or not.
    ///   - keeps: Whether another changed property keeps its local value; otherwise it takes the stored one.
    /// - Returns: The object, whose rivals in relationships must still be dropped.
    func rebaseItself(
        onto stored: Row, overwrites: Bool = false, keeping keeps: (NSPropertyDescription) -> Bool = { _ in true }
    ) -> RebasedObject {
        let local = row
        let before = snapshot
        var kept: [NSPropertyDescription] = overwrites ? owningEntity.frozen!.properties.filter { $0 is NSAttributeDescription } : []
        for property in changes where differsFromSnapshot(property) && !(overwrites && property is NSAttributeDescription) {
            let relationship = property as? NSRelationshipDescription
            if relationship.map({ $0.isToMany || $0.isTransient }) ?? false || keeps(property) {
                kept.append(property)
            } else if let relationship, let inverse = relationship.mutualInverse {
                // The destination object does not refer here any more, unless others have set it to.
                if let target = toOne(relationship),
                    stored.objectID(at: slot(of: relationship))?.namesSameObject(as: target.objectID) != true
                {
                    target.nullify(self, at: inverse)
                }
            }
        }
        let states = relationships
        let transient = transientRelationships
        let merged = stored.copy()
        relationships = []
        restore(transient)
        changed.removeAll()
        for property in kept {
            changed.insert(property.slotIndex)
            if let local, !(property is NSRelationshipDescription) { merged.copyValue(from: local, at: slot(of: property)) }
        }
        row = merged
        snapshot = stored
        flags.insert(.hasExclusiveRow)
        // Last, because the object may be its own destination.
        let links = states.isEmpty ? [] : kept.compactMap { $0 as? NSRelationshipDescription }.filter { !$0.isTransient }
        for relationship in links { rebase(relationship, from: states[relationship.relationshipIndex], before, stored) }
        return RebasedObject(object: self, kept: links, before: before, stored: stored)
    }

    private func rebase(_ relationship: NSRelationshipDescription, from state: RelationshipState, _ before: Row?, _ stored: Row) {
        let slot = slot(of: relationship)
        guard case .toMany(let storage) = state else {
            return setState(state, of: relationship)
        }
        if stored.objectIDs(at: slot) == nil, storage.isLoaded, before?.version == stored.version, registry?.context?.parent == nil {
            // The version of a row without lists changes when a store changes one of them; rows that a parent has not saved have no
            // version.
            return setState(state, of: relationship)
        }
        if let ids = storedIDs(of: relationship, in: stored, for: storage), storage.hadStored(ids) {
            return setState(state, of: relationship)
        }
        setState(.toMany(storage.changesOnly(from: before?.objectIDs(at: slot)?.ids)), of: relationship)
    }

    /// Returns the stored IDs of a to-many relationship. A store whose rows contain no lists is queried only for ordered relationships,
    /// whose order the changes do not contain.
    private func storedIDs(
        of relationship: NSRelationshipDescription, in stored: Row, for storage: ToManyStorage
    ) -> [NSManagedObjectID]? {
        if let list = stored.objectIDs(at: slot(of: relationship)) { return list.ids }
        guard relationship.isOrdered, storage.isLoaded, let context = registry?.context else { return nil }
        do {
            return try context.source.relatedIDs(of: relationship, for: objectID, in: context)
        } catch {
            context.noteFaultError(error, of: self)
            return nil
        }
    }

    /// Removes this object from the destination that others have set, if a local change has replaced it.
    fileprivate func dropRival(at relationship: NSRelationshipDescription, _ before: Row?, _ stored: Row) {
        let slot = slot(of: relationship)
        guard let inverse = relationship.mutualInverse, let other = stored.objectID(at: slot), let context = registry?.context,
            other !== NSManagedObjectID.unresolved, before?.objectID(at: slot)?.namesSameObject(as: other) != true
        else { return }
        if case .toOne(let target?) = state(of: relationship), target.objectID.namesSameObject(as: other) { return }
        let rival = context.object(with: other)
        context.refreshFromStore(rival)
        rival.nullify(self, at: inverse)
    }
}

/// An object that has the values of a newer row, with its own changes over them.
struct RebasedObject {
    fileprivate let object: NSManagedObject
    /// The relationships that keep their local values.
    fileprivate let kept: [NSRelationshipDescription]
    /// The row before, and the newer one.
    fileprivate let before: Row?
    fileprivate let stored: Row

    /// Removes the object from the destinations that others have set, if local changes have replaced them. This may refresh those destinations.
    func dropRivals() {
        for relationship in kept where !relationship.isToMany { object.dropRival(at: relationship, before, stored) }
    }

    /// Applies the delete rules to links that others have added, if the object is deleted.
    func reapplyDeletion() {
        if object.flags.contains(.deleted) { object.registry?.context?.reapplyDeletion(object) }
    }
}
