extension NSManagedObject {
    /// The transient relationships that were read or set, with their states: only the context has them, so no store can restore them.
    var transientRelationships: [(relationship: NSRelationshipDescription, state: RelationshipState)] {
        guard !relationships.isEmpty, owningEntity.frozenParts.hasTransients else { return [] }
        return owningEntity.frozenParts.relationships.compactMap { relationship in
            guard relationship.isTransient else { return nil }
            let state = state(of: relationship)
            if case .fault = state { return nil }
            return (relationship, state)
        }
    }

    /// The transient relationships as they were when the object was last saved. To-one relationships are in the row.
    var savedTransientRelationships: [(relationship: NSRelationshipDescription, state: RelationshipState)] {
        transientRelationships.compactMap { relationship, state in
            if case .toMany(let storage) = state { (relationship, .toMany(storage.withoutLaterChanges)) } else { nil }
        }
    }

    /// Sets relationships to the states they had before the object took another row.
    func restore(_ transient: [(relationship: NSRelationshipDescription, state: RelationshipState)]) {
        for (relationship, state) in transient { setState(state, of: relationship) }
    }

    /// Removes the object from the other ends of its transient relationships, because its own ends are about to be forgotten.
    func leaveTransientRelationships() {
        for (relationship, state) in transientRelationships {
            guard let inverse = relationship.mutualInverse, inverse.isTransient else { continue }
            switch state {
            case .toOne(let other?): other.nullify(self, at: inverse)
            case .toMany(let storage): for other in storage.objects { other.nullify(self, at: inverse) }
            case .toOne(nil), .fault: break
            }
        }
    }
}
