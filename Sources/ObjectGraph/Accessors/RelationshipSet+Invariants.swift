extension RelationshipSet {
    /// What does not hold of the relationship that the set shows, see ``NSManagedObject/invariantViolations(of:)``.
    var invariantViolations: [String] { owner.invariantViolations(of: relationship) }
}

extension OrderedRelationshipSet {
    /// What does not hold of the relationship that the set shows, see ``NSManagedObject/invariantViolations(of:)``.
    var invariantViolations: [String] { owner.invariantViolations(of: relationship) }
}
