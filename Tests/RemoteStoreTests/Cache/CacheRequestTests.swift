import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// What a cached store asks its backend: what is asked of remote stores (`ReadingTests`, `MovingPagesTests`), with a cache in between.
@Suite("Cache: requests") struct CacheRequestTests {
    @Test("An update sends only what was changed, also where the cache knows more of the object") func onlyWhatChanged() async throws {
        let world = try OutboxWorld()
        let id = try world.insert("Album", ["title": "One", "year": 1, "notes": "long"])
        try await world.store.sendPending()
        try world.update(id, ["year": 2])
        try world.update(id, ["year": 3])
        try await world.store.sendPending()
        let sent = try #require(world.backend.saves.last)
        #expect(sent.count == 1 && sent[0].kind == .update)
        expect(sent[0].values, equals: ["year": .value(.int64(3))])
        expect(world.backend.saves.count, equals: 2)
    }

    @Test("A fetch that is cancelled cancels its request, and the next one is answered") func cancelled() async throws {
        let shop = try CachedShop(.networkOnly)
        shop.backend.script { _ in .delay(.seconds(3600)) }
        let context = shop.context
        @Sendable func count() async throws -> Int {
            let albums = try await context.fetchAsynchronously(fetchRequest("Album"))
            return albums.count
        }
        let task = Task { try await count() }
        while shop.backend.requests.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        shop.backend.script { _ in .answer }
        #expect(try await count() == 5)
    }

    @Test("Equal fetches at once, and the refreshes behind cached answers, are one request") func equal() async throws {
        let shop = try CachedShop(.networkOnly)
        shop.backend.script { _ in .hold }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<5 {
                let context = shop.coordinator.context()
                group.addTask {
                    let albums = try await context.fetchAsynchronously(fetchRequest("Album"))
                    return albums.count
                }
            }
            await shop.backend.untilHeld()
            // Those that come later join as long as it is held back.
            for _ in 0..<1000 { await Task.yield() }
            shop.backend.script { _ in .answer }
            shop.backend.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        expect(counts, equals: [5, 5, 5, 5, 5])
        #expect(shop.backend.requests.count < 5)

        let shown = fetchRequest("Album")
        shown.cachePolicy = .cachedThenFresh
        shop.backend.forgetRequests()
        shop.backend.script { _ in .hold }
        for _ in 0..<5 { try expect(shop.coordinator.context().texts(shown).count, equals: 5) }
        await shop.backend.untilHeld()
        shop.backend.script { _ in .answer }
        shop.backend.release()
        expect(shop.backend.requests.count, equals: 1)
    }

    @Test("Pages that repeat objects or lose some while they are read leave the cache right", arguments: [true, false])
    func movingPages(inserts: Bool) async throws {
        let model = Shop.model()
        let backend = ScriptedBackend(model, CachedShop.resources(model, page: 2))
        for number in 0..<11 {
            backend.put("Album", number, ["title": .value(.string("\(number)")), "year": .value(.int64(Int64(number + 10)))])
        }
        let asked = Guarded(0)
        backend.script { request in
            let number = asked.withValue { asked in
                asked += 1
                return asked
            }
            // What is in front of the next page moves it by one, forth or back.
            if number == 3 {
                if inserts { backend.put("Album", 99, ["title": "first", "year": .value(.int64(1))]) } else { backend.remove("Album", 0) }
            }
            return .answer
        }
        let shop = try CachedShop(.networkOnly, backend: backend)
        let albums = try await shop.context.fetchAsynchronously(fetchRequest("Album", by: ["year"]))
        let titles = await shop.context.perform { albums.map { $0.value(forKey: "title") as? String ?? "nil" } }
        let there = (1..<11).map { "\($0)" }
        #expect(Set(titles).isSuperset(of: there) && Set(titles).count == titles.count, "\(titles)")
        let held = fetchRequest("Album", by: ["year"])
        held.cachePolicy = .cacheFirst(maximumAge: 600)
        let again = try shop.context.texts(held)
        #expect(Set(again).isSuperset(of: there) && Set(again).count == again.count, "\(again)")
        let fresh = try shop.context.texts(fetchRequest("Album", by: ["year"]))
        expect(fresh, equals: (inserts ? ["first", "0"] : []) + there)
    }
}
