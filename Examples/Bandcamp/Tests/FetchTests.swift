import Bandcamp
import CoreData
import SampleService
import Testing

@Suite("Fetching from Bandcamp") struct FetchTests {
    @Test("Several names are one request, finished in the order that was asked for") func namesInList() async throws {
        let stack = try await Stack()
        try await stack.context.perform {
            let predicate = NSPredicate(format: "name IN %@", ["Sideditch", "Rue Royale", "Nobody At All"])
            let bands = try stack.context.fetch(Band.self, predicate, sortedBy: "name", ascending: false)
            #expect(bands.map(\.name) == ["Sideditch", "Rue Royale"])
        }
        #expect(stack.asked == ["/api/band/3/search?name=Nobody%20At%20All,Rue%20Royale,Sideditch"])
    }

    @Test("The service finds names regardless of case; the predicate decides") func caseOfNames() async throws {
        let stack = try await Stack()
        try await stack.context.perform {
            let exact = try stack.context.fetch(Band.self, NSPredicate(format: "name == 'Northern Pier'"))
            #expect(exact.map(\.name) == ["Northern Pier"])
            let either = try stack.context.fetch(Band.self, NSPredicate(format: "name ==[c] 'northern pier'"), sortedBy: "name")
            #expect(either.map(\.name) == ["NORTHERN PIER", "Northern Pier"])
        }
        #expect(stack.asked.count == 2)
    }

    @Test("An unknown band is an empty answer, by name as well as by number") func unknownBand() async throws {
        let stack = try await Stack()
        try await stack.context.perform {
            let named = try stack.context.fetch(Band.self, NSPredicate(format: "name == 'Nobody At All'"))
            let numbered = try stack.context.fetch(Band.self, NSPredicate(format: "band_id == 1"))
            #expect(named.isEmpty && numbered.isEmpty)
        }
        #expect(stack.asked == ["/api/band/3/search?name=Nobody%20At%20All", "/api/band/3/info?band_id=1"])
    }

    @Test("A fetch may give objects, their IDs, dictionaries or a count") func resultTypes() async throws {
        let stack = try await Stack()
        let band = sample("Rue Royale")
        let context = stack.context
        try await context.perform {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Album")
            request.predicate = NSPredicate(format: "band_id == %lld", Int64(band.id))
            request.sortDescriptors = [NSSortDescriptor(key: "release_date", ascending: true)]
            #expect(try context.count(for: request) == 3)

            request.resultType = .managedObjectIDResultType
            let ids = try context.fetch(request).compactMap { $0 as? NSManagedObjectID }
            request.resultType = .managedObjectResultType
            let albums = try context.fetch(request).compactMap { $0 as? Album }
            #expect(albums.map(\.title) == ["Lamplight Atlas", "The Ferry Before Dawn", "Ein Haus aus Regen"])
            #expect(albums.map(\.objectID) == ids)

            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", "downloadable"]
            request.fetchOffset = 1
            request.fetchLimit = 1
            let dictionaries = try context.fetch(request).compactMap { $0 as? NSDictionary }
            #expect(dictionaries.map { $0["title"] as? String } == ["The Ferry Before Dawn"])
            #expect(dictionaries.map { $0["downloadable"] as? Int } == [1])

            request.propertiesToFetch = ["downloadable"]
            request.returnsDistinctResults = true
            request.sortDescriptors = [NSSortDescriptor(key: "downloadable", ascending: true)]
            request.fetchOffset = 0
            request.fetchLimit = 2
            let distinct = try context.fetch(request).compactMap { $0 as? NSDictionary }
            #expect(distinct.map { $0["downloadable"] as? Int } == [1, 2])
        }
        #expect(stack.asked == Array(repeating: "/api/band/3/discography?band_id=\(band.id)", count: 5))
    }

    @Test("Order, offset and limit are those of the request") func paging() async throws {
        let stack = try await Stack()
        let album = sample("Sideditch").albums[0]
        try await stack.context.perform {
            let request = NSFetchRequest<Track>(entityName: "Track")
            request.predicate = NSPredicate(format: "album_id == %lld", Int64(album.id))
            request.sortDescriptors = [NSSortDescriptor(key: "duration", ascending: false)]
            request.fetchOffset = 1
            request.fetchLimit = 2
            let expected = album.tracks.sorted { $0.duration > $1.duration }.dropFirst().prefix(2).map(\.title)
            let found = try stack.context.fetch(request)
            #expect(found.map(\.title) == expected)
        }
        #expect(stack.asked == ["/api/album/2/info?album_id=\(album.id)"])
    }

    @Test("What the service cannot filter is evaluated here, once something else has narrowed the objects down") func restInMemory()
        async throws
    {
        let stack = try await Stack()
        let band = sample("Rue Royale")
        try await stack.context.perform {
            let object = try #require(try stack.context.fetch(Band.self, NSPredicate(format: "band_id == %lld", Int64(band.id))).first)
            stack.service.resetRequests()
            let albums = try stack.context.fetch(Album.self, NSPredicate(format: "band == %@ AND title CONTAINS 'Before'", object))
            #expect(albums.map(\.title) == ["The Ferry Before Dawn"])
        }
        #expect(stack.asked == ["/api/band/3/discography?band_id=\(band.id)"])
    }

    @Test("A predicate over a relationship asks for that relationship of each candidate") func relationshipPath() async throws {
        let stack = try await Stack()
        let band = sample("Sideditch")
        try await stack.context.perform {
            let predicate = NSPredicate(format: "band_id == %lld AND ANY tracks.duration > 300", Int64(band.id))
            let found = try stack.context.fetch(Album.self, predicate)
            #expect(found.map(\.title) == ["Gravel Hymns"])
        }
        #expect(
            stack.asked == [
                "/api/band/3/discography?band_id=\(band.id)", "/api/album/2/info?album_id=\(band.albums[0].id)",
                "/api/album/2/info?album_id=\(band.albums[1].id)",
            ])
    }

    @Test("SELF and OR give each object once") func selfAndOr() async throws {
        let stack = try await Stack()
        try await stack.context.perform {
            let band = try #require(try stack.context.fetch(Band.self, NSPredicate(format: "name == 'Sideditch'")).first)
            #expect(try stack.context.fetch(Band.self, NSPredicate(format: "SELF == %@", band)) == [band])
            #expect(try stack.context.fetch(Band.self, NSPredicate(format: "SELF == %@ OR name == 'Sideditch'", band)) == [band])
        }
        let info = "/api/band/3/info?band_id=\(sample("Sideditch").id)"
        #expect(stack.asked == ["/api/band/3/search?name=Sideditch", info, info, "/api/band/3/search?name=Sideditch"])
    }

    @Test(
        "A fetch with nothing to go by is refused with the clause to blame, and never asks the service",
        arguments: [
            ("subdomain == 'sideditch'", "subdomain == \"sideditch\""),
            ("name BEGINSWITH 'Side'", "name BEGINSWITH \"Side\""),
            ("name == 'Sideditch' OR url == 'x'", "url == \"x\""),
            ("NOT name == 'Sideditch'", "NOT"),
            ("name == 'Earth, Wind'", "Earth, Wind"),
        ])
    func unanswerable(format: String, clause: String) async throws {
        let stack = try await Stack()
        let error = await #expect(throws: NSError.self) {
            try await stack.context.perform { _ = try stack.context.fetch(Band.self, NSPredicate(format: format)) }
        }
        #expect(error?.domain == BandCampErrorDomain)
        #expect(error?.code == BandCampErrorCode.unanswerableFetch.rawValue)
        #expect(error?.localizedDescription.contains(clause) == true, "\(error?.localizedDescription ?? "")")
        #expect(stack.asked.isEmpty)
    }

    @Test("All albums of Bandcamp cannot be fetched") func everything() async throws {
        let stack = try await Stack()
        let error = await #expect(throws: NSError.self) { try await stack.context.perform { _ = try stack.context.fetch(Album.self, nil) } }
        #expect(error?.localizedDescription.contains("“Album”") == true)
        #expect(stack.asked.isEmpty)
    }
}
