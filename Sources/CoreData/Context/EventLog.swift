internal import Foundation

/// One step of what the program has done in an event, with what it takes to go back.
///
/// The two ends of a relationship are two steps: each end goes back by itself.
enum EventStep {
    /// Attributes of an object may have changed; its `eventRow` holds the values before.
    case attributes(NSManagedObject)
    /// The attributes in the set have had the values of the row.
    case values(NSManagedObject, Row, PropertySet)
    /// A to-one relationship has led elsewhere.
    case toOne(NSManagedObject, NSRelationshipDescription, before: NSManagedObject?)
    /// An object came into a to-many relationship.
    case added(NSManagedObject, NSRelationshipDescription, NSManagedObject)
    /// An object went from a to-many relationship; the index tells its place in an order.
    case removed(NSManagedObject, NSRelationshipDescription, NSManagedObject, index: Int?)
    /// The objects of a to-many relationship were set anew.
    case replaced(NSManagedObject, NSRelationshipDescription, before: [NSManagedObject], after: [NSManagedObject])
    /// An order was changed by the steps before. Only what is registered for undo has it.
    case ordered(NSManagedObject, NSRelationshipDescription, before: [NSManagedObject], after: [NSManagedObject])
    /// An object was inserted, or is no longer deleted.
    case appeared(ObjectRemains)
    /// An object was deleted.
    case vanished(ObjectRemains)

    /// The object and the relationship that a step is about; nil for the others.
    var relationship: (object: NSManagedObject, NSRelationshipDescription)? {
        switch self {
        case .toOne(let object, let relationship, _), .added(let object, let relationship, _), .removed(let object, let relationship, _, _),
            .replaced(let object, let relationship, _, _):
            (object, relationship)
        default: nil
        }
    }
}

/// An object that an undo may have to bring back, with the relationships it had when it left its context.
final class ObjectRemains {
    let object: NSManagedObject
    var relationships: [RelationshipState] = []

    init(_ object: NSManagedObject) { self.object = object }
}

/// The steps of an event, in order.
///
/// Each change adds a step of constant size, so that an event of many changes costs no more than the changes themselves.
struct EventLog {
    private(set) var steps: [EventStep] = []
    private var relationshipSteps: [ObjectIdentifier: [Int]] = [:]
    private var indexed = 0

    mutating func append(_ step: EventStep) { steps.append(step) }

    /// The steps that concern relationships of `object`, in order.
    mutating func relationshipSteps(of object: NSManagedObject) -> [EventStep] {
        while indexed < steps.count {
            if let about = steps[indexed].relationship { relationshipSteps[ObjectIdentifier(about.object), default: []].append(indexed) }
            indexed += 1
        }
        return relationshipSteps[ObjectIdentifier(object)]?.map { steps[$0] } ?? []
    }
}

extension NSManagedObject {
    /// The event is about to change the object: the row is kept as it is, and what changes is written to another.
    func keepRowOfEvent() {
        guard !flags.contains(.insertedInEvent) else { return }
        eventRow = row
        flags.remove(.ownsRow)
    }

    /// As ``keepRowOfEvent()``, though the row is kept only when a value is set.
    func keepRowOnceWritten() {
        guard !flags.contains(.insertedInEvent) else { return }
        if eventRow != nil { eventRow = nil }
        flags.remove(.ownsRow)
    }

    /// Writes a step down. Of objects that are new in the event no one asks, unless there is an undo manager.
    func log(_ step: @autoclosure () -> EventStep) {
        guard !flags.contains(.awaking), let context = registry?.context, context.undoer != nil || !flags.contains(.insertedInEvent)
        else { return }
        context.eventLog.append(step())
    }

    /// The object leaves its context: an undo that may bring it back keeps its relationships.
    func leaveRemains() { if let rarities { rarities.remains?.relationships = relationships } }

    /// What an undo keeps of the object.
    func keepRemains() -> ObjectRemains {
        if let remains = rarities?.remains { return remains }
        let remains = ObjectRemains(self)
        if rarities == nil { rarities = Rarities() }
        rarities?.remains = remains
        return remains
    }
}

extension NSManagedObjectContext {
    /// The object counts as deleted from here on.
    func markDeleted(_ object: NSManagedObject) {
        if object.flags.contains(.updated) {
            updatedList.remove(object)
            object.flags.remove(.updated)
        }
        if object.flags.contains(.inserted) { insertedList.remove(object) }
        object.flags.insert(.deleted)
        deletedList.append(object)
        if undoer != nil { eventLog.append(.vanished(object.keepRemains())) }
    }

    /// The event is over: what was changed came with a merge, which announces it and cannot be undone.
    func dropEvent(_ objects: [NSManagedObject]) {
        eventLog = EventLog()
        objects.forEachUncounted { $0.eventRow = nil }
    }

    /// The event is over: its changes are registered for undo, announced, and then no longer news.
    func finishEvent(_ changes: ObjectChanges) {
        let log = eventLog
        eventLog = EventLog()
        registerUndo(of: log)
        guard !changes.isEmpty else { return }
        let outer = announced
        announced = (log, changes)
        post(Self.didChangeObjectsNotification, changes)
        announced = outer
    }
}
