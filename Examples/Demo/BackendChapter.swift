import Bandcamp
import CoreData
import RemoteStore
import SampleService

/// Shows the walk of the first chapter over a backend: what is read together is asked for together.
struct BackendChapter {
    let service: SampleService
    let terminal: Terminal

    func run() async throws -> Count {
        terminal.chapter("The same service over a backend")
        terminal.text(
            "BandcampBackend says what each call of the API takes and brings. What to ask, and when, is the framework's to decide.")

        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
        try coordinator.addRemoteStore(BandcampBackend(at: service.baseURL))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let before = service.requestCount()

        let request = NSFetchRequest<Band>(entityName: "Band")
        request.predicate = NSPredicate(format: "name IN %@", ["Rue Royale", "Sideditch"])
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.relationshipKeyPathsForPrefetching = ["discography.tracks"]
        terminal.code("request.explain(in: context)")
        let plan = try await context.perform { "\(try request.explain(in: context))" }
        for line in plan.split(separator: "\n") { terminal.row((String(line), 0)) }

        terminal.code("try await context.fetchAsynchronously(Band, prefetching discography.tracks)   // no thread waits for the answers")
        let bands = try await context.fetchAsynchronously(request)
        let walked = try await context.perform {
            var walked = (objects: 0, lists: 0)
            for band in bands { walk(band, &walked) }
            // A property cannot throw: errors of the reads are thrown here.
            try context.throwPendingFaultError()
            return walked
        }
        let requests = service.requestCount() - before
        // One for the search, one for each object that is read, and one for each list.
        let naive = 1 + walked.objects + walked.lists
        terminal.note(
            "\(requests) requests for \(walked.objects) objects and \(walked.lists) lists; one for each would have been \(naive).")
        return Count(store: "BandcampBackend", objects: walked.objects, faults: nil, requests: "\(requests)", cacheHits: "–")
    }

    /// Prints a band's albums with their tracks, each of which leads back to the band.
    private func walk(_ band: Band, _ walked: inout (objects: Int, lists: Int)) {
        terminal.code("for album in band.discography { for track in album.tracks { … track.album?.band … } }   // \(band.name)")
        walked.objects += 1
        walked.lists += 1
        for album in band.discography.sorted(by: { $0.album_id < $1.album_id }) {
            let back = Set(album.tracks.compactMap { $0.album?.band?.name }).joined(separator: ", ")
            terminal.row((album.title, 24), ("\(album.tracks.count) tracks", 8), ("by \(back)", 0))
            walked.objects += 1 + album.tracks.count
            walked.lists += 1
        }
    }
}
