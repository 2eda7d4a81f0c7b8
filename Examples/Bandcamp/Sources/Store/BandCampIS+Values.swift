internal import CoreData
internal import ExampleSupport

extension BandCampIS {
    /// Converts the service's values to those of the entity's properties.
    ///
    /// Keys that are not properties are omitted, and so are nulls: a node with an unknown key is an error, and a missing key means nil.
    /// The band of an album and the album of a track are created from the identifiers in the values.
    func propertyValues(_ sent: [String: Any], of objectID: NSManagedObjectID) throws -> [String: Any] {
        var values: [String: Any] = [:]
        for (name, attribute) in objectID.entity.attributesByName {
            guard let value = sent[name], !(value is NSNull) else { continue }
            values[name] = try converted(value, for: attribute)
        }
        for (name, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
            guard let destination = relationship.destinationEntity else { continue }
            let identifier = sent["\(name)_id"] as? Int
            values[name] = identifier.map { newObjectID(for: destination, referenceObject: $0) } ?? NSNull()
        }
        return values
    }

    private func converted(_ value: Any, for attribute: NSAttributeDescription) throws -> Any {
        guard attribute.attributeType == .dateAttributeType else { return value }
        guard let seconds = value as? Double else {
            throw NSError.failure(
                BandCampErrorCode.malformedAnswer, asking: url, "An answer has “\(value)” as \(attribute.name), where seconds should be.")
        }
        return Date(timeIntervalSince1970: seconds)
    }
}
