import CoreData
import TestSupport
import Testing

/// Containers and merged models that are looked up by name.
struct ContainerByNameTests {
    /// A resource bundle beside the executable, as packages have them.
    private func withModel(_ body: (_ name: String, _ folder: URL) throws -> Void) throws {
        let name = "Model\(UUID().uuidString.prefix(8))"
        let folder = Bundle.main.bundleURL.appendingPathComponent("\(name).resources")
        let model = folder.appendingPathComponent("\(name).xcdatamodeld/\(name).xcdatamodel")
        defer { try? FileManager.default.removeItem(at: folder) }
        try ContentsTests.model().write(toXCDataModel: model)
        try body(name, folder)
    }

    @Test func aContainerFindsItsModelInAResourceBundle() throws {
        try withModel { name, _ in
            let container = NSPersistentContainer(name: name)
            container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
            container.loadPersistentStores { _, error in #expect(error == nil) }
            #expect(container.managedObjectModel.entitiesByName["Album"] != nil)
        }
    }

    @Test func aContainerWithoutAModelSaysWhyWhenItsStoresAreOpened() {
        let container = NSPersistentContainer(name: "NoSuchModel")
        var errors: [NSError] = []
        container.loadPersistentStores { _, error in if let error { errors.append(error as NSError) } }
        expect(errors.map(\.code), equals: [260])
        expect(errors.first?.localizedDescription.contains("NoSuchModel.momd, NoSuchModel.mom"), equals: true)
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    }

    @Test func theModelsOfABundleAreMerged() throws {
        try withModel { name, folder in
            let bundle = try #require(Bundle(path: folder.path))
            let model = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
            #expect(model.isEqual(try ContentsTests.model()))
            let metadata = [NSStoreModelVersionHashesKey: model.entityVersionHashesByName]
            expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)?.isEqual(model), equals: true)
            #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: [:]) == nil)
            let others = [NSStoreModelVersionHashesKey: ["Album": Data(repeating: 0, count: 32)]]
            #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: others) == nil)
        }
    }
}
