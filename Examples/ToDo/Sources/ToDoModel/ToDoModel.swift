public import CoreData
import Foundation

/// Lists of things to do.
public enum ToDoModel {
    /// The model: a list has items, an item belongs to a list.
    public static func make() -> NSManagedObjectModel {
        let list = NSEntityDescription(name: "List")
        let item = NSEntityDescription(name: "Item")
        let items = NSRelationshipDescription(name: "items", destination: item, toMany: true, deleteRule: .cascadeDeleteRule)
        let owner = NSRelationshipDescription(name: "list", destination: list)
        items.inverse(to: owner)
        let name = NSAttributeDescription(name: "name", type: .string)
        let title = NSAttributeDescription(name: "title", type: .string)
        let isDone = NSAttributeDescription(name: "isDone", type: .boolean)
        isDone.defaultValue = false
        for attribute in [name, title, isDone] { attribute.isOptional = false }
        list.properties = [name, items]
        item.properties = [title, isDone, NSAttributeDescription(name: "due", type: .date), owner]
        return NSManagedObjectModel(entities: [list, item])
    }
}
