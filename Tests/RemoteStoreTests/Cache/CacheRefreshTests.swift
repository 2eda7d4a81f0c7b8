@_spi(Stores) import CoreData
import Foundation
import RemoteStoreTesting
import TestSupport
import Testing

@testable import RemoteStore

/// What a refresh, and a number, cost: they touch what has changed, and read what is pending.
@Suite("Cache: refreshes") struct CacheRefreshTests {
    @Test("Of 10,000 objects of which 1% have changed, a refresh writes and tells those alone")
    func fewOfMany() async throws {
        let model = Shop.model()
        let backend = ScriptedBackend(model, CachedShop.resources(model))
        for id in 1...10_000 { backend.put("Album", id, ["title": .init("Album \(id)"), "year": .init(1950 + id % 70)]) }
        let commits = Guarded(0)
        let shop = try CachedShop(.networkOnly, backend: backend) { $0.countCommits { commits.withValue { $0 += 1 } } }
        shop.context.automaticallyMergesChangesFromParent = true
        let all = fetchRequest("Album")
        let albums = try await shop.context.perform {
            let albums = try shop.context.fetch(all)
            return albums.map { (id: $0.objectID, title: $0.value(forKey: "title") as? String, object: $0) }
        }
        expect(albums.count, equals: 10_000)
        let changed = Set(stride(from: 50, through: 10_000, by: 100))
        for id in changed { backend.change("Album", id, ["title": .init("Other \(id)")]) }
        // The first answer is told, too.
        await shop.context.perform {}
        let told = Guarded<[NSManagedObjectID]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didChangeObjectsNotification, object: shop.context, queue: nil
        ) { notification in
            let objects = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey]
                .flatMap { notification.userInfo?[$0] as? Set<NSManagedObject> ?? [] }
            told.withValue { $0 += objects.map(\.objectID) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let before = commits.withValue { $0 }
        // Of another context, so that the first one is only told.
        let other = shop.coordinator.context()
        try expect(other.texts(all).count, equals: 10_000)
        expect(commits.withValue { $0 }, equals: before + 1)
        await shop.context.perform {}
        let expected = albums.filter { $0.title.map { changed.contains(Int($0.dropFirst(6)) ?? 0) } ?? false }.map(\.id)
        let found = told.withValue { $0 }
        expect(found.count, equals: changed.count)
        #expect(Set(found).symmetricDifference(expected).isEmpty)
        // The rows of the others are as they were.
        let rows = try shop.store.file.rows(albums.compactMap { shop.store.file.key(ofOuter: $0.id) })
        expect(rows.filter { $0.version > 1 }.count, equals: changed.count)
    }

    @Test("A number counts what is pending as it is here, and everything else as the backend does, without reading it")
    func pendingNumbers() async throws {
        let model = Shop.model()
        let backend = ScriptedBackend(
            model,
            CachedShop.resources(model).map { resource in
                var resource = resource
                resource.saving = .init(isIdempotent: true)
                return resource
            })
        for id in 1...40 { backend.put("Album", id, ["title": .init("\(id)"), "year": .init(1950 + id)]) }
        let shop = try CachedShop(.networkOnly, backend: backend) { $0.sendsAutomatically = false }
        let request = fetchRequest("Album", "year <= 1970")
        func count() throws -> Int { try shop.context.performAndWait { try shop.context.count(for: request) } }
        let some = fetchRequest("Album", "title IN {'1', '2', '3', '31', '32'}", by: ["year"])
        try shop.context.performAndWait {
            let albums = try shop.context.fetch(some)
            // Two leave, one stays, one comes in, and one never does.
            albums[0].setValue(1999, forKey: "year")
            albums[1].setValue(1998, forKey: "year")
            albums[2].setValue("three", forKey: "title")
            albums[3].setValue(1960, forKey: "year")
            albums[4].setValue("thirty-two", forKey: "title")
            let new = NSEntityDescription.insertNewObject(forEntityName: "Album", into: shop.context)
            new.setValue("new", forKey: "title")
            new.setValue(1965, forKey: "year")
            try shop.context.save()
        }
        let before = backend.requests.count
        try expect(count(), equals: 20)
        // The number, and the five that the backend has, by their identifiers.
        let asked = backend.requests.dropFirst(before)
        expect(asked.filter(\.wantsCount).count, equals: 1)
        #expect(asked.filter { !$0.wantsCount }.allSatisfy { $0.endpoint == "info" })
        // Others have changed what is pending here, and something else.
        backend.change("Album", 1, ["year": .init(2001)])
        backend.change("Album", 5, ["year": .init(2001)])
        try expect(count(), equals: 19)
        try expect(shop.context.texts(request).count, equals: 19)
    }

    @Test(
        "A read is not answered by an equal one under way whose answer may be older than what is shown", .timeLimit(.minutes(30)))
    func olderAnswer() async throws {
        let backend = CachedShop.makeBackend(Shop.model())
        backend.setVersions(.tags)
        let shop = try CachedShop(.networkOnly, backend: backend)
        let (first, second) = (shop.coordinator.context(), shop.coordinator.context())
        let album = try await shop.context.perform { try #require(try shop.context.fetch(fetchRequest("Album", "year == 1965")).first) }
        backend.change("Album", 1, ["title": "second"])
        // Answered as it is now, and slow to arrive.
        backend.script { $0.endpoint == "find" ? .holdAnswer : .answer }
        let slow = Task { try await first.perform { try first.fetch(fetchRequest("Album")).count } }
        await backend.untilHeld()
        backend.script { _ in .answer }
        backend.change("Album", 1, ["title": "third"])
        await shop.context.perform {
            shop.context.stalenessInterval = 0
            shop.context.refresh(album, mergeChanges: false)
            expect(album.value(forKey: "title") as? String, equals: "third")
        }
        let found = try await second.perform { try second.fetch(fetchRequest("Album")).count }
        backend.release()
        #expect(try await slow.value == found)
        let known = fetchRequest("Album", "year == 1965")
        known.cachePolicy = .cacheOnly
        try expect(shop.coordinator.context().texts(known), equals: ["third"])
    }
}
