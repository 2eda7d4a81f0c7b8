import CoreData
import TestSupport
import Testing

@Suite("An object ID") struct ObjectIDTests {
    @Test("It is temporary until the save, permanent afterwards, and the old one still finds the object")
    func temporaryToPermanent() throws {
        try withMusic { context in
            let band = Band(context: context)
            band.name = "Low"
            let temporary = band.objectID
            #expect(temporary.isTemporaryID)
            #expect(temporary.persistentStore == nil)
            #expect(context.registeredObject(for: temporary) === band)
            try context.save()
            let permanent = band.objectID
            #expect(!permanent.isTemporaryID)
            #expect(permanent != temporary)
            #expect(permanent.persistentStore === context.persistentStoreCoordinator?.persistentStores.first)
            #expect(permanent.entity === band.entity)
            #expect(context.object(with: temporary) === band)
            #expect(context.object(with: permanent) === band)
        }
    }

    @Test("IDs are equal, with equal hashes, across contexts, and differ between objects")
    func equality() throws {
        try withTwoContexts { first, second in
            let ids = try first.performAndWait {
                _ = try first.saveBand("Low")
                _ = try first.saveBand("Duster")
                return try first.all(Band.self, by: "name").map(\.objectID)
            }
            let others = try second.performAndWait { try second.all(Band.self, by: "name").map(\.objectID) }
            expect(ids, equals: others)
            expect(ids.map(\.hash), equals: others.map(\.hash))
            expect(Set(ids + others).count, equals: 2)
            #expect(ids[0] != ids[1])
            #expect(!ids[0].isEqual("text"))
            #expect(ids[0].copy() as? NSManagedObjectID === ids[0])
        }
    }

    @Test("Two temporary IDs differ")
    func temporaryIDs() throws {
        try withMusic { context in
            #expect(Band(context: context).objectID != Band(context: context).objectID)
        }
    }

    static let keys: [any Sendable & Hashable] = [
        1, 0, -1, Int64.max, Int64.min, "1", "-1", "007", "+1", "9223372036854775808", "text", "a/b", "100%", "%41", "%2541", "ä €",
        "👩‍👩‍👧‍👦", " ", "a b", "?q=1#f", "p1", UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF")!,
        "6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "..", "tab\tnewline\n",
    ]

    @Test("A URI finds the same ID again, and the key keeps its type")
    func uris() throws {
        let (store, coordinator) = try DictionaryStore.make()
        var seen: [URL: AnyHashable] = [:]
        for key in Self.keys {
            let id = store.newObjectID(for: store.entity("Band"), referenceObject: key)
            let uri = id.uriRepresentation()
            expect(uri.scheme, equals: "x-coredata")
            expect(uri.host, equals: store.identifier)
            if let twin = seen.updateValue(AnyHashable(key), forKey: uri) { Issue.record("\(key) and \(twin) share \(uri)") }
            let found = try #require(coordinator.managedObjectID(forURIRepresentation: uri), "\(key)")
            expect(found, equals: id, "\(key)")
            expect(found.hash, equals: id.hash)
            #expect(found.entity === id.entity)
            let reference = store.referenceObject(for: found)
            switch key {
            case let text as String: expect(reference as? String, equals: text)
            case let uuid as UUID: expect(reference as? UUID, equals: uuid)
            default: #expect(reference is NSNumber)
            }
        }
    }

    @Test("Empty text is a key, too")
    func emptyKey() throws {
        let (store, coordinator) = try DictionaryStore.make()
        let id = store.newObjectID(for: store.entity("Band"), referenceObject: "")
        expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()), equals: id)
        expect(coordinator.managedObjectID(for: id.uriRepresentation().absoluteString), equals: id)
        #expect(coordinator.managedObjectID(for: "") == nil && coordinator.managedObjectID(for: "no URI") == nil)
    }

    @Test("IDs made twice for one key are equal; another type of key or entity makes another")
    func sameKey() throws {
        let (store, coordinator) = try DictionaryStore.make()
        defer { withExtendedLifetime(coordinator) {} }
        let band = store.entity("Band")
        expect(store.newObjectID(for: band, referenceObject: 1), equals: store.newObjectID(for: band, referenceObject: NSNumber(value: 1)))
        #expect(store.newObjectID(for: band, referenceObject: 1) != store.newObjectID(for: band, referenceObject: "1"))
        #expect(store.newObjectID(for: band, referenceObject: 1) != store.newObjectID(for: store.entity("Album"), referenceObject: 1))
    }

    @Test("What is not a URI of an object of these stores finds nothing")
    func foreignURIs() throws {
        let coordinator = try Music.coordinator()
        let uuid = try #require(coordinator.persistentStores.first?.identifier)
        for text in [
            "https://example.com/Band/p1", "x-coredata://\(UUID().uuidString)/Band/p1", "x-coredata://\(uuid)/Nothing/p1",
            "x-coredata://\(uuid)/Band/t1", "x-coredata://\(uuid)/Band", "x-coredata://\(uuid)/Band/p1/2", "x-coredata:///Band/p1",
        ] {
            #expect(coordinator.managedObjectID(forURIRepresentation: URL(string: text)!) == nil, "\(text)")
        }
        #expect(coordinator.managedObjectID(forURIRepresentation: URL(string: "x-coredata://\(uuid)/Band/p1")!) != nil)
    }

    @Test("A store with the same UUID resolves the URIs of an earlier one")
    func anotherRun() throws {
        let metadata: [String: Any] = [NSStoreUUIDKey: "fixed", NSStoreTypeKey: DictionaryStore.typeName]
        let (first, before) = try DictionaryStore.make(options: ["metadata": metadata])
        let uri = first.newObjectID(for: first.entity("Band"), referenceObject: "Löw").uriRepresentation()
        let (second, after) = try DictionaryStore.make(options: ["metadata": metadata])
        expect(after.managedObjectID(forURIRepresentation: uri).map { second.referenceObject(for: $0) as? String }, equals: "Löw")
        withExtendedLifetime(before) {}
    }

    @Test("A key that is not text, whole number or UUID stops the program with a message")
    func badKeys() async {
        await #expect(processExitsWith: .failure) {
            let (store, coordinator) = try DictionaryStore.make()
            _ = store.newObjectID(for: store.entity("Band"), referenceObject: 1.5)
            withExtendedLifetime(coordinator) {}
        }
    }

    @Test("IDs and objects outlive their context, store and model")
    func outliving() throws {
        func ids() throws -> (ids: [NSManagedObjectID], objects: [NSManagedObject]) {
            try withMusic { context in
                let objects = [context.insert("Duo", ["name": "Low"]), context.insert("Duo", ["name": "High"])]
                try context.save()
                return (objects.map(\.objectID) + objects.map(\.objectID), objects)
            }
        }
        let left = try ids()
        expect(Set(left.ids).count, equals: 2)
        #expect(left.ids[0] != left.ids[1])
        expect(left.ids[0].entity.name, equals: "Duo")
        #expect(left.ids[0].persistentStore == nil)
        expect(left.objects.map { $0.value(forKey: "name") as? String }, equals: ["Low", "High"])
        #expect(left.objects[0].entity.superentity == nil)
    }

    @Test("IDs cross to other tasks and find their objects there")
    func sendable() async throws {
        let coordinator = try Music.coordinator()
        let context = Music.context(coordinator)
        let id = try await context.perform { try context.saveBand("Low").objectID }
        let name = try await Task.detached {
            let other = Music.context(coordinator)
            return try await other.perform { (try other.existingObject(with: id) as? Band)?.name }
        }.value
        expect(name, equals: "Low")
    }

    @Test("The IDs of new objects differ, and are UUIDs of version 4")
    func temporaryURIs() throws {
        try withMusic { context in
            let uris = (0..<1000).map { _ in Band(context: context).objectID.uriRepresentation() }
            expect(Set(uris).count, equals: uris.count)
            for uri in uris {
                let uuid = try #require(UUID(uuidString: String(uri.lastPathComponent.dropFirst()))).uuid
                expect(uuid.6 >> 4, equals: 4)
                expect(uuid.8 >> 6, equals: 0b10)
            }
        }
    }
}
