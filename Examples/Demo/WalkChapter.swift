import Bandcamp
import CoreData
import SampleService

/// Shows bands → albums → tracks of a web service, read through properties.
struct WalkChapter {
    let service: SampleService
    let terminal: Terminal

    func run() async throws -> Count {
        terminal.chapter("Walking a web service")
        terminal.text("BandCampIS is an NSIncrementalStore over Bandcamp's API. What an answer brought is not asked for again.")

        BandCampIS.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: BandcampModel.make())
        let added = try coordinator.addPersistentStore(ofType: BandCampIS.storeType, configurationName: nil, at: service.baseURL)
        guard let store = added as? BandCampIS else { throw CocoaError(.coderInvalidValue) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator

        // The store waits for its answers, so it is used on the context's queue and never on a thread of Swift's pool.
        try await context.perform {
            let bands = try fetchBands(in: context)
            for band in bands { walk(band) }
            // A property cannot throw: errors of the reads are thrown here.
            try context.throwPendingFaultError()
            try searchTracks(of: bands, in: context)
        }

        let statistics = store.statistics
        return Count(
            store: "BandCampIS", objects: statistics.objects, faults: statistics.objectFaults + statistics.relationshipFaults,
            requests: "\(statistics.requests)", cacheHits: "\(statistics.cacheHits)")
    }

    private func fetchBands(in context: NSManagedObjectContext) throws -> [Band] {
        let request = NSFetchRequest<Band>(entityName: "Band")
        request.predicate = NSPredicate(format: "name IN %@", ["Rue Royale", "Sideditch"])
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        terminal.code("fetch Band where \(request.predicate?.formatString ?? "")")
        return try context.fetch(request)
    }

    private func walk(_ band: Band) {
        terminal.code("for album in band.discography { … album.tracks … }   // \(band.name)")
        for album in band.discography.sorted(by: { ($0.release_date ?? .distantPast) < ($1.release_date ?? .distantPast) }) {
            let tracks = album.tracks.sorted { $0.number < $1.number }
            let seconds = Int(tracks.reduce(0) { $0 + $1.duration })
            let released = album.release_date?.formatted(.iso8601.year().month().day()) ?? ""
            terminal.row((album.title, 24), (released, 10), ("\(tracks.count) tracks", 8), (Self.time(seconds), 6))
            for track in tracks {
                terminal.row(
                    ("\(track.number).", 3), (track.title, 28), (Self.time(Int(track.duration)), 6), (track.artist ?? "", 0), indent: 8)
            }
        }
    }

    private func searchTracks(of bands: [Band], in context: NSManagedObjectContext) throws {
        guard let album = bands.first?.discography.first(where: { $0.title == "Lamplight Atlas" }) else { return }
        let request = NSFetchRequest<Track>(entityName: "Track")
        request.predicate = NSPredicate(format: "album == %@ AND duration > 195 AND title CONTAINS[cd] 'e'", album)
        request.sortDescriptors = [NSSortDescriptor(key: "duration", ascending: false)]
        terminal.code("fetch Track where album == “\(album.title)” AND duration > 195 AND title CONTAINS[cd] \"e\"")
        for track in try context.fetch(request) {
            terminal.row((track.title, 28), (Self.time(Int(track.duration)), 6), (track.album?.band?.name ?? "", 0))
        }
        terminal.note("The service can only list the album; the rest of the question was finished here.")
    }

    private static func time(_ seconds: Int) -> String {
        let rest = seconds % 60
        return "\(seconds < 600 ? " " : "")\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
}
