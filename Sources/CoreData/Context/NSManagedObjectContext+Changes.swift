internal import Foundation
internal import Logging

extension NSManagedObjectContext {
    /// See ``delete(_:)``.
    func performDelete(_ object: NSManagedObject) {
        checkQueue("delete(_:) is called")
        refuseForeign(object, "deleted")
        guard object.registry === registry, !object.flags.contains(.deleted) else { return }
        if !object.flags.contains(.preparedForDeletion) {
            object.flags.insert(.preparedForDeletion)
            object.prepareForDeletion()
        }
        // Without an undo nobody asks for the row before it is written to.
        noteInEvent(object, keepsRow: undoer != nil)
        markDeleted(object)
        // Without relationships there is nothing that delete rules could do. One that was never saved is forgotten with the event.
        if object.flags.contains(.inserted) || !object.owningEntity.frozen!.relationships.isEmpty { eventDeletions.append(object) }
    }

    /// The store has no row for the object: it reads as deleted from now on.
    func treatAsDeleted(_ object: NSManagedObject) {
        Log.context.warning("\(object.objectID) is gone from its store; it is treated as deleted.")
        object.adopt(Row.blank(object.owningEntity.frozen!.layout, objectID: object.identifier))
        object.flags.insert(.inaccessible)
        for relationship in object.owningEntity.frozen!.relationships where relationship.isToMany {
            object.toManyWithoutLoading(relationship).load([])
        }
    }

    /// A property of the object was set for the first time in the current event.
    func noteChange(of object: NSManagedObject) {
        if object.flags.isDisjoint(with: [.inserted, .updated, .deleted]) {
            object.flags.insert(.updated)
            updatedList.append(object)
        }
        noteInEvent(object)
    }

    /// The object is news of the current event.
    ///
    /// - Parameter keepsRow: whether the row is kept as it is; otherwise it will be when a value is set.
    func noteInEvent(_ object: NSManagedObject, keepsRow: Bool = true) {
        if !object.flags.contains(.noted) {
            if keepsRow { object.keepRowOfEvent() } else { object.keepRowOnceWritten() }
            object.flags.insert(.noted)
            if undoer != nil, !object.flags.contains(.insertedInEvent) { eventLog.append(.attributes(object)) }
        }
        eventObjects.append(object)
        if eventObjects.count == 1 { scheduleEvent() }
    }

    /// See ``processPendingChanges()``.
    func performProcessPendingChanges() {
        checkQueue("processPendingChanges() is called")
        _ = processEvent()
    }

    /// As ``processPendingChanges()``; answers with the objects that were changed, each once.
    ///
    /// - Parameters:
    ///   - posting: whether what changed is announced and can be undone; false for what a merge brings with it.
    ///   - isSaving: whether delete rules must be carried out whatever ``propagatesDeletesAtEndOfEvent`` says.
    func processEvent(posting: Bool = true, isSaving: Bool = false) -> [NSManagedObject] {
        reportGone()
        if propagatesDeletesAtEndOfEvent || isSaving || self.isSaving { propagateDeletions() }
        guard !eventObjects.isEmpty else { return [] }
        let objects = eventObjects
        eventObjects = []
        let waitsForSave = !eventDeletions.isEmpty
        var kinds = EventKinds(objects)
        objects.forEachUncounted { object in
            // Cleared with the first sighting: an object that was changed and then deleted stands in the list twice.
            guard object.flags.contains(.noted) else { return kinds.add(object, .none) }
            let isNew = object.flags.contains(.insertedInEvent)
            object.flags.subtract([.noted, .insertedInEvent])
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
            return inserted.followed(by: updated).followed(by: deleted)
        }
        // Where all that is pending came in this event, the sets serve the save too.
        let changes = ObjectChanges(
            inserted: insertedList.set(of: inserted), updated: updatedList.set(of: updated), deleted: deletedList.set(of: deleted))
        finishEvent(changes)
        return inserted.followed(by: updated).followed(by: deleted)
    }

    /// Applies the delete rules of everything that was deleted, and of what those delete in turn.
    private func propagateDeletions() {
        var next = 0
        while next < eventDeletions.count {
            let object = eventDeletions[next]
            next += 1
            // An undo may have brought it back; one that was never saved is forgotten only now.
            guard object.flags.contains(.deleted) else { continue }
            if object.flags.contains(.inserted), !object.flags.contains(.noted) { noteInEvent(object) }
            for relationship in object.owningEntity.frozen!.relationships { apply(relationship, ofDeleted: object) }
        }
        eventDeletions = []
    }

    private func apply(_ relationship: NSRelationshipDescription, ofDeleted object: NSManagedObject) {
        let inverse = relationship.keptInverse
        switch relationship.deleteRule {
        case .noActionDeleteRule: return
        case .nullifyDeleteRule where inverse == nil: return
        case .nullifyDeleteRule, .denyDeleteRule:
            // Denied deletes fail in validation; until then nothing is torn. What was never saved is gone without validation.
            guard let inverse, relationship.deleteRule == .nullifyDeleteRule || object.flags.contains(.inserted) else { return }
            for other in object.related(relationship) where !other.flags.contains(.deleted) { other.nullify(object, at: inverse) }
        case .cascadeDeleteRule:
            for other in object.related(relationship) where !other.flags.contains(.deleted) { delete(other) }
        }
    }

    /// Takes an object out of the context: it was deleted before it was ever saved, or its insertion was rolled back.
    func forget(_ object: NSManagedObject) {
        if object.flags.contains(.deleted) { deletedList.remove(object) } else { insertedList.remove(object) }
        release([object])
        object.leaveRemains()
        registry.unregister(object)
        object.flags = object.flags.intersection(.ownsRow)
        assignedStores[ObjectIdentifier(object)] = nil
        object.registry = nil
        // Objects that lead to each other would keep each other alive.
        object.relationships = []
    }
}

/// Sorts the objects of an event. Mostly all of them are of one kind: then the list that came is the list of that kind.
private struct EventKinds {
    enum Kind: Int {
        case inserted, updated, deleted
        /// It is no news.
        case none
    }
    private let objects: [NSManagedObject]
    private var count = 0
    /// The kind of all so far; nil once there are several.
    private var only: Kind?
    private var lists: [[NSManagedObject]] = [[], [], [], []]

    init(_ objects: [NSManagedObject]) { self.objects = objects }

    /// Takes the next object of the list.
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

/// What a change or save notification tells.
struct ObjectChanges {
    var inserted: Set<NSManagedObject> = []
    var updated: Set<NSManagedObject> = []
    var deleted: Set<NSManagedObject> = []
    var refreshed: Set<NSManagedObject> = []
    /// The IDs of all objects, where a reset has made them invalid.
    var invalidatedAll: [NSManagedObjectID] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidatedAll.isEmpty }
}
