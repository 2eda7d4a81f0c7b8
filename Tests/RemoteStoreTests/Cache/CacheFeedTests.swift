import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// What a cache hears of others.
@Suite("Cache: change feed") struct CacheFeedTests {
    private func feeding(_ pages: Int = .max) -> ScriptedBackend {
        let backend = CachedShop.makeBackend(Shop.model())
        backend.setChangeFeed(pages: pages)
        return backend
    }

    @Test("What others have changed comes into the file and the contexts, also in the next run, from where the last one ended")
    func changes() async throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        let backend = feeding(1)
        let first = try CachedShop(at: url, .immutable, backend: backend)
        try expect(first.context.texts(fetchRequest("Album")).count, equals: 5)
        #expect(try await first.coordinator.mergeRemoteChanges(of: first.store).isWhole)
        try first.coordinator.remove(first.store)
        backend.change("Album", 1, ["title": "Help"])
        backend.remove("Album", 2)
        backend.put("Album", 9, ["title": "Think Tank", "year": .value(.int64(2003))])
        let second = try CachedShop(at: url, .immutable, backend: backend)
        second.context.automaticallyMergesChangesFromParent = true
        let albums = try await second.context.perform { try second.context.fetch(fetchRequest("Album", by: ["year"])) }
        backend.forgetRequests()
        let changes = try await second.coordinator.mergeRemoteChanges(of: second.store, into: [second.context])
        #expect(!changes.isWhole)
        expect(changes.insertedObjectIDs.count, equals: 1)
        expect(changes.updatedObjectIDs, equals: [albums[0].objectID])
        expect(changes.deletedObjectIDs, equals: [albums[1].objectID])
        await second.context.perform { expect(albums[0].value(forKey: "title") as? String, equals: "Help") }
        try expect(
            second.context.texts(fetchRequest("Album", by: ["year"])), equals: ["Help", "Let It Be", "Parklife", "Blur", "Think Tank"])
        #expect(backend.requests.isEmpty)
    }

    @Test("Where the backend does not know any more what has changed, what the cache holds is read anew")
    func expired() async throws {
        let backend = feeding()
        let shop = try CachedShop(.immutable, backend: backend)
        let late = fetchRequest("Album", "year > 1990", by: ["year"])
        try expect(shop.context.texts(late).count, equals: 2)
        _ = try await shop.coordinator.mergeRemoteChanges(of: shop.store)
        backend.remove("Album", 3)
        backend.change("Album", 4, ["title": "Blur!"])
        backend.expireChangeTokens()
        #expect(try await shop.coordinator.mergeRemoteChanges(of: shop.store).isWhole)
        backend.forgetRequests()
        try expect(shop.context.texts(late), equals: ["Blur!"])
        #expect(backend.requests.isEmpty)
        backend.change("Album", 4, ["title": "Blur"])
        #expect(try await !shop.coordinator.mergeRemoteChanges(of: shop.store).isWhole)
        try expect(shop.context.texts(late), equals: ["Blur"])
    }

    @Test("Where the tokens have expired, what no query holds whole and no context shows is read anew as well")
    func uncovered() async throws {
        let backend = feeding()
        let shop = try CachedShop(.immutable, backend: backend)
        let first = fetchRequest("Album", by: ["year"])
        first.fetchLimit = 2
        try expect(shop.coordinator.context().texts(first), equals: ["Help!", "Revolver"])
        _ = try await shop.coordinator.mergeRemoteChanges(of: shop.store)
        backend.remove("Album", 1)
        backend.change("Album", 2, ["title": "Revolver!"])
        backend.expireChangeTokens()
        #expect(try await shop.coordinator.mergeRemoteChanges(of: shop.store).isWhole)
        let known = fetchRequest("Album")
        known.cachePolicy = .cacheOnly
        try expect(shop.coordinator.context().texts(known), equals: ["Revolver!"])
    }

    @Test("Of very many that no query holds whole and no context shows, none is read anew, and none is shown as it was")
    func manyUncovered() async throws {
        let backend = feeding()
        for id in 10...1100 { backend.put("Album", id, ["title": .init("Album \(id)"), "year": .init(2000)]) }
        let shop = try CachedShop(.immutable, backend: backend)
        let window = fetchRequest("Album", "year == 2000", by: ["title"])
        window.fetchLimit = 1050
        try expect(shop.coordinator.context().texts(window).count, equals: 1050)
        let held = try await shop.context.perform { try #require(try shop.context.fetch(fetchRequest("Album", "year == 1965")).first) }
        backend.change("Album", 1, ["title": "Help"])
        backend.forgetRequests()
        #expect(try await shop.coordinator.mergeRemoteChanges(of: shop.store).isWhole)
        #expect(backend.requests.count <= 2)
        let known = fetchRequest("Album")
        known.cachePolicy = .cacheOnly
        try expect(shop.coordinator.context().texts(known), equals: ["Help"])
        withExtendedLifetime(held) {}
    }

    @Test("Changes that are followed come by themselves")
    func following() async throws {
        let backend = feeding()
        let shop = try CachedShop(.immutable, backend: backend)
        shop.context.automaticallyMergesChangesFromParent = true
        let album = try await shop.context.perform { try #require(shop.context.fetch(fetchRequest("Album", "year == 1965")).first) }
        shop.store.followChanges(every: .seconds(60))
        await shop.clock.untilSleeping()
        backend.change("Album", 1, ["title": "Help"])
        shop.clock.advance(by: .seconds(60))
        await shop.clock.untilSleeping()
        await shop.context.perform { expect(album.value(forKey: "title") as? String, equals: "Help") }
        try shop.coordinator.remove(shop.store)
    }
}
