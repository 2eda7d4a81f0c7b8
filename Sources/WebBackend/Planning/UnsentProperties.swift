internal import ObjectGraph
internal import RemoteStore

/// Which properties no change brings to the service.
extension ServicePlan {
    /// Whether changes of a property are sent with the resource that has it.
    private static func isSent(_ name: String, with plan: ResourcePlan) -> Bool {
        guard let saving = plan.saving, saving.create != nil || saving.createIdentified != nil || saving.update != nil,
            let own = plan.properties[name], own.path != nil, !own.isReadOnly
        else { return false }
        if case .toMany = own.kind { return plan.sentLists.contains(name) }
        return true
    }

    /// Returns the properties that are sent neither with a resource nor with those at the other end of a relationship.
    func unsent(_ plan: ResourcePlan) -> Set<String> {
        guard plan.saving != nil, let entity = model.entitiesByName[plan.entity] else { return [] }
        var found: Set<String> = []
        for property in entity.allKindsInModel.flatMap(\.propertiesByName.values) where !property.isTransient {
            if Self.isSent(property.name, with: plan) { continue }
            if let relationship = property as? NSRelationshipDescription {
                // Others keep what leads to resources that this service does not have.
                guard let other = relationship.destinationEntity?.name.flatMap({ self.plan(of: $0) }) else { continue }
                if let inverse = relationship.inverseRelationship, Self.isSent(inverse.name, with: other) { continue }
            }
            found.insert(property.name)
        }
        return found
    }

    /// Checks that relationships to many at both ends, or with one end, are sent by one: nothing would come of changes.
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
