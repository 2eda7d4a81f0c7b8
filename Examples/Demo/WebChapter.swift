import Bandcamp
import CoreData
import ExampleSupport
import RemoteStore
import SampleService
import WebBackend

/// Shows a web service that is nothing but a description: what is planned, what is asked, and what comes of it.
struct WebChapter {
    let service: SampleService
    let terminal: Terminal

    /// The lines of the description, without blank ones and comments; a test counts them.
    static let descriptionLines = 50

    func run() async throws -> Count {
        terminal.chapter("A web service, described")
        terminal.text(
            """
            WebService.bandcamp has \(Self.descriptionLines) lines: where bands, albums and tracks are in a web service, and how it is asked for
            them. Nothing else is written for this chapter; the store of the next one, by hand, has 437.
            """)

        let model = BandcampModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let backend = try WebBackend(.bandcamp(at: service.baseURL), model: model, transport: networkTransport())
        try coordinator.addRemoteStore(backend)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let before = service.requestCount()

        let request = NSFetchRequest<Album>(entityName: "Album")
        request.predicate = NSPredicate(format: "band.name == 'Rue Royale' AND downloadable == 2")
        request.sortDescriptors = [NSSortDescriptor(key: "release_date", ascending: true)]
        request.relationshipKeyPathsForPrefetching = ["tracks"]
        terminal.code("Album where band.name == 'Rue Royale' AND downloadable == 2, sorted by release_date, with their tracks")
        let plan = try await context.perform { "\(try request.explain(in: context))" }
        for line in plan.split(separator: "\n") { terminal.row((String(line), 0)) }

        terminal.code("try await context.fetchAsynchronously(request)")
        let albums = try await context.fetchAsynchronously(request)
        let objects = try await context.perform {
            var objects = 0
            for album in albums {
                objects += 1 + album.tracks.count
                let first = album.tracks.min { $0.number < $1.number }
                terminal.row((album.title, 24), ("\(album.tracks.count) tracks", 8), ("“\(first?.title ?? "")” first", 0))
            }
            // A property cannot throw: errors of the reads are thrown here.
            try context.throwPendingFaultError()
            return objects
        }
        let requests = service.requestCount() - before
        terminal.note("\(requests) requests for \(objects) objects; the tracks were asked for side by side.")
        return Count(store: "WebService.bandcamp", objects: objects, faults: nil, requests: "\(requests)", cacheHits: "–")
    }
}
