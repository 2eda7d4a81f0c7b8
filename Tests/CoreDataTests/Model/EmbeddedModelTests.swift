import CoreData
import TestSupport
import Testing

/// What the plugin `ModelCompiler` writes for a model called “Zoo 2.0”.
final class EmbeddedModel_Zoo_50_: EmbeddedModel {
    override class var name: String { "Zoo 2.0" }
    override class var currentVersion: String { "New" }
    override class var versions: [EmbeddedModel.Version] {
        [
            EmbeddedModel.Version(
                name: "Old",
                contents: #"""
                    <?xml version="1.0"?><model type="com.apple.IDECoreDataModeler.DataModel"><entity name="ZooAnimal" representedClassName="ZooAnimal"/></model>
                    """#),
            EmbeddedModel.Version(
                name: "New",
                contents: #"""
                    <?xml version="1.0"?><model type="com.apple.IDECoreDataModeler.DataModel"><entity name="ZooAnimal" representedClassName="ZooAnimal"><attribute name="name" optional="YES" attributeType="String"/></entity></model>
                    """#),
        ]
    }
}

final class ZooAnimal: NSManagedObject {}

/// There is a class of this name in another module of the tests.
final class ZooTwin: NSManagedObject {}

@Suite("A model in the program") @MainActor struct EmbeddedModelTests {
    @Test("A container finds it by its name, and its classes by theirs") func container() throws {
        let container = NSPersistentContainer(name: "Zoo 2.0")
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        // The file that stands there otherwise would outlive the test.
        container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let entity = try #require(container.managedObjectModel.entitiesByName["ZooAnimal"])
        #expect(entity.managedObjectClass == ZooAnimal.self)
        expect(entity.managedObjectClassName, equals: "ZooAnimal")
        expect(entity.attributesByName.keys.sorted(), equals: ["name"])
        let animal = ZooAnimal(context: container.viewContext)
        animal.setValue("Knut", forKey: "name")
        try container.viewContext.save()
        try expect(container.viewContext.fetch(NSFetchRequest<ZooAnimal>(entityName: "ZooAnimal")).count, equals: 1)
    }

    @Test("It is among the models of the program, in each of its versions") func merging() throws {
        let merged = try #require(NSManagedObjectModel.mergedModel(from: nil))
        #expect(merged.entitiesByName["ZooAnimal"]?.attributesByName["name"] != nil)
        let old = try NSManagedObjectModel(modelContents: EmbeddedModel_Zoo_50_.versions[0].contents.withUTF8Buffer { Data($0) })
        let metadata = [NSStoreModelVersionHashesKey: old.entityVersionHashesByName]
        let found = try #require(NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata))
        expect(found.entitiesByName["ZooAnimal"]?.attributesByName.isEmpty, equals: true)
    }

    @Test("It belongs to the main bundle, which is one of all bundles") func allBundles() throws {
        for bundles in [Bundle.allBundles, [Bundle.main]] {
            let merged = try #require(NSManagedObjectModel.mergedModel(from: bundles))
            #expect(merged.entitiesByName["ZooAnimal"]?.attributesByName["name"] != nil)
        }
        let old = try NSManagedObjectModel(modelContents: EmbeddedModel_Zoo_50_.versions[0].contents.withUTF8Buffer { Data($0) })
        let metadata = [NSStoreModelVersionHashesKey: old.entityVersionHashesByName]
        let found = try #require(NSManagedObjectModel.mergedModel(from: Bundle.allBundles, forStoreMetadata: metadata))
        expect(found.entitiesByName["ZooAnimal"]?.attributesByName.isEmpty, equals: true)
    }

    @Test("It is not among the models of another bundle that is named") func bundles() {
        let merged = NSManagedObjectModel.mergedModel(from: [Bundle(path: FileManager.default.temporaryDirectory.path)].compactMap { $0 })
        #expect(merged?.entitiesByName["ZooAnimal"] == nil)
    }
}

@Suite("The name of a class in a model") struct ClassLookupTests {
    private func entity(_ className: String) -> NSEntityDescription {
        let entity = NSEntityDescription(name: "Entity")
        entity.managedObjectClassName = className
        return entity
    }

    private func remarks(_ entity: NSEntityDescription) -> [String] {
        NSManagedObjectModel(entities: [entity]).check().map(\.description)
    }

    @Test(
        "Without a module it finds the class in whichever module it is", arguments: ["ZooAnimal", ".ZooAnimal", "CoreDataTests.ZooAnimal"])
    func bare(name: String) {
        #expect(entity(name).managedObjectClass == ZooAnimal.self)
        #expect(remarks(entity(name)).isEmpty)
    }

    @Test("With the module of an app it finds the class in the package that it was moved to, and the check says so") func moved() {
        #expect(entity("ZooApp.ZooAnimal").managedObjectClass == ZooAnimal.self)
        #expect(
            remarks(entity("ZooApp.ZooAnimal")).contains { $0.contains("the objects are of “CoreDataTests.ZooAnimal”. Set the module") })
    }

    @Test("That several modules have finds none of them, and the check names them") func ambiguous() {
        #expect(entity("ZooTwin").managedObjectClass == NSManagedObject.self)
        #expect(remarks(entity("ZooTwin")).contains { $0.contains("may be “CoreDataTests.ZooTwin” or “ModelCodeGenerationTests.ZooTwin”") })
    }

    @Test(
        "That no class has finds none",
        arguments: ["NoSuchAnimal", ".NoSuchAnimal", "Zoo.NoSuchAnimal", "", ".", "a.b.c", "Zoo Animal", "ZooAnimal."])
    func missing(name: String) {
        #expect(entity(name).managedObjectClass == NSManagedObject.self)
        #expect(remarks(entity(name)).contains { $0.hasPrefix("warning: Entity: There is no class “\(name)” in the program.") })
    }

    @Test("That is not a managed object class finds none") func otherClass() {
        #expect(entity("EmbeddedModel_Zoo_50_").managedObjectClass == NSManagedObject.self)
    }
}
