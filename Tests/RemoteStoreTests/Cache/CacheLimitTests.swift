import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// What a cache removes, and what it keeps.
@Suite("Cache: limits") struct CacheLimitTests {
    @Test("Beyond the limit what was not used for the longest goes first, never what a context has; it is asked for again")
    func limits() throws {
        let shop = try CachedShop(.immutable)
        try expect(shop.context.texts(fetchRequest("Album", "year < 1970", by: ["year"])).count, equals: 2)
        shop.clock.advance(by: .seconds(10))
        let kept = try shop.context.performAndWait { try shop.context.fetch(fetchRequest("Album", "year == 1965")) }
        try expect(shop.context.texts(fetchRequest("Album", "year >= 1970", by: ["year"])).count, equals: 3)
        try expect(shop.store.removeUnused(), equals: 0)
        let limited = try CachedShop(.immutable, backend: shop.backend) { $0.maximumObjects = 3 }
        let held = try limited.context.performAndWait { try limited.context.fetch(fetchRequest("Album", "year == 1965")) }
        limited.clock.advance(by: .seconds(10))
        try expect(limited.coordinator.context().texts(fetchRequest("Album", "year >= 1966")).count, equals: 4)
        _ = try limited.store.removeUnused()
        let cached = fetchRequest("Album", by: ["year"])
        cached.cachePolicy = .cacheOnly
        let left = try limited.coordinator.context().texts(cached)
        expect(left.count, equals: 3)
        expect(left.first, equals: "Help!")
        // Nothing is claimed that is not there.
        limited.backend.forgetRequests()
        try expect(limited.coordinator.context().texts(fetchRequest("Album", by: ["year"])).count, equals: 5)
        #expect(!limited.backend.requests.isEmpty)
        withExtendedLifetime((kept, held)) {}
    }

    @Test(
        "Beyond a size what was not used for the longest goes first, with its files, never what is pending or shown; the file gets smaller")
    func bytes() throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("photos.sqlite")
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let model = UploadWorld.model()
        let server = UploadServer()
        for number in 1...30 {
            let text = String(repeating: "x", count: 20_000)
            server.shelf.put("Photo", number, ["title": .init("\(number) \(text)"), "content": .init(UploadWorld.bytes(150 << 10))])
        }
        let clock = ManualClock()
        var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12), clock: clock)
        options.sendsAutomatically = false
        func size() throws -> Int {
            var total = 0
            let folder = url.deletingLastPathComponent()
            for name in try #require(FileManager.default.enumerator(atPath: folder.path)) {
                let file = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("\(name)").path)
                if file[.type] as? FileAttributeType == .typeRegular { total += (file[.size] as? NSNumber)?.intValue ?? 0 }
            }
            return total
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addCachedStore(server, at: url, options: options)
        let context = coordinator.context()
        let (pending, used) = try context.performAndWait {
            let photos = try context.fetch(fetchRequest("Photo"))
            let first = try #require(photos.first { ($0.value(forKey: "title") as? String)?.hasPrefix("1 ") ?? false })
            first.setValue("edited", forKey: "title")
            try context.save()
            let last = try #require(photos.first { ($0.value(forKey: "title") as? String)?.hasPrefix("2 ") ?? false })
            return (first.objectID, last.objectID)
        }
        let before = try size()
        #expect(before > 5_000_000)
        try coordinator.remove(store)

        clock.advance(by: .seconds(4000))
        options.maximumBytes = 2_000_000
        let later = NSPersistentStoreCoordinator(managedObjectModel: model)
        let limited = try later.addCachedStore(server, at: url, options: options)
        let viewer = later.context()
        let shown = try viewer.performAndWait {
            try viewer.existingObject(with: #require(later.managedObjectID(forURIRepresentation: used.uriRepresentation())))
        }
        #expect(try limited.removeUnused() > 15)
        #expect(try size() < 2_200_000)
        #expect(try size() > 1_000_000)
        try expect(limited.pendingCount(), equals: 1)
        server.shelf.script { _ in .fail(ServiceFailure("offline")) }
        let other = later.context()
        try other.performAndWait {
            let edited = try other.existingObject(with: #require(later.managedObjectID(forURIRepresentation: pending.uriRepresentation())))
            expect(edited.value(forKey: "title") as? String, equals: "edited")
            expect((edited.value(forKey: "content") as? Data)?.count, equals: 150 << 10)
        }
        viewer.performAndWait { expect((shown.value(forKey: "content") as? Data)?.count, equals: 150 << 10) }
        try expect(limited.removeUnused(), equals: 0)
    }

    @Test("An object that others refer to leaves its identity, and is read again as a fault")
    func references() throws {
        let shop = try CachedShop(.immutable) { $0.maximumAge = 100 }
        try expect(shop.context.texts(fetchRequest("Band"), "name").count, equals: 2)
        shop.clock.advance(by: .seconds(90))
        let band = try #require(try shop.store.objectID(for: 1, entityName: "Band"))
        try expect(shop.context.texts(fetchRequest("Album")).count, equals: 5)
        shop.clock.advance(by: .seconds(20))
        shop.context.performAndWait { shop.context.reset() }
        _ = try shop.store.removeUnused()
        try shop.context.performAndWait {
            let album = try #require(shop.context.fetch(fetchRequest("Album", "year == 1965")).first)
            let found = try #require(album.value(forKey: "band") as? NSManagedObject)
            expect(found.objectID, equals: band)
            expect(found.value(forKey: "name") as? String, equals: "The Beatles")
        }
    }

    @Test("Users have files of their own, and a wiped cache has nothing")
    func users() throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        let cached = fetchRequest("Album")
        cached.cachePolicy = .cacheOnly
        let anna = try CachedShop(at: url, .networkOnly) { $0.user = "anna@example.org" }
        try expect(anna.context.texts(fetchRequest("Album")).count, equals: 5)
        let bert = try CachedShop(at: url) { $0.user = "bert" }
        try expect(bert.context.texts(cached), equals: [])
        try expect(anna.context.texts(cached).count, equals: 5)
        try anna.store.wipe()
        try expect(anna.context.texts(cached), equals: [])
        anna.goOffline()
        #expect(throws: (any Error).self) { try anna.context.texts(fetchRequest("Album")) }
    }

    @Test("A cache of an earlier model keeps what both have")
    func migration() throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        let first = try CachedShop(at: url, .networkOnly)
        try expect(first.context.texts(fetchRequest("Album")).count, equals: 5)
        try first.coordinator.remove(first.store)
        let model = Shop.model()
        let album = try #require(model.entitiesByName["Album"])
        album.properties = album.properties + [NSAttributeDescription(name: "label", type: .string)]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let backend = ScriptedBackend(model, CachedShop.resources(model))
        backend.put("Album", 1, ["title": "Help!", "year": .value(.int64(1965)), "label": "Parlophone"])
        try coordinator.addCachedStore(backend, at: url, options: CachedStoreOptions(defaultPolicy: .immutable))
        let context = coordinator.context()
        try expect(context.texts(fetchRequest("Album", "year < 1990", by: ["year"])), equals: ["Help!", "Revolver", "Let It Be"])
        #expect(backend.requests.isEmpty)
        // What the file does not know is asked for.
        try expect(context.texts(fetchRequest("Album", "label == 'Parlophone'")), equals: ["Help!"])
        #expect(!backend.requests.isEmpty)
    }
}
