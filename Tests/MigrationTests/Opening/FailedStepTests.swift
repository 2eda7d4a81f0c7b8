import CoreData
import Foundation
import TestSupport
import Testing

/// A migration by a manager that fails while a store is opened.
@Suite struct FailedStepTests {
    private static func coordinator(_ url: URL, isOptional: Bool) throws -> NSPersistentStoreCoordinator {
        let text = NSAttributeDescription(name: "text", type: .string)
        text.isOptional = isOptional
        let model = NSManagedObjectModel(entities: [NSEntityDescription(name: "Note", properties: [text])])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSXMLStoreType, configurationName: nil, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        return coordinator
    }

    @Test func theStoreIsAsBeforeAndNothingIsBesideIt() throws {
        let folder = try MappingFolder()
        let url = folder.url.appendingPathComponent("notes.xml")
        let coordinator = try Self.coordinator(url, isOptional: true)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            try context.save()
        }
        try coordinator.remove(coordinator.persistentStores[0])
        let before = try Data(contentsOf: url)
        let error = migrationFailure { _ = try Self.coordinator(url, isOptional: false) }
        expect(error?.code, equals: NSMigrationError)
        try expect(Data(contentsOf: url), equals: before)
        try expect(FileManager.default.contentsOfDirectory(atPath: folder.url.path), equals: ["notes.xml"])
    }
}
