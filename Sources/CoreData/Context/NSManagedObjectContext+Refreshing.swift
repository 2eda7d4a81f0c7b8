internal import Foundation

extension NSManagedObjectContext {
    /// What bringing an object up to date has done.
    private enum Refreshment {
        /// It was a fault anyway, or its store does not deliver.
        case none
        case merged
        /// Its changes are gone, and with them those at the other ends of its relationships.
        case discarded
    }

    /// See ``refresh(_:mergeChanges:)``.
    ///
    /// - Parameter isFresh: whether the row that is kept has just been asked for.
    func performRefresh(_ object: NSManagedObject, mergeChanges flag: Bool, isFresh: Bool = false) {
        checkQueue("refresh(_:mergeChanges:) is called")
        refuseForeign(object, "refreshed")
        // What the store has is known when it has answered.
        if isBeingSaved(object) { waitForSaveInFlight() }
        if !object.isFault || object.hasChanges { processPendingChanges() }
        // With the object the other ends of its relationships may have changed.
        if bringUpToDate(object, mergeChanges: flag, isFresh: isFresh) != .none { postUnregistered(ObjectChanges(refreshed: [object])) }
    }

    /// - Parameter isFresh: whether the row that is kept has just been asked for.
    private func bringUpToDate(_ object: NSManagedObject, mergeChanges flag: Bool, isFresh: Bool = false) -> Refreshment {
        guard object.registry === registry else { return .none }
        if object.flags.contains(.inserted) { return flag ? .none : dropValues(of: object) }
        if !isFresh { source.forgetRow(of: object.objectID) }
        faultBatches[object.batchNumber]?.reset()
        object.rarities?.fetched = [:]
        guard flag, object.hasChanges else {
            if object.isFault, !object.hasChanges {
                object.relationships = []
                return .none
            }
            let links = object.flags.contains(.deleted) ? [] : object.removedLinks
            object.undoInverses()
            if object.flags.contains(.updated) { updatedList.remove(object) }
            object.flags.remove(.updated)
            object.turnIntoFault()
            putBack(links)
            if flag { _ = object.slotsAfterFault() }
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

    /// A new object has the values that it was made with again, once one of them is asked for, and leads nowhere.
    private func dropValues(of object: NSManagedObject) -> Refreshment {
        if object.isFault || object.flags.contains(.deleted) { return .none }
        object.undoInverses()
        let remains = object.rarities?.remains
        object.turnIntoFault()
        if remains != nil {
            object.rarities = Rarities()
            object.rarities?.remains = remains
        }
        return .discarded
    }

    /// See ``refreshAllObjects()``.
    ///
    /// - Parameter fresh: the objects whose rows have just been asked for.
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
        if !refreshed.isEmpty { postUnregistered(ObjectChanges(refreshed: refreshed)) }
    }

    /// Announces what was not changed by the program, and the other ends of relationships that were changed with it. No undo goes back over it.
    func postUnregistered(_ changes: ObjectChanges) {
        var changes = changes
        for object in processEvent(posting: false) {
            if object.flags.contains(.deleted) { changes.deleted.insert(object) } else { changes.updated.insert(object) }
        }
        changes.refreshed.subtract(changes.updated)
        if !changes.isEmpty { post(Self.didChangeObjectsNotification, changes) }
    }

    /// See ``rollback()``.
    func performRollback() {
        checkQueue("rollback() is called")
        processPendingChanges()
        undoer?.removeAllActions()
        faultError = nil
        discardedRows = []
        lockedObjects = []
        var changes = ObjectChanges()
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

    /// See ``reset()``.
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
        for object in objects {
            registry.unregister(object)
            object.registry = nil
            object.relationships = []
            object.flags = object.flags.intersection(.ownsRow)
        }
        faultBatches.removeAll()
        retained = [:]
        reportGone()
        if !ids.isEmpty { post(Self.didChangeObjectsNotification, ObjectChanges(invalidatedAll: ids)) }
    }
}

extension NSManagedObject {
    /// Drops what was changed since the snapshot.
    func restoreSnapshot() {
        flags.subtract([.updated, .noted, .ownsRow])
        changed.removeAll()
        relationships = []
        refusedValues = nil
        eventRow = nil
        row = snapshot
        if let save = registry?.context?.asynchronousWork?.save { save.restoreRelationships(of: self) }
    }

    /// Takes `stored` as the new snapshot and keeps the values changed here on top of it.
    ///
    /// What was set back to what it was is no change. Of a to-many relationship what was added and removed here stays, whatever others have
    /// added and removed.
    ///
    /// - Parameters:
    ///   - overwrites: whether every attribute stays as it is here, changed or not.
    ///   - keeps: which other changed properties stay; the rest takes the stored value.
    func rebase(onto stored: Row, overwrites: Bool = false, keeping keeps: (NSPropertyDescription) -> Bool = { _ in true }) {
        let local = row
        let before = snapshot
        var kept: [NSPropertyDescription] = overwrites ? owningEntity.frozen!.properties.filter { $0 is NSAttributeDescription } : []
        for property in changes where differsFromSnapshot(property) && !(overwrites && property is NSAttributeDescription) {
            let relationship = property as? NSRelationshipDescription
            if relationship?.isToMany ?? false || keeps(property) {
                kept.append(property)
            } else if let relationship, let inverse = relationship.keptInverse {
                // The object at the other end does not lead here any more, unless others have led here too.
                if let target = toOne(relationship),
                    stored.objectID(at: slot(of: relationship))?.namesSameObject(as: target.objectID) != true
                {
                    target.nullify(self, at: inverse)
                }
            }
        }
        let states = relationships
        let merged = stored.copy()
        relationships = []
        changed.removeAll()
        for property in kept {
            changed.insert(property.slotIndex)
            if let local, !(property is NSRelationshipDescription) { merged.copyValue(from: local, at: slot(of: property)) }
        }
        row = merged
        snapshot = stored
        flags.insert(.ownsRow)
        // Once the rest is in place, for the object may be at the other end itself.
        if states.isEmpty { return }
        for case let relationship as NSRelationshipDescription in kept {
            rebase(relationship, from: states[relationship.relationshipIndex], before, stored)
        }
        for case let relationship as NSRelationshipDescription in kept where !relationship.isToMany {
            dropRival(at: relationship, before, stored)
        }
    }

    private func rebase(_ relationship: NSRelationshipDescription, from state: RelationshipState, _ before: Row?, _ stored: Row) {
        let slot = slot(of: relationship)
        guard case .toMany(let storage) = state else {
            return setState(state, of: relationship)
        }
        if stored.objectIDs(at: slot) == nil, storage.isLoaded, before?.version == stored.version, registry?.context?.parent == nil {
            // A row without lists has another version when one of them changes in a store; what a parent has not saved has none.
            return setState(state, of: relationship)
        }
        if let ids = storedIDs(of: relationship, in: stored, for: storage), storage.hadStored(ids) {
            return setState(state, of: relationship)
        }
        setState(.toMany(storage.changesOnly(from: before?.objectIDs(at: slot)?.ids)), of: relationship)
    }

    /// What the store has in a to-many relationship. Where its rows hold no lists it is asked only for what is there in an order, which the changes
    /// alone do not say.
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

    /// Who others have put at the other end loses this object to the one that was put there here.
    private func dropRival(at relationship: NSRelationshipDescription, _ before: Row?, _ stored: Row) {
        let slot = slot(of: relationship)
        guard let inverse = relationship.keptInverse, let other = stored.objectID(at: slot), let context = registry?.context,
            other !== NSManagedObjectID.unresolved, before?.objectID(at: slot)?.namesSameObject(as: other) != true
        else { return }
        if case .toOne(let target?) = state(of: relationship), target.objectID.namesSameObject(as: other) { return }
        let rival = context.object(with: other)
        context.catchUp(rival)
        rival.nullify(self, at: inverse)
    }
}
