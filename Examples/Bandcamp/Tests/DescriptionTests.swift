import Bandcamp
import CoreData
import ExampleSupport
import Foundation
import RemoteStore
import SampleService
import Testing
import WebBackend
import WebTransport

/// The same service through the store written by hand, over the programmed backend, and as a description.
private struct ThreeStores {
    let service: SampleService
    let contexts: [NSManagedObjectContext]

    init() async throws {
        let stack = try await Stack()
        service = stack.service
        contexts = [
            stack.context, try Self.context(BandcampBackend(at: service.baseURL, timeout: 20)), try Self.described(service),
        ]
    }

    static func described(_ service: SampleService) throws -> NSManagedObjectContext {
        var options = WebClient.Options()
        options.retries.maximumTries = 1
        return try context(
            WebBackend(
                .bandcamp(at: service.baseURL), model: BandcampModel.make(), transport: networkTransport(), options: options))
    }

    private static func context(_ backend: some Backend) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
        try coordinator.addRemoteStore(backend)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Returns what a closure finds in each, and the requests that it takes, sorted: those of a step may come in any order.
    func all<Found: Sendable>(
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Found
    ) async throws -> [(found: Found, requests: [String])] {
        var results: [(Found, [String])] = []
        for context in contexts {
            service.resetRequests()
            let found = try await context.perform {
                let found = try body(context)
                try context.throwPendingFaultError()
                return found
            }
            results.append((found, service.requests.map(\.target).sorted()))
        }
        return results
    }
}

@Suite("Bandcamp as a description, beside the stores that are programmed") struct DescriptionTests {
    @Test(
        "All three answer the same fetches, and the description takes the requests of the programmed backend",
        arguments: [
            ("Band", "name == 'Rue Royale'"), ("Band", "name IN {'Sideditch', 'Rue Royale', 'Nobody'}"),
            ("Band", "name ==[c] 'northern pier'"), ("Band", "name == 'Northern Pier'"), ("Band", "band_id == 4246760315"),
            ("Band", "band_id IN {4246760315, 2721182224, 1}"), ("Band", "name == 'Sideditch' OR band_id == 4246760315"),
            ("Album", "band_id == 4246760315"), ("Album", "band.band_id == 4246760315 AND title CONTAINS 'Before'"),
            ("Album", "album_id == 512408331 AND downloadable == 1"), ("Album", "band_id IN {4246760315, 2721182224}"),
            ("Album", "band_id == 1"), ("Album", "band_id == 2721182224 AND ANY tracks.duration > 300"),
            ("Track", "album_id == 512408331"), ("Track", "album_id == 1"), ("Track", "track_id == 7"),
            ("Track", "album.album_id == 512408331 AND duration > 195"),
        ])
    func sameFetches(entity: String, format: String) async throws {
        let results = try await ThreeStores().all { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: format)
            return try context.fetch(request).map { contents($0) }.sorted()
        }
        #expect(results[2].found == results[0].found)
        #expect(results[2].requests.map(Self.unordered) == results[1].requests.map(Self.unordered))
        #expect(results[2].requests.count <= results[0].requests.count)
    }

    /// A request with the values of its list in order.
    private static func unordered(_ target: String) -> String {
        guard let equals = target.lastIndex(of: "=") else { return target }
        return target[...equals] + target[target.index(after: equals)...].split(separator: ",").sorted().joined(separator: ",")
    }

    @Test("A walk from bands to tracks and back finds the same, by the same requests") func sameWalk() async throws {
        let results = try await ThreeStores().all { try walk($0) }
        #expect(results[2].found == results[0].found)
        // Two bands, five albums and 22 tracks.
        #expect(results[2].found.count == 29)
        #expect(results[2].requests == results[0].requests)
        // One for the bands, one for the albums of each, one for the tracks of each album.
        #expect(results[2].requests.count == 8)
    }

    @Test("Twelve tracks by number are one request, and a single one is read out of an answer of another form") func severalTracks()
        async throws
    {
        let stores = try await ThreeStores()
        let ids = sample("Rue Royale").albums.flatMap(\.tracks).map(\.id)
        let results = try await stores.all { context in
            try context.fetch(Track.self, NSPredicate(format: "track_id IN %@", ids), sortedBy: "track_id").map(\.title)
        }
        #expect(results[2].found == results[0].found)
        #expect(results.map(\.requests.count) == [ids.count, 1, 1])
        let single = try await stores.all { context in
            try context.fetch(Track.self, NSPredicate(format: "track_id == %ld", ids[0])).map { contents($0) }
        }
        #expect(single[2].found == single[0].found && single[2].found.count == 1)
    }

    @Test("What Bandcamp does not know is missing, though the status is 200") func missing() async throws {
        let service = try await SampleService.start()
        let context = try ThreeStores.described(service)
        let uri = try await context.perform {
            try #require(try context.fetch(Band.self, NSPredicate(format: "name == 'Tuule Kell'")).first).objectID.uriRepresentation()
        }
        let second = try ThreeStores.described(service)
        service.resetRequests()
        try await second.perform {
            let coordinator = try #require(second.persistentStoreCoordinator)
            let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
            #expect((try second.existingObject(with: id) as? Band)?.name == "Tuule Kell")
            let unknown = uri.absoluteString.replacingOccurrences(of: "\(sample("Tuule Kell").id)", with: "12")
            let missing = try #require(URL(string: unknown).flatMap(coordinator.managedObjectID))
            let error = #expect(throws: NSError.self) { try second.existingObject(with: missing) }
            #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        }
        #expect(service.requests.map(\.target) == ["/api/band/3/info?band_id=\(sample("Tuule Kell").id)", "/api/band/3/info?band_id=12"])
        await service.stop()
    }

    @Test("A name with the comma that separates names is refused before the service is asked") func separator() async throws {
        let service = try await SampleService.start()
        let context = try ThreeStores.described(service)
        let error = await #expect(throws: NSError.self) {
            try await context.perform { _ = try context.fetch(Band.self, NSPredicate(format: "name == 'Rue, Royale'")) }
        }
        #expect(error?.localizedDescription.contains("where name == \"Rue, Royale\"") == true, "\(error?.localizedDescription ?? "")")
        #expect(service.requests.isEmpty)
        await service.stop()
    }

    @Test(
        "A fetch with nothing to go by is refused with the clause to blame, and never asks the service",
        arguments: ["subdomain == 'sideditch'", "name BEGINSWITH 'Side'", "name == 'Sideditch' OR url == 'x'"])
    func unanswerable(format: String) async throws {
        let service = try await SampleService.start()
        let context = try ThreeStores.described(service)
        let error = await #expect(throws: NSError.self) {
            try await context.perform { _ = try context.fetch(Band.self, NSPredicate(format: format)) }
        }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(service.requests.isEmpty)
        await service.stop()
    }
}
