package import CoreData

/// Versions of a model that the program `store-writer` migrates between, and the tests check.
package enum WriterVersions {
    /// The versions by what the second one asks for: `added` only adds an optional attribute, `filled` changes values in place, `copied` needs
    /// another table.
    package static func model(_ version: String) -> NSManagedObjectModel {
        let isFirst = version == "first"
        func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType, was: String? = nil) -> NSAttributeDescription {
            let attribute = NSAttributeDescription(name: name, type: type)
            attribute.renamingIdentifier = was
            return attribute
        }
        func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = properties
            return entity
        }
        let batch = entity("Batch", [attribute("number", .integer64)])
        var properties = [
            attribute("value", version == "copied" ? .double : .integer64), attribute("text", .string), attribute("more", .integer32),
        ]
        if version == "added" { properties.append(attribute("note", .string)) }
        if version == "filled" {
            properties[2].isOptional = false
            properties[2].defaultValue = 7
        }
        if version == "copied" { properties[1] = attribute("label", .string, was: "text") }
        let item = entity("Item", properties)
        let items = NSRelationshipDescription(name: "items", destination: item, toMany: true)
        let owner = NSRelationshipDescription(name: "batch", destination: batch)
        items.inverse(to: owner)
        batch.properties.append(items)
        item.properties.append(owner)
        if !isFirst { item.versionHashModifier = version }
        return NSManagedObjectModel(entities: [batch, item])
    }
}
