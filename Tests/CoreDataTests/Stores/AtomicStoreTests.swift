import CoreData
import TestSupport
import Testing

@Suite("An atomic store") struct AtomicStoreTests {
    /// A disk with a band and two albums.
    private func disk() -> FakeDisk {
        let disk = FakeDisk()
        disk.records = [
            FakeDisk.Record(entity: "Band", key: "1", values: ["name": "Low"], related: ["albums": ["Album/1", "Album/2"]]),
            FakeDisk.Record(entity: "Album", key: "1", values: ["title": "Trust", "year": 2002], related: ["band": ["Band/1"]]),
            FakeDisk.Record(entity: "Album", key: "2", values: ["title": "Secret", "year": 2001], related: ["band": ["Band/1"]]),
        ]
        return disk
    }

    private func run(_ disk: FakeDisk, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let context = Music.context(try ListStore.coordinator(disk))
        try context.performAndWait { try body(context) }
    }

    @Test("It is loaded when it is added, and answers from its nodes")
    func load() throws {
        try run(disk()) { context in
            let albums = try context.all(Album.self, "band.name == 'Low' AND year > 2001")
            expect(albums.map(\.title), equals: ["Trust"])
            try expect(context.all(Album.self, by: "title").map(\.title), equals: ["Secret", "Trust"])
            try expect(context.count(for: NSFetchRequest<Album>(entityName: "Album")), equals: 2)
            let band = try #require(try context.all(Band.self).first)
            expect(Set(band.albums.map(\.title)), equals: ["Trust", "Secret"])
            #expect(albums.first?.band === band)
        }
    }

    @Test("Inserts, edits and deletes are written whole, once each save, and read again")
    func write() throws {
        let disk = disk()
        try run(disk) { context in
            let band = try #require(try context.all(Band.self).first)
            let new = Album(context: context)
            new.title = "New"
            new.band = band
            new.tags = [Tag(context: context), Tag(context: context)]
            try #require(try context.all(Album.self, "title == 'Trust'").first).title = "Distrust"
            context.delete(try #require(try context.all(Album.self, "title == 'Secret'").first))
            try context.save()
            expect(disk.writes, equals: 1)
            #expect(!new.objectID.isTemporaryID)
            let store = context.persistentStoreCoordinator?.persistentStores.first as? ListStore
            expect(store?.removed, equals: 1)
            expect(Set(band.albums.map(\.title)), equals: ["Distrust", "New"])
        }
        expect(disk.records.map(\.entity).sorted(), equals: ["Album", "Album", "Band", "Tag", "Tag"])
        try run(disk) { context in
            let band = try #require(try context.all(Band.self).first)
            expect(Set(band.albums.map(\.title)), equals: ["Distrust", "New"])
            #expect(band.albums.allSatisfy { $0.band === band })
            let new = try #require(band.albums.first { $0.title == "New" })
            expect(new.tags.count, equals: 2)
            #expect(new.tags.allSatisfy { ($0.value(forKey: "albums") as? Set<NSManagedObject>) == [new] })
            expect(new.year, equals: 2001)
        }
    }

    @Test("A failed write leaves store and context as they were")
    func failedSave() throws {
        let disk = disk()
        let coordinator = try ListStore.coordinator(disk)
        let context = Music.context(coordinator)
        try context.performAndWait {
            let band = try #require(try context.all(Band.self).first)
            let new = Album(context: context)
            new.band = band
            band.name = "High"
            let doomed = try #require(band.albums.first { $0.title == "Trust" })
            context.delete(doomed)
            disk.full = true
            expect(failure { try context.save() }?.domain, equals: "disk")
            expect(context.insertedObjects, equals: [new])
            expect(context.updatedObjects, equals: [band])
            expect(context.deletedObjects, equals: [doomed])
            #expect(new.objectID.isTemporaryID)
            let other = Music.context(coordinator)
            try other.performAndWait {
                let bands = try other.all(Band.self)
                expect(bands.map(\.name), equals: ["Low"])
                expect(Set(bands.first?.albums.map(\.title) ?? []), equals: ["Trust", "Secret"])
                try expect(other.all(Album.self).count, equals: 2)
            }
            disk.full = false
            try context.save()
            expect(Set(band.albums.map(\.title)), equals: ["Secret", "Untitled"])
        }
        expect(disk.records.filter { $0.entity == "Album" }.count, equals: 2)
        expect(disk.records.first { $0.entity == "Band" }?.values["name"] as? String, equals: "High")
    }

    @Test("Ordered relationships keep their order through the file")
    func ordered() throws {
        let disk = disk()
        try run(disk) { context in
            let album = try #require(try context.all(Album.self, by: "title").first)
            album.tracks = NSOrderedSet(array: ["c", "a", "b"].map { context.insert("Track", ["title": $0]) })
            try context.save()
        }
        try run(disk) { context in
            let album = try #require(try context.all(Album.self, by: "title").first)
            let titles = album.tracks?.array.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
            expect(titles, equals: ["c", "a", "b"])
        }
    }

    @Test("A relationship set to nil is nil in the file")
    func toNil() throws {
        let disk = disk()
        try run(disk) { context in
            for album in try context.all(Album.self) { album.band = nil }
            try context.save()
        }
        #expect(disk.records.allSatisfy { $0.related.values.allSatisfy(\.isEmpty) })
        try run(disk) { context in
            let albums = try context.all(Album.self)
            #expect(albums.allSatisfy { $0.band == nil })
        }
    }

    @Test("Two contexts conflict as over any store")
    func conflict() throws {
        let coordinator = try ListStore.coordinator(disk())
        let first = Music.context(coordinator)
        let second = Music.context(coordinator)
        let band = try second.performAndWait { () -> Band in
            let band = try #require(try second.all(Band.self).first)
            band.name = "Mine"
            return band
        }
        try first.performAndWait {
            try #require(try first.all(Band.self).first).name = "Theirs"
            try first.save()
        }
        try second.performAndWait {
            expect(failure { try second.save() }?.code, equals: NSManagedObjectMergeError)
            second.refresh(band, mergeChanges: true)
            try second.save()
        }
        try first.performAndWait {
            first.refreshAllObjects()
            let names = try first.all(Band.self).map(\.name)
            expect(names, equals: ["Mine"])
        }
    }

    @Test("A node with a wrong key or value makes adding the store fail, and names it")
    func wrongNodes() throws {
        for (key, value) in [("colour", 1), ("year", "2001")] as [(String, any Sendable)] {
            let disk = FakeDisk()
            disk.records = [FakeDisk.Record(entity: "Album", key: "1", values: [key: value], related: [:])]
            let error = try #require(failure { _ = try ListStore.coordinator(disk) })
            expect(error.code, equals: NSPersistentStoreOperationError)
            #expect(error.localizedDescription.contains(key))
        }
    }

    @Test("A store that overrides nothing says which method is missing")
    func bareStore() throws {
        final class BareStore: NSAtomicStore {
            override func loadMetadata() throws { metadata = [NSStoreUUIDKey: "bare", NSStoreTypeKey: "BareStore"] }
        }
        NSPersistentStoreCoordinator.registerStoreClass(BareStore.self, forStoreType: "BareStore")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let error = try #require(failure { try coordinator.addPersistentStore(ofType: "BareStore", configurationName: nil, at: nil) })
        expect(error.code, equals: NSPersistentStoreOperationError)
        #expect(error.localizedDescription.contains("load()"))
        #expect(coordinator.persistentStores.isEmpty)
    }
}
