internal import Foundation

extension Row {
    /// Returns the loaded values by property name.
    func dictionary(of entity: NSEntityDescription) -> [String: Any] {
        var values: [String: Any] = [:]
        for (property, slot) in zip(entity.frozen!.properties, layout.slots) {
            guard let value = any(at: slot, of: property as? NSAttributeDescription) else { continue }
            if let id = value as? NSManagedObjectID, id === NSManagedObjectID.unresolved { continue }
            values[property.name] = value
        }
        return values
    }

    /// Returns the values of a conflict snapshot: without to-many relationships, as on Apple's platforms.
    func conflictSnapshot(of entity: NSEntityDescription) -> [String: Any] {
        var values = dictionary(of: entity)
        for relationship in entity.frozen!.relationships where relationship.isToMany { values[relationship.name] = nil }
        return values
    }
}
