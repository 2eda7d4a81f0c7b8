internal import Foundation
internal import Predicates

extension NSEntityDescription {
    /// Creates an entity.
    ///
    /// - Parameters:
    ///   - name: The name of the entity.
    ///   - objectClass: The class of its objects.
    ///   - properties: The properties that it declares.
    public convenience init(
        name: String, managedObjectClass objectClass: NSManagedObject.Type = NSManagedObject.self, properties: [NSPropertyDescription] = []
    ) {
        self.init()
        self.name = name
        self.managedObjectClass = objectClass
        self.properties = properties
    }

    /// The class of the entity's objects, as a type. Setting it sets ``managedObjectClassName``.
    ///
    /// A class that cannot be found by name at run time (a local or private one) can only be set here.
    public var managedObjectClass: NSManagedObject.Type {
        get {
            if let frozen { return frozen.objectClass }
            return (boundClass ?? lookUpClass()) as? NSManagedObject.Type ?? NSManagedObject.self
        }
        set {
            managedObjectClassName = newValue == NSManagedObject.self ? "NSManagedObject" : String(reflecting: newValue)
            boundClass = newValue
        }
    }

    /// Returns the entity called `entityName` in the model of `context`.
    ///
    /// - Returns: The entity; nil if the context has no coordinator yet or its model does not have the entity.
    public class func entity(forEntityName entityName: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
        context.model?.entitiesByName[entityName]
    }

    /// Creates an object of the entity called `entityName` and inserts it into `context`. Call it on the context's queue.
    ///
    /// An unknown name stops the program with a message; Apple's framework raises an exception.
    public class func insertNewObject(forEntityName entityName: String, into context: NSManagedObjectContext) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            stopProgram(
                "There is no entity “\(entityName)” in the context's model, which has: "
                    + (context.model?.entitiesByName.keys.sorted().joined(separator: ", ") ?? "none, for it has no coordinator") + ".")
        }
        return entity.managedObjectClass.init(entity: entity, insertInto: context)
    }
}
