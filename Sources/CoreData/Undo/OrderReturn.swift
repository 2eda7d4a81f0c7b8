internal import Foundation

/// An order that an undo is about to change.
///
/// Where it is still as the change has left it, it is as it was before. Else others have changed it, and that stays: what comes back stands behind
/// the nearest of those that it stood behind before.
struct OrderReturn {
    private let object: NSManagedObject
    private let relationship: NSRelationshipDescription
    private let before: [NSManagedObject]
    /// What is there when the undo begins.
    private let found: [NSManagedObject]
    private let isUntouched: Bool

    /// Nil for a step that is about no order, and where the object is gone for good.
    init?(_ step: EventStep, in registry: ObjectRegistry) {
        guard case .ordered(let object, let relationship, let before, let after) = step, object.registry === registry else { return nil }
        self.object = object
        self.relationship = relationship
        self.before = before
        found = object.toMany(relationship).objects
        isUntouched = found.elementsEqual(after, by: ===)
    }

    /// Puts the objects into their order, once it is settled which they are.
    func restore() {
        if object.registry == nil || object.flags.contains(.deleted) { return }
        let storage = object.toMany(relationship)
        let order = order(of: storage.objects)
        if !order.elementsEqual(storage.objects, by: ===) { object.replace(by: order, in: storage, of: relationship) }
    }

    private func order(of members: [NSManagedObject]) -> [NSManagedObject] {
        let isMember = Set(members)
        var order = (isUntouched ? [] : found).filter(isMember.contains)
        var placed = Set(order)
        var next = 0
        for object in before where isMember.contains(object) {
            if placed.insert(object).inserted {
                order.insert(object, at: next)
                next += 1
            } else {
                next = order.firstIndex { $0 === object }.map { $0 + 1 } ?? next
            }
        }
        return order + members.filter { placed.insert($0).inserted }
    }
}

extension EventLog {
    /// The orders that the steps have changed, as they were and as they are now.
    var orders: [EventStep] {
        struct Key: Hashable {
            let object: ObjectIdentifier
            let index: Int
        }
        var changed: [(object: NSManagedObject, relationship: NSRelationshipDescription, steps: [EventStep])] = []
        var places: [Key: Int] = [:]
        for step in steps {
            guard let (object, relationship) = step.relationship, relationship.isToMany, relationship.isOrdered, object.registry != nil
            else { continue }
            let key = Key(object: ObjectIdentifier(object), index: relationship.slotIndex)
            if let place = places[key] {
                changed[place].steps.append(step)
            } else {
                places[key] = changed.count
                changed.append((object, relationship, [step]))
            }
        }
        return changed.map { object, relationship, steps in
            let after = object.toMany(relationship).objects
            return .ordered(object, relationship, before: NSManagedObject.orderBefore(steps, after), after: after)
        }
    }
}
