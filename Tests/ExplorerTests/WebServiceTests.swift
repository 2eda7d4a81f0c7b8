import CoreData
import Explorer
import Foundation
import StoreCommands
import Synchronization
import TestSupport
import Testing
import WebTransport

#if Command
import ExplorerServer
#endif

/// A web service in the explorer: 250 albums of 30 artists, in pages of 100, which nobody counts.
@Suite("The explorer of a web service") struct WebServiceTests {
    /// A service that answers from a script, and notes what it was asked.
    private final class Service: Transport {
        private let noted = Synchronization.Mutex<[String]>([])
        var targets: [String] { noted.withLock { $0 } }

        func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
            let target = request.url.replacing("https://api.example.com/v1/", with: "")
            noted.withLock { $0.append(target) }
            let items = URLComponents(string: request.url)?.queryItems ?? []
            func number(_ name: String) -> Int? { items.first { $0.name == name }?.value.flatMap { Int($0) } }
            let path = target.prefix { $0 != "?" }.split(separator: "/")
            let body: String
            switch (path.first, path.dropFirst().first.flatMap { Int($0) }) {
            case ("albums", let id?): body = Self.album(id)
            case ("artists", let id?): body = Self.artist(id)
            case ("albums", nil):
                let all = (1...250).filter { id in number("artist").map { $0 == Self.artistOf(id) } ?? true }
                body = "[\(all.dropFirst(number("offset") ?? 0).prefix(number("limit") ?? 100).map(Self.album).joined(separator: ","))]"
            default: return WebResponse(status: 404)
            }
            return WebResponse(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }

        private static func artistOf(_ album: Int) -> Int { 1 + album % 30 }
        private static func album(_ id: Int) -> String { #"{"id": \#(id), "title": "Album \#(id)", "artist": \#(artistOf(id))}"# }
        private static func artist(_ id: Int) -> String { #"{"id": \#(id), "name": "Artist \#(id)"}"# }
    }

    private let folder: Folder
    private let service = Service()
    private let session: ExplorerSession

    init() throws {
        folder = try Folder()
        let (artist, album) = (NSEntityDescription(name: "Artist"), NSEntityDescription(name: "Album"))
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumArtist = NSRelationshipDescription(name: "artist", destination: artist)
        albums.inverse(to: albumArtist)
        artist.properties = [NSAttributeDescription(name: "name", type: .string), albums]
        album.properties = [NSAttributeDescription(name: "title", type: .string), albumArtist]
        let model = folder.url.appendingPathComponent("Music.xcdatamodel").path
        try ModelConversion.write(NSManagedObjectModel(entities: [artist, album]), to: model)
        let description = """
            address: https://api.example.com/v1
            style:
              filters: {equal: "{name}={value}"}
              paging: {offset: offset, size: limit, of: 100, endsShort: true}
            resources:
              - {entity: Artist, path: artists, calls: [one]}
              - {entity: Album, path: albums, calls: [list, one]}
            """
        let file = folder.url.appendingPathComponent("music.yaml")
        try Data(description.utf8).write(to: file)
        session = try ExplorerSession(StoreReference(file.path, model: model, transport: service))
    }

    @Test("A table asks for its page, and for no names that take a request each") func table() async throws {
        let rows = try await session.rows(TableQuestion("Album"))
        guard case .array(let all)? = rows["rows"] else { Issue.record("There are no rows."); return }
        expect(all.count, equals: 100)
        expect(service.targets, equals: ["albums?limit=100"])
        expect(all.first?.text().contains("Artist/p2"), equals: true, "\(all.first?.text() ?? "")")
        expect(rows["asked"]?["requests"]?.text().contains("GET https://api.example.com/v1/albums?limit=100"), equals: true)
        expect(rows["asked"]?["count"], equals: .integer(1))
        let count = try await session.count(TableQuestion("Album"), isExact: true)
        expect(count["count"], equals: .null)
        expect(service.targets.count, equals: 1)
    }

    @Test("An object shows the first of its related objects, and asks for no more") func related() async throws {
        let object = try await session.object("Artist/p3")
        expect(object["label"], equals: .string("Artist 3"))
        expect(service.targets.filter { $0.hasPrefix("albums") }, equals: ["albums?artist=3&limit=21"])
        let wrong = await #expect(throws: (any Error).self) { try await session.object("Artist/x") }
        #expect(wrong != nil)
        await #expect(throws: (any Error).self) { try await session.rows(TableQuestion("Artist")) }
    }

    #if Command
    @Test("One scrolls to the end of what nobody has counted, and walks to an artist") func browser() async throws {
        let addresses = AsyncStream.makeStream(of: String.self)
        let server = ExplorerServer(session)
        let serving = Task { try await server.run { addresses.continuation.yield($0) } }
        defer { serving.cancel() }
        let address = try #require(await addresses.stream.first { _ in true })
        try await Task.detached {
            let browser = try Browser()
            try browser.open(address)
            try browser.click(".side a", text: "Album")
            try browser.wait(for: "100+ objects")
            try browser.run("const s = document.querySelector('.scroller'); s.scrollTop = s.scrollHeight")
            try browser.wait(for: "200+ objects")
            try browser.run("const s = document.querySelector('.scroller'); s.scrollTop = s.scrollHeight")
            try browser.wait(for: "250 objects")
            try browser.run("const s = document.querySelector('.scroller'); s.scrollTop = s.scrollHeight")
            try browser.wait(for: "Album 250")
            try browser.click(".asked summary")
            try browser.wait(for: "GET https://api.example.com/v1/albums?offset=200&limit=100")
            try browser.screenshot("service")
            try browser.run("document.querySelector('.scroller').scrollTop = 0")
            try browser.wait(for: "Album 1")
            try browser.click(".body .object", text: "Artist/p2")
            try browser.wait("document.querySelector('h1').textContent === 'Artist 2'")
            try browser.wait(for: "Album/p31")
            try expect(browser.texts(".side a").contains("History"), equals: false)
            try expect(browser.consoleErrors(), equals: [])
        }.value
    }
    #endif
}
