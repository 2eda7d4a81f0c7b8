import CoreData
import MusicLibrary
import Testing

/// Tests that the model layer works on Linux as in the app: the model is found by its name, and the classes by theirs.
@MainActor struct MusicLibraryTests {

    let context: NSManagedObjectContext

    init() throws {
        context = try Persistence(inMemory: true).container.viewContext
    }

    private func album(_ title: String, by name: String, tracks titles: [String] = []) throws -> Album {
        let artist = try context.fetch(Artist.request(named: name)).first ?? Artist(context: context)
        artist.name = name
        let album = Album(context: context)
        album.title = title
        album.artist = artist
        for (index, title) in titles.enumerated() {
            let track = Track(context: context)
            track.title = title
            track.trackNumber = Int32(index + 1)
            track.duration = 100 * Double(index + 1)
            album.addToTracks(track)
        }
        return album
    }

    @Test func everyEntityHasItsClass() throws {
        let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
        let classes = model.entitiesByName.mapValues { String(describing: $0.managedObjectClass) }
        #expect(classes == Dictionary(uniqueKeysWithValues: model.entitiesByName.keys.map { ($0, $0) }))
        #expect(model.check().map(\.description) == [])
    }

    @Test func generatedAndWrittenClassesInheritFromEachOther() throws {
        let album = try album("Autobahn", by: "Kraftwerk")
        #expect(album as Any is MediaItem)
        // Set by the handwritten class, read by the generated properties.
        #expect(album.id != nil && album.addedAt != nil && album.tags == [])
        let playlist = SmartPlaylist(context: context)
        #expect(playlist.createdAt != nil && playlist.isLive && playlist.name == "New Playlist")
        playlist.playlistKind = .folder
        #expect(playlist.value(forKey: "kind") as? Int16 == 1)
    }

    @Test func anOrderedRelationshipKeepsItsOrderAndItsInverse() throws {
        let album = try album("Autobahn", by: "Kraftwerk", tracks: ["a", "b", "c"])
        #expect(album.orderedTracks.map(\.title) == ["a", "b", "c"])
        let bonus = Track(context: context)
        bonus.title = "bonus"
        album.insertIntoTracks(bonus, at: 1)
        #expect(album.orderedTracks.map(\.title) == ["a", "bonus", "b", "c"])
        #expect(bonus.album === album)
        album.removeFromTracks(at: 0)
        album.replaceTracks(at: 2, with: Track(context: context))
        #expect(album.orderedTracks.map(\.title) == ["bonus", "b", "Untitled"])
        album.removeFromTracks(album.tracks ?? [])
        #expect(album.orderedTracks.isEmpty && bonus.album == nil)
    }

    @Test func tracksStandInManyPlaylistsAndAlbumsHaveManyGenres() throws {
        let album = try album("Autobahn", by: "Kraftwerk", tracks: ["a", "b"])
        let first = Playlist(context: context)
        let second = SmartPlaylist(context: context)
        for track in album.orderedTracks {
            first.insertIntoTracks(track, at: 0)
            second.addToTracks(track)
        }
        #expect(first.tracks?.array as? [Track] == album.orderedTracks.reversed())
        #expect(album.orderedTracks[0].playlists?.count == 2)
        #expect(first.totalDuration == 300)
        let genre = Genre(context: context)
        genre.name = "Electronic"
        genre.addToAlbums(NSSet(object: album))
        #expect(album.genres?.contains(genre) == true)
        #expect((genre.albums as? Set<Album>) == [album])
    }

    @Test func everyKindOfAttributeComesBackFromTheStore() throws {
        let album = try album("Autobahn", by: "Kraftwerk", tracks: ["a"])
        album.price = NSDecimalNumber(string: "9.99")
        album.releaseDate = Date(timeIntervalSince1970: 152_582_400)
        album.tags = ["krautrock", "synth"]
        album.label = ["name": "Philips", "catalogNumber": "6305 231"]
        album.artist?.website = URL(string: "https://example.com")
        let track = album.orderedTracks[0]
        track.waveform = Data([1, 2, 3])
        track.location = URL(string: "file:///a.m4a")
        track.playCount = .max
        let event = PlaybackEvent(context: context)
        event.trackID = track.id
        event.playedAt = 1_000
        event.volume = 0.5
        let quiet = PlaybackEvent(context: context)
        quiet.trackID = UUID()
        try context.save()
        context.reset()

        let found = try #require(try context.fetch(Album.fetchRequest() as NSFetchRequest<Album>).first)
        #expect(found.price == NSDecimalNumber(string: "9.99"))
        #expect(found.releaseDate == Date(timeIntervalSince1970: 152_582_400))
        #expect(found.tags == ["krautrock", "synth"])
        #expect(found.label?["name"] as? String == "Philips")
        #expect(found.artist?.website == URL(string: "https://example.com"))
        #expect(found.orderedTracks[0].waveform == Data([1, 2, 3]))
        #expect(found.orderedTracks[0].playCount == .max && !found.orderedTracks[0].isFavorite)
        let request: NSFetchRequest<PlaybackEvent> = PlaybackEvent.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "playedAt", ascending: false)]
        let events = try context.fetch(request)
        #expect(events.map(\.playedAt) == [1_000, 0] && events.map(\.volume) == [0.5, nil])
        #expect(events[0].tracks == found.orderedTracks && events[1].tracks == [])
    }

    @Test func predicatesTemplatesAndKeyPathsUseTheClasses() throws {
        let older = try album("Autobahn", by: "Kraftwerk", tracks: ["a"])
        let newer = try album("Radio-Aktivität", by: "Kraftwerk")
        older.releaseDate = .distantPast
        newer.releaseDate = .distantFuture
        older.orderedTracks[0].isFavorite = true
        try context.save()
        let artist = try #require(try context.fetch(Artist.request(named: "Kraftwerk")).first)
        #expect(artist.discography == [newer, older])
        let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
        let template = try #require(
            model.fetchRequestFromTemplate(withName: "AlbumsByArtist", substitutionVariables: ["ARTIST": "Kraftwerk"]))
        #expect(try context.fetch(template).count == 2)
        let favorites = try #require(model.fetchRequestTemplate(forName: "FavoriteTracks"))
        #expect(try context.fetch(favorites).first as? Track === older.orderedTracks[0])
        let items: NSFetchRequest<MediaItem> = MediaItem.fetchRequest()
        items.sortDescriptors = [NSSortDescriptor(keyPath: \MediaItem.title, ascending: true)]
        #expect(try context.fetch(items).map(\.title) == ["Autobahn", "Radio-Aktivität", "a"])
    }

    @Test func aSaveChecksTheRulesOfTheModelAndOfTheClasses() throws {
        let nameless = Artist(context: context)
        nameless.name = ""
        #expect(throws: (any Error).self) { try context.save() }
        context.delete(nameless)
        let album = try album("Autobahn", by: "Kraftwerk")
        album.tags = (0...10).map(String.init)
        #expect(throws: (any Error).self) { try context.save() }
        album.tags = ["one"]
        album.rating = 6
        #expect(throws: (any Error).self) { try context.save() }
        album.rating = 5
        try context.save()
    }

    @Test func theModelHasTwoVersionsAndConfigurations() throws {
        let model = try #require(NSManagedObjectModel.mergedModel(from: nil))
        #expect(model.configurations == ["History", "Library"])
        #expect(model.entities(forConfigurationName: "History")?.map(\.name) == ["PlaybackEvent"])
        #expect(model.entitiesByName["Track"]?.attributesByName["duration"]?.renamingIdentifier == "length")
        #expect(Persistence.modelFile.map { try? NSManagedObjectModel.versionNames(at: $0) } == ["Library", "Library 2"])
        #expect(Persistence.modelFile.flatMap { NSManagedObjectModel(contentsOf: $0) } == model)
    }
}
