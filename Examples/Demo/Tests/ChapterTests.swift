import Foundation
import SampleService
import TestSupport
import Testing

@testable import coredata_demo

@Suite("What the demo prints") struct ChapterTests {
    /// Returns the output of a chapter, trimmed, line by line.
    private func lines(_ run: (SampleService, Terminal) async throws -> Void) async throws -> [String] {
        let folder = try ScratchFolder("coredata-demo")
        defer { folder.remove() }
        let file = folder.file("output.txt")
        try Data().write(to: file)
        let terminal = Terminal(output: try FileHandle(forWritingTo: file))
        let service = try await SampleService.start { terminal.request($0) }
        try await run(service, terminal)
        await service.stop()
        return String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    /// Returns the expected lines of a band, without those of the tracks.
    private func walk(_ band: SampleBand) -> [String] {
        ["→ GET /api/band/3/discography?band_id=\(band.id)"]
            + band.albums.sorted { $0.releaseDate < $1.releaseDate }.flatMap {
                ["→ GET /api/album/2/info?album_id=\($0.id)", $0.title]
            }
    }

    @Test("Each discography and each album's tracks is one request, printed before what it brought, and nothing else is asked")
    func requestsOfTheWalk() async throws {
        let bands = try ["Rue Royale", "Sideditch"].map { name in
            try #require(SampleService.bands.first { $0.name == name })
        }
        #expect(bands.map(\.albums.count) == [3, 2])
        let titles = Set(bands.flatMap(\.albums).map(\.title))
        let lamplight = try #require(bands[0].albums.first { $0.title == "Lamplight Atlas" })

        var asked: [String] = []
        let printed = try await lines { service, terminal in
            _ = try await WalkChapter(service: service, terminal: terminal).run()
            asked = service.requests.map { "→ GET \($0.target)" }
        }
        let outline = printed.compactMap { line -> String? in
            if line.hasPrefix("→") { return line }
            // An album's row contains the number of its tracks; a track's row begins with a number.
            return titles.first { line.hasPrefix("\($0)  ") && line.contains(" tracks ") }
        }
        // The search at the end is another fetch, and requests the album again.
        var expected = ["→ GET /api/band/3/search?name=Rue%20Royale,Sideditch"]
        expected += bands.flatMap(walk)
        expected.append("→ GET /api/album/2/info?album_id=\(lamplight.id)")
        #expect(outline == expected)
        #expect(printed.filter { $0.hasPrefix("→") } == asked)
        for track in bands.flatMap(\.albums).flatMap(\.tracks) {
            #expect(printed.contains { $0.contains(track.title) }, "\(track.title)")
        }
    }

    @Test("Without the network nothing is asked and everything is shown; a killed client comes back with what waits, and both sides settle")
    func offline() async throws {
        let printed = try await lines { _, terminal in
            let count = try await OfflineChapter(terminal: terminal).run()
            #expect(count.objects == 3)
        }
        let cut = try #require(printed.firstIndex { $0.hasSuffix("the network is cut") })
        let killed = try #require(printed.firstIndex { $0.contains("kill -9") })
        let back = try #require(printed.firstIndex { $0.hasSuffix("the network is back") })
        #expect(cut < killed && killed < back)
        #expect(printed[..<cut].contains { $0.hasPrefix("→") } && printed[back...].contains { $0.hasPrefix("→") })
        #expect(!printed[cut..<back].contains { $0.hasPrefix("→") })
        #expect(printed[cut..<killed].contains { $0.hasPrefix("✗") } && printed[cut..<killed].contains("3 changes wait for the server."))
        #expect(printed[killed..<back].contains("Sweep the stairs (Home) – waits for the server"))
        #expect(
            printed[back...].filter { $0.hasSuffix("(Home)") } == [
                "Call Ada (Home)", "Sweep the stairs (Home)", "Water all plants (Home)",
            ])
    }

    @Test("Over the backend each discography and each album's tracks is asked for once, all before the first is read, and counted")
    func requestsOverTheBackend() async throws {
        let bands = try ["Rue Royale", "Sideditch"].map { name in
            try #require(SampleService.bands.first { $0.name == name })
        }
        let printed = try await lines { service, terminal in
            _ = try await BackendChapter(service: service, terminal: terminal).run()
        }
        let asked = printed.filter { $0.hasPrefix("→") }
        #expect(asked.first == "→ GET /api/band/3/search?name=Rue%20Royale,Sideditch")
        // Those of one step are sent side by side, in any order.
        #expect(asked.dropFirst().prefix(2).sorted() == bands.map { "→ GET /api/band/3/discography?band_id=\($0.id)" }.sorted())
        let albums = bands.flatMap(\.albums)
        #expect(asked.dropFirst(3).sorted() == albums.map { "→ GET /api/album/2/info?album_id=\($0.id)" }.sorted())
        let last = try #require(printed.lastIndex { $0.hasPrefix("→") })
        for album in albums {
            let row = try #require(printed.firstIndex { $0.hasPrefix("\(album.title)  ") })
            #expect(row > last)
        }
        let tracks = albums.flatMap(\.tracks).count
        let objects = bands.count + albums.count + tracks
        let lists = bands.count + albums.count
        #expect(
            printed.contains {
                $0.hasSuffix(
                    "\(asked.count) requests for \(objects) objects and \(lists) lists; one for each would have been \(1 + objects + lists)."
                )
            })
    }

    @Test("The description has as many lines as the demo says, and its fetch is one search, one discography and one request for each album")
    func requestsOfTheDescription() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Bandcamp/Sources/Description/WebService+Bandcamp.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.count { !$0.isEmpty && !$0.hasPrefix("//") } == WebChapter.descriptionLines)

        let band = try #require(SampleService.bands.first { $0.name == "Rue Royale" })
        let albums = band.albums.filter { !$0.isFree }
        let printed = try await self.lines { service, terminal in
            _ = try await WebChapter(service: service, terminal: terminal).run()
        }
        let asked = printed.filter { $0.hasPrefix("→") }
        #expect(asked.prefix(2) == ["→ GET /api/band/3/search?name=Rue%20Royale", "→ GET /api/band/3/discography?band_id=\(band.id)"])
        #expect(asked.dropFirst(2).sorted() == albums.map { "→ GET /api/album/2/info?album_id=\($0.id)" }.sorted())
        for album in albums {
            #expect(printed.contains { $0.hasPrefix("\(album.title)  ") && $0.contains("\(album.tracks.count) tracks") })
        }
    }
}
