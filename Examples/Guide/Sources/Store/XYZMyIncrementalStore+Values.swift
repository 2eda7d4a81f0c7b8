internal import CoreData

extension XYZMyIncrementalStore {
    /// Returns a row as the values of a node: attributes, and to-one relationships as object IDs instead of primary keys.
    func values(of row: XYZDatabase.Row, _ entity: NSEntityDescription) -> [String: Any] {
        var values: [String: Any] = [:]
        for name in entity.attributesByName.keys { values[name] = row.columns[name]?.attribute }
        // Convert raw unique identifiers for to-one relationships into NSManagedObjectID instances.
        for (name, relationship) in entity.relationshipsByName where !relationship.isToMany {
            values[name] = relatedIDs(of: relationship, in: row).first ?? NSNull()
        }
        return values
    }

    /// Returns the destination IDs of a relationship.
    func relatedIDs(of relationship: NSRelationshipDescription, in row: XYZDatabase.Row) -> [NSManagedObjectID] {
        guard let destination = relationship.destinationEntity else { return [] }
        return row.relatedKeys(relationship.name).map { objectID($0, of: destination) }
    }

    /// Returns an object as the columns of a row.
    func columns(of object: NSManagedObject) throws -> [String: XYZDatabase.Value] {
        var columns: [String: XYZDatabase.Value] = [:]
        for (name, attribute) in object.entity.attributesByName where !attribute.isTransient {
            guard let value = object.value(forKey: name) else { continue }
            switch value {
            case let text as String: columns[name] = .text(text)
            case let date as Date: columns[name] = .date(date)
            case let number as NSNumber where attribute.attributeType == .integer64AttributeType:
                columns[name] = .integer(number.int64Value)
            default: throw IncrementalStoreError.unsupportedValue(attribute: name, value: "\(value)")
            }
        }
        for (name, relationship) in object.entity.relationshipsByName where !relationship.isTransient {
            let keys = try object.objectIDs(forRelationshipNamed: name).map(uniqueIdentifier)
            if relationship.isToMany {
                columns[name] = .keys(keys)
            } else {
                columns[name] = keys.first.map { .key($0) }
            }
        }
        return columns
    }
}

extension XYZDatabase.Row {
    /// Returns the primary keys in a relationship's column.
    func relatedKeys(_ name: String) -> [String] {
        switch columns[name] {
        case .key(let key): [key]
        case .keys(let keys): keys
        default: []
        }
    }
}

extension XYZDatabase.Value {
    /// The value of an attribute; nil for keys.
    var attribute: Any? {
        switch self {
        case .text(let text): text
        case .integer(let number): NSNumber(value: number)
        case .date(let date): date
        case .key, .keys: nil
        }
    }
}
