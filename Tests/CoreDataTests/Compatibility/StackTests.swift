import CoreData
import TestSupport
import Testing

// Stacks as programs for Apple's platforms set them up.

/// A container as programs subclass it: with a place and a background context of its own.
private final class Container: NSPersistentContainer, @unchecked Sendable {
    static let folder = FileManager.default.temporaryDirectory.appendingPathComponent("container")
    override class func defaultDirectoryURL() -> URL { folder }

    override func newBackgroundContext() -> NSManagedObjectContext {
        let context = super.newBackgroundContext()
        context.name = "background"
        context.transactionAuthor = "tests"
        context.undoManager = nil
        context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        return context
    }
}

/// A store that keeps what it was opened with.
private final class OptionStore: DictionaryStore {
    override class var typeName: String { "OptionStore" }
    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { ["place": url.path] }
    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw NSError(domain: "OptionStore", code: metadata?.count ?? 0)
    }
}

@Suite("Stacks set up as on Apple's platforms") struct StackTests {
    @Test("A description has Apple's defaults, keeps what is set, and copies it")
    func description() throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        #expect(description.shouldMigrateStoreAutomatically)
        #expect(description.shouldInferMappingModelAutomatically)
        expect(description.timeout, equals: 240)
        #expect(description.sqlitePragmas.isEmpty)
        #expect(!description.isReadOnly)
        #expect(!description.shouldAddStoreAsynchronously)
        description.shouldMigrateStoreAutomatically = false
        description.shouldInferMappingModelAutomatically = false
        description.timeout = 5
        description.setValue("WAL" as NSString, forPragmaNamed: "journal_mode")
        description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
        description.setValue(nil, forPragmaNamed: "journal_mode")
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        description.setOption("complete" as NSString, forKey: NSPersistentStoreFileProtectionKey)
        description.configuration = "Cloud"
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        for description in [description, copy] {
            #expect(!description.shouldMigrateStoreAutomatically)
            #expect(!description.shouldInferMappingModelAutomatically)
            expect(description.timeout, equals: 5)
            expect(description.sqlitePragmas, equals: ["synchronous": "FULL" as NSString])
            expect(description.configuration, equals: "Cloud")
            expect(
                Set(description.options.keys),
                equals: [
                    NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption, NSPersistentStoreTimeoutOption,
                    NSSQLitePragmasOption, NSPersistentHistoryTrackingKey, NSPersistentStoreRemoteChangeNotificationPostOptionKey,
                    NSPersistentStoreFileProtectionKey,
                ])
        }
        copy.timeout = 6
        expect(description.timeout, equals: 5)
    }

    @Test("A store of one's own is given the options of its description; the one in memory opens whatever they are")
    func options() throws {
        NSPersistentStoreCoordinator.registerStoreClass(OptionStore.self, type: NSPersistentStore.StoreType(rawValue: "OptionStore"))
        let container = NSPersistentContainer(name: "Music", managedObjectModel: Music.model())
        let memory = NSPersistentStoreDescription()
        memory.type = NSInMemoryStoreType
        let own = NSPersistentStoreDescription()
        own.type = "OptionStore"
        for description in [memory, own] {
            description.timeout = 7
            description.setValue("1" as NSString, forPragmaNamed: "foreign_keys")
            description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        }
        container.persistentStoreDescriptions = [memory, own]
        var errors: [any Error] = []
        container.loadPersistentStores { _, error in if let error { errors.append(error) } }
        #expect(errors.isEmpty)
        let options = try #require(container.persistentStoreCoordinator.persistentStores.last?.options)
        expect(options[NSPersistentStoreTimeoutOption] as? Int, equals: 7)
        expect((options[NSSQLitePragmasOption] as? NSDictionary)?["foreign_keys"] as? String, equals: "1")
        expect(options[NSMigratePersistentStoresAutomaticallyOption] as? Bool, equals: true)
        expect(options[NSPersistentHistoryTrackingKey] as? Bool, equals: true)
    }

    @Test("A container can be subclassed; its default place is a folder of the program")
    func container() async throws {
        #expect(NSPersistentContainer.defaultDirectoryURL().isFileURL)
        expect(NSPersistentContainer.defaultDirectoryURL().lastPathComponent, equals: ProcessInfo.processInfo.processName)
        expect(Container.defaultDirectoryURL(), equals: Container.folder)
        let container = Container(name: "Music", managedObjectModel: Music.model())
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        expect(context.name, equals: "background")
        expect(context.concurrencyType, equals: .privateQueueConcurrencyType)
        #expect(context.persistentStoreCoordinator === container.persistentStoreCoordinator)
        let id = try await container.performBackgroundTask { @Sendable context in
            let album = Album(context: context)
            album.title = "Trust"
            try context.save()
            return album.objectID
        }
        let title = try await context.perform { @Sendable in (try context.existingObject(with: id) as? Album)?.title }
        expect(title, equals: "Trust")
    }

    @Test("A coordinator tells before and after a store goes, gives stores places, and knows the metadata of those that are not open")
    func coordinator() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let type = NSPersistentStore.StoreType(rawValue: "OptionStore")
        NSPersistentStoreCoordinator.registerStoreClass(OptionStore.self, type: type)
        let places = ["a", "b"].map { URL(fileURLWithPath: "/tmp/\($0)") }
        let store = try coordinator.addPersistentStore(type: type, configuration: nil, at: places[0], options: nil)
        #expect(coordinator.persistentStore(for: places[0]) === store)
        #expect(coordinator.setURL(places[1], for: store))
        expect(coordinator.url(for: store), equals: places[1])
        #expect(coordinator.persistentStore(for: places[0]) == nil)
        let memory = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(!coordinator.setURL(places[1], for: memory))
        nonisolated(unsafe) var told: [String] = []
        let center = NotificationCenter.default
        let tokens = [
            center.addObserver(forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: memory, queue: nil) { notification in
                told.append("will \((notification.object as? NSPersistentStore)?.persistentStoreCoordinator != nil)")
            },
            center.addObserver(forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil) { notification in
                let removed = notification.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore]
                told.append("did \(removed?.count ?? 0)")
            },
        ]
        defer { tokens.forEach(center.removeObserver) }
        try coordinator.remove(memory)
        expect(told, equals: ["will true", "did 1"])
        #expect(!coordinator.setURL(places[0], for: memory))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: places[0])
        expect(metadata["place"] as? String, equals: "/tmp/a")
        let error = failure { try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: type, at: places[0]) }
        expect(error?.domain, equals: "OptionStore")
    }

    @Test("A context over stores without generations is told to hold on to one, and goes on; a child's is an error")
    func generations() throws {
        try withMusic { context in
            try context.setQueryGenerationFrom(.current)
            #expect(context.queryGenerationToken == nil)
            try context.saveBand("Low")
            try expect(context.all(Band.self).count, equals: 1)
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            let error = failure { try child.performAndWait { try child.setQueryGenerationFrom(.current) } }
            expect(error?.code, equals: NSCoreDataError)
        }
    }

    @Test("Codes and keys of errors are Apple's")
    func codes() {
        let codes = [
            NSManagedObjectConstraintValidationError: 1551, NSMigrationError: 134110, NSMigrationCancelledError: 134120,
            NSMigrationMissingSourceModelError: 134130, NSMigrationMissingMappingModelError: 134140,
            NSMigrationManagerSourceStoreError: 134150, NSMigrationManagerDestinationStoreError: 134160,
            NSEntityMigrationPolicyError: 134170, NSInferredMappingModelError: 134190, NSExternalRecordImportError: 134200,
            NSPersistentHistoryTokenExpiredError: 134301,
        ]
        #expect(codes.allSatisfy { $0 == $1 })
        expect(NSInvalidatedObjectsKey, equals: NSManagedObjectContext.NotificationKey.invalidatedObjects.rawValue)
        expect(NSInvalidatedAllObjectsKey, equals: NSManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue)
    }
}
