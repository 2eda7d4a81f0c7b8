import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("What a web service is sent") struct SavingTests {
    private func insertAlbum(_ context: NSManagedObjectContext, _ change: (NSManagedObject) -> Void = { _ in }) throws -> NSManagedObject {
        let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
        album.setValue("One", forKey: "title")
        album.setValue(Date(timeIntervalSince1970: 0), forKey: "releaseDate")
        change(album)
        try context.save()
        return album
    }

    @Test("A new resource is posted, and gets the identifier and the values that the service assigns") func create() throws {
        let transport = ScriptedService { request in
            request.method == .post
                ? .json(#"{"id": 77, "title": "One", "kind": "studio"}"#, status: 201) : .json("[]")
        }
        let context = try WebService(base, resources: [WebResource("Album")]).context(transport)
        try context.performAndWait {
            let album = try insertAlbum(context)
            expect(album.objectID.uriRepresentation().lastPathComponent, equals: "p77")
            expect(album.text("kind"), equals: "studio")
        }
        let sent = try #require(transport.requests.first { $0.method == .post })
        expect(sent.path, equals: "/albums")
        #expect(sent.json?["title"]?.string == "One" && sent.json?["releaseDate"]?.string == "1970-01-01T00:00:00Z")
        expect(sent.headers["Content-Type"], equals: "application/json")
    }

    @Test(
        "A UUID that the store makes for a new resource is in it, unless its address or a constant has it",
        arguments: [nil, "PUT", "constant"])
    func newIdentifiers(place: String?) throws {
        var style = ServiceStyle.plain
        var saving = SavingStyle(identity: .newUUID)
        if place == "PUT" { saving.createIdentified = .init(.put, "{path}/{SELF}") }
        if place == "constant" { saving.constants = ["meta": #"{"key": "{SELF}"}"#] }
        style.saving = saving
        let transport = ScriptedService { $0.method == .get ? .json("[]") : .json("{}", status: 201) }
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(transport)
        let id = try context.performAndWait { try insertAlbum(context).objectID.uriRepresentation().lastPathComponent.lowercased() }
        let sent = try #require(transport.requests.first { $0.method != .get })
        let told = sent.json?["id"]?.string?.lowercased() ?? sent.json?["meta"]?.object?["key"]?.string?.lowercased()
        if place == "PUT" {
            #expect(id.hasSuffix(sent.path.split(separator: "/").last.map { $0.lowercased() } ?? "none"))
            expect(told, equals: nil)
        } else {
            #expect(id.hasSuffix(told ?? "none"), "\(id) \(sent)")
        }
    }

    @Test("Only what was changed is sent, with the version where the service compares it, and a deletion too") func change() throws {
        var style = ServiceStyle.plain
        style.version = .number("revision")
        style.saving = SavingStyle(precondition: .ifMatch)
        let transport = ScriptedService { request in
            switch request.method {
            case .get: .json(request.path == "/tracks" ? "[]" : #"[{"id": 7, "title": "One", "year": 1969, "revision": 4}]"#)
            case .patch: .json(#"{"id": 7, "title": "Two", "year": 1969, "revision": 5}"#)
            default: WebResponse(status: 204)
            }
        }
        let context = try WebService(base, style: style, resources: [WebResource("Album"), WebResource("Track")]).context(transport)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            album.setValue("Two", forKey: "title")
            try context.save()
            context.delete(album)
            try context.save()
        }
        let patch = try #require(transport.requests.first { $0.method == .patch })
        expect(patch.path, equals: "/albums/7")
        expect(patch.json, equals: ["title": "Two"])
        expect(patch.headers["If-Match"], equals: "\"4\"")
        let delete = try #require(transport.requests.first { $0.method == .delete })
        #expect(delete.headers["If-Match"] == "\"5\"" && delete.body == nil)
    }

    @Test("A version that others have changed is a conflict, with the service's current values") func conflict() throws {
        var style = ServiceStyle.plain
        style.version = .number("revision")
        style.saving = SavingStyle(precondition: .ifMatch, current: "current")
        let transport = ScriptedService { request in
            request.method == .get
                ? .json(#"[{"id": 7, "title": "One", "year": 1969, "revision": 4}]"#)
                : request.headers["If-Match"] == "\"6\""
                    ? .json(#"{"id": 7, "title": "Mine", "year": 1971, "revision": 7}"#)
                    : .json(#"{"message": "stale", "current": {"id": 7, "title": "Theirs", "year": 1971, "revision": 6}}"#, status: 412)
        }
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(transport)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            album.setValue("Mine", forKey: "title")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectMergeError)
            #expect(error?.localizedDescription.contains("other values of title, year") == true, "\(String(describing: error))")
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            expect(album.text("title"), equals: "Mine")
            expect(album.value(forKey: "year") as? Int64, equals: 1971)
        }
    }

    @Test("What the service says of a property is an error of validation that names it") func validation() throws {
        let bodies: [(ServiceStyle, String)] = [
            (.djangoREST, #"{"title": ["Too long.", "Too loud."], "non_field_errors": ["No."]}"#),
            (.jsonAPI, #"{"errors": [{"detail": "Too long. Too loud.", "source": {"pointer": "/data/attributes/title"}}]}"#),
        ]
        for (style, body) in bodies {
            let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(
                ScriptedService { _ in .json(body, status: 422) })
            context.performAndWait {
                let error = #expect(throws: NSError.self) { _ = try insertAlbum(context) }
                let detail = (error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.first ?? error
                expect(detail?.userInfo[NSValidationKeyErrorKey] as? String, equals: "title", "\(String(describing: error))")
                expect(detail?.localizedDescription.contains("Too long. Too loud."), equals: true)
            }
        }
    }

    @Test("Where whole resources are sent, what the model does not have is sent back as it was") func wholeResources() throws {
        let transport = ScriptedService { request in
            request.method == .put
                ? .json(#"{"id": 7}"#)
                : request.path == "/albums"
                    ? .json(#"[{"id": 7, "title": "One", "year": 1969}]"#)
                    : .json(
                        #"{"id": 7, "title": "One", "year": 1969, "secret_note": {"a": [1, 2.50]}, "big": 123456789012345678901234567890}"#)
        }
        var style = ServiceStyle.plain
        style.saving = SavingStyle(update: .init(.put, "{path}/{SELF}"), replacesWholeResources: true, conflicts: .none)
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(transport)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            album.setValue("Two", forKey: "title")
            try context.save()
        }
        let sent = try #require(transport.requests.first { $0.method == .put }?.json)
        #expect(sent["title"]?.string == "Two" && sent["year"]?.integer == 1969)
        #expect(sent["secret_note"] == ["a": [1, 2.5]] && sent["big"] == .decimal("123456789012345678901234567890"))
    }

    @Test("JSON:API's bodies have type, identifier, attributes and relationships") func jsonAPI() throws {
        let transport = ScriptedService { request in
            switch (request.method, request.path) {
            case (.post, "/bands"): .json(#"{"data": {"type": "bands", "id": "5", "attributes": {"name": "Larks"}}}"#, status: 201)
            case (.post, _): .json(#"{"data": {"type": "albums", "id": "7", "attributes": {"title": "One"}}}"#, status: 201)
            default:
                .json(
                    #"{"data": {"type": "albums", "id": "7", "attributes": {"title": "Two"}, "relationships": {"band": {"data": null}}}}"#)
            }
        }
        var style = ServiceStyle.jsonAPI
        style.saving?.conflicts = .none
        let context = try WebService(base, style: style, resources: [WebResource("Album"), WebResource("Band")]).context(transport)
        try context.performAndWait {
            let band = NSEntityDescription.insertNewObject(forEntityName: "Band", into: context)
            band.setValue("Larks", forKey: "name")
            let album = try insertAlbum(context) { $0.setValue(band, forKey: "band") }
            album.setValue(nil, forKey: "band")
            album.setValue("Two", forKey: "title")
            try context.save()
        }
        let posts = transport.requests.filter { $0.method == .post }
        expect(posts.map(\.path), equals: ["/bands", "/albums"])
        expect(posts.last?.json?["data"]?["type"]?.string, equals: "albums")
        expect(posts.last?.json?["data"]?["relationships"]?["band"]?["data"], equals: ["type": "bands", "id": "5"])
        let patch = try #require(transport.requests.first { $0.method == .patch }?.json?["data"])
        expect(patch["id"]?.string, equals: "7")
        expect(patch["attributes"], equals: ["title": "Two"])
        expect(patch["relationships"]?["band"], equals: ["data": .null])
    }

    @Test("Several changes are one request where the service takes lists of requests; each has its own outcome") func batch() throws {
        let transport = ScriptedService { request in
            guard request.path == "/batch" else { return .json(#"{"results": []}"#) }
            return .json(#"[{"success": {"objectId": "a1"}}, {"error": {"code": 137, "error": "A duplicate value."}}]"#)
        }
        let context = try WebService(base, style: .parse, resources: [WebResource("Album")]).context(transport)
        context.performAndWait {
            for title in ["One", "Two"] {
                NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue(title, forKey: "title")
            }
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect("\(String(describing: error))".contains("A duplicate value."))
        }
        let batches = transport.requests.filter { $0.path == "/batch" }
        expect(batches.count, equals: 1)
        let requests = batches.first?.json?["requests"]?.array ?? []
        expect(requests.map { $0["method"]?.string }, equals: ["POST", "POST"])
        expect(requests.first?["path"]?.string, equals: "/v1/classes/Album")
    }

    @Test("CouchDB gets whole documents with their revisions, several in one request, and a stale one is a conflict") func couchDB() throws
    {
        let transport = ScriptedService { request in
            switch (request.method, request.path) {
            case (.post, "/_find"):
                if request.json?["selector"]?["type"]?.string != "Album" { return .json(#"{"docs": [], "bookmark": "nil"}"#) }
                return .json(
                    #"{"docs": [{"_id": "x1", "_rev": "1-a", "type": "Album", "title": "One", "other": 5}], "bookmark": "nil"}"#)
            case (.get, "/x1"): return .json(#"{"_id": "x1", "_rev": "1-a", "type": "Album", "title": "One", "other": 5}"#)
            case (.put, "/x1"): return .json(#"{"ok": true, "id": "x1", "rev": "2-b"}"#, status: 201)
            case (.delete, "/x1"):
                return request.query("rev") == "2-b"
                    ? .json(#"{"ok": true, "id": "x1", "rev": "3-c"}"#) : .json(#"{"error": "conflict"}"#, status: 409)
            default: return .json(#"{"error": "not_found"}"#, status: 404)
            }
        }
        let context = try WebService(base, style: .couchDB).context(transport)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            album.setValue("Two", forKey: "title")
            try context.save()
            context.delete(album)
            try context.save()
        }
        let put = try #require(transport.requests.first { $0.method == .put }?.json)
        #expect(
            put["title"]?.string == "Two" && put["other"]?.integer == 5 && put["_rev"]?.string == "1-a" && put["type"]?.string == "Album")
    }

    @Test("A lost answer leaves the change unknown: it is not sent twice as another one") func lostAnswer() throws {
        let transport = ScriptedService { request in
            guard request.method == .post else { return .json("[]") }
            throw TransportError(.lost, request: request.target)
        }
        let context = try WebService(base, resources: [WebResource("Album")]).context(transport)
        context.performAndWait {
            _ = #expect(throws: NSError.self) { _ = try insertAlbum(context) }
            _ = #expect(throws: NSError.self) { try context.save() }
        }
        expect(transport.requests.filter { $0.method == .post }.count, equals: 1)
    }
}
