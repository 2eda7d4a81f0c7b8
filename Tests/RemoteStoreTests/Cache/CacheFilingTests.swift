import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// What a cached store files, and how it names objects.
@Suite("Cache: filing") struct CacheFilingTests {
    @Test("A fetch from the backend is filed, with references to what was not read yet, which is read as a fault")
    func faults() async throws {
        let shop = try CachedShop(.networkOnly)
        let titles = try shop.context.texts(fetchRequest("Album", by: ["title"]))
        expect(titles, equals: ["Blur", "Help!", "Let It Be", "Parklife", "Revolver"])
        let bands = fetchRequest("Band")
        bands.cachePolicy = .cacheOnly
        // A reference alone is no result of a fetch.
        try expect(shop.context.texts(bands, "name"), equals: [])
        try await shop.context.perform {
            let albums = try shop.context.fetch(fetchRequest("Album", "year < 1967", by: ["year"]))
            let names = albums.map { ($0.value(forKey: "band") as? NSManagedObject)?.value(forKey: "name") as? String }
            expect(names, equals: ["The Beatles", "The Beatles"])
        }
        #expect(try shop.context.texts(bands, "name").contains("The Beatles"))
    }

    @Test("Objects keep their IDs in the next run, and the backend's identifiers are found both ways")
    func identities() throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        let first = try CachedShop(at: url, .networkOnly)
        let (uri, id) = try first.context.performAndWait {
            let album = try #require(first.context.fetch(fetchRequest("Album", "title == 'Help!'")).first)
            try expect(first.store.resourceID(for: album.objectID), equals: .integer(1))
            try expect(first.store.objectID(for: 1, entityName: "Album"), equals: album.objectID)
            return (album.objectID.uriRepresentation(), album.objectID)
        }
        _ = id
        try first.coordinator.remove(first.store)
        let second = try CachedShop(at: url, .cacheOnly)
        let known = try #require(second.coordinator.managedObjectID(forURIRepresentation: uri))
        try second.context.performAndWait {
            let album = try second.context.existingObject(with: known)
            expect(album.value(forKey: "title") as? String, equals: "Help!")
        }
        #expect(second.backend.requests.isEmpty)
    }

    @Test("A to-many relationship is asked for once, and then answered from the file")
    func lists() throws {
        let shop = try CachedShop()
        func titles() throws -> [String] {
            let context = shop.coordinator.context()
            return try context.performAndWait {
                let band = try #require(context.fetch(fetchRequest("Band", "name == 'Blur'")).first)
                let albums = try #require(band.value(forKey: "albums") as? Set<NSManagedObject>)
                return albums.compactMap { $0.value(forKey: "title") as? String }.sorted()
            }
        }
        try expect(titles(), equals: ["Blur", "Parklife"])
        shop.goOffline()
        try expect(titles(), equals: ["Blur", "Parklife"])
    }

    @Test("A pull that was cut off goes on with its page in the next run, and what it has read is held whole then")
    func pulling() async throws {
        let model = Shop.model()
        let resources = [Resource("Album", endpoints: [Endpoint("list", paging: .pages(of: 2, stability: .cursors))])]
        let backend = ScriptedBackend(model, resources)
        for number in 0..<7 { backend.put("Album", number, ["title": .value(.string("Album \(number)"))]) }
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        let first = try CachedShop(at: url, .immutable, backend: backend)
        backend.script { [backend] _ in backend.requests.count > 2 ? .fail(URLError(.networkConnectionLost)) : .answer }
        await #expect(throws: (any Error).self) { try await first.store.pull(fetchRequest("Album"), in: first.context) }
        try first.coordinator.remove(first.store)
        backend.script { _ in .answer }
        backend.forgetRequests()
        let second = try CachedShop(at: url, .immutable, backend: backend)
        #expect(try await second.store.pull(fetchRequest("Album"), in: second.context) == 3)
        expect(backend.requests.count, equals: 2)
        backend.forgetRequests()
        try expect(second.context.texts(fetchRequest("Album", by: ["title"])), equals: (0..<7).map { "Album \($0)" })
        #expect(backend.requests.isEmpty)
    }
}
