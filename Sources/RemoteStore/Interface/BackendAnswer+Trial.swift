@_spi(Stores) internal import ObjectGraph
package import Predicates

/// A resource of an answer that belongs to no store: for what tries a backend by itself.
package struct TrialResource: Sendable {
    /// The identifier.
    package let id: ResourceID
    /// The values of the attributes, and the identifiers of the destinations of to-one relationships, that the answer has brought.
    package let values: [String: ResourceValue]
}

extension BackendAnswer {
    /// The resources that were asked for, as values.
    package var trialResources: [TrialResource] {
        rows.compactMap { row in
            let objectID = row.knownObjectID
            guard let id = ResourceID(objectID.reference) else { return nil }
            var values: [String: ResourceValue] = [:]
            for property in objectID.owningEntity.properties where !property.isTransient && !row.isUnknown(property) {
                switch property {
                case let attribute as NSAttributeDescription: values[attribute.name] = .value(row.value(of: attribute))
                case let relationship as NSRelationshipDescription where !relationship.isToMany:
                    let destination = row.relatedIDs(relationship).first.flatMap { ResourceID($0.reference) }
                    values[relationship.name] = .one(destination.map { ResourceReference($0) })
                default: continue
                }
            }
            return TrialResource(id: id, values: values)
        }
    }
}

extension BackendRequest {
    /// Asks for an order by one key.
    package mutating func sort(_ keyPath: String, isAscending: Bool) { sorts = [Sort(keyPath: keyPath, isAscending: isAscending)] }

    /// Adds a comparison with values.
    package mutating func add(_ parameter: Parameter, _ comparison: Parameter.Operator, _ values: [PropertyValue], ids: [ResourceID] = []) {
        filters.append(
            Filter(parameter: parameter.name, keyPath: parameter.keyPaths.first ?? "", comparison: comparison, values: values, ids: ids))
    }
}
