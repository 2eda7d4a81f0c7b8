import CoreData

/// The model of what the program writes; the tests have the same file.
enum WriterModel {
    static func make() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        let (batch, item, counter) = (entity("Batch"), entity("Item"), entity("Counter"))
        let items = NSRelationshipDescription()
        items.name = "items"
        items.destinationEntity = item
        items.maxCount = 0
        items.deleteRule = .cascadeDeleteRule
        let owner = NSRelationshipDescription()
        owner.name = "batch"
        owner.destinationEntity = batch
        owner.maxCount = 1
        items.inverseRelationship = owner
        owner.inverseRelationship = items
        batch.properties = [
            attribute("number", .integer64AttributeType), attribute("size", .integer64AttributeType),
            attribute("next", .integer64AttributeType),
            items,
        ]
        item.properties = [attribute("value", .integer64AttributeType), attribute("text", .stringAttributeType), owner]
        counter.properties = [attribute("value", .integer64AttributeType)]
        return NSManagedObjectModel(entities: [batch, item, counter])
    }
}
