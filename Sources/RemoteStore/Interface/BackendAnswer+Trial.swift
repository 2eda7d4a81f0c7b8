@_spi(Stores) internal import ObjectGraph
package import Predicates

/// A resource of an answer that belongs to no store, for trying out a backend on its own.
package struct TrialResource: Sendable {
    /// The identifier.
    package let id: ResourceID
    /// The name of the entity.
    package let entity: String
    /// The version; nil if the answer has none.
    package let version: ResourceVersion?
    /// The values of the attributes, and the identifiers of the destinations of relationships, that the answer contains.
    package let values: [String: ResourceValue]

    /// Creates a resource that does not come from an answer.
    package init(_ id: ResourceID, entity: String, version: ResourceVersion? = nil, values: [String: ResourceValue] = [:]) {
        (self.id, self.entity, self.version, self.values) = (id, entity, version, values)
    }
}

extension BackendAnswer {
    /// A hash that is equal, within a process, for lists of the same resources in the same order.
    package var listSignature: Int {
        var hasher = Hasher()
        for row in rows { hasher.combine(row.knownObjectID) }
        return hasher.finalize()
    }

    /// The requested resources, as values.
    package var trialResources: [TrialResource] { rows.compactMap(trialResource) }
    /// The embedded resources, as values.
    package var trialEmbedded: [TrialResource] { embedded.compactMap(trialResource) }

    private func trialResource(_ row: Row) -> TrialResource? {
        let objectID = row.knownObjectID
        guard let id = ResourceID(objectID.reference) else { return nil }
        var values: [String: ResourceValue] = [:]
        for property in objectID.owningEntity.properties where !property.isTransient && !row.isUnknown(property) {
            switch property {
            case let attribute as NSAttributeDescription: values[attribute.name] = .value(row.value(of: attribute))
            case let relationship as NSRelationshipDescription:
                let destinations = row.relatedIDs(relationship).compactMap { ResourceID($0.reference).map { ResourceReference($0) } }
                values[relationship.name] = relationship.isToMany ? .many(destinations) : .one(destinations.first)
            default: continue
            }
        }
        let number: ResourceVersion? = row.version == 0 ? nil : .number(row.version)
        return TrialResource(
            id, entity: objectID.owningEntity.name ?? "?", version: tags[row.slots].map { .tag($0) } ?? number, values: values)
    }
}

extension BackendRequest {
    /// Requests an order, the most significant key first.
    package mutating func sort(_ keys: [(keyPath: String, isAscending: Bool)]) {
        sorts = keys.map { Sort(keyPath: $0.keyPath, isAscending: $0.isAscending) }
    }

    /// Adds a comparison with values.
    package mutating func add(_ parameter: Parameter, _ comparison: Parameter.Operator, _ values: [PropertyValue], ids: [ResourceID] = []) {
        filters.append(
            Filter(parameter: parameter.name, keyPath: parameter.keyPaths.first ?? "", comparison: comparison, values: values, ids: ids))
    }
}
