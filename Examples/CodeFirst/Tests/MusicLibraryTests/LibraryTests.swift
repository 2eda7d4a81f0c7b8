import CoreDataMacros
import MusicLibrary
import Testing

/// Tests that the library without a model file equals the library with one.
struct LibraryTests {
    private static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static var modelFile: URL { examples.appendingPathComponent("ModelLayer/Sources/MusicLibrary/Library.xcdatamodeld") }

    @Test func theClassesDeclareTheModelOfTheFile() throws {
        let declared = try Library.model()
        let file = try NSManagedObjectModel(reading: Self.modelFile)
        // Each model names the classes of its own module.
        for entity in declared.entities + file.entities { entity.managedObjectClassName = "" }
        #expect(declared.differences(from: file, includingFileAttributes: false) == [])
        #expect(declared.isEqual(file))
        // A store created with one model can be opened with the other.
        #expect(declared.entityVersionHashesByName == file.entityVersionHashesByName)
    }

    @Test func theLibraryIsFilledAndAsked() throws {
        let context = try Library.open().newBackgroundContext()
        try context.performAndWait {
            let artist = Artist(context: context)
            artist.name = "Kraftwerk"
            let album = Album(context: context)
            album.title = "Autobahn"
            album.artist = artist
            album.addTracks(["Autobahn", "Kometenmelodie 1"], in: context)
            let list = SmartPlaylist(context: context)
            list.addToTracks(album.tracks)
            try context.save()
            let request: NSFetchRequest<Track> = Track.fetchRequest()
            request.predicate = NSPredicate(format: "album.artist.name == %@ AND duration > 320", "Kraftwerk")
            #expect(try context.fetch(request).map(\.title) == ["Kometenmelodie 1"])
            #expect(try context.fetch(Playlist.fetchRequest()).map(\.totalDuration) == [660])
            #expect(artist.albums == [album])
        }
    }
}

extension Album {
    fileprivate func addTracks(_ titles: [String], in context: NSManagedObjectContext) {
        for (number, title) in titles.enumerated() {
            let track = Track(context: context)
            track.title = title
            track.duration = Double(300 + 60 * number)
            addToTracks(track)
        }
    }
}
