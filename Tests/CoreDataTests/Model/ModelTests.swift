import CoreData
import TestSupport
import Testing

final class Gadget: NSManagedObject {}
final class Widget: NSManagedObject {}

@Suite("A model") struct ModelTests {
    @Test("A subentity has the inherited properties before its own")
    func inheritedProperties() throws {
        let model = Music.model()
        let duo = try #require(model.entitiesByName["Duo"])
        let names = duo.properties.map(\.name)
        expect(names.last, equals: "second")
        expect(Set(names), equals: ["name", "founded", "albums", "guestOn", "second"])
        #expect(duo.superentity === model.entitiesByName["Band"])
        #expect(model.entitiesByName["Band"]?.propertiesByName["second"] == nil)
    }

    @Test("Properties are found by name and by kind")
    func propertiesByName() throws {
        let album = try #require(Music.model().entitiesByName["Album"])
        expect(Set(album.attributesByName.keys), equals: ["title", "year", "rating"])
        expect(Set(album.relationshipsByName.keys), equals: ["band", "tracks", "tags", "hit"])
        #expect(album.propertiesByName["title"]?.entity === album)
    }

    @Test("An entity is of its own kind and of its superentity's, not of its subentity's")
    func kinds() throws {
        let model = Music.model()
        let band = try #require(model.entitiesByName["Band"])
        let duo = try #require(model.entitiesByName["Duo"])
        for _ in 0..<2 {
            #expect(duo.isKindOf(entity: band))
            #expect(duo.isKindOf(entity: duo))
            #expect(!band.isKindOf(entity: duo))
            // The second round asks the frozen model.
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
        }
    }

    @Test("Relationships are found by their destination")
    func relationshipsForDestination() throws {
        let model = Music.model()
        let album = try #require(model.entitiesByName["Album"])
        let track = try #require(model.entitiesByName["Track"])
        expect(Set(album.relationships(forDestination: track).map(\.name)), equals: ["tracks", "hit"])
    }

    @Test("A copy is deep: its relationships lead to its own entities and inverses")
    func copy() throws {
        let original = Music.model()
        let copy = try #require(original.copy() as? NSManagedObjectModel)
        let entities = Set(copy.entities.map(ObjectIdentifier.init))
        #expect(entities.isDisjoint(with: original.entities.map(ObjectIdentifier.init)))
        for entity in copy.entities {
            #expect(entity.managedObjectModel === copy)
            for relationship in entity.relationshipsByName.values {
                let destination = try #require(relationship.destinationEntity)
                #expect(entities.contains(ObjectIdentifier(destination)))
                let inverse = try #require(relationship.inverseRelationship)
                #expect(inverse.inverseRelationship === relationship)
                expect(inverse.entity.map { entities.contains(ObjectIdentifier($0)) }, equals: true)
            }
        }
        let duo = try #require(copy.entitiesByName["Duo"])
        #expect(duo.superentity === copy.entitiesByName["Band"])
        expect(copy.entitiesByName["Album"]?.attributesByName["year"]?.defaultValue as? Int, equals: 2001)
        expect(copy.entitiesByName["Album"]?.relationshipsByName["tracks"]?.isOrdered, equals: true)
        #expect(copy.entitiesByName["Album"]?.managedObjectClass == Album.self)
    }

    @Test("A copy of a model in use can be changed, and a second coordinator takes it")
    func copyOfFrozenModel() throws {
        let original = Music.model()
        _ = NSPersistentStoreCoordinator(managedObjectModel: original)
        let copy = try #require(original.copy() as? NSManagedObjectModel)
        let tag = try #require(copy.entitiesByName["Tag"])
        tag.properties += [NSAttributeDescription(name: "colour", type: .string)]
        _ = try NSPersistentStoreCoordinator(checking: copy)
        #expect(tag.attributesByName["colour"] != nil)
        #expect(original.entitiesByName["Tag"]?.attributesByName["colour"] == nil)
    }

    @Test("The copy of an inverse that a superentity declares is the copied one")
    func copyOfInheritedInverse() throws {
        let node = NSEntityDescription(name: "Node")
        let leaf = NSEntityDescription(name: "Leaf")
        node.subentities = [leaf]
        let parent = NSRelationshipDescription(name: "parent", destination: leaf)
        let children = NSRelationshipDescription(name: "children", destination: node, toMany: true)
        parent.inverse(to: children)
        node.properties = [parent]
        leaf.properties = [children]
        let copy = try #require(NSManagedObjectModel(entities: [node, leaf]).copy() as? NSManagedObjectModel)
        let copiedLeaf = try #require(copy.entitiesByName["Leaf"])
        let copiedParent = try #require(copy.entitiesByName["Node"]?.relationshipsByName["parent"])
        #expect(copiedLeaf.relationshipsByName["children"]?.inverseRelationship === copiedParent)
        _ = try NSPersistentStoreCoordinator(checking: copy)
    }

    @Test("A model in use cannot be changed")
    func immutability() async {
        await #expect(processExitsWith: .failure) {
            let model = Music.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entities = []
        }
        await #expect(processExitsWith: .failure) {
            let model = Music.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entitiesByName["Band"]?.name = "Group"
        }
        await #expect(processExitsWith: .failure) {
            let model = Music.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.entitiesByName["Band"]?.attributesByName["name"]?.isOptional = true
        }
        await #expect(processExitsWith: .failure) {
            let model = Music.model()
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            model.setEntities([], forConfigurationName: "None")
        }
    }

    @Test("Configurations name parts of the model, and a store is limited to its own")
    func configurations() throws {
        let model = Music.model()
        let tag = try #require(model.entitiesByName["Tag"])
        model.setEntities([tag], forConfigurationName: "Labels")
        expect(model.configurations, equals: ["Labels"])
        expect(model.entities(forConfigurationName: "Labels"), equals: [tag])
        expect(model.entities(forConfigurationName: nil)?.count, equals: 5)
        #expect(model.entities(forConfigurationName: "Other") == nil)

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let unknown = try #require(
            failure { try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Other", at: nil) })
        #expect(unknown.localizedDescription.contains("Other"))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Labels", at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            Tag(context: context).label = "dub"
            try context.save()
            try expect(context.all(Tag.self).count, equals: 1)
            let refused = try #require(failure { _ = try context.all(Band.self) })
            expect(refused.code, equals: NSPersistentStoreOperationError)
            #expect(refused.localizedDescription.contains("Band"))
        }
    }

    @Test("A class tells its entity and a request for it once a coordinator uses the model")
    func entityOfClass() throws {
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Gadget", managedObjectClass: Gadget.self)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect(Gadget.entity() === model.entitiesByName["Gadget"])
        expect(Gadget.fetchRequest().entityName, equals: "Gadget")
        withExtendedLifetime(coordinator) {}
    }

    @Test("A class is found by its name with the module")
    func classLookup() throws {
        let entity = NSEntityDescription()
        entity.name = "Widget"
        entity.managedObjectClassName = NSStringFromClass(Widget.self)
        #expect(entity.managedObjectClass == Widget.self)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        context.performAndWait {
            #expect(NSEntityDescription.insertNewObject(forEntityName: "Widget", into: context) is Widget)
            expect(Widget(context: context).entity.name, equals: "Widget")
        }
    }

    @Test("An entity whose class does not exist gives plain managed objects")
    func missingClass() throws {
        let entity = NSEntityDescription()
        entity.name = "Ghost"
        entity.managedObjectClassName = "Nowhere.Ghost"
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [entity]))
        let context = Music.context(coordinator)
        context.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Ghost", into: context)
            #expect(Swift.type(of: object) == NSManagedObject.self)
        }
    }
}
