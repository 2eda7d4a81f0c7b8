import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("The description of a web service") struct DescriptionTests {
    private let transport = ScriptedService { _ in .json("[]") }

    @Test(
        "is checked against the model: an error names entity, property and what to do",
        arguments: [
            (WebResource("Albun"), "“Albun”"), (WebResource("Album", properties: ["tittle": "t"]), "“tittle” of “Album”"),
            (WebResource("Album", properties: ["title": .at("t", .scaled(by: 2))]), "“title” of “Album”"),
            (WebResource("Album", properties: ["band": .at("b", .json)]), "“band” of “Album”"),
            (WebResource("Album", calls: [.list("bands/{bandd}/albums")]), "“bandd”"),
            (WebResource("Album", calls: [.list(filters: ["title"])]), "the call “list” of “Album”"),
            (WebResource("Album", calls: [.list(sorting: ["title"])]), "the call “list” of “Album”"),
            (WebResource("Album", calls: [.list(properties: ["x"])]), "“x”"),
            (WebResource("Album", kinds: .init("k", ["a": "Band"])), "the kind “a” of “Album”"),
            (WebResource("Album", saving: SavingStyle(identity: .attribute("slug"))), "“slug”"),
            (WebResource("Album", saving: SavingStyle(keyLifetime: 3600)), "“keyLifetime” of “Album”"),
        ])
    func mistakes(_ resource: WebResource, place: String) throws {
        let error = #expect(throws: NSError.self) {
            _ = try WebBackend(WebService(base, resources: [resource]), model: Music.model(), transport: transport)
        }
        expect(error?.code, equals: NSPersistentStoreOpenError)
        expect(error?.localizedDescription.contains(place), equals: true, "\(String(describing: error?.localizedDescription))")
    }

    @Test(
        "has an absolute address without credentials, which no error shows",
        arguments: ["api.example.com", "ftp://example.com", "https://user:hunter2@example.com", "https://example.com?key=hunter2", ""])
    func addresses(_ address: String) throws {
        let error = #expect(throws: (any Error).self) {
            _ = try WebBackend(WebService(address, resources: []), model: Music.model(), transport: transport)
        }
        if address.contains("user:") { #expect(!"\(String(describing: error))".contains("hunter2")) }
    }

    @Test("names collections and keys as its style has them") func names() {
        expect(NameStyle.snakeCase.rawValue, equals: "snakeCase")
        let backend = try? WebBackend(
            WebService(base, style: .kinto), model: Music.model(), transport: transport)
        expect(backend?.resources.map(\.entity), equals: ["Album", "Band", "Track"])
    }
}
