import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("What answers to saves have") struct SaveAnswerTests {
    /// A service that keeps bands, and answers changes in a shape of its own.
    private final class Bands: Sendable {
        struct State {
            var bands: [Int64: String] = [:]
            var posts = 0
            var answers = 0
        }
        let state = Mutexed(State())
        let transport: ScriptedService
        /// - Parameter answer: Makes the answer to a change of the band, as JSON, with this identifier.
        init(item: String? = nil, _ answer: @escaping @Sendable (WebRequest.Method, Int64, String) -> WebResponse) {
            let state = state
            transport = ScriptedService { request in
                let sent = item.flatMap { request.json?[$0] } ?? request.json
                return state.withValue { state in
                    func json(_ id: Int64) -> String { #"{"id": \#(id), "name": "\#(state.bands[id] ?? "")"}"# }
                    let id = Int64(request.path.split(separator: "/").last ?? "") ?? 0
                    switch request.method {
                    case .post:
                        state.posts += 1
                        let new = Int64(40 + state.posts)
                        state.bands[new] = sent?["name"]?.string ?? ""
                        return answer(request.method, new, json(new))
                    case .patch, .put:
                        state.bands[id] = sent?["name"]?.string ?? state.bands[id]
                        return answer(request.method, id, json(id))
                    case .delete:
                        state.bands[id] = nil
                        return WebResponse(status: 204)
                    default:
                        if id > 0 { return state.bands[id] == nil ? .json("{}", status: 404) : .json(json(id)) }
                        return .json("[" + state.bands.keys.sorted().map(json).joined(separator: ", ") + "]")
                    }
                }
            }
        }
        var names: [String] { state.withValue { $0.bands.sorted { $0.key < $1.key }.map(\.value) } }
        var posts: Int { state.withValue { $0.posts } }
    }

    private func context(_ saving: SavingStyle, _ bands: Bands) throws -> NSManagedObjectContext {
        try WebService(base, resources: [WebResource("Band", saving: saving)]).context(bands.transport)
    }

    private func insert(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let band = NSEntityDescription.insertNewObject(forEntityName: "Band", into: context)
        band.setValue(name, forKey: "name")
        return band
    }

    private func number(_ band: NSManagedObject) -> String { band.objectID.uriRepresentation().lastPathComponent }

    // MARK: Shapes

    struct Shape: Sendable, CustomTestStringConvertible {
        let name: String
        let saving: SavingStyle
        let answer: @Sendable (WebRequest.Method, Int64, String) -> WebResponse
        var testDescription: String { name }
    }

    private static func created(_ text: String) -> WebResponse { .json(text, status: 201) }

    private static let shapes: [Shape] = [
        Shape(name: "wrapped in the request, wrapped otherwise in the answer", saving: SavingStyle(item: "band", answer: .resource("data")))
        {
            created(#"{"ok": true, "data": \#($2)}"#)
        },
        Shape(name: "wrapped in the request, flat in the answer", saving: SavingStyle(item: "band", answer: .resource(""))) { created($2) },
        Shape(name: "flat in the request, wrapped in the answer", saving: SavingStyle(answer: .resource("result.band"))) {
            created(#"{"result": {"band": \#($2)}}"#)
        },
        Shape(name: "a list of one", saving: SavingStyle(answer: .resource("[0]"))) { created("[\($2)]") },
        Shape(name: "a list of one within an object", saving: SavingStyle(answer: .resource("rows[0]"))) {
            created(#"{"rows": [\#($2)]}"#)
        },
        Shape(
            name: "only an address", saving: SavingStyle(update: .init(.patch, "{path}/{SELF}", answer: .nothing), answer: .location(nil))
        ) {
            _, id, _ in WebResponse(status: 201, headers: ["Location": "\(base)/bands/\(id)"])
        },
        Shape(name: "an address with more behind the identifier", saving: SavingStyle(answer: .location("bands/{SELF}/details"))) {
            _, id, _ in WebResponse(status: 201, headers: ["Location": "/v1/bands/\(id)/details?lang=en"])
        },
        Shape(name: "an address with the identifier among its parameters", saving: SavingStyle(answer: .location("?id=eq.{SELF}"))) {
            _, id, _ in WebResponse(status: 201, headers: ["Location": "/bands?id=eq.\(id)&select=*"])
        },
        Shape(name: "only what was assigned", saving: SavingStyle(answer: .assigned(""))) { method, id, _ in
            method == .post
                ? created(#"{"id": \#(id), "createdAt": "2026-01-02T03:04:05Z"}"#) : .json(#"{"updatedAt": "2026-01-02T03:04:05Z"}"#)
        },
        Shape(
            name: "other shapes for new and for changed ones",
            saving: SavingStyle(
                create: .init(.post, "{path}", answer: .resource("made")), update: .init(.put, "{path}/{SELF}", answer: .nothing))
        ) { method, _, json in
            method == .post ? created(#"{"made": \#(json)}"#) : WebResponse(status: 200, body: Array("done".utf8))
        },
        Shape(name: "undescribed: where the request has it", saving: SavingStyle(item: "band")) { created(#"{"band": \#($2)}"#) },
        Shape(name: "undescribed: flat", saving: SavingStyle(item: "band")) { created($2) },
        Shape(name: "undescribed: nothing for a change", saving: SavingStyle()) { $0 == .post ? created($2) : WebResponse(status: 204) },
    ]

    @Test("A new and a changed resource are saved once, whatever the shape of the answer that the description has", arguments: shapes)
    func described(_ shape: Shape) throws {
        let bands = Bands(item: shape.saving.item.isEmpty ? nil : "band", shape.answer)
        let context = try context(shape.saving, bands)
        try context.performAndWait {
            let band = insert("Larks", context)
            try context.save()
            expect(number(band), equals: "p41")
            expect(band.text("name"), equals: "Larks")
            band.setValue("Owls", forKey: "name")
            try context.save()
            #expect(!context.hasChanges)
            expect(band.text("name"), equals: "Owls")
        }
        expect(bands.names, equals: ["Owls"])
        expect(bands.posts, equals: 1)
    }

    // MARK: Contradictions

    private static let contradictions: [(Shape, names: [String])] = [
        (
            Shape(name: "another key", saving: SavingStyle(answer: .resource("data"))) { created(#"{"band": \#($2)}"#) },
            ["“data”", "“band”"]
        ),
        (
            Shape(name: "no identifier", saving: SavingStyle(answer: .resource("data"))) { _, _, _ in created(#"{"data": {"name": "x"}}"#)
            },
            ["“data.id”", "“data”"]
        ),
        (Shape(name: "an object instead of a list", saving: SavingStyle(answer: .resource("[0]"))) { created($2) }, ["“[0]”", "“name”"]),
        (
            Shape(name: "an empty list", saving: SavingStyle(answer: .resource("[0]"))) { _, _, _ in created("[]") },
            ["“[0]”", "a list of nothing"]
        ),
        (
            Shape(name: "an address instead of a body", saving: SavingStyle(answer: .resource(""))) {
                _, id, _ in WebResponse(status: 201, headers: ["Location": "/bands/\(id)"])
            }, ["“Location”", "no body"]
        ),
        (
            Shape(name: "a body instead of an address", saving: SavingStyle(answer: .location(nil))) { created($2) },
            ["“Location”", "no such header"]
        ),
        (
            Shape(name: "another address", saving: SavingStyle(answer: .location("groups/{SELF}"))) {
                _, id, _ in WebResponse(status: 201, headers: ["Location": "/bands/\(id)"])
            }, ["“groups/{SELF}”", "“/bands/41”"]
        ),
        (
            Shape(name: "no JSON", saving: SavingStyle(answer: .assigned(""))) { _, _, _ in
                WebResponse(status: 200, body: Array("Thanks!".utf8))
            },
            ["the whole body", "“Thanks!”"]
        ),
        (Shape(name: "undescribed, wrapped", saving: SavingStyle()) { created(#"{"data": \#($2)}"#) }, ["“id”", "“data”"]),
        (Shape(name: "undescribed, empty", saving: SavingStyle()) { _, _, _ in WebResponse(status: 201) }, ["the whole body", "no body"]),
        (
            Shape(name: "without the receipt", saving: SavingStyle(receipt: .init(id: "key", version: "rev"))) { created($2) },
            ["“key”", "“name”"]
        ),
    ]

    @Test(
        "An answer without the promised identity is an error that names both; the resource is sought and not made twice",
        arguments: contradictions)
    func contradicted(_ shape: Shape, names: [String]) throws {
        let bands = Bands(shape.answer)
        let context = try context(shape.saving, bands)
        let (text, hasChanges) = context.performAndWait { () -> (String, Bool) in
            _ = insert("Larks", context)
            return (Self.told(saving: context), context.hasChanges)
        }
        for name in names { #expect(text.contains(name), "\(name) is not in \(text)") }
        #expect(text.contains("accepted") && hasChanges, "\(text)")
        // It is there, and the next save finds it; what was edited since follows.
        let (second, place) = context.performAndWait { () -> (String, String) in
            let band = context.insertedObjects.first
            band?.setValue("Owls", forKey: "name")
            let second = Self.told(saving: context)
            return (second, band?.objectID.uriRepresentation().lastPathComponent ?? "none")
        }
        expect(bands.posts, equals: 1)
        expect(bands.names, equals: ["Owls"])
        expect(place, equals: "p41", "\(second)")
    }

    @Test("A version that the body of an answer lacks is that of the header ETag, and the next change goes out with it")
    func tagInsteadOfAVersion() throws {
        let version = Mutexed(1)
        let service = ScriptedService { request in
            version.withValue { version in
                let band = #"{"id": 1, "name": "Larks"}"#
                func tag() -> String { "\"\(version)\"" }
                if request.path == "/bands" { return .json("[\(band)]") }
                if request.method == .get { return .json(band, headers: ["ETag": tag()]) }
                guard request.headers["If-Match"] == tag() else { return .json("{}", status: 412) }
                version += 1
                return .json(#"{"data": {"id": 1}}"#, headers: ["ETag": tag()])
            }
        }
        var style = ServiceStyle.plain
        style.version = .eTag
        style.saving = SavingStyle(precondition: .ifMatch, receipt: .init(id: "data.id", version: "data.version"))
        let context = try WebService(base, style: style, resources: [WebResource("Band")]).context(service)
        try context.performAndWait {
            let band = try #require(try context.fetch(fetch("Band")).first)
            for name in ["Owls", "Finches"] {
                band.setValue(name, forKey: "name")
                try context.save()
            }
        }
        expect(service.requests.filter { $0.method != .get }.map { $0.headers["If-Match"] }, equals: ["\"1\"", "\"2\""])
        expect(service.requests.count, equals: 4, "The list, what it had no version of, and two changes.")
    }

    /// Saves, and returns what the error says; nothing where there is none.
    private static func told(saving context: NSManagedObjectContext) -> String {
        do {
            try context.save()
            return ""
        } catch {
            let known = error as NSError
            return "\(known.localizedDescription) \(known.userInfo)"
        }
    }

    @Test("A resource that was accepted without identity and has an equal one is left as it is: neither made again nor taken for the other")
    func twoAlike() throws {
        let bands = Bands { _, _, _ in Self.created("{}") }
        bands.state.withValue { $0.bands[7] = "Larks" }
        let context = try context(SavingStyle(), bands)
        let (told, isTemporary) = context.performAndWait { () -> ([String], Bool) in
            let band = insert("Larks", context)
            return ([Self.told(saving: context), Self.told(saving: context)], band.objectID.isTemporaryID)
        }
        #expect(!told.contains("") && isTemporary, "\(told)")
        expect(bands.posts, equals: 1)
    }

    @Test(
        "A cached store seeks what was accepted without identity by its values, also when it is retried, and leaves what it cannot tell to the application"
    )
    func outbox() async throws {
        for hasTwin in [false, true] {
            let folder = try ScratchFolder("answers")
            defer { folder.remove() }
            let bands = Bands { _, _, _ in Self.created(#"{"status": "ok"}"#) }
            if hasTwin { bands.state.withValue { ($0.bands[7], $0.bands[8]) = ("Larks", "Larks") } }
            let model = Music.model()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            var options = WebClient.Options()
            options.retries = .never
            let backend = try WebBackend(
                WebService(base, resources: [WebResource("Band")]), model: model, transport: bands.transport, options: options)
            var cache = CachedStoreOptions()
            cache.sendsAutomatically = false
            let store = try coordinator.addCachedStore(backend, at: folder.file("bands.sqlite"), options: cache)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            let id = try await context.perform {
                let band = self.insert("Larks", context)
                try context.save()
                return band.objectID
            }
            try await store.sendPending()
            if hasTwin {
                try expect(store.syncState(of: id), equals: .unknown)
                try store.retry(id)
                try await store.sendPending()
                try expect(store.syncState(of: id), equals: .unknown)
                #expect(try store.error(of: id)?.localizedDescription.contains("accepted") ?? false)
            } else {
                let error = try store.error(of: id)
                try expect(store.pendingCount(), equals: 0, "\(String(describing: error))")
                try expect(store.resourceID(for: id), equals: 41)
            }
            expect(bands.posts, equals: 1)
        }
    }

    @Test("An answer to a change that is about something else is an error that names both, and the change is seen to be there")
    func otherResource() throws {
        let answers: [(String, String)] = [
            (#"{"id": 9, "name": "Owls"}"#, "9"), (#"{"ok": true}"#, "“ok”"), (#"{"data": {"id": 7, "name": "Owls"}}"#, "“data”"),
            ("OK", "“OK”"),
        ]
        for (text, named) in answers {
            let bands = Bands { _, _, _ in .json(text) }
            bands.state.withValue { $0.bands[7] = "Larks" }
            let context = try context(SavingStyle(), bands)
            let (first, second) = try context.performAndWait { () -> (String, String) in
                try context.fetch(fetch("Band")).first?.setValue("Owls", forKey: "name")
                return (Self.told(saving: context), Self.told(saving: context))
            }
            #expect(first.contains(named) && first.contains("description"), "\(text): \(first)")
            expect(second, equals: "")
            let patches = bands.transport.requests.filter { $0.method == .patch }
            expect(patches.count, equals: 1, "\(text)")
            expect(bands.names, equals: ["Owls"])
        }
    }

    @Test("The values of a new Parse object stay, though the answer has only what the server has assigned") func parse() throws {
        let transport = ScriptedService { request in
            switch request.method {
            case .post: .json(#"{"objectId": "x9", "createdAt": "2026-01-02T03:04:05.000Z"}"#, status: 201)
            case .put: .json(#"{"updatedAt": "2026-01-02T03:04:06.000Z"}"#)
            default: .json(#"{"results": []}"#)
            }
        }
        let context = try WebService(base, style: .parse, resources: [WebResource("Band")]).context(transport)
        try context.performAndWait {
            let band = insert("Larks", context)
            try context.save()
            #expect(band.text("name") == "Larks" && number(band).hasSuffix("x9"))
        }
    }

    // MARK: Several changes

    @Test("Answers within the answer to several requests are read by the same rule, and missing ones are no success") func batches() throws
    {
        let saving = SavingStyle(
            item: "band", batch: .requests(.init(path: "batch", answers: "answers")), answer: .resource("data"))
        for (answers, isWhole) in [
            (#"[{"status": 201, "body": {"data": {"id": 1}}}, {"status": 201, "body": {"data": {"id": 2}}}]"#, true),
            (#"[{"status": 201, "body": {"data": {"id": 1}}}, {"status": 201, "body": {"band": {"id": 2}}}]"#, false),
            (#"[{"status": 201, "body": {"data": {"id": 1}}}]"#, false), ("3", false),
        ] {
            let transport = ScriptedService { request in
                request.path.hasSuffix("batch") ? .json(#"{"answers": \#(answers)}"#) : .json("[]")
            }
            let context = try WebService(base, resources: [WebResource("Band", saving: saving)]).context(transport)
            let (text, places) = context.performAndWait { () -> (String, Set<String>) in
                let all = [insert("Larks", context), insert("Owls", context)]
                let text = Self.told(saving: context)
                return (text, Set(all.map { number($0) }))
            }
            if isWhole {
                expect(text, equals: "")
                expect(places, equals: ["p1", "p2"])
            } else {
                #expect(text.contains("The description has") && text.contains("the answer has"), "\(text)")
            }
        }
    }

    @Test("An answer of success that says it is an error refuses the change, too") func flagged() throws {
        var style = ServiceStyle.plain
        style.errors = ErrorStyle(messages: ["error"], flag: "error")
        let transport = ScriptedService { $0.method == .get ? .json("[]") : .json(#"{"error": "The name is taken."}"#) }
        let context = try WebService(base, style: style, resources: [WebResource("Band")]).context(transport)
        let text = context.performAndWait { () -> String in
            _ = insert("Larks", context)
            return Self.told(saving: context)
        }
        #expect(text.contains("The name is taken."), "\(text)")
    }

    // MARK: Descriptions

    @Test("A description that cannot identify new resources is refused when the backend is made")
    func refusedDescriptions() throws {
        for saving in [
            SavingStyle(answer: .nothing), SavingStyle(answer: .location("bands/{id}")), SavingStyle(answer: .location("bands")),
            SavingStyle(receipt: .init(id: "id", version: "rev"), answer: .resource("data")),
        ] {
            let error = #expect(throws: NSError.self) {
                _ = try WebBackend(
                    WebService(base, resources: [WebResource("Band", saving: saving)]), model: Music.model(),
                    transport: ScriptedService { _ in .json("[]") })
            }
            expect(error?.code, equals: NSPersistentStoreOpenError)
        }
    }

    @Test("Files say what answers have: by a word, a word with a path, or an object") func files() throws {
        let service = try WebService(
            json: Data(
                #"""
                {"address": "https://a.b", "style": {"saving": {"answer": "resource:data"}}, "resources": [
                  {"entity": "Band", "saving": {"answer": {"resource": ["rows", 0]}, "create": {"method": "POST", "path": "{path}", "answer": "location"}}},
                  {"entity": "Album", "saving": {"answer": "location:?id=eq.{SELF}", "update": {"method": "PATCH", "path": "x", "answer": "nothing"}}}]}
                """#.utf8))
        expect(service.style.saving?.answer, equals: .resource("data"))
        expect(service.resources[0].saving?.answer, equals: .resource("rows[0]"))
        expect(service.resources[0].saving?.create?.answer, equals: .location(nil))
        expect(service.resources[1].saving?.answer, equals: .location("?id=eq.{SELF}"))
        expect(service.resources[1].saving?.update?.answer, equals: .nothing)
    }
}
