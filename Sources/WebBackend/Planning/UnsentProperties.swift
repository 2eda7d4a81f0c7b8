internal import ObjectGraph
internal import RemoteStore

/// Finds the properties that no change sends to the service.
extension ServicePlan {
    /// Returns whether changes of a property are sent with its resource.
    private static func isSent(_ name: String, with plan: ResourcePlan) -> Bool {
        guard let saving = plan.saving, saving.create != nil || saving.createIdentified != nil || saving.update != nil,
            let own = plan.properties[name], own.path != nil, !own.isReadOnly
        else { return false }
        if case .toMany = own.kind { return plan.sentLists.contains(name) }
        return true
    }

    /// Returns the properties that are sent neither with a resource nor by the other end of a relationship.
    func unsent(_ plan: ResourcePlan) -> Set<String> {
        guard plan.saving != nil, let entity = model.entitiesByName[plan.entity] else { return [] }
        var found: Set<String> = []
        for property in entity.allKindsInModel.flatMap(\.propertiesByName.values) where !property.isTransient {
            if Self.isSent(property.name, with: plan) { continue }
            if let relationship = property as? NSRelationshipDescription {
                // Relationships to entities without a resource in this service belong to other stores.
                guard let other = relationship.destinationEntity?.name.flatMap({ self.plan(of: $0) }) else { continue }
                if let inverse = relationship.inverseRelationship, Self.isSent(inverse.name, with: other) { continue }
            }
            found.insert(property.name)
        }
        return found
    }

    /// Checks that one end sends the changes of a list: a many-to-many relationship, or one without an inverse. Otherwise these changes would be lost.
    ///
    /// - Throws: Code 134080 naming entity and property.
    func checkLists() throws {
        for plan in plans.values.sorted(by: { $0.entity < $1.entity }) {
            guard plan.saving != nil, let entity = model.entitiesByName[plan.entity] else { continue }
            for property in plan.properties.values.sorted(by: { $0.name < $1.name }) where property.path == nil {
                guard case .toMany = property.kind,
                    let relationship = entity.allKindsInModel.lazy.compactMap({ $0.relationshipsByName[property.name] }).first,
                    let other = relationship.destinationEntity?.name.flatMap({ self.plan(of: $0) })
                else { continue }
                if let inverse = relationship.inverseRelationship {
                    if !inverse.isToMany || other.saving != nil && other.properties[inverse.name]?.path != nil { continue }
                }
                let ends = relationship.inverseRelationship.map { "“\(other.entity)” has no list of “\($0.name)”" } ?? "it has no other end"
                throw WebBackendError.description(
                    "“\(property.name)” of “\(plan.entity)”",
                    "The resource has no list of it, and \(ends) that is sent: changes of it would be lost.",
                    next:
                        "Write the path of the list in “properties” (readOnly: true where changes of it are not to be sent), or name it in “ignored”; "
                        + "or let the resource be readOnly.")
            }
        }
    }
}
