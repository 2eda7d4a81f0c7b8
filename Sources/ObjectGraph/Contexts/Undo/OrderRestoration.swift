internal import Foundation

/// Restores an order that an undo changes.
///
/// An order that is unchanged since the registered change returns to its previous state. An order that others have changed is kept:
/// restored objects are inserted behind the nearest of their former predecessors.
struct OrderRestoration {
    private let object: NSManagedObject
    private let relationship: NSRelationshipDescription
    private let before: [NSManagedObject]
    /// The objects when the undo begins.
    private let found: [NSManagedObject]
    private let isUntouched: Bool

    /// Nil for a step without an order, and if the object no longer exists.
    init?(_ step: EventStep, in registry: ObjectRegistry) {
        guard case .ordered(let object, let relationship, let before, let after) = step, object.registry === registry else { return nil }
        self.object = object
        self.relationship = relationship
        self.before = before
        found = object.toMany(relationship).objects
        isUntouched = found.elementsEqual(after, by: ===)
    }

    /// Restores the order, once the members are final.
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

extension EventStep {
    /// The orders of a deleted object, whose members may be deleted with it: others may remove one before both are restored.
    var ordersOfDeleted: [EventStep] {
        guard case .deleted(let undoState) = self, undoState.object.flags.contains(.deleted) else { return [] }
        let object = undoState.object
        return object.owningEntity.frozen!.relationships.compactMap { relationship in
            guard relationship.isOrdered, relationship.isToMany else { return nil }
            let members = object.toMany(relationship).objects
            return members.count > 1 ? .ordered(object, relationship, before: members, after: members) : nil
        }
    }
}

extension EventLog {
    /// The orders that the steps changed, before and after.
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
