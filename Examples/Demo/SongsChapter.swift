import CoreData
import Songs

/// Shows a CSV file that is edited as objects and read again as text.
struct SongsChapter {
    let terminal: Terminal

    func run() async throws -> Count {
        terminal.chapter("Editing a CSV file")
        terminal.text("MyIncrementalStore reads a row of the file when somebody looks at it; a save leaves the other rows as they are.")

        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let csv = directory.appendingPathComponent("Songs.csv")
        try FileManager.default.copyItem(at: SongLibrary.sampleFile, to: csv)
        let before = try lines(of: csv)

        let container = try SongLibrary.open(csv: csv, kind: .incremental)
        let context = container.newBackgroundContext()
        let uri = try await context.perform { try edit(in: context) }

        terminal.text("\n    What has changed in the file:")
        for (old, new) in zip(before, try lines(of: csv)) where old != new {
            terminal.row(("-", 1), (shortened(old), 0))
            terminal.row(("+", 1), (shortened(new), 0))
        }
        try await readBack(uri, csv)

        let statistics = (container.persistentStoreCoordinator.persistentStores.first as? MyIncrementalStore)?.statistics
        return Count(
            store: "MyIncrementalStore", objects: before.count - 1,
            faults: (statistics?.rowsRead ?? 0) + (statistics?.relationshipFaults ?? 0),
            requests: "–", cacheHits: "–")
    }

    /// Changes a song and saves it.
    ///
    /// - Returns: The URI of the song.
    private func edit(in context: NSManagedObjectContext) throws -> URL {
        let request = NSFetchRequest<Song>(entityName: "Song")
        request.predicate = NSPredicate(format: "name == %@", "Low Water Waltz")
        terminal.code("fetch Song where \(request.predicate?.formatString ?? "")")
        guard let song = try context.fetch(request).first else { throw CocoaError(.fileReadCorruptFile) }
        let composers = song.composers.map(\.name).sorted().joined(separator: ", ")
        terminal.row((song.name, 20), (song.album?.title ?? "–", 12), ("by \(composers)", 0))

        terminal.code("song.name = \"High Water Waltz\"; song.duration += 12; try context.save()")
        song.name = "High Water Waltz"
        song.duration += 12
        try context.save()
        return song.objectID.uriRepresentation()
    }

    /// Opens the file with the other store, and finds the song by its URI.
    private func readBack(_ uri: URL, _ csv: URL) async throws {
        terminal.code("open the file with MyAtomicStore and look for the URI of the song")
        let container = try SongLibrary.open(csv: csv, kind: .atomic)
        let context = container.newBackgroundContext()
        try await context.perform {
            guard let id = container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri),
                let song = try context.existingObject(with: id) as? Song
            else { throw CocoaError(.fileReadCorruptFile) }
            terminal.note("“\(song.name)” on “\(song.album?.title ?? "–")”, \(song.duration) seconds")
        }
    }

    private func lines(of file: URL) throws -> [String] {
        String(decoding: try Data(contentsOf: file), as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    }

    private func shortened(_ line: String) -> String {
        line.count > 100 ? line.prefix(99) + "…" : line
    }
}
