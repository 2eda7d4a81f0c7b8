internal import Foundation
internal import Logging

extension NSManagedObjectContext {
    /// Marks an object for deletion and registers the change with the current event; implements the public ``delete(_:)``.
    func performDelete(_ object: NSManagedObject) {
        checkQueue("delete(_:) is called")
        requireSameContext(object, "deleted")
        guard object.registry === registry, !object.flags.contains(.deleted) else { return }
        if !object.flags.contains(.preparedForDeletion) {
            object.flags.insert(.preparedForDeletion)
            object.prepareForDeletion()
        }
        // Only an undo needs the row before it is written to.
        noteInEvent(object, keepsRow: undoer != nil)
        markDeleted(object)
        // Delete rules apply to relationships only. An object that was never saved is removed at the end of the event.
        if object.flags.contains(.inserted) || !object.owningEntity.frozen!.relationships.isEmpty { eventDeletions.append(object) }
    }

    /// Marks an object whose store has no row: it reads as deleted from now on.
    func treatAsDeleted(_ object: NSManagedObject) {
        Log.context.warning("\(object.objectID) is gone from its store; it is treated as deleted.")
        object.adopt(Row.blank(object.owningEntity.frozen!.layout, objectID: object.identifier))
        object.flags.insert(.inaccessible)
        for relationship in object.owningEntity.frozen!.relationships where relationship.isToMany {
            object.toManyWithoutLoading(relationship).load([])
        }
    }

    /// Registers an object with the current event when a property is first set in it.
    func noteChange(of object: NSManagedObject) {
        if object.flags.isDisjoint(with: [.inserted, .updated, .deleted]) {
            object.flags.insert(.updated)
            updatedList.append(object)
        }
        noteInEvent(object)
    }

    /// Adds the object to the current event.
    ///
    /// - Parameter keepsRow: Whether the row is kept now; otherwise it is kept when a value is set.
    func noteInEvent(_ object: NSManagedObject, keepsRow: Bool = true) {
        if !object.flags.contains(.inEvent) {
            if keepsRow { object.snapshotForEvent() } else { object.snapshotForEventOnWrite() }
            object.flags.insert(.inEvent)
            if undoer != nil, !object.flags.contains(.insertedInEvent) { eventLog.append(.attributes(object)) }
        }
        eventObjects.append(object)
        if eventObjects.count == 1 { scheduleEvent() }
    }

    /// Ends the current event: applies delete rules and posts the changes; implements the public ``processPendingChanges()``.
    func performProcessPendingChanges() {
        stopOffQueue("processPendingChanges() is called")
        _ = processEvent()
    }

    /// Works like ``processPendingChanges()`` and returns the changed objects, each once.
    ///
    /// - Parameters:
    ///   - posting: Whether the changes are posted and undoable; false for the changes of a merge.
    ///   - isSaving: Whether delete rules are applied regardless of ``propagatesDeletesAtEndOfEvent``.
    func processEvent(posting: Bool = true, isSaving: Bool = false) -> [NSManagedObject] {
        notifySourceOfRelease()
        if propagatesDeletesAtEndOfEvent || isSaving || self.isSaving { propagateDeletions() }
        guard !eventObjects.isEmpty else { return [] }
        let objects = eventObjects
        eventObjects = []
        let waitsForSave = !eventDeletions.isEmpty
        var kinds = EventKinds(objects)
        objects.forEachUncounted { object in
            // Cleared at the first occurrence: an object that was changed and then deleted is in the list twice.
            guard object.flags.contains(.inEvent) else { return kinds.add(object, .none) }
            let isNew = object.flags.contains(.insertedInEvent)
            object.flags.subtract([.inEvent, .insertedInEvent])
            if object.flags.contains(.deleted) {
                if object.flags.contains(.inserted) {
                    if waitsForSave { return kinds.add(object, .none) }
                    forget(object)
                    kinds.add(object, isNew ? .none : .deleted)
                } else {
                    kinds.add(object, .deleted)
                }
            } else if object.flags.contains(.inserted), isNew {
                kinds.add(object, .inserted)
            } else {
                kinds.add(object, .updated)
            }
        }
        let (inserted, updated, deleted) = (kinds[.inserted], kinds[.updated], kinds[.deleted])
        guard posting else {
            dropEvent(objects)
            return inserted.appending(contentsOf: updated).appending(contentsOf: deleted)
        }
        // If all pending changes belong to this event, the sets serve the save, too.
        let changes = ObjectChanges(
            inserted: insertedList.set(of: inserted), updated: updatedList.set(of: updated), deleted: deletedList.set(of: deleted))
        finishEvent(changes)
        return inserted.appending(contentsOf: updated).appending(contentsOf: deleted)
    }

    /// Applies the delete rules of all deleted objects, and of those deleted in turn.
    ///
    /// All deletions come first: a relationship between two deleted objects is not nullified, whatever caused the second deletion.
    private func propagateDeletions() {
        var next = 0
        while next < eventDeletions.count {
            let object = eventDeletions[next]
            next += 1
            // An undo may have restored it; an object that was never saved is removed only now.
            guard object.flags.contains(.deleted) else { continue }
            if object.flags.contains(.inserted), !object.flags.contains(.inEvent) { noteInEvent(object) }
            for relationship in object.owningEntity.frozen!.cascading {
                for other in object.related(relationship) where !other.flags.contains(.deleted) { delete(other) }
            }
        }
        for object in eventDeletions where object.flags.contains(.deleted) {
            for relationship in object.owningEntity.frozen!.relationships { nullify(relationship, ofDeleted: object) }
        }
        eventDeletions = []
    }

    /// Nullifies the inverse of a deleted object's relationship if its delete rule requires that.
    private func nullify(_ relationship: NSRelationshipDescription, ofDeleted object: NSManagedObject) {
        switch relationship.deleteRule {
        case .denyDeleteRule where !object.flags.contains(.inserted):
            // A denied deletion fails in validation; no relationship is nullified before. An object that was never saved is removed without
            // validation. An undo that restores the object needs its destinations.
            if object.extras?.undoState != nil { _ = object.related(relationship) }
            return
        case .nullifyDeleteRule, .denyDeleteRule: break
        case .cascadeDeleteRule, .noActionDeleteRule: return
        }
        guard let inverse = relationship.mutualInverse else { return }
        for other in object.related(relationship) where !other.flags.contains(.deleted) { other.nullify(object, at: inverse) }
    }

    /// Removes an object that was deleted before its first save, or whose insertion was rolled back.
    func forget(_ object: NSManagedObject) {
        if object.flags.contains(.deleted) { deletedList.remove(object) } else { insertedList.remove(object) }
        release([object])
        object.saveUndoState()
        registry.unregister(object)
        let isDeleted = object.flags.isSuperset(of: [.inserted, .deleted])
        object.flags = object.flags.intersection(.hasExclusiveRow).union(isDeleted ? .deletedUnsaved : [])
        assignedStores[ObjectIdentifier(object)] = nil
        object.setRegistry(nil)
        // Objects that refer to each other would keep each other alive.
        object.relationships = []
    }
}

/// Sorts the objects of an event by kind. Mostly all are of one kind; the incoming list then serves as is.
private struct EventKinds {
    enum Kind: Int {
        case inserted, updated, deleted
        /// Unchanged.
        case none
    }
    private let objects: [NSManagedObject]
    private var count = 0
    /// The kind of all objects so far; nil once there are several kinds.
    private var only: Kind?
    private var lists: [[NSManagedObject]] = [[], [], [], []]

    init(_ objects: [NSManagedObject]) { self.objects = objects }

    /// Adds the next object of the list.
    @inline(__always) mutating func add(_ object: NSManagedObject, _ kind: Kind) {
        if kind == only {
            count += 1
        } else {
            addOther(object, kind)
        }
    }

    @inline(never) private mutating func addOther(_ object: NSManagedObject, _ kind: Kind) {
        if count == 0 {
            only = kind
        } else if let only {
            lists[only.rawValue] = Array(objects[..<count])
            self.only = nil
        }
        if only == nil { lists[kind.rawValue].append(object) }
        count += 1
    }

    subscript(kind: Kind) -> [NSManagedObject] { only == nil ? lists[kind.rawValue] : only == kind ? objects : [] }
}

/// The object sets of a change or save notification.
struct ObjectChanges {
    var inserted: Set<NSManagedObject> = []
    var updated: Set<NSManagedObject> = []
    var deleted: Set<NSManagedObject> = []
    var refreshed: Set<NSManagedObject> = []
    /// The IDs of all objects, if a reset has invalidated them.
    var invalidatedAll: [NSManagedObjectID] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidatedAll.isEmpty }
}
