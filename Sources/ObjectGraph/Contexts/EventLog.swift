internal import Foundation

/// One reversible step of an event.
///
/// The two ends of a relationship are two steps: each end is reverted separately.
enum EventStep {
    /// Attributes of an object may have changed; its `eventRow` holds the old values.
    case attributes(NSManagedObject)
    /// The attributes in the set had the values of the row.
    case values(NSManagedObject, Row, PropertySet)
    /// A to-one relationship changed its destination.
    case toOne(NSManagedObject, NSRelationshipDescription, before: NSManagedObject?)
    /// An object was added to a to-many relationship.
    case added(NSManagedObject, NSRelationshipDescription, NSManagedObject)
    /// An object was removed from a to-many relationship; the index is its position in an ordered one.
    case removed(NSManagedObject, NSRelationshipDescription, NSManagedObject, index: Int?)
    /// The objects of a to-many relationship were replaced.
    case replaced(NSManagedObject, NSRelationshipDescription, before: [NSManagedObject], after: [NSManagedObject])
    /// The preceding steps changed an order. Only steps registered for undo contain it.
    case ordered(NSManagedObject, NSRelationshipDescription, before: [NSManagedObject], after: [NSManagedObject])
    /// An object was inserted or is no longer deleted.
    case inserted(UndoState)
    /// An object was deleted.
    case deleted(UndoState)

    /// The object and the relationship of a relationship step; nil for other steps.
    var relationship: (object: NSManagedObject, NSRelationshipDescription)? {
        switch self {
        case .toOne(let object, let relationship, _), .added(let object, let relationship, _), .removed(let object, let relationship, _, _),
            .replaced(let object, let relationship, _, _):
            (object, relationship)
        default: nil
        }
    }
}

/// An object that an undo may restore, with the relationships it had when it left its context.
final class UndoState {
    let object: NSManagedObject
    var relationships: [RelationshipState] = []

    init(_ object: NSManagedObject) { self.object = object }
}

/// The steps of an event, in order.
///
/// Each change adds a step of constant size, so the cost of an event is proportional to its changes.
struct EventLog {
    private(set) var steps: [EventStep] = []
    private var relationshipSteps: [ObjectIdentifier: [Int]] = [:]
    private var indexed = 0

    mutating func append(_ step: EventStep) { steps.append(step) }

    /// Returns the relationship steps of `object`, in order.
    mutating func relationshipSteps(of object: NSManagedObject) -> [EventStep] {
        while indexed < steps.count {
            if let about = steps[indexed].relationship { relationshipSteps[ObjectIdentifier(about.object), default: []].append(indexed) }
            indexed += 1
        }
        return relationshipSteps[ObjectIdentifier(object)]?.map { steps[$0] } ?? []
    }
}

extension NSManagedObject {
    /// Keeps the current row for the event; changes are written to a copy.
    func snapshotForEvent() {
        guard !flags.contains(.insertedInEvent) else { return }
        eventRow = row
        flags.remove(.hasExclusiveRow)
    }

    /// Works like ``snapshotForEvent()``, but keeps the row only when a value is set.
    func snapshotForEventOnWrite() {
        guard !flags.contains(.insertedInEvent) else { return }
        if eventRow != nil { eventRow = nil }
        flags.remove(.hasExclusiveRow)
    }

    /// Logs a step. Steps of objects inserted in this event are skipped unless there is an undo manager.
    func log(_ step: @autoclosure () -> EventStep) {
        guard !flags.contains(.awaking), let context = registry?.context, context.undoer != nil || !flags.contains(.insertedInEvent)
        else { return }
        context.eventLog.append(step())
    }

    /// Saves the relationships of an object that leaves its context, for an undo that may restore it.
    func saveUndoState() { if let extras { extras.undoState?.relationships = relationships } }

    /// Returns the state that an undo keeps of the object.
    func makeUndoState() -> UndoState {
        if let undoState = extras?.undoState { return undoState }
        let undoState = UndoState(self)
        if extras == nil { extras = ObjectExtras() }
        extras?.undoState = undoState
        return undoState
    }
}

extension NSManagedObjectContext {
    /// Marks an object as deleted.
    func markDeleted(_ object: NSManagedObject) {
        if object.flags.contains(.updated) {
            updatedList.remove(object)
            object.flags.remove(.updated)
        }
        if object.flags.contains(.inserted) { insertedList.remove(object) }
        object.flags.insert(.deleted)
        deletedList.append(object)
        if undoer != nil { eventLog.append(.deleted(object.makeUndoState())) }
    }

    /// Ends an event whose changes came with a merge, which posts them itself and is not undoable.
    func dropEvent(_ objects: [NSManagedObject]) {
        eventLog = EventLog()
        objects.forEachUncounted { $0.eventRow = nil }
    }

    /// Ends an event: registers its changes for undo and posts them.
    func finishEvent(_ changes: ObjectChanges) {
        let log = eventLog
        eventLog = EventLog()
        registerUndo(of: log)
        guard !changes.isEmpty else { return }
        let outer = postedEvent
        postedEvent = (log, changes)
        post(Self.didChangeObjectsNotification, changes)
        postedEvent = outer
    }
}
