internal import Foundation

extension NSManagedObject {
    /// Returns the violated invariants of a relationship, as far as it is known; empty if there are none. Call it on the context's queue; it fires no
    /// fault.
    ///
    /// The storage is ordered as the model specifies, its members are of the destination and of the same context, and a member's known inverse leads
    /// back here, unless the store has returned both ends at different times.
    func invariantViolations(of relationship: NSRelationshipDescription) -> [String] {
        var violations: [String] = []
        let members: [NSManagedObject]
        switch state(of: relationship) {
        case .fault: return []
        case .toOne(let object):
            if relationship.isToMany { return ["“\(relationship.name)” leads to many and has one"] }
            members = object.map { [$0] } ?? []
        case .toMany(let storage):
            if !relationship.isToMany { return ["“\(relationship.name)” leads to one and has many"] }
            if storage.isOrdered != relationship.isOrdered {
                violations.append("“\(relationship.name)” has another order than the model says")
            }
            violations += storage.invariantViolations
            members = storage.objects
        }
        for member in members {
            if let destination = relationship.destinationEntity, !member.owningEntity.isKindOf(entity: destination) {
                violations.append("“\(relationship.name)” leads to a “\(member.owningEntity)”")
            }
            if let registry, let other = member.registry, registry !== other {
                violations.append("“\(relationship.name)” leads to an object of another context")
            }
            if let inverse = relationship.mutualInverse, member.knowsNothing(of: self, at: inverse),
                !isStored(member, in: relationship) || member.hasChanged(inverse, about: self)
            {
                violations.append("“\(relationship.name)” leads to an object whose “\(inverse.name)” does not lead back")
            }
        }
        return violations
    }

    /// Returns whether the relationship is known here, and does not contain the object.
    private func knowsNothing(of object: NSManagedObject, at relationship: NSRelationshipDescription) -> Bool {
        switch state(of: relationship) {
        case .fault: false
        case .toOne(let known): known !== object
        case .toMany(let storage): storage.isLoaded && !storage.contains(object)
        }
    }

    /// Returns whether a member is in a to-many relationship because the store has returned it. The other end may have been read before others have
    /// related the two objects: until a merge, each end shows what was returned for it.
    private func isStored(_ member: NSManagedObject, in relationship: NSRelationshipDescription) -> Bool {
        guard case .toMany(let storage) = state(of: relationship) else { return false }
        return storage.storedObjects.contains { $0 === member }
    }

    /// Whether this context has taken an object out of a relationship, or led it elsewhere.
    private func hasChanged(_ relationship: NSRelationshipDescription, about object: NSManagedObject) -> Bool {
        switch state(of: relationship) {
        case .fault: false
        case .toOne: differsFromSnapshot(relationship)
        case .toMany(let storage): storage.storedObjects.contains { $0 === object }
        }
    }

    /// Stops the program if a relationship violates its invariants after both its ends were changed, and if the checks are on.
    @inline(__always) func checkInvariants(of relationship: NSRelationshipDescription) {
        #if COREDATA_INTERNAL_CHECKS
        var count = 1
        if case .toMany(let storage) = state(of: relationship) { count = storage.objects.count }
        if InternalChecks.isDue(count) { InternalChecks.enforce(invariantViolations(of: relationship)) }
        #endif
    }
}
