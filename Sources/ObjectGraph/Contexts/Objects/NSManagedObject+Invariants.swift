internal import Foundation

extension NSManagedObject {
    /// What does not hold of a relationship as far as it is known; empty where it is as it should be. On the context's queue; it fires no fault.
    ///
    /// The storage has the order that the model says, its members are of the destination and of the same context, and what a member knows of the inverse
    /// leads back here, unless both ends are as the store has told them at different times.
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

    /// Whether the relationship is known here, and does not lead to an object.
    private func knowsNothing(of object: NSManagedObject, at relationship: NSRelationshipDescription) -> Bool {
        switch state(of: relationship) {
        case .fault: false
        case .toOne(let known): known !== object
        case .toMany(let storage): storage.isLoaded && !storage.contains(object)
        }
    }

    /// Whether a member of a relationship to many is in it as the store has told. The other end may have been read before others have related the two: until
    /// a merge, either end shows what was told of it.
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

    /// Stops the program where a relationship is not as it should be after a change of both its ends, if the checks are on.
    @inline(__always) func checkInvariants(of relationship: NSRelationshipDescription) {
        #if COREDATA_INTERNAL_CHECKS
        var count = 1
        if case .toMany(let storage) = state(of: relationship) { count = storage.objects.count }
        if InternalChecks.isDue(count) { InternalChecks.enforce(invariantViolations(of: relationship)) }
        #endif
    }
}
