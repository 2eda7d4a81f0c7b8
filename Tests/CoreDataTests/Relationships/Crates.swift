import CoreData

/// Crates and what they are related to, by relationships of every kind.
enum Crates {
    struct Link: Hashable, CustomStringConvertible {
        let from: String
        let name: String
        let to: String
        var description: String { "\(from).\(name) → \(to)" }
    }

    /// The relationships, of which each but the last two has an inverse.
    static let names = ["shelf", "crates", "next", "previous", "labels", "labelled", "route", "routes", "maker", "copies"]

    /// - Parameter rule: The delete rule of all relationships.
    static func model(_ rule: NSDeleteRule = .nullifyDeleteRule) -> NSManagedObjectModel {
        let crate = NSEntityDescription(name: "Crate", properties: [NSAttributeDescription(name: "name", type: .string)])
        func relationship(_ name: String, toMany: Bool = false, isOrdered: Bool = false) -> NSRelationshipDescription {
            NSRelationshipDescription(name: name, destination: crate, toMany: toMany, isOrdered: isOrdered, deleteRule: rule)
        }
        let described = [
            relationship("shelf"), relationship("crates", toMany: true), relationship("next"), relationship("previous"),
            relationship("labels", toMany: true), relationship("labelled", toMany: true),
            relationship("route", toMany: true, isOrdered: true), relationship("routes", toMany: true), relationship("maker"),
            relationship("copies", toMany: true),
        ]
        for index in stride(from: 0, to: 8, by: 2) { described[index].inverse(to: described[index + 1]) }
        crate.properties += described
        return NSManagedObjectModel(entities: [crate])
    }

    static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    static func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.parent = parent
        return context
    }

    /// Makes a crate; nil makes it outside every context.
    static func crate(_ name: String, in context: NSManagedObjectContext?, of coordinator: NSPersistentStoreCoordinator) -> NSManagedObject
    {
        let object = NSManagedObject(entity: coordinator.managedObjectModel.entitiesByName["Crate"]!, insertInto: context)
        object.setValue(name, forKey: "name")
        return object
    }

    static func relate(_ owner: NSManagedObject, _ name: String, _ target: NSManagedObject) {
        let relationship = owner.entity.relationshipsByName[name]!
        if !relationship.isToMany { return owner.setValue(target, forKey: name) }
        if relationship.isOrdered { return owner.mutableOrderedSetValue(forKey: name).add(target) }
        owner.mutableSetValue(forKey: name).add(target)
    }

    static func related(_ owner: NSManagedObject, _ name: String) -> [NSManagedObject] {
        switch owner.value(forKey: name) {
        case let one as NSManagedObject: [one]
        case let many as Set<NSManagedObject>: Array(many)
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }

    static func name(_ object: NSManagedObject) -> String { object.value(forKey: "name") as? String ?? "?" }

    /// What another context reads. The to-many relationship without an inverse has one owner in a SQLite store and many in memory: it is left out.
    static func stored(_ coordinator: NSPersistentStoreCoordinator) throws -> Set<Link> {
        let context = context(coordinator)
        return try context.performAndWait {
            var links: Set<Link> = []
            for object in try context.all("Crate") {
                for name in names.dropLast() {
                    // A reference without an inverse may lead to one that was deleted later, which has no name.
                    for other in related(object, name) where self.name(other) != "?" {
                        links.insert(Link(from: self.name(object), name: name, to: self.name(other)))
                    }
                }
            }
            return links
        }
    }

    /// Saves a context and all those above it.
    static func save(_ context: NSManagedObjectContext) throws {
        try context.save()
        guard let parent = context.parent else { return }
        try parent.performAndWait { try save(parent) }
    }
}
