@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension RemoteReader {
    /// Returns the objects at the backend that have the sent values of a new object, which was accepted without an identifier.
    ///
    /// If there is exactly one, it is the new object: if others had created an equal one, there would be two.
    ///
    /// - Throws: As `fetch(_:for:)`.
    func seek(_ sent: BackendChange, _ entity: NSEntityDescription, for caller: StoreCaller) async throws -> [NSManagedObjectID] {
        var parts: [PredicateTree] = []
        for (name, value) in sent.values.sorted(by: { $0.key < $1.key }) {
            guard case .value(let value) = value, !value.isNull, let attribute = entity.frozenParts.byName[name] as? NSAttributeDescription,
                attribute.attributeType.isSought
            else { continue }
            parts.append(.compare(.keyPath([name]), .equal, .constant(value)))
        }
        let query = StoreQuery(entity, includesSubentities: false)
        let answer = try await fetch(parts.isEmpty ? query : query.with(predicate: NSPredicate(tree: .and(parts))), for: caller)
        guard case .rows(let rows) = answer else { return [] }
        for row in rows { _ = earlier.take(row) }
        return rows.filter { contains($0, sent.values) }.map(\.knownObjectID)
    }

    /// Returns whether a row has the sent values. An unknown value does not match, unless nil was sent: many services omit nil values.
    func contains(_ row: Row, _ values: [String: ResourceValue]) -> Bool {
        values.allSatisfy { name, value in
            switch (row.knownObjectID.owningEntity.frozenParts.byName[name], value) {
            case (let attribute as NSAttributeDescription, .value(let value)):
                return row.isUnknown(attribute) ? value.isNull : row.value(of: attribute) == value
            case (let relationship as NSRelationshipDescription, .one(let reference)) where !relationship.isToMany:
                if row.isUnknown(relationship) { return reference == nil }
                return row.relatedIDs(relationship).first.flatMap(decoding.resourceID) == reference?.id
            default: return true
            }
        }
    }
}

extension NSAttributeType {
    /// Whether a backend can compare values for equality.
    fileprivate var isSought: Bool {
        switch self {
        case .transformableAttributeType, .binaryDataAttributeType, .undefinedAttributeType, .compositeAttributeType: false
        default: true
        }
    }
}
