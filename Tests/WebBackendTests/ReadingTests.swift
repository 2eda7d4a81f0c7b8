import CoreData
import Foundation
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("What a web service answers") struct ReadingTests {
    private let plain = WebService(base, resources: [WebResource("Band"), WebResource("Album"), WebResource("Track")])

    private func style(_ change: (inout ServiceStyle) -> Void) -> ServiceStyle {
        var style = ServiceStyle.plain
        change(&style)
        return style
    }

    @Test("Attributes are read by their types, null is nil, and unknown keys are skipped") func types() throws {
        let service = ScriptedService { _ in
            .json(
                #"""
                [{"title": "Nightjar \"Live\" \u00e9", "extra": {"deep": [1, {"x": null}]}, "releaseDate": "2026-03-01T10:00:00.5+01:00",
                  "rating": 4, "price": 12.10, "isLive": true, "year": 2026, "kind": null, "id": 7, "band": 3}]
                """#)
        }
        let context = try plain.context(service)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect(album.text("title"), equals: "Nightjar \"Live\" é")
            expect(album.value(forKey: "releaseDate") as? Date, equals: Date(timeIntervalSince1970: 1_772_355_600.5))
            expect(album.value(forKey: "rating") as? Double, equals: 4)
            expect(album.value(forKey: "price") as? NSDecimalNumber, equals: NSDecimalNumber(string: "12.1"))
            expect(album.value(forKey: "isLive") as? Bool, equals: true)
            expect(album.value(forKey: "year") as? Int64, equals: 2026)
            #expect(album.value(forKey: "kind") == nil)
            expect(service.targets, equals: ["GET /albums"])
            let band = try #require(album.value(forKey: "band") as? NSManagedObject)
            #expect(band.objectID.uriRepresentation().absoluteString.hasSuffix("/Band/p3"))
        }
    }

    @Test("Names, units, enumerations and other forms of dates follow the mapping") func transforms() throws {
        let album = WebResource(
            "Album", identity: ["album_id"],
            properties: [
                "releaseDate": .at("release.date", .date(.secondsSince1970)), "rating": .at("stars_percent", .scaled(by: 0.05)),
                "kind": .at("type", .enumeration(["1": "studio", "2": "live"])), "price": .at("cents", .scaled(by: 0.01)),
                "year": .at("year", .text), "title": .at("names[1]", isReadOnly: true),
            ])
        let service = ScriptedService { _ in
            .json(
                #"[{"album_id": "a/b", "release": {"date": 86400}, "stars_percent": 90, "type": 2, "cents": 995, "year": "1971", "names": ["x", "y"]}]"#
            )
        }
        let context = try WebService(base, resources: [album]).context(service)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect(album.value(forKey: "releaseDate") as? Date, equals: Date(timeIntervalSince1970: 86400))
            expect(album.value(forKey: "rating") as? Double, equals: 4.5)
            expect(album.text("kind"), equals: "live")
            expect(album.value(forKey: "price") as? NSDecimalNumber, equals: NSDecimalNumber(string: "9.95"))
            expect(album.value(forKey: "year") as? Int64, equals: 1971)
            expect(album.text("title"), equals: "y")
        }
    }

    @Test("Embedded resources come along: walking to them asks nothing") func embedded() throws {
        let album = WebResource(
            "Album",
            properties: [
                "band": PropertyMapping(path: "artist", reference: .object(id: "id")),
                "tracks": PropertyMapping(path: "songs", reference: .object(id: "id")),
            ])
        let service = ScriptedService { _ in
            .json(
                #"""
                [{"id": 1, "title": "One", "artist": {"name": "Larks", "id": 9}, "songs": [{"id": 11, "title": "a", "seconds": 60},
                 {"id": 12, "title": "b", "seconds": 61}]}, {"id": 2, "title": "Two", "artist": {"id": 9}, "songs": []}]
                """#)
        }
        let context = try WebService(base, resources: [album, WebResource("Band"), WebResource("Track")]).context(service)
        try context.performAndWait {
            let albums = try context.fetch(fetch("Album", by: ["title"]))
            let tracks = try #require(albums[0].value(forKey: "tracks") as? Set<NSManagedObject>)
            expect(tracks.compactMap { $0.text("title") }.sorted(), equals: ["a", "b"])
            expect((albums[1].value(forKey: "band") as? NSManagedObject)?.text("name"), equals: "Larks")
            expect((albums[1].value(forKey: "tracks") as? Set<NSManagedObject>)?.isEmpty, equals: true)
            expect(service.requests.count, equals: 1)
        }
    }

    @Test("JSON:API: attributes, relationships, what is included, and lists that have only links") func jsonAPI() throws {
        let service = ScriptedService { request in
            request.path == "/albums"
                ? .json(
                    #"""
                    {"data": [{"type": "albums", "id": "1", "attributes": {"title": "One"},
                      "relationships": {"band": {"data": {"type": "bands", "id": "9"}}, "tracks": {"data": [{"type": "tracks", "id": "5"}]}}},
                     {"type": "albums", "id": "2", "attributes": {"title": "Two"}, "relationships": {"band": {"data": null},
                      "tracks": {"links": {"related": "/x"}}}}],
                     "included": [{"type": "bands", "id": "9", "attributes": {"name": "Larks"}}, {"type": "others", "id": "1"}],
                     "links": {"next": null}, "meta": {"pagination": {"count": 2}}}
                    """#) : .json(#"{"errors": [{"detail": "No such thing."}]}"#, status: 404)
        }
        let ids = WebResource.IdentifierKind.integer
        let api = WebService(
            base, style: .jsonAPI,
            resources: [WebResource("Album", identifier: ids), WebResource("Band", identifier: ids), WebResource("Track", identifier: ids)])
        let context = try api.context(service)
        try context.performAndWait {
            let request = fetch("Album", by: ["title"])
            request.relationshipKeyPathsForPrefetching = ["band"]
            let albums = try context.fetch(request)
            expect(albums.compactMap { $0.text("title") }, equals: ["One", "Two"])
            expect((albums[0].value(forKey: "band") as? NSManagedObject)?.text("name"), equals: "Larks")
            #expect(albums[1].value(forKey: "band") == nil)
            expect(service.requests.count, equals: 1)
            expect(service.requests[0].query("include"), equals: "band")
            expect(service.requests[0].headers["Accept"], equals: "application/vnd.api+json")
        }
    }

    @Test("A list of a parent gives its resources their parent, though they do not name it") func implied() throws {
        let albums = WebResource("Album", calls: [.list("bands/{band}/albums")])
        let service = ScriptedService { request in
            request.path == "/bands" ? .json(#"[{"id": 9, "name": "Larks"}]"#) : .json(#"[{"id": 1, "title": "One"}]"#)
        }
        let context = try WebService(base, resources: [WebResource("Band"), albums]).context(service)
        try context.performAndWait {
            let band = try #require(try context.fetch(fetch("Band")).first)
            let albums = try #require(band.value(forKey: "albums") as? Set<NSManagedObject>)
            #expect(albums.first?.value(forKey: "band") as? NSManagedObject === band)
            expect(service.targets, equals: ["GET /bands", "GET /bands/9/albums"])
        }
    }

    @Test("A resource that cannot be read is reported where its description says so, and the others of its page are there")
    func unreadable() throws {
        let service = ScriptedService { _ in
            .json(#"[{"id": 1, "title": "a"}, {"id": 2, "title": 5}, {"title": "no id"}, {"id": 4, "title": "d"}]"#)
        }
        let model = Music.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let found = Found()
        try coordinator.addRemoteStore(
            WebBackend(WebService(base, resources: [WebResource("Album", unreadable: .reported)]), model: model, transport: service),
            options: RemoteStoreOptions(didFindUnreadable: { note in found.notes.withLock { $0.append("\(note)") } }))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let albums = try context.fetch(fetch("Album", by: ["title"]))
            expect(albums.compactMap { $0.text("title") }, equals: ["a", "d"])
        }
        let notes = found.notes.withLock { $0 }
        #expect(notes.contains { $0.contains("“title” of “Album” cannot hold 5") })
        #expect(notes.contains { $0.contains("has no identifier at id") })
    }

    @Test(
        "An answer that is no JSON, or has no resources where they should be, is an error that names request and place",
        arguments: [
            (#"[{"id": 1, "title": "a"},"#, "line 1"), (#"{"items": []}"#, "has nothing at"), ("<html>", "It is a page"),
            (#"[{"id": 1}] x"#, "column"),
        ])
    func malformed(body: String, reason: String) throws {
        let context = try plain.context(ScriptedService { _ in .json(body) })
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
            expect(error?.localizedDescription.contains(reason), equals: true, "\(String(describing: error))")
            expect(error?.localizedDescription.contains("Album.list"), equals: true)
        }
    }

    @Test("An error of the service says status, message and request") func serviceError() throws {
        let context = try plain.context(ScriptedService { _ in .json(#"{"message": "Not for you."}"#, status: 403) })
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
            let cause = error?.userInfo[NSUnderlyingErrorKey].map { "\($0)" } ?? ""
            #expect(error?.localizedDescription.contains("403") == true && error?.localizedDescription.contains("Not for you.") == true)
            #expect(cause.contains("403") || cause.contains("WebServiceError"))
        }
    }
}

/// Notes of resources that could not be read.
private final class Found: Sendable {
    let notes = Mutex<[String]>([])
}
