import CoreData
import Foundation
import TestSupport
import Testing

@Suite struct MigrationManagerTests {
    @Test("A mapping model migrates attributes by expressions, and relationships by what their objects have become")
    func everything() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let manager = NSMigrationManager.library()
        try manager.migrate(folder, LibraryVersions.mapping())
        try expect(LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected())
        expect(manager.migrationProgress, equals: 1)
        #expect(!FileManager.default.fileExists(atPath: folder.unfinished.path))
    }

    @Test("The source store is unchanged, and the new one has its UUID and the program's metadata")
    func metadata() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: folder.old)
        metadata["edition"] = "third"
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: folder.old)
        let before = try Data(contentsOf: folder.old)
        try NSMigrationManager.library().migrate(folder, LibraryVersions.mapping())
        try expect(Data(contentsOf: folder.old), equals: before)
        let new = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: folder.new)
        expect(new[NSStoreUUIDKey] as? String, equals: metadata[NSStoreUUIDKey] as? String)
        expect(new["edition"] as? String, equals: "third")
        #expect(new["OpenCoreDataMigrationSequence"] == nil)
    }

    @Test("A store is migrated into one of another type")
    func otherType() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let manager = NSMigrationManager.library()
        var lines: [String] = []
        let mapping = LibraryVersions.mapping()
        mapping.entityMappings[0].entityMigrationPolicyClassName = "MigrationTests.ReadingPolicy"
        manager.userInfo = [
            "read": { (context: NSManagedObjectContext) in lines = try LibraryVersions.lines(context) } as ReadingPolicy.Reader
        ]
        try manager.migrateStore(
            from: folder.old, type: .sqlite, mapping: mapping, to: URL(fileURLWithPath: "/dev/null"), type: .inMemory)
        expect(lines, equals: LibraryVersions.expected())
    }

    @Test("Without a mapping model the error is 134140")
    func noMapping() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        expect(
            migrationFailure { try NSMigrationManager.library().migrate(folder, nil) }?.code, equals: NSMigrationMissingMappingModelError)
    }

    @Test("A source that cannot be opened is error 134150, and a place that is taken 134160")
    func places() throws {
        let folder = try MappingFolder()
        expect(
            migrationFailure { try NSMigrationManager.library().migrate(folder, LibraryVersions.mapping()) }?.code,
            equals: NSMigrationManagerSourceStoreError)
        #expect(!FileManager.default.fileExists(atPath: folder.new.path))
        try LibraryVersions.fill(folder.old)
        try LibraryVersions.withStore(folder.new, LibraryVersions.new()) { try $0.save() }
        let before = try Data(contentsOf: folder.new)
        let taken = migrationFailure { try NSMigrationManager.library().migrate(folder, LibraryVersions.mapping()) }
        expect(taken?.code, equals: NSMigrationManagerDestinationStoreError)
        try expect(Data(contentsOf: folder.new), equals: before)
    }

    @Test("A source of another version than the manager's model is error 134150")
    func otherVersion() throws {
        let folder = try MappingFolder()
        try LibraryVersions.withStore(folder.old, LibraryVersions.new()) { try $0.save() }
        let error = migrationFailure { try NSMigrationManager.library().migrate(folder, LibraryVersions.mapping()) }
        expect(error?.code, equals: NSMigrationManagerSourceStoreError)
        expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code, equals: NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test("Objects that break a rule of the new model end the migration, with entity and property, and nothing is left")
    func validation() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        try LibraryVersions.withStore(folder.old, LibraryVersions.old()) { context in
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue(1.0, forKey: "price")
            try context.save()
        }
        let error = migrationFailure { try NSMigrationManager.library().migrate(folder, LibraryVersions.mapping()) }
        expect(error?.code, equals: NSMigrationError)
        expect(error?.userInfo["entity"] as? String, equals: "Book")
        expect(error?.userInfo["property"] as? String, equals: "title")
        #expect(!FileManager.default.fileExists(atPath: folder.new.path))
        #expect(!FileManager.default.fileExists(atPath: folder.unfinished.path))
    }

    @Test("A value that an attribute cannot hold ends the migration, with the names of mapping and property")
    func mistypedValue() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let mapping = LibraryVersions.mapping()
        mapping.entityMappings[1].attributeMappings?[1].valueExpression = CoreData.NSExpression(format: "$source.title")
        let error = migrationFailure { try NSMigrationManager.library().migrate(folder, mapping) }
        expect(error?.code, equals: NSMigrationError)
        expect(error?.localizedDescription.contains("“BookToBook”"), equals: true)
        expect(error?.userInfo["property"] as? String, equals: "cents")
    }

    @Test("A cancelled migration ends with 134120 and the reason, and goes on the next time")
    func cancelled() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old, authors: 3, books: 1000)
        let manager = NSMigrationManager.library()
        let mapping = LibraryVersions.mapping()
        mapping.entityMappings[2].entityMigrationPolicyClassName = "CancellingPolicy"
        let error = migrationFailure { try manager.migrate(folder, mapping) }
        expect(error?.code, equals: NSMigrationCancelledError)
        expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain, equals: "reader")
        #expect(!FileManager.default.fileExists(atPath: folder.new.path))
        let second = NSMigrationManager.library()
        second.userInfo = ["goes on": true]
        try second.migrate(folder, mapping)
        try expect(LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected(authors: 3, books: 1000))
        expect(second.userInfo?["resumed"] as? Bool, equals: true)
    }

    @Test("A migration whose source has changed since it was interrupted begins again")
    func changedSource() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old, authors: 3, books: 1000)
        let mapping = LibraryVersions.mapping()
        mapping.entityMappings[2].entityMigrationPolicyClassName = "CancellingPolicy"
        expect(migrationFailure { try NSMigrationManager.library().migrate(folder, mapping) }?.code, equals: NSMigrationCancelledError)
        try LibraryVersions.withStore(folder.old, LibraryVersions.old()) { context in
            for author in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")) { context.delete(author) }
            try context.save()
        }
        let second = NSMigrationManager.library()
        second.userInfo = ["goes on": true]
        try second.migrate(folder, mapping)
        #expect(try LibraryVersions.lines(at: folder.new).allSatisfy { $0.contains(" - ") })
        #expect(second.userInfo?["resumed"] == nil)
    }

    @Test("A store class with a migration manager of its own is migrated by it, unless the manager is told not to")
    func storeSpecific() throws {
        let folder = try MappingFolder()
        NSPersistentStoreCoordinator.registerStoreClass(OwnManagerStore.self, forStoreType: "OwnManagerStore")
        let manager = NSMigrationManager.library()
        #expect(throws: OwnManager.Called.self) {
            try manager.migrateStore(
                from: folder.old, sourceType: "OwnManagerStore", options: nil, with: LibraryVersions.mapping(),
                toDestinationURL: folder.new,
                destinationType: NSSQLiteStoreType)
        }
        manager.usesStoreSpecificMigrationManager = false
        let error = migrationFailure {
            try manager.migrateStore(
                from: folder.old, sourceType: "OwnManagerStore", options: nil, with: LibraryVersions.mapping(),
                toDestinationURL: folder.new,
                destinationType: NSSQLiteStoreType)
        }
        expect(error?.code, equals: NSMigrationManagerSourceStoreError)
        expect(ObjectIdentifier(NSPersistentStore.migrationManagerClass()), equals: ObjectIdentifier(NSMigrationManager.self))
    }

    @Test("Between two migrations of one manager nothing remains")
    func twice() throws {
        let manager = NSMigrationManager.library()
        for _ in 0..<2 {
            let folder = try MappingFolder()
            try LibraryVersions.fill(folder.old)
            try manager.migrate(folder, LibraryVersions.mapping())
            try expect(LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected())
            manager.reset()
        }
    }
}

/// Hands the destination to the test at the end, for stores that live no longer than the migration.
final class ReadingPolicy: NSEntityMigrationPolicy {
    typealias Reader = (NSManagedObjectContext) throws -> Void
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try (manager.userInfo?["read"] as? Reader)?(manager.destinationContext)
    }
}

/// Cancels the migration in the middle of the second batch of chapters, unless the program says that it is to go on.
final class CancellingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        if manager.isResuming { manager.userInfo?["resumed"] = true }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        if sInstance.value(forKey: "heading") as? String == "1.0.0", manager.userInfo?["goes on"] == nil {
            manager.cancelMigrationWithError(NSError(domain: "reader", code: 1))
        }
    }
}

final class OwnManager: NSMigrationManager {
    struct Called: Error {}
    override func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]?, with mappings: NSMappingModel?,
        toDestinationURL dURL: URL, destinationType dStoreType: String, destinationOptions dOptions: [AnyHashable: Any]?
    ) throws { throw Called() }
}

final class OwnManagerStore: NSIncrementalStore {
    override class func migrationManagerClass() -> AnyClass { OwnManager.self }
}
