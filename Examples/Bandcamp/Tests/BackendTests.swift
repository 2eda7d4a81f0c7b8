import Bandcamp
import CoreData
import Foundation
import RemoteStore
import SampleService
import Testing

/// The same service, through the store that is written by hand and through the one over a backend.
private struct BothStores {
    let service: SampleService
    let byHand: NSManagedObjectContext
    let overBackend: NSManagedObjectContext

    init() async throws {
        let stack = try await Stack()
        service = stack.service
        byHand = stack.context
        overBackend = try Self.overBackend(service)
    }

    static func overBackend(_ service: SampleService, timeout: TimeInterval = 20) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
        try coordinator.addRemoteStore(BandcampBackend(at: service.baseURL, timeout: timeout))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Returns what a closure finds in each, and the requests that it takes: those of a step may come in any order.
    func both<Found: Sendable>(
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Found
    ) async throws -> (byHand: (found: Found, requests: [String]), overBackend: (found: Found, requests: [String])) {
        func run(_ context: NSManagedObjectContext) async throws -> (Found, [String]) {
            service.resetRequests()
            let found = try await context.perform {
                let found = try body(context)
                try context.throwPendingFaultError()
                return found
            }
            return (found, service.requests.map(\.target))
        }
        return (try await run(byHand), try await run(overBackend))
    }
}

@Suite("Bandcamp over a backend, beside the store written by hand") struct BackendTests {
    @Test(
        "Both answer the same fetches, and the backend takes no more requests",
        arguments: [
            ("Band", "name == 'Rue Royale'"), ("Band", "name IN {'Sideditch', 'Rue Royale', 'Nobody'}"),
            ("Band", "name ==[c] 'northern pier'"),
            ("Band", "name == 'Northern Pier'"), ("Band", "band_id == 4246760315"), ("Band", "band_id IN {4246760315, 2721182224, 1}"),
            ("Band", "name == ''"), ("Band", "name == 'Sideditch' OR band_id == 4246760315"),
            ("Album", "band_id == 4246760315"), ("Album", "band.band_id == 4246760315 AND title CONTAINS 'Before'"),
            ("Album", "album_id == 512408331 AND downloadable == 1"), ("Album", "band_id IN {4246760315, 2721182224}"),
            ("Album", "band_id == 2721182224 AND ANY tracks.duration > 300"),
            ("Track", "album_id == 512408331"), ("Track", "album.album_id == 512408331 AND duration > 195"), ("Track", "track_id == 7"),
        ])
    func sameFetches(entity: String, format: String) async throws {
        let stores = try await BothStores()
        let (byHand, overBackend) = try await stores.both { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: format)
            return try context.fetch(request).map { contents($0) }.sorted()
        }
        #expect(byHand.found == overBackend.found)
        #expect(overBackend.requests.count <= byHand.requests.count, "\(overBackend.requests)")
    }

    @Test("Order, offset and limit, counts and dictionaries are the same", arguments: [(0, 0), (0, 2), (1, 2), (2, 0)])
    func sameForms(offset: Int, limit: Int) async throws {
        let stores = try await BothStores()
        let (byHand, overBackend) = try await stores.both { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Track")
            request.predicate = NSPredicate(format: "album_id == 512408331 AND duration > 10")
            request.sortDescriptors = [NSSortDescriptor(key: "duration", ascending: false)]
            request.fetchOffset = offset
            request.fetchLimit = limit
            let titles = try context.fetch(request).map { $0.value(forKey: "title") as? String ?? "" }
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Album")
            dictionaries.predicate = NSPredicate(format: "band_id == 4246760315")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["title", "downloadable"]
            dictionaries.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let rows = try context.fetch(dictionaries).map { "\($0["title"] ?? "") \($0["downloadable"] ?? "")" }
            return titles + ["\(try context.count(for: request))"] + rows
        }
        #expect(byHand.found == overBackend.found)
    }

    @Test("A walk from bands to tracks and back finds the same, by the same requests") func sameWalk() async throws {
        let stores = try await BothStores()
        let (byHand, overBackend) = try await stores.both { try walk($0) }
        #expect(byHand.found == overBackend.found)
        // Two bands, five albums and 22 tracks.
        #expect(byHand.found.count == 29)
        #expect(overBackend.requests.sorted() == byHand.requests.sorted())
        // One for the bands, one for the albums of each, one for the tracks of each album.
        #expect(overBackend.requests.count == 8)
    }

    @Test("Tracks of several numbers are one request, where the store written by hand asks for each") func severalTracks() async throws {
        let stores = try await BothStores()
        let ids = sample("Rue Royale").albums.flatMap(\.tracks).map(\.id)
        let (byHand, overBackend) = try await stores.both { context in
            try context.fetch(Track.self, NSPredicate(format: "track_id IN %@", ids), sortedBy: "track_id").map(\.title)
        }
        #expect(byHand.found == overBackend.found)
        #expect(byHand.requests.count == ids.count)
        #expect(overBackend.requests.count == 1)
    }

    @Test("Objects of URIs that came together are asked for when they are read, and missing ones are missing") func byURI() async throws {
        let stores = try await BothStores()
        let context = stores.overBackend
        let uri = try await context.perform {
            try #require(try context.fetch(Band.self, NSPredicate(format: "name == 'Tuule Kell'")).first).objectID.uriRepresentation()
        }
        let second = try BothStores.overBackend(stores.service)
        stores.service.resetRequests()
        try await second.perform {
            let coordinator = try #require(second.persistentStoreCoordinator)
            let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
            #expect((try second.existingObject(with: id) as? Band)?.name == "Tuule Kell")
            let unknown = uri.absoluteString.replacingOccurrences(of: "\(sample("Tuule Kell").id)", with: "12")
            let missing = try #require(URL(string: unknown).flatMap(coordinator.managedObjectID))
            let error = #expect(throws: NSError.self) { try second.existingObject(with: missing) }
            #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        }
        #expect(
            stores.service.requests.map(\.target) == ["/api/band/3/info?band_id=\(sample("Tuule Kell").id)", "/api/band/3/info?band_id=12"])
    }

    @Test(
        "A fetch with nothing to go by is refused with the clause to blame, and never asks the service",
        arguments: ["subdomain == 'sideditch'", "name BEGINSWITH 'Side'", "name == 'Sideditch' OR url == 'x'", "NOT name == 'Sideditch'"])
    func unanswerable(format: String) async throws {
        let stores = try await BothStores()
        let error = await #expect(throws: NSError.self) {
            try await stores.overBackend.perform { _ = try stores.overBackend.fetch(Band.self, NSPredicate(format: format)) }
        }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(error?.localizedDescription.contains("name") == true, "\(error?.localizedDescription ?? "")")
        #expect(stores.service.requests.isEmpty)
    }

    @Test("An HTTP error, half an answer and an outage reach whoever has asked, and the next fetch works") func failures() async throws {
        let stores = try await BothStores()
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Band")
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate(format: "name == 'Sideditch'")
        func code() async -> Int? {
            do {
                #expect(try await stores.overBackend.fetchAsynchronously(request).count == 1)
                return nil
            } catch {
                #expect((error as NSError).domain == BandCampErrorDomain)
                #expect((error as NSError).localizedDescription.contains("/api/band/3/search?name=Sideditch"))
                return (error as NSError).code
            }
        }
        stores.service.failNext(status: 503)
        #expect(await code() == BandCampErrorCode.status.rawValue)
        stores.service.answerMalformed()
        #expect(await code() == BandCampErrorCode.malformedAnswer.rawValue)
        await stores.service.stop()
        #expect(await code() == BandCampErrorCode.unreachable.rawValue)
        try await stores.service.restart()
        #expect(await code() == nil)
    }
}
