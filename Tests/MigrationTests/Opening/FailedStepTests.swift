import CoreData
import Foundation
import TestSupport
import Testing

/// A migration by a manager that fails while a store is opened.
@Suite struct FailedStepTests {
    private static func coordinator(_ url: URL, hasCodes: Bool) throws -> NSPersistentStoreCoordinator {
        let note = NSEntityDescription(name: "Note", properties: [NSAttributeDescription(name: "text", type: .string)])
        if hasCodes {
            // Each note gets the same code, which is to be unique.
            let code = NSAttributeDescription(name: "code", type: .string, isOptional: false)
            code.defaultValue = "x"
            note.properties.append(code)
            note.uniquenessConstraints = [["code"]]
        }
        let model = NSManagedObjectModel(entities: [note])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSXMLStoreType, configurationName: nil, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        return coordinator
    }

    @Test func theStoreIsAsBeforeAndNothingIsBesideIt() throws {
        let folder = try MappingFolder()
        let url = folder.url.appendingPathComponent("notes.xml")
        let coordinator = try Self.coordinator(url, hasCodes: false)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for _ in 0..<2 { _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context) }
            try context.save()
        }
        try coordinator.remove(coordinator.persistentStores[0])
        let before = try Data(contentsOf: url)
        let error = migrationFailure { _ = try Self.coordinator(url, hasCodes: true) }
        expect(error?.code, equals: NSMigrationConstraintViolationError)
        try expect(Data(contentsOf: url), equals: before)
        try expect(FileManager.default.contentsOfDirectory(atPath: folder.url.path), equals: ["notes.xml"])
    }
}
