import Foundation
import SampleService
import Testing

@Suite("The Bandcamp endpoints") struct BandcampEndpointsTests {
    private let service: SampleService

    init() async throws {
        service = try await SampleService.start()
    }

    @Test("A search answers the bands with that name, with the members Bandcamp sends") func searchAnswersBands() async throws {
        let results = try await service.ask("/api/band/3/search?name=Rue%20Royale").objects("results")
        let band = try #require(results.first)
        #expect(results.count == 1)
        #expect(band.names == ["band_id", "name", "offsite_url", "subdomain", "url"])
        #expect(band["band_id"] as? Int == 4_246_760_315)
        #expect(band["name"] as? String == "Rue Royale")
        #expect(band["subdomain"] as? String == "rueroyale")
        #expect(band["url"] as? String == "http://rueroyale.bandcamp.com")
        #expect(band["offsite_url"] as? String == "http://rueroyalemusic.com")
    }

    @Test("A search takes several names with commas between them") func searchTakesSeveralNames() async throws {
        let results = try await service.ask("/api/band/3/search?name=rue+royale,Sideditch").objects("results")
        #expect(results.values("band_id") == [2_721_182_224, 4_246_760_315])
    }

    @Test("A search does not tell upper from lower case, so it answers more than was asked for") func searchIgnoresCase() async throws {
        let results = try await service.ask("/api/band/3/search?name=Northern%20Pier").objects("results")
        #expect(results.values("name") == ["Northern Pier", "NORTHERN PIER"])
        #expect(results.allSatisfy { $0.isNull("offsite_url") })
    }

    @Test("A search for a part of a name, or for nobody, answers an empty list", arguments: ["Rue", "Nobody"])
    func searchFindsNobody(name: String) async throws {
        #expect(try await service.ask("/api/band/3/search?name=\(name)").objects("results").isEmpty)
    }

    @Test("A band is answered by identifier as the search answers it") func bandByIdentifier() async throws {
        let reply = try await service.ask("/api/band/3/info?band_id=2721182224")
        let band = try reply.object()
        #expect(reply.contentType == "application/json; charset=utf-8")
        #expect(band.names == ["band_id", "name", "offsite_url", "subdomain", "url"])
        #expect(band["name"] as? String == "Sideditch")
    }

    @Test("A discography lists the albums without their tracks") func discographyListsAlbums() async throws {
        let albums = try await service.ask("/api/band/3/discography?band_id=4246760315").objects("discography")
        let expected = try #require(SampleService.bands.first { $0.name == "Rue Royale" }).albums
        #expect(albums.values("album_id") == expected.map(\.id))
        #expect(albums.values("title") == expected.map(\.title))
        #expect(albums.values("release_date") == expected.map(\.releaseDate))
        for album in albums {
            #expect(
                album.names == [
                    "album_id", "artist", "band_id", "downloadable", "large_art_url", "release_date", "small_art_url", "title", "url",
                ])
            #expect(album["artist"] as? String == "Rue Royale")
        }
    }

    @Test("A band without albums and an unknown band have empty discographies", arguments: [3_019_577_416, 1])
    func emptyDiscography(id: Int) async throws {
        #expect(try await service.ask("/api/band/3/discography?band_id=\(id)").objects("discography").isEmpty)
    }

    @Test("An album comes with its tracks in playing order") func albumWithTracks() async throws {
        let album = try await service.ask("/api/album/2/info?album_id=512408331").object()
        let tracks = try #require(album["tracks"] as? [[String: Any]])
        #expect(
            album.names == [
                "about", "album_id", "band_id", "credits", "downloadable", "large_art_url", "release_date", "small_art_url", "title",
                "tracks", "url",
            ])
        #expect(album["title"] as? String == "Lamplight Atlas")
        #expect(album["release_date"] as? Int == 1_243_555_200)
        #expect(tracks.values("number") == [1, 2, 3, 4, 5])
        #expect(tracks.first?["title"] as? String == "The Map Is Folded Wrong")
        #expect(tracks.first?["duration"] as? Double == 214.36)
        for track in tracks {
            #expect(
                track.names == [
                    "album_id", "band_id", "downloadable", "duration", "large_art_url", "number", "small_art_url", "streaming_url",
                    "title", "track_id", "url",
                ])
        }
    }

    @Test("Only a track that the band does not play alone has an artist") func artistOnlyWhereItDiffers() async throws {
        let album = try await service.ask("/api/album/2/info?album_id=1877215904").object()
        let tracks = try #require(album["tracks"] as? [[String: Any]])
        #expect(tracks.values("artist") == ["Rue Royale & Tuule Kell"])
        #expect(album.isNull("about"))
    }

    @Test("A track comes by itself with its words, null where there are none") func trackWithLyrics() async throws {
        let album = try #require(SampleService.bands.flatMap(\.albums).first { $0.title == "Lamplight Atlas" })
        let sung = try await service.ask("/api/track/3/info?track_id=\(album.tracks[0].id)").object()
        let silent = try await service.ask("/api/track/3/info?track_id=\(album.tracks[1].id)").object()
        #expect(
            sung.names == [
                "about", "album_id", "band_id", "credits", "downloadable", "duration", "large_art_url", "lyrics", "number",
                "small_art_url", "streaming_url", "title", "track_id", "url",
            ])
        #expect(sung["lyrics"] as? String == album.tracks[0].lyrics)
        #expect(silent.isNull("lyrics"))
        #expect(silent["album_id"] as? Int == album.id)
    }

    @Test("Several tracks come as an object with a member for each known identifier") func severalTracks() async throws {
        let tracks = try #require(SampleService.bands.first?.albums.first).tracks
        let reply = try await service.ask("/api/track/3/info?track_id=\(tracks[0].id),1,\(tracks[1].id)").object()
        #expect(reply.names == ["\(tracks[0].id)", "\(tracks[1].id)"])
        #expect((reply["\(tracks[1].id)"] as? [String: Any])?["title"] as? String == tracks[1].title)
    }

    @Test(
        "An unknown identifier is answered with status 200 and an error in the body",
        arguments: [
            ("/api/band/3/info?band_id=1", "unknown band"), ("/api/album/2/info?album_id=x", "unknown album"),
            ("/api/track/3/info?track_id=1", "unknown track"),
        ])
    func unknownIdentifier(target: String, message: String) async throws {
        let reply = try await service.ask(target)
        let error = try reply.object()
        #expect(reply.status == 200)
        #expect(error.names == ["error", "error_message"])
        #expect(error["error"] as? Bool == true)
        #expect(error["error_message"] as? String == message)
    }

    @Test("A question without its parameter, to an unknown address or with another method is an error") func wrongQuestions() async throws {
        #expect(try await service.ask("/api/band/3/search").status == 400)
        #expect(try await service.ask("/api/band/3/unknown").status == 404)
        #expect(try await service.ask("/api/band/3/search?name=Sideditch", method: "POST").status == 405)
    }

    @Test("Titles beyond ASCII arrive as they are") func unicodeTitles() async throws {
        let albums = try await service.ask("/api/band/3/discography?band_id=2094417763").objects("discography")
        let album = try await service.ask("/api/album/2/info?album_id=1209556840").object()
        let tracks = try #require(album["tracks"] as? [[String: Any]])
        #expect(albums.values("title") == ["Õhtune peegel ☾", "夜の川"])
        #expect(tracks.values("title") == ["Õhtutuul", "Jää ääres", "Üks öö", "☾", "Hommik 🌅"])
    }
}
