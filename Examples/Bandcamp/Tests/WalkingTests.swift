import Bandcamp
import CoreData
import SampleService
import Testing

@Suite("Walking bands, albums and tracks") struct WalkingTests {
    @Test("Fetching a band by name asks the service once, and its values cost no further request") func bandByName() async throws {
        let stack = try await Stack()
        try await stack.context.perform {
            // The article's own example.
            let entityDescription = NSEntityDescription.entity(forEntityName: "Band", in: stack.context)
            let predicate = NSPredicate(format: "name == %@", "Rue Royale")
            let fetchRequest = NSFetchRequest<Band>()
            fetchRequest.entity = entityDescription
            fetchRequest.predicate = predicate

            let results = try stack.context.fetch(fetchRequest)
            let band = try #require(results.last)
            #expect(results.count == 1)
            #expect(band.name == "Rue Royale")
            #expect(band.band_id == 4_246_760_315)
            #expect(band.subdomain == "rueroyale")
            #expect(band.url == "http://rueroyale.bandcamp.com")
            #expect(band.offsite_url == "http://rueroyalemusic.com")
        }
        #expect(stack.asked == ["/api/band/3/search?name=Rue%20Royale"])
        #expect(stack.store.statistics.cacheHits == 1)
    }

    @Test("Walking a band to every track of every album costs one request for each relationship") func wholeBand() async throws {
        let stack = try await Stack()
        let expected = sample("Rue Royale")
        try await stack.context.perform {
            let band = try #require(try stack.context.fetch(Band.self, NSPredicate(format: "name == %@", "Rue Royale")).first)
            let albums = band.discography.sorted { $0.album_id < $1.album_id }
            #expect(albums.map(\.title) == expected.albums.map(\.title))
            #expect(albums.map { Int($0.release_date?.timeIntervalSince1970 ?? 0) } == expected.albums.map(\.releaseDate))
            for (album, expectedAlbum) in zip(albums, expected.albums) {
                let tracks = album.tracks.sorted { $0.number < $1.number }
                #expect(tracks.map(\.title) == expectedAlbum.tracks.map(\.title))
                #expect(tracks.map(\.duration) == expectedAlbum.tracks.map(\.duration))
                #expect(tracks.map(\.artist) == expectedAlbum.tracks.map(\.artist))
                #expect(tracks.allSatisfy { $0.album === album && $0.album?.band === band })
            }
            try stack.context.throwPendingFaultError()
        }
        #expect(
            stack.asked == [
                "/api/band/3/search?name=Rue%20Royale",
                "/api/band/3/discography?band_id=4246760315",
                "/api/album/2/info?album_id=512408331",
                "/api/album/2/info?album_id=1877215904",
                "/api/album/2/info?album_id=3301664027",
            ])
        let statistics = stack.store.statistics
        #expect(statistics.requests == 5)
        #expect(statistics.relationshipFaults == 4)
        #expect(statistics.objectFaults == statistics.cacheHits)
        #expect(statistics.objects == 1 + 3 + 12)
    }

    @Test("A second context reads objects and relationships that the first one has, at no cost") func secondContext() async throws {
        let stack = try await Stack()
        let first = stack.context
        let (band, kept) = try await first.perform { () -> (NSManagedObjectID, [NSManagedObject]) in
            let band = try #require(try first.fetch(Band.self, NSPredicate(format: "name == %@", "Sideditch")).first)
            let albums = band.discography
            for album in albums { #expect(!album.tracks.isEmpty) }
            return (band.objectID, [band] + Array(albums))
        }
        stack.service.resetRequests()
        let second = stack.anotherContext()
        try await second.perform {
            let band = try #require(try second.existingObject(with: band) as? Band)
            #expect(band.name == "Sideditch")
            #expect(band.discography.map(\.title).sorted() == ["Ditch Radio, Vol. 2", "Gravel Hymns"])
            #expect(band.discography.reduce(0) { $0 + $1.tracks.count } == 10)
            try second.throwPendingFaultError()
        }
        #expect(stack.asked.isEmpty)
        await first.perform { #expect(kept.count == 3) }
    }

    @Test("A band without albums has an empty discography") func emptyDiscography() async throws {
        let stack = try await Stack()
        try await stack.context.perform {
            let band = try #require(try stack.context.fetch(Band.self, NSPredicate(format: "name == %@", "NORTHERN PIER")).first)
            #expect(band.discography.isEmpty)
            #expect(band.offsite_url == nil)
            try stack.context.throwPendingFaultError()
        }
        #expect(stack.asked.count == 2)
    }

    @Test("A track leads back to its album and band, each asked for once when it is not known") func backwards() async throws {
        let stack = try await Stack()
        let band = sample("Sideditch")
        let track = try #require(band.albums.last?.tracks.last)
        try await stack.context.perform {
            let found = try #require(try stack.context.fetch(Track.self, NSPredicate(format: "track_id == %lld", Int64(track.id))).first)
            #expect(found.title == track.title)
            #expect(found.album?.title == band.albums.last?.title)
            #expect(found.album?.band?.name == "Sideditch")
            try stack.context.throwPendingFaultError()
        }
        #expect(
            stack.asked == [
                "/api/track/3/info?track_id=\(track.id)",
                "/api/album/2/info?album_id=\(band.albums.last!.id)",
                "/api/band/3/info?band_id=\(band.id)",
            ])
    }

    @Test("The URI of an object leads to it again after the store was closed and opened") func reopening() async throws {
        let first = try await Stack()
        let uri = try await first.context.perform {
            try #require(try first.context.fetch(Band.self, NSPredicate(format: "name == %@", "Tuule Kell")).first).objectID
                .uriRepresentation()
        }
        try first.coordinator.remove(first.store)
        first.service.resetRequests()

        let second = try Stack(service: first.service)
        try await second.context.perform {
            let id = try #require(second.coordinator.managedObjectID(forURIRepresentation: uri))
            let band = try #require(try second.context.existingObject(with: id) as? Band)
            #expect(band.name == "Tuule Kell")
            #expect(band.objectID.uriRepresentation() == uri)
        }
        #expect(second.asked == ["/api/band/3/info?band_id=\(sample("Tuule Kell").id)"])
    }
}
