import CoreData
import Foundation
import TestSupport
import Testing

private final class Orphan: NSManagedObject {}

/// A class with a property that only another version of the model has, and an answer for it.
private class Shelf: NSManagedObject {
    static let labelProperty = ManagedProperty<String>("label")
    static let widthProperty = ManagedProperty<Int64?>("width")
    static let ownerProperty = ManagedProperty<Shelf?>("owner")
    static let notesKey = ManagedAccess.property("notes", as: NSArray?.self)
    var noted: [String] = []
    override func value(forUndefinedKey key: String) -> Any? {
        switch key {
        case "label": "none"
        case "width": 7
        default: nil
        }
    }
    override func setValue(_ value: Any?, forUndefinedKey key: String) { noted.append("\(key) = \(value ?? "nil")") }
}

private final class Rack: NSManagedObject {
    static let labelProperty = ManagedProperty<String>("label")
}

@Suite("Classes and the entities of other versions") struct ClassEntityTests {
    @Test("A class that no loaded model names has an entity without a name; NSManagedObject, too")
    func entities() {
        // The class of many entities is that of none, also while a model in use has one only.
        let entity = NSEntityDescription()
        entity.name = "Plain"
        let model = NSManagedObjectModel(entities: [entity])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        defer { withExtendedLifetime(coordinator) {} }
        for type in [NSManagedObject.self, Orphan.self] as [NSManagedObject.Type] {
            #expect(type.entity().name == nil, "\(type)")
            #expect(type.entity().properties.isEmpty)
        }
        // What needs an entity says so.
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        context.performAndWait {
            let request = NSFetchRequest<Orphan>(entityName: Orphan.entity().name ?? "Orphan")
            #expect(failure { _ = try context.fetch(request) } != nil)
        }
    }

    private func withShelf<Object: NSManagedObject>(_ type: Object.Type, _ body: (Object) throws -> Void) throws {
        let entity = NSEntityDescription(name: "Shelf", managedObjectClass: type)
        entity.properties = [NSAttributeDescription(name: "title", type: .string)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait { try body(type.init(entity: entity, insertInto: context)) }
    }

    @Test("An accessor of a property that only another version has asks the object, as its key does")
    func accessors() throws {
        try withShelf(Shelf.self) { shelf in
            expect(shelf[Shelf.labelProperty], equals: "none")
            expect(shelf[Shelf.widthProperty], equals: 7)
            #expect(shelf[Shelf.ownerProperty] == nil)
            #expect(shelf[Shelf.notesKey] == nil)
            shelf[Shelf.labelProperty] = "new"
            shelf[Shelf.widthProperty] = nil
            shelf[Shelf.ownerProperty] = nil
            expect(shelf.noted, equals: ["label = new", "width = nil", "owner = nil"])
            #expect(!shelf.hasPersistentChangedValues)
        }
    }

    @Test("An object without an answer stops the program, and names the property and those that the version has")
    func withoutAnswer() async {
        await #expect(processExitsWith: .failure) {
            let entity = NSEntityDescription(name: "Rack", managedObjectClass: Rack.self)
            entity.properties = [NSAttributeDescription(name: "title", type: .string)]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
            let context = Music.context(coordinator)
            context.performAndWait { _ = Rack(entity: entity, insertInto: context)[Rack.labelProperty] }
        }
    }

    // MARK: Information of descriptions in use

    @Test("The user info of a fetched property may change while its model is in use, and the property follows it")
    func fetchedProperty() throws {
        let model = Music.model()
        let property = NSFetchedPropertyDescription()
        property.name = "found"
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Album")
        request.predicate = NSPredicate(format: "band == $FETCH_SOURCE AND title CONTAINS[c] $FETCHED_PROPERTY.userInfo.search")
        property.fetchRequest = request
        property.userInfo?["search"] = "great"
        model.entitiesByName["Band"]?.properties.append(property)
        request.entity = model.entitiesByName["Album"]
        let place = try Scratchpad()
        let context = try place.context(model)
        try context.performAndWait {
            let band = try context.saveBand("Low", albums: ["Great", "Greater", "Small"])
            func found() -> Int? { (band.value(forKey: "found") as? [NSManagedObject])?.count }
            expect(found(), equals: 2)
            let used = try #require(band.entity.properties.first { $0.name == "found" })
            used.userInfo?["search"] = "small"
            expect(found(), equals: 1)
            expect(used.userInfo?["search"] as? String, equals: "small")
            // A copy of the model has what was set, and information of its own.
            let copy = try #require(model.copy() as? NSManagedObjectModel)
            copy.entitiesByName["Band"]?.properties.first { $0.name == "found" }?.userInfo?["search"] = "nothing"
            expect(found(), equals: 1)
        }
    }

    @Test("User info of entities, attributes and relationships in use may change, and changes no version hash")
    func information() throws {
        let coordinator = try Music.coordinator()
        let model = coordinator.managedObjectModel
        let hashes = model.entityVersionHashesByName
        let band = try #require(model.entitiesByName["Band"])
        band.userInfo?["note"] = "entity"
        band.propertiesByName["name"]?.userInfo?["note"] = "attribute"
        band.propertiesByName["albums"]?.userInfo = nil
        expect(band.userInfo?["note"] as? String, equals: "entity")
        expect(band.propertiesByName["name"]?.userInfo?["note"] as? String, equals: "attribute")
        #expect(band.propertiesByName["albums"]?.userInfo == nil)
        expect(model.entityVersionHashesByName, equals: hashes)
    }
}
