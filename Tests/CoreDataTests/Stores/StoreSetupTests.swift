import CoreData
import TestSupport
import Testing

/// A store that loads no metadata of its own.
private final class SilentStore: NSIncrementalStore {
    override func loadMetadata() throws {}
}

/// A store that meets another thread that adds a store at the same place, while it loads its metadata.
private final class MeetingStore: NSIncrementalStore {
    static let rivals = Guarded<[NSError?]>([])
    override func loadMetadata() throws {
        let (coordinator, url) = (persistentStoreCoordinator!, url!)
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let error = failure { try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: url) }
            MeetingStore.rivals.withValue { $0.append(error) }
            isDone.signal()
        }
        isDone.wait()
    }
}

private final class UnwritableStore: NSIncrementalStore {
    override func loadMetadata() throws { throw NSError(domain: "place", code: 13) }
}

@Suite("Adding a store") struct StoreSetupTests {
    private func failureOfAdding(_ options: [AnyHashable: Any]) throws -> NSError {
        try #require(failure { _ = try DictionaryStore.make(options: options) })
    }

    @Test("A store without metadata gets those that follow from its type and URL: the same whenever the place is opened")
    func basicMetadata() throws {
        func uuid(_ type: String, _ path: String) throws -> String {
            NSPersistentStoreCoordinator.registerStoreClass(SilentStore.self, forStoreType: type)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
            let url = try #require(URL(string: path))
            let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
            expect(store.type, equals: type)
            let entity = try #require(coordinator.managedObjectModel.entitiesByName["Band"])
            let uri = (store as? SilentStore)?.newObjectID(for: entity, referenceObject: "low").uriRepresentation()
            expect(uri?.absoluteString, equals: "x-coredata://\(store.identifier!)/Band/plow")
            return store.identifier
        }
        let first = try uuid("SilentStore", "https://music.example/bands")
        #expect(UUID(uuidString: first) != nil)
        try expect(uuid("SilentStore", "https://music.example/bands"), equals: first)
        try expect(uuid("SilentStore", "https://music.example/albums/../bands"), equals: first)
        #expect(try uuid("SilentStore", "https://music.example/albums") != first)
        #expect(try uuid("OtherSilentStore", "https://music.example/bands") != first)
        // Written down, for URIs that programs have kept must hold in later versions.
        try expect(uuid("SilentStore", "file:///nowhere/bands"), equals: "DC3F1FAA-36BB-8913-82DB-ACDAB4EB8453")
    }

    @Test("Metadata with one of the two keys are no less an error where the store has a URL")
    func halfMetadata() throws {
        for metadata in [[NSStoreUUIDKey: "1"], [NSStoreTypeKey: DictionaryStore.typeName], [:]] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
            NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: DictionaryStore.typeName)
            let error = failure {
                try coordinator.addPersistentStore(
                    ofType: DictionaryStore.typeName, configurationName: nil, at: URL(fileURLWithPath: "/nowhere/half"),
                    options: ["metadata": metadata])
            }
            expect(error?.code, equals: NSPersistentStoreOperationError)
            // The place is free again.
            #expect(
                failure {
                    try coordinator.addPersistentStore(
                        ofType: NSInMemoryStoreType, configurationName: nil, at: URL(fileURLWithPath: "/nowhere/half"))
                } == nil)
        }
    }

    @Test("While a store is being opened, another thread cannot add one at its place, and need not wait to hear so")
    func reservation() throws {
        NSPersistentStoreCoordinator.registerStoreClass(MeetingStore.self, forStoreType: "MeetingStore")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let url = URL(fileURLWithPath: "/nowhere/meeting")
        let store = try coordinator.addPersistentStore(ofType: "MeetingStore", configurationName: nil, at: url)
        expect(MeetingStore.rivals.withValue { $0.map { $0?.code } }, equals: [NSPersistentStoreOpenError])
        expect(coordinator.persistentStores, equals: [store])
    }

    @Test("Metadata may be read while another thread sets them")
    func metadataOnThreads() throws {
        let (store, coordinator) = try DictionaryStore.make()
        nonisolated(unsafe) let shared = store
        try onOwnThreads(4) { thread in
            for number in 0..<500 {
                if thread == 0 {
                    var metadata = coordinator.metadata(for: shared)
                    metadata["number"] = number
                    coordinator.setMetadata(metadata, for: shared)
                } else {
                    expect(coordinator.metadata(for: shared)[NSStoreTypeKey] as? String, equals: DictionaryStore.typeName)
                }
            }
        }
        expect(store.metadata["number"] as? Int, equals: 499)
    }

    @Test("A store without metadata and without a URL is an error that names the method")
    func noMetadata() throws {
        NSPersistentStoreCoordinator.registerStoreClass(SilentStore.self, forStoreType: "SilentStore")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let error = try #require(
            failure { try coordinator.addPersistentStore(ofType: "SilentStore", configurationName: nil, at: nil) })
        expect(error.code, equals: NSPersistentStoreOperationError)
        #expect(error.localizedDescription.contains("loadMetadata()"))
        #expect(error.localizedDescription.contains("no metadata"))
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test("Metadata without a UUID are an error that names the key")
    func noUUID() throws {
        for metadata in [[NSStoreTypeKey: DictionaryStore.typeName], [NSStoreTypeKey: DictionaryStore.typeName, NSStoreUUIDKey: ""]] {
            let error = try failureOfAdding(["metadata": metadata])
            expect(error.code, equals: NSPersistentStoreOperationError)
            #expect(error.localizedDescription.contains("loadMetadata()"))
            #expect(error.localizedDescription.contains("NSStoreUUIDKey"))
        }
    }

    @Test("Metadata without a type are an error that names the key")
    func noType() throws {
        let error = try failureOfAdding(["metadata": [NSStoreUUIDKey: "1"]])
        expect(error.code, equals: NSPersistentStoreOperationError)
        #expect(error.localizedDescription.contains("NSStoreTypeKey"))
    }

    @Test("Metadata of another type are an error that names both")
    func wrongType() throws {
        let error = try failureOfAdding(["metadata": [NSStoreUUIDKey: "1", NSStoreTypeKey: "Other"]])
        expect(error.code, equals: NSPersistentStoreTypeMismatchError)
        #expect(error.localizedDescription.contains("Other"))
        #expect(error.localizedDescription.contains(DictionaryStore.typeName))
    }

    @Test("An unknown type is an error that names it")
    func unknownType() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let error = try #require(failure { try coordinator.addPersistentStore(ofType: "Nowhere", configurationName: nil, at: nil) })
        expect(error.code, equals: NSPersistentStoreInvalidTypeError)
        #expect(error.localizedDescription.contains("Nowhere"))
    }

    @Test("The store's own error reaches the caller as it is")
    func ownError() throws {
        NSPersistentStoreCoordinator.registerStoreClass(UnwritableStore.self, forStoreType: "UnwritableStore")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let error = try #require(
            failure { try coordinator.addPersistentStore(ofType: "UnwritableStore", configurationName: nil, at: nil) })
        expect(error.domain, equals: "place")
        expect(error.code, equals: 13)
    }

    @Test("A class that is not a store stops the program when it is registered")
    func noStoreClass() async {
        await #expect(processExitsWith: .failure) {
            NSPersistentStoreCoordinator.registerStoreClass(NSManagedObject.self, forStoreType: "Wrong")
        }
    }

    @Test("A type that is taken away is unknown again")
    func unregister() throws {
        NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: "Passing")
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Passing"] == DictionaryStore.self)
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Passing")
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Passing"] == nil)
    }

    @Test("Metadata are loaded once, and known by the coordinator")
    func metadata() throws {
        let (store, coordinator) = try DictionaryStore.make()
        expect(store.calls, equals: ["loadMetadata"])
        expect(coordinator.metadata(for: store)[NSStoreUUIDKey] as? String, equals: store.identifier)
        expect(store.type, equals: DictionaryStore.typeName)
        #expect(store.persistentStoreCoordinator === coordinator)
    }

    @Test("One place or one UUID cannot be open twice")
    func twice() throws {
        let coordinator = try Music.coordinator()
        let url = URL(fileURLWithPath: "/nowhere/music")
        let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: url)
        #expect(coordinator.persistentStore(for: url) === store)
        #expect(failure { try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: url) } != nil)
        let metadata: [AnyHashable: Any] = ["metadata": [NSStoreUUIDKey: "one", NSStoreTypeKey: DictionaryStore.typeName]]
        let (_, other) = try DictionaryStore.make(options: metadata)
        let again = failure {
            try other.addPersistentStore(ofType: DictionaryStore.typeName, configurationName: nil, at: nil, options: metadata)
        }
        expect(again?.localizedDescription.contains("one"), equals: true)
    }

    @Test("A store that is removed answers no more, and says so")
    func remove() throws {
        let coordinator = try Music.coordinator()
        let context = Music.context(coordinator)
        let store = try #require(coordinator.persistentStores.first)
        let band = try context.performAndWait { try context.saveBand("Low") }
        try coordinator.remove(store)
        #expect(coordinator.persistentStores.isEmpty)
        expect(failure { try coordinator.remove(store) }?.code, equals: NSPersistentStoreOperationError)
        context.performAndWait {
            #expect(failure { _ = try context.all(Band.self) } != nil)
            band.name = "High"
            #expect(failure { try context.save() } != nil)
            expect(context.updatedObjects, equals: [band])
        }
    }

    @Test("A container opens its stores and hands out contexts")
    func container() async throws {
        let container = NSPersistentContainer(name: "Music", managedObjectModel: Music.model())
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        var failures: [(any Error)?] = []
        container.loadPersistentStores { failures.append($1) }
        expect(failures.count, equals: 1)
        #expect(failures.allSatisfy { $0 == nil })
        try await container.performBackgroundTask { context in
            Tag(context: context).label = "slow"
            try context.save()
        }
        let context = container.newBackgroundContext()
        let labels = try await context.perform { try context.all(Tag.self).map(\.label) }
        expect(labels, equals: ["slow"])
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test("A container tells of a store that cannot be opened")
    func containerFailure() throws {
        let container = NSPersistentContainer(name: "Music", managedObjectModel: Music.model())
        let description = NSPersistentStoreDescription()
        description.type = "Nowhere"
        container.persistentStoreDescriptions = [description]
        var codes: [Int?] = []
        container.loadPersistentStores { codes.append(($1 as NSError?)?.code) }
        expect(codes, equals: [NSPersistentStoreInvalidTypeError])
    }
}
