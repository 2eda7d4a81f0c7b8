import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

/// What a save without changes does: it writes metadata, and is told as any other.
@Suite("Saves without changes") struct EmptySaveTests {
    private let place: Scratchpad

    init() throws { place = try Scratchpad() }

    @Test(
        "Metadata set on a store are written by the next save, with and without changes", arguments: ["SQLite", "XML", "Binary"],
        [true, false])
    func metadata(type: String, isChanged: Bool) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place.store)
        let context = Music.context(coordinator)
        var metadata = try #require(store.metadata)
        metadata["key"] = "value"
        store.metadata = metadata
        try context.performAndWait {
            if isChanged { _ = context.insert("Tag", ["label": "new"]) }
            try context.save()
        }
        let stored = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: place.store, options: nil)
        expect(stored["key"] as? String, equals: "value")
    }

    @Test("`saveAsynchronously()` without changes writes the metadata of a store, too")
    func metadataAsynchronously() async throws {
        let coordinator = try place.coordinator(Music.model())
        coordinator.persistentStores[0].metadata["key"] = "value"
        let context = Music.context(coordinator)
        try await context.saveAsynchronously()
        let stored = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: place.store, options: nil)
        expect(stored["key"] as? String, equals: "value")
    }

    @Test("Metadata that are as they were make a save write nothing")
    func unchangedMetadata() throws {
        let coordinator = try place.coordinator(Music.model())
        let context = Music.context(coordinator)
        _ = try context.performAndWait { try context.saveBand("Low") }
        func content() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: place.store.path + "-wal")) }
        let before = try content()
        try context.performAndWait { try context.save() }
        try expect(content(), equals: before)
    }

    private static let names: [Notification.Name] = [
        .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
    ]

    /// The notifications of a context while `body` runs, and how many objects each has.
    private func told(of context: NSManagedObjectContext, _ body: () async throws -> Void) async throws -> [String] {
        let found = GuardedState<[String]>([])
        let observers = Self.names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { note in
                let sets = (note.userInfo ?? [:]).values.compactMap { ($0 as? Set<AnyHashable>)?.count }
                found.withLock { $0.append("\(name.rawValue) \(sets.reduce(0, +))") }
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        try await body()
        return found.withLock { $0 }
    }

    @Test("A save without changes is told before and after, with no objects, also after a reset and in a child context")
    func notifications() async throws {
        let context = Music.context(try place.coordinator(Music.model()))
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        let wanted = Self.names.map { "\($0.rawValue) 0" }
        for saver in [context, child] {
            try await expect(told(of: saver) { try await saver.perform { try saver.save() } }, equals: wanted)
            try await expect(told(of: saver) { try await saver.saveAsynchronously() }, equals: wanted)
            let afterReset = try await told(of: saver) {
                try await saver.perform {
                    _ = saver.insert("Tag", ["label": "new"])
                    saver.reset()
                    try saver.save()
                }
            }
            expect(afterReset, equals: wanted)
        }
    }

    @Test("A save of objects whose values are as they were is told with no objects")
    func sameValues() async throws {
        let context = Music.context(try place.coordinator(Music.model()))
        _ = try await context.perform { try context.saveBand("Low").objectID }
        let found = try await told(of: context) {
            try await context.perform {
                let band = try context.all(Band.self)[0]
                band.name = "High"
                band.name = "Low"
                try context.save()
            }
        }
        expect(found, equals: Self.names.map { "\($0.rawValue) 0" })
    }

    // MARK: Stores in memory

    @Test("Metadata of an in-memory store have the version hashes of its entities")
    func hashes() throws {
        let model = Music.model()
        model.setEntities([model.entitiesByName["Tag"]!], forConfigurationName: "Tags")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        for url in [nil, place.store] {
            let store = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: url)
            #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: store.metadata))
            #expect(!NSManagedObjectModel().isConfiguration(withName: nil, compatibleWithStoreMetadata: store.metadata))
        }
        let part = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Tags", at: nil)
        expect((part.metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.keys.sorted(), equals: ["Tag"])
        #expect(model.isConfiguration(withName: "Tags", compatibleWithStoreMetadata: part.metadata))
    }
}
