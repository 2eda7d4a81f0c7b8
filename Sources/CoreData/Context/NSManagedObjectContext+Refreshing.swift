internal import Foundation

extension NSManagedObjectContext {
    /// See ``refresh(_:mergeChanges:)``.
    func performRefresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        checkQueue("refresh(_:mergeChanges:) is called")
        refuseForeign(object, "refreshed")
        if bringUpToDate(object, mergeChanges: flag) { post(Self.didChangeObjectsNotification, ObjectChanges(refreshed: [object])) }
    }

    /// Refreshes an object. False where it was a fault anyway, or where its store does not deliver.
    private func bringUpToDate(_ object: NSManagedObject, mergeChanges flag: Bool) -> Bool {
        guard object.registry === registry, !object.flags.contains(.inserted) else { return false }
        source.forgetRow(of: object.objectID)
        faultBatches[object.batchNumber]?.reset()
        object.rarities?.fetched = [:]
        guard flag, object.hasChanges else {
            if object.isFault, !object.hasChanges {
                object.relationships = []
                return false
            }
            let wasChanged = object.flags.contains(.updated)
            if wasChanged { updatedList.remove(object) }
            object.flags.remove(.updated)
            object.turnIntoFault()
            if flag { _ = object.slotsAfterFault() }
            return true
        }
        do {
            guard let row = try source.row(for: object.objectID, in: self) else { return false }
            object.rebase(onto: row)
            object.awake(fromSnapshotEvents: .refresh)
            return true
        } catch {
            noteFaultError(error, of: object)
            return false
        }
    }

    /// See ``refreshAllObjects()``.
    func performRefreshAllObjects() {
        checkQueue("refreshAllObjects() is called")
        var refreshed: Set<NSManagedObject> = []
        for object in registry.all where !object.flags.contains(.inserted) {
            if bringUpToDate(object, mergeChanges: object.hasChanges) { refreshed.insert(object) }
        }
        if !refreshed.isEmpty { post(Self.didChangeObjectsNotification, ObjectChanges(refreshed: refreshed)) }
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
        slots = snapshot?.slots
    }

    /// Takes `stored` as the new snapshot and keeps the values changed here on top of it.
    ///
    /// Of a to-many relationship what was added and removed here stays, whatever others have added and removed.
    ///
    /// - Parameter keeps: which other changed properties stay; the rest takes the stored value.
    func rebase(onto stored: Row, keeping keeps: (NSPropertyDescription) -> Bool = { _ in true }) {
        let local = row
        let before = snapshot
        var kept: [NSPropertyDescription] = []
        for property in changes {
            let relationship = property as? NSRelationshipDescription
            // One that is back at what it was is no change: the inverse, which knows additions and removals only, has none either.
            if let relationship, !relationship.isToMany, leadsBack(relationship, to: before) { continue }
            if relationship?.isToMany ?? false || keeps(property) {
                kept.append(property)
            } else if let relationship, let inverse = relationship.inverseRelationship {
                // The object at the other end does not lead here any more.
                toOne(relationship)?.nullify(self, at: inverse)
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
        slots = merged.slots
        snapshot = stored
        flags.insert(.ownsRow)
        // Once the rest is in place, for the object may be at the other end itself.
        if states.isEmpty { return }
        for case let relationship as NSRelationshipDescription in kept {
            rebase(relationship, from: states[relationship.relationshipIndex], before, stored)
        }
    }

    /// Whether a to-one relationship leads where it led in a snapshot.
    private func leadsBack(_ relationship: NSRelationshipDescription, to before: Row?) -> Bool {
        guard let before, case .toOne(let target) = state(of: relationship) else { return false }
        let id = before.objectID(at: slot(of: relationship))
        guard let target else { return id == nil }
        return id?.isSame(as: target.objectID) ?? false
    }

    private func rebase(_ relationship: NSRelationshipDescription, from state: RelationshipState, _ before: Row?, _ stored: Row) {
        let slot = slot(of: relationship)
        guard case .toMany(let storage) = state else {
            setState(state, of: relationship)
            // Who others have put at the other end loses this object to the one that was put there here.
            guard let inverse = relationship.inverseRelationship, let other = stored.objectID(at: slot), let context = registry?.context,
                other !== NSManagedObjectID.unresolved, before?.objectID(at: slot)?.isSame(as: other) != true
            else { return }
            if case .toOne(let target?) = state, target.objectID.isSame(as: other) { return }
            let rival = context.object(with: other)
            context.catchUp(rival)
            rival.nullify(self, at: inverse)
            return
        }
        if let list = stored.objectIDs(at: slot) {
            if storage.hadStored(list.ids) { return setState(state, of: relationship) }
        } else if storage.isLoaded, before?.version == stored.version {
            // A row without lists has another version when one of them changes.
            return setState(state, of: relationship)
        }
        setState(.toMany(storage.changesOnly()), of: relationship)
    }
}

extension NSManagedObjectContext {
    /// Brings an object up to the row that is at hand, so that what is taken out of its relationships is there to be taken.
    fileprivate func catchUp(_ object: NSManagedObject) {
        if object.isFault, !object.hasChanges { object.relationships = [] }
        guard let known = object.snapshot, let row = try? source.row(for: object.objectID, in: self), row.version != known.version else {
            return
        }
        object.rebase(onto: row)
    }
}
