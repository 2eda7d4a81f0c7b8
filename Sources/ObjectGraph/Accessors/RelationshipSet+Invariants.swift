extension RelationshipSet {
    /// The violated invariants of the relationship that the set shows, see ``NSManagedObject/invariantViolations(of:)``.
    var invariantViolations: [String] { owner.invariantViolations(of: relationship) }
}

extension OrderedRelationshipSet {
    /// The violated invariants of the relationship that the set shows, see ``NSManagedObject/invariantViolations(of:)``.
    var invariantViolations: [String] { owner.invariantViolations(of: relationship) }
}
