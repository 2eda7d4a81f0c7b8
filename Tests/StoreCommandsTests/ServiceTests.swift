import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing
import WebTransport

@testable import StoreCommands

/// Web services, opened by their descriptions.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ServiceTests {
    /// A service that answers from a script, and notes what it was asked.
    private final class Script: Transport {
        let requests = Box()

        /// Requests, guarded by a lock.
        // The lock guards the list.
        final class Box: @unchecked Sendable {
            private let lock = NSLock()
            private var list: [WebRequest] = []
            func add(_ request: WebRequest) { lock.withLock { list.append(request) } }
            var all: [WebRequest] { lock.withLock { list } }
        }

        func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
            requests.add(request)
            let albums = [
                #"{"id": 1, "title": "Deluxe", "year": 1975, "artist": {"id": 7}}"#,
                #"{"id": 2, "title": "Zuckerzeit", "year": 1974, "artist": {"id": 8}}"#,
            ]
            let path = request.url.replacing("https://api.example.com/v1/", with: "")
            let body: String
            switch path.prefix(while: { $0 != "?" }) {
            case "albums": body = "[\(path.contains("min_year=1975") ? albums[0] : albums.joined(separator: ","))]"
            case "albums/1": body = albums[0]
            case "artists": body = #"[{"id": 7, "name": "Harmonia"}, {"id": 8, "name": "Cluster"}]"#
            case "artists/7": body = #"{"id": 7, "name": "Harmonia"}"#
            case "artists/8": body = #"{"id": 8, "name": "Cluster"}"#
            default: return WebResponse(status: 404)
            }
            return WebResponse(status: 200, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        }
    }

    private let pad: Pad
    private let script = Script()
    private let model: String

    init() throws {
        pad = try Pad()
        let (artist, album) = (NSEntityDescription(), NSEntityDescription())
        (artist.name, album.name) = ("Artist", "Album")
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumArtist = NSRelationshipDescription(name: "artist", destination: artist)
        albums.inverse(to: albumArtist)
        artist.properties = [NSAttributeDescription(name: "name", type: .string), albums]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer32), albumArtist,
        ]
        model = pad.file("Music.xcdatamodel").path
        try ModelConversion.write(NSManagedObjectModel(entities: [artist, album]), to: model)
        try Data("the-secret-token".utf8).write(to: pad.file("token"))
        let description = """
            address: https://api.example.com/v1
            style:
              like: plain
              references: object:id
              filters: {equal: "{name}={value}", greaterThanOrEqual: "min_{name}={value}"}
            authentication:
              bearer: {file: "\(pad.file("token").path)"}
            resources:
              - {entity: Artist, path: artists, calls: [list, one]}
              - {entity: Album, path: albums, calls: [list, one]}
            """
        try Data(description.utf8).write(to: pad.file("music.yaml"))
    }

    private func open() throws -> OpenStore {
        try StoreReference(pad.file("music.yaml").path, model: model, transport: script).open()
    }

    @Test func aQueryAsksTheServiceAndIsFinishedInMemory() throws {
        let output = CollectedOutput()
        let text = QueryText("Album", where: "year >= 1975 AND title BEGINSWITH 'D'", columns: "title,artist.name")
        try QueryPrinter(Query(text, in: open()), to: output).write(.csv)
        #expect(output.text.contains(",Deluxe,Harmonia\n"))
        #expect(!output.text.contains("Zuckerzeit"))
        let asked = script.requests.all
        #expect(asked.contains { $0.url.contains("min_year=1975") })
        // The secret is sent, and never shown.
        #expect(asked.allSatisfy { $0.headers["Authorization"] == "Bearer the-secret-token" })
        #expect(!output.text.contains("secret"))
    }

    @Test func explainShowsTheRequestsAndSendsNone() throws {
        let output = CollectedOutput()
        let query = try Query(QueryText("Album", where: "year >= 1975 AND title BEGINSWITH 'D'"), in: open())
        try QueryExplanation(query).write(.table, to: output)
        #expect(output.text.hasPrefix("GET https://api.example.com/v1/albums?"), "\(output.text)")
        #expect(output.text.contains("Plan:\n"))
        #expect(!output.text.contains("secret"))
        #expect(script.requests.all.isEmpty)
        try expect(SchemaCheck().mistakes(QueryExplanation(query).json().text(), "explain"), equals: [])
    }

    @Test(arguments: ["copy.sqlite", "copy.json", "copy/"]) func aServiceIsCopiedToFiles(name: String) throws {
        let copy = pad.url.path + "/" + name
        let service = StoreReference(pad.file("music.yaml").path, model: model, decodesTransformables: true, transport: script)
        try expect(StoreCopying(service).copy(to: copy), equals: 4)
        let output = CollectedOutput()
        let store = try StoreReference(copy, model: model).open()
        try QueryPrinter(Query(QueryText("Album", sort: "year", columns: "title,year,artist.name"), in: store), to: output).write(.csv)
        let lines = output.text.split(separator: "\n").dropFirst().map { $0.split(separator: ",", maxSplits: 1)[1] }
        expect(lines, equals: ["Zuckerzeit,1974,Cluster", "Deluxe,1975,Harmonia"])
        // Each list is asked for once, and no object by itself.
        expect(script.requests.all.count, equals: 2, "\(script.requests.all.map(\.url))")
    }

    @Test func getAndInspectKnowTheService() throws {
        let store = try open()
        let output = CollectedOutput()
        try QueryPrinter(Query(QueryText("Album", where: "title == 'Deluxe'", columns: "title"), in: store), to: output).write(.csv)
        let uri = try #require(output.text.split(separator: "\n").dropFirst().first?.split(separator: ",").first)
        let object = CollectedOutput()
        try ObjectReport(String(uri), in: store).write(.table, to: object)
        #expect(object.text.contains("title   Deluxe"))
        let report = CollectedOutput()
        try StoreReport(store).write(.json, to: report)
        try expect(SchemaCheck().mistakes(report.text, "inspect"), equals: [])
        let table = CollectedOutput(width: 80)
        try StoreReport(store).write(.table, to: table)
        #expect(table.text.hasPrefix("https://api.example.com/v1\nweb service store"))
        #expect(!(report.text + table.text).contains("secret"))
        #expect(throws: NSError.self) { try StoreCheck.findings(in: store) }
    }

    @Test func aServiceIsExportedWithItsRelationships() throws {
        let file = pad.file("music.json").path
        try expect(StoreExport(open()).write(to: file), equals: 4)
        let copy = pad.file("music.sqlite").path
        try expect(StoreImport.run(file, into: copy, model: model, writes: true).added, equals: 4)
        try expect(Query(QueryText("Album", where: "artist.name == 'Cluster'"), in: StoreReference(copy).open()).count(), equals: 1)
    }

    @Test func errorsNameTheNextStep() throws {
        func message(_ arguments: [String]) throws -> String {
            let result = try CommandProcess(["query"] + arguments)
            expect(result.code, equals: 1)
            #expect(!result.errors.contains("secret"))
            return result.errors
        }
        let yaml = pad.file("music.yaml").path
        #expect(try message(["https://api.example.com/v1", "Album"]).contains("--description"))
        #expect(try message([yaml, "Album"]).contains("Name its model with --model"))
        #expect(
            try message(["https://u:secret@api.example.com", "Album", "--description", yaml, "--model", model]).contains("authentication"))
        try Data("address: https://api.example.com\nresources: [{entity: Album, paht: x}]".utf8).write(to: pad.file("bad.yaml"))
        #expect(try message([pad.file("bad.yaml").path, "Album", "--model", model]).contains("line 2"))
        #expect(try message(["nowhere.yaml", "Album", "--model", model]).contains("There is no description"))
    }
}
