public import CoreData

/// The model of the three stores: one entity, `Palette`.
public enum PaletteModel {
    /// Creates the model, a new one for each call, because a model belongs to the coordinators created with it.
    public static func make() -> NSManagedObjectModel {
        let palette = NSEntityDescription(name: Palette.entityName, managedObjectClass: Palette.self)
        palette.properties = [
            NSAttributeDescription(name: "id", type: .string, isOptional: false),
            NSAttributeDescription(name: "name", type: .string),
            NSAttributeDescription(name: "username", type: .string),
            NSAttributeDescription(name: "rank", type: .integer64, defaultValue: 0),
            NSAttributeDescription(name: "colors", type: .transformable),
            NSAttributeDescription(name: "widths", type: .transformable),
        ]
        return NSManagedObjectModel(entities: [palette])
    }
}
