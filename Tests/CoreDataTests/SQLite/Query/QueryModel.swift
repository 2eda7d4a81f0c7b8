import CoreData
import TestSupport

/// Two entities with an attribute of every kind and a relationship of every form, one of them inherited from, for tests that ask a store in
/// memory and a SQLite store the same.
enum QueryModel {
    static func model() -> NSManagedObjectModel {
        let thing = NSEntityDescription(name: "Thing")
        let place = NSEntityDescription(name: "Place")
        let special = NSEntityDescription(name: "Special")
        func attributes() -> [NSPropertyDescription] {
            [
                NSAttributeDescription(name: "label", type: .integer64, isOptional: false),
                NSAttributeDescription(name: "flag", type: .boolean),
                NSAttributeDescription(name: "number", type: .integer64),
                NSAttributeDescription(name: "rank", type: .integer16),
                NSAttributeDescription(name: "real", type: .double),
                NSAttributeDescription(name: "ratio", type: .double),
                NSAttributeDescription(name: "amount", type: .decimal),
                NSAttributeDescription(name: "text", type: .string),
                NSAttributeDescription(name: "name", type: .string),
                NSAttributeDescription(name: "moment", type: .date),
                NSAttributeDescription(name: "bytes", type: .binaryData),
                NSAttributeDescription(name: "key", type: .uuid),
                NSAttributeDescription(name: "link", type: .uri),
            ]
        }
        func pair(_ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, _ inverse: String, isOrdered: Bool = false)
            -> (NSRelationshipDescription, NSRelationshipDescription)
        {
            let one = NSRelationshipDescription(name: name, destination: to)
            let many = NSRelationshipDescription(name: inverse, destination: from, toMany: true, isOrdered: isOrdered)
            one.inverse(to: many)
            return (one, many)
        }
        let (thingOne, placeThings) = pair(thing, "one", place, "things")
        let (placeOne, thingHomes) = pair(place, "one", thing, "homes")
        let (thingOther, thingMany) = pair(thing, "other", thing, "many")
        let (placeOther, placeMany) = pair(place, "other", place, "many")
        let (thingOwner, thingQueue) = pair(thing, "owner", thing, "queue", isOrdered: true)
        let thingMore = NSRelationshipDescription(name: "more", destination: place, toMany: true)
        let placeMore = NSRelationshipDescription(name: "more", destination: thing, toMany: true)
        thingMore.inverse(to: placeMore)
        // Its own inverse.
        let friends = NSRelationshipDescription(name: "friends", destination: thing, toMany: true)
        friends.inverse(to: friends)
        thing.properties = attributes() + [friends, thingOne, thingHomes, thingOther, thingMany, thingOwner, thingQueue, thingMore]
        place.properties = attributes() + [placeThings, placeOne, placeOther, placeMany, placeMore]
        special.properties = [NSAttributeDescription(name: "extra", type: .integer32)]
        thing.subentities = [special]
        return NSManagedObjectModel(entities: [thing, place, special])
    }

    /// Where relationships lead; the names are the same in both entities.
    static let destinations = [
        "Thing": ["one": "Place", "other": "Thing", "many": "Thing", "more": "Place"],
        "Place": ["one": "Thing", "other": "Place", "many": "Place", "more": "Thing"],
    ]
}

/// The same objects in a store in memory and in a SQLite store.
final class TwinStores {
    let memory: NSManagedObjectContext
    let sqlite: NSManagedObjectContext
    private let scratch: ScratchFolder

    init(_ model: () -> NSManagedObjectModel = QueryModel.model) throws {
        scratch = try ScratchFolder("Query")
        let first = NSPersistentStoreCoordinator(managedObjectModel: model())
        try first.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let second = NSPersistentStoreCoordinator(managedObjectModel: model())
        try second.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: scratch.file("store.sqlite"))
        memory = Music.context(first)
        sqlite = Music.context(second)
    }

    deinit {
        for store in sqlite.persistentStoreCoordinator?.persistentStores ?? [] {
            try? sqlite.persistentStoreCoordinator?.remove(store)
        }
    }

    /// Does the same in both, and saves.
    func fill(_ body: (NSManagedObjectContext) throws -> Void) throws {
        for context in [memory, sqlite] {
            try context.performAndWait {
                try body(context)
                try context.save()
            }
        }
    }

    /// What a fetch of objects gives in each: their labels, in order.
    func labels(_ make: (NSManagedObjectContext) throws -> NSFetchRequest<NSManagedObject>) -> (
        memory: Result<[Int], any Error>, sqlite: Result<[Int], any Error>
    ) {
        func ask(_ context: NSManagedObjectContext) -> Result<[Int], any Error> {
            Result { try context.performAndWait { try context.fetch(make(context)).map { $0.value(forKey: "label") as? Int ?? -1 } } }
        }
        return (ask(memory), ask(sqlite))
    }

    /// The object of a label in a context, on its queue.
    static func object(_ label: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        for entity in ["Thing", "Place"] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "label == %d", label)
            if let found = try context.fetch(request).first { return found }
        }
        return nil
    }
}
