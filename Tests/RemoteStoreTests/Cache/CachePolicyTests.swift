import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Who answers: the cache or the backend.
@Suite("Cache: policies") struct CachePolicyTests {
    @Test("What is cached is the answer at once; what is fresh comes later, into the contexts that show it")
    func cachedThenFresh() async throws {
        let shop = try CachedShop()
        shop.context.automaticallyMergesChangesFromParent = true
        let all = fetchRequest("Album", by: ["year"])
        let albums = try await shop.context.perform { try shop.context.fetch(all) }
        expect(albums.count, equals: 5)
        shop.backend.change("Album", 1, ["title": "Help"])
        shop.backend.script { _ in .hold }
        try expect(shop.context.texts(all).first, equals: "Help!")
        await shop.backend.untilHeld()
        shop.backend.script { _ in .answer }
        shop.backend.release()
        await shop.store.waitForRefreshes()
        await shop.context.perform { expect(albums.first?.value(forKey: "title") as? String, equals: "Help") }
        expect(shop.backend.requests.count, equals: 2)
    }

    @Test("Cache first answers up to an age, by the clock on the wall, also one that was set back")
    func cacheFirst() throws {
        let shop = try CachedShop(.cacheFirst(maximumAge: 60))
        let all = fetchRequest("Album", by: ["year"])
        func requests() throws -> Int {
            shop.backend.forgetRequests()
            try expect(shop.context.texts(all).count, equals: 5)
            return shop.backend.requests.count
        }
        try expect(requests(), equals: 1)
        shop.clock.advance(by: .seconds(60))
        try expect(requests(), equals: 0)
        shop.clock.advance(by: .seconds(1))
        try expect(requests(), equals: 1)
        try expect(requests(), equals: 0)
        shop.clock.jump(by: -10)
        try expect(requests(), equals: 1)
    }

    @Test(
        "Without the backend the cache answers with what it has, of any age, and reports; network only fails",
        arguments: [CachePolicy.cacheFirst(maximumAge: 1), .cachedThenFresh, .cacheOnly])
    func offline(policy: CachePolicy) async throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        let first = try CachedShop(at: url, .networkOnly)
        try expect(first.context.texts(fetchRequest("Album")).count, equals: 5)
        try first.coordinator.remove(first.store)
        let shop = try CachedShop(at: url, policy)
        shop.goOffline()
        shop.clock.advance(by: .seconds(100_000))
        try expect(shop.context.texts(fetchRequest("Album", by: ["year"])), equals: ["Help!", "Revolver", "Let It Be", "Parklife", "Blur"])
        try expect(shop.context.texts(fetchRequest("Album", "year > 1990", by: ["year"])), equals: ["Parklife", "Blur"])
        await shop.store.waitForRefreshes()
        expect(shop.errors.withValue { $0.isEmpty }, equals: (policy == .cacheOnly))
        let request = fetchRequest("Album")
        request.cachePolicy = .networkOnly
        #expect(throws: (any Error).self) { try shop.context.texts(request) }
        // Nothing is known of tags: that is no empty answer.
        if policy != .cacheOnly { #expect(throws: (any Error).self) { try shop.context.texts(fetchRequest("Tag"), "label") } }
    }

    @Test(
        "What the backend refuses is an error, also where the cache has some of it",
        arguments: [CachePolicy.cacheFirst(maximumAge: 60), .cachedThenFresh])
    func refused(policy: CachePolicy) throws {
        struct Refusal: PassingError { let mayPass = false }
        let shop = try CachedShop(policy)
        try expect(shop.context.texts(fetchRequest("Album", "title == 'Help!'")), equals: ["Help!"])
        shop.backend.script { _ in .fail(Refusal()) }
        for request in [fetchRequest("Album"), fetchRequest("Album", "year > 1900")] {
            #expect(throws: (any Error).self) { try shop.context.texts(request) }
            #expect(throws: (any Error).self) { try shop.context.performAndWait { try shop.context.count(for: request) } }
        }
        // What the file holds as a whole needs no request.
        try expect(shop.context.texts(fetchRequest("Album", "title == 'Help!'")), equals: ["Help!"])
    }

    @Test("What never changes is asked for once, and what only grows for what is newer")
    func immutable() throws {
        let shop = try CachedShop(.immutable) { $0.policies["Album"] = .appendOnly(by: "year") }
        for _ in 0..<2 { try expect(shop.context.texts(fetchRequest("Band", by: ["name"]), "name"), equals: ["Blur", "The Beatles"]) }
        expect(shop.backend.requests.count, equals: 1)
        let all = fetchRequest("Album", by: ["-year"])
        try expect(shop.context.texts(all).first, equals: "Blur")
        shop.backend.put("Album", 9, ["title": "Think Tank", "year": .value(.int64(2003))])
        shop.backend.forgetRequests()
        try expect(shop.context.texts(all).prefix(2), equals: ["Think Tank", "Blur"])
        expect(shop.backend.requests.count, equals: 1)
        #expect("\(shop.backend.requests[0])".contains("1997"))
        shop.goOffline()
        try expect(shop.context.texts(all).count, equals: 6)
    }

    @Test("A refresh that changes nothing writes nothing")
    func unchanged() throws {
        let commits = Guarded(0)
        let shop = try CachedShop(.networkOnly) { $0.countCommits { commits.withValue { $0 += 1 } } }
        commits.withValue { $0 = 0 }
        try expect(shop.context.texts(fetchRequest("Album")).count, equals: 5)
        expect(commits.withValue { $0 }, equals: 1)
        for _ in 0..<3 { try expect(shop.context.texts(fetchRequest("Album")).count, equals: 5) }
        expect(commits.withValue { $0 }, equals: 1)
        shop.backend.change("Album", 1, ["title": "Help"])
        try expect(shop.context.texts(fetchRequest("Album", "title == 'Help'")).count, equals: 1)
        expect(commits.withValue { $0 }, equals: 2)
    }

    @Test("A number that only the backend is to tell is one request that reads no rows; what is pending counts too")
    func numbers() async throws {
        let model = Shop.model()
        let backend = ScriptedBackend(
            model,
            CachedShop.resources(model).map { resource in
                var resource = resource
                resource.saving = .init(isIdempotent: true)
                return resource
            })
        for (id, year) in [(1, 1965), (2, 1966), (3, 1994)] { backend.put("Album", id, ["title": .init("\(id)"), "year": .init(year)]) }
        let shop = try CachedShop(.networkOnly, backend: backend) { $0.sendsAutomatically = false }
        let request = fetchRequest("Album", "year < 1990")
        func count() throws -> Int { try shop.context.performAndWait { try shop.context.count(for: request) } }
        try expect(backend.expectRequests(atMost: 1) { try count() }, equals: 2)
        expect(backend.requests.last?.wantsCount, equals: true)
        let cached = fetchRequest("Album")
        cached.cachePolicy = .cacheOnly
        #expect(try shop.context.texts(cached).isEmpty)
        try shop.context.performAndWait {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: shop.context)
            album.setValue("new", forKey: "title")
            album.setValue(1970, forKey: "year")
            try shop.context.save()
        }
        try expect(count(), equals: 3)
        try await shop.store.sendPending()
        try expect(count(), equals: 3)
    }

    @Test("An answer that was asked for earlier does not replace what was asked for later")
    func olderAnswer() async throws {
        let shop = try CachedShop(.networkOnly)
        let request = fetchRequest("Album", "year < 1966")
        try expect(shop.context.texts(request), equals: ["Help!"])
        shop.backend.script { $0.description.contains("1966") ? .holdAnswer : .answer }
        let early = Task { try await shop.coordinator.context().perform { try shop.coordinator.context().texts(request) } }
        await shop.backend.untilHeld()
        shop.backend.change("Album", 1, ["title": "Help"])
        try expect(shop.context.texts(fetchRequest("Album", "year < 1967", by: ["year"])), equals: ["Help", "Revolver"])
        shop.backend.release()
        _ = try await early.value
        let cached = fetchRequest("Album", "year < 1966")
        cached.cachePolicy = .cacheOnly
        try expect(shop.coordinator.context().texts(cached), equals: ["Help"])
    }

    @Test("An object that is refreshed is asked for again; without the backend it keeps its values")
    func refreshing() throws {
        let shop = try CachedShop(.immutable)
        try shop.context.performAndWait {
            let album = try #require(shop.context.fetch(fetchRequest("Album", "year == 1965")).first)
            expect(album.value(forKey: "title") as? String, equals: "Help!")
            shop.backend.change("Album", 1, ["title": "Help"])
            shop.context.refresh(album, mergeChanges: false)
            expect(album.value(forKey: "title") as? String, equals: "Help")
            shop.goOffline()
            shop.context.refresh(album, mergeChanges: false)
            expect(album.value(forKey: "title") as? String, equals: "Help")
        }
        expect(shop.errors.withValue { $0.count }, equals: 1)
    }
}
