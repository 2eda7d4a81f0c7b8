internal import Foundation
@_spi(Stores) internal import ObjectGraph

// Accessors for the rows of an answer.

extension PropertySet {
    /// The names of the properties of an entity.
    func names(of entity: NSEntityDescription) -> [String] {
        entity.frozenParts.properties.enumerated().filter { contains($0.offset) }.map(\.element.name)
    }
}

extension NSEntityDescription {
    /// Whether the entity has to-many relationships.
    var hasToMany: Bool { frozenParts.relationships.contains { $0.isToMany } }
}

extension Row {
    /// The IDs in the to-many relationships that the row has.
    var listedIDs: [NSManagedObjectID] {
        knownObjectID.owningEntity.frozenParts.relationships.filter { $0.isToMany && !$0.isTransient }.flatMap(relatedIDs)
    }

    /// Returns a row whose properties are all unknown.
    static func unknown(_ entity: NSEntityDescription, _ id: NSManagedObjectID, version: Int64) -> Row {
        let row = Row(id, version: version)
        for property in entity.frozenParts.properties where !property.isTransient { row.setUnknown(property) }
        return row
    }
}
