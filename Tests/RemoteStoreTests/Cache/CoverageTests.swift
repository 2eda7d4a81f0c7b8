import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// What a cache knows to hold.
@Suite("Cache: coverage") struct CoverageTests {
    /// Fetches, and returns the titles and the number of requests.
    private func fetch(
        _ shop: CachedShop, _ request: NSFetchRequest<NSManagedObject>, _ key: String = "title"
    ) throws -> (titles: [String], requests: Int) {
        shop.backend.forgetRequests()
        return (try shop.coordinator.context().texts(request, key), shop.backend.requests.count)
    }

    @Test("A query that is held whole answers narrower ones, and no others")
    func narrower() throws {
        let shop = try CachedShop(.immutable)
        try expect(fetch(shop, fetchRequest("Album", "year >= 1966", by: ["year"])).titles.count, equals: 4)
        for (format, titles) in [
            ("year >= 1966", ["Revolver", "Let It Be", "Parklife", "Blur"]), ("year > 1966", ["Let It Be", "Parklife", "Blur"]),
            ("year >= 1990 AND title BEGINSWITH 'B'", ["Blur"]), ("year == 1970", ["Let It Be"]),
            ("year IN {1970, 1997}", ["Let It Be", "Blur"]),
            ("year BETWEEN {1966, 1970}", ["Revolver", "Let It Be"]), ("1990 < year AND title != 'Blur'", ["Parklife"]),
        ] {
            let answer = try fetch(shop, fetchRequest("Album", format, by: ["year"]))
            expect(answer.titles, equals: titles, "\(format)")
            expect(answer.requests, equals: 0, "\(format)")
        }
        try expect(fetch(shop, fetchRequest("Album", "year >= 1990", by: ["-title"], limit: 1, offset: 1)).titles, equals: ["Blur"])
        #expect(shop.backend.requests.isEmpty)
        for format in ["year > 1965", "title == 'Help!'", "year >= 1990 OR title == 'Help!'", "year IN {1965, 1970}", "NOT (year >= 1966)"]
        {
            #expect(try fetch(shop, fetchRequest("Album", format)).requests > 0, "\(format)")
        }
    }

    @Test("What is known of queries is there in the next run, also of objects and dates")
    func kept() throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        let first = try CachedShop(at: url, .immutable)
        func albums(_ shop: CachedShop) throws -> [String] {
            let context = shop.coordinator.context()
            return try context.performAndWait {
                let band = try #require(context.fetch(fetchRequest("Band", "name == 'Blur'")).first)
                return try context.texts(fetchRequest("Album", "band == %@", [band], by: ["year"]))
            }
        }
        try expect(albums(first), equals: ["Parklife", "Blur"])
        try first.coordinator.remove(first.store)
        let second = try CachedShop(at: url, .immutable)
        try expect(albums(second), equals: ["Parklife", "Blur"])
        #expect(second.backend.requests.isEmpty)
    }

    @Test("What a whole answer lacks is looked for: what is gone is deleted, also in contexts; what matches no more stays")
    func deletions() async throws {
        let shop = try CachedShop(.networkOnly)
        shop.context.automaticallyMergesChangesFromParent = true
        let old = fetchRequest("Album", "year < 1990", by: ["year"])
        let albums = try await shop.context.perform { try shop.context.fetch(old) }
        expect(albums.count, equals: 3)
        shop.backend.remove("Album", 1)
        shop.backend.change("Album", 2, ["year": .value(.int64(2022))])
        try expect(fetch(shop, old).titles, equals: ["Let It Be"])
        await shop.context.perform {
            #expect(albums[0].isDeleted || albums[0].managedObjectContext == nil)
            expect(albums[1].value(forKey: "year") as? Int, equals: 2022)
        }
        let all = fetchRequest("Album", by: ["year"])
        all.cachePolicy = .cacheOnly
        try expect(fetch(shop, all).titles, equals: ["Let It Be", "Revolver"])
    }

    @Test("An answer that a backend has cut short without a word deletes nothing, and is not held for whole")
    func capped() throws {
        let shop = try CachedShop(.cacheFirst(maximumAge: 10))
        let all = fetchRequest("Album", by: ["year"])
        try expect(fetch(shop, all).titles.count, equals: 5)
        shop.backend.script { $0.endpoint == "find" ? .half : .answer }
        shop.clock.advance(by: .seconds(20))
        _ = try fetch(shop, all)
        shop.backend.script { _ in .answer }
        shop.clock.advance(by: .seconds(20))
        let cached = fetchRequest("Album")
        cached.cachePolicy = .cacheOnly
        try expect(fetch(shop, cached).titles.count, equals: 5)
        #expect(try fetch(shop, all).requests > 0)
    }

    @Test("Windows answer what lies in them, and join where they touch; where rows have moved, nothing is claimed")
    func windows() throws {
        let shop = try CachedShop(.immutable)
        func window(_ limit: Int, _ offset: Int) throws -> (titles: [String], requests: Int) {
            try fetch(shop, fetchRequest("Album", by: ["year"], limit: limit, offset: offset))
        }
        #expect(try window(2, 0) == (["Help!", "Revolver"], 1))
        #expect(try window(1, 1) == (["Revolver"], 0))
        #expect(try window(2, 2) == (["Let It Be", "Parklife"], 1))
        #expect(try window(3, 1) == (["Revolver", "Let It Be", "Parklife"], 0))
        try expect(window(2, 3).requests, equals: 1)
        try expect(window(5, 0).requests, equals: 0)
        // A new first row moves all others.
        shop.backend.put("Album", 9, ["title": "Please Please Me", "year": .value(.int64(1963))])
        let fresh = fetchRequest("Album", by: ["year"], limit: 2)
        fresh.cachePolicy = .networkOnly
        try expect(fetch(shop, fresh).titles, equals: ["Please Please Me", "Help!"])
        #expect(try window(2, 0) == (["Please Please Me", "Help!"], 0))
        #expect(try window(2, 2) == (["Revolver", "Let It Be"], 1))
    }

    @Test("Rows that are known in part answer no query that needs the rest")
    func partial() throws {
        let model = Shop.model()
        let backend = ScriptedBackend(
            model,
            [
                Resource(
                    "Album",
                    endpoints: [
                        Endpoint("list", properties: ["title"]),
                        Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 100)]),
                    ])
            ])
        for number in 0..<4 {
            backend.put("Album", number, ["title": .value(.string("Album \(number)")), "year": .value(.int64(Int64(2000 + number)))])
        }
        let shop = try CachedShop(.immutable, backend: backend)
        try expect(fetch(shop, fetchRequest("Album", by: ["title"])).titles.count, equals: 4)
        #expect(try fetch(shop, fetchRequest("Album", "title ENDSWITH '3'")) == (["Album 3"], 0))
        let answer = try fetch(shop, fetchRequest("Album", "year > 2001", by: ["title"]))
        expect(answer.titles, equals: ["Album 2", "Album 3"])
        #expect(answer.requests > 0)
        // Now they are complete.
        #expect(try fetch(shop, fetchRequest("Album", "year > 2002")) == (["Album 3"], 0))
        try shop.context.performAndWait {
            let album = try #require(shop.context.fetch(fetchRequest("Album", "title == 'Album 1'")).first)
            expect(album.value(forKey: "year") as? Int, equals: 2001)
        }
    }

    @Test("A list is held where the objects that refer to its owner are")
    func listsByCoverage() throws {
        let shop = try CachedShop(.immutable)
        try expect(fetch(shop, fetchRequest("Album")).titles.count, equals: 5)
        let context = shop.coordinator.context()
        try context.performAndWait {
            let bands = try context.fetch(fetchRequest("Band", by: ["name"]))
            shop.backend.forgetRequests()
            expect(bands.map { ($0.value(forKey: "albums") as? Set<NSManagedObject>)?.count }, equals: [2, 3])
        }
        #expect(shop.backend.requests.isEmpty)
        #expect(try fetch(shop, fetchRequest("Album", "band.name == 'Blur'", by: ["year"])) == (["Parklife", "Blur"], 0))
        #expect(try fetch(shop, fetchRequest("Band", "ANY albums.year < 1970"), "name") == (["The Beatles"], 0))
    }
}
