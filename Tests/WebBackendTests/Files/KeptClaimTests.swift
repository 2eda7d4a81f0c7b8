import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("What a description claims, where keys meet") struct KeptClaimTests {
    private func context(_ json: String, _ service: ScriptedService) throws -> NSManagedObjectContext {
        try WebService(json: Data(json.utf8)).context(service)
    }

    private static func json(_ style: String, _ resource: String = #""Album""#) -> String {
        #"{"address": "\#(base)", "style": \#(style), "resources": [\#(resource)]}"#
    }

    /// Albums of which each save is done.
    private static func albums(_ request: WebRequest) -> WebResponse {
        switch request.method {
        case .get: .json(#"[{"id": 1, "title": "a", "year": 1970}, {"id": 2, "title": "b", "year": 1971}]"#, headers: ["ETag": "\"7\""])
        case .post where request.path == "/batch": .json("[]")
        case .post: .json(#"{"id": 3}"#, status: 201)
        default: .json("{}")
        }
    }

    // MARK: Every request

    @Test("Headers and parameters of every request are sent with changes, batches and feeds, too")
    func everyRequest() async throws {
        let batches = [
            "null", #"{"requests": {"path": "batch"}}"#, #"{"documents": {"path": "batch", "list": "docs", "deleted": "gone"}}"#,
        ]
        let feeds = [#"{"since": {"parameter": "since", "token": "header:ETag", "deleted": "gone"}}"#, #""couchDB:changes""#]
        for (batch, feed) in zip(batches, [feeds[0], feeds[1], feeds[0]]) {
            let service = ScriptedService { request in
                request.path == "/changes" ? .json(#"{"last_seq": "1", "results": []}"#) : Self.albums(request)
            }
            let json = #"""
                {"address": "\#(base)", "headers": {"X-Version": "4"}, "query": {"tenant": "north"}, "style": {"changeFeed": \#(feed),
                  "saving": {"batch": \#(batch), "conflicts": "none"}}, "resources": ["Album"]}
                """#
            let context = try context(json, service)
            let coordinator = try #require(context.persistentStoreCoordinator)
            try await context.perform {
                let albums = try context.fetch(fetch("Album"))
                for album in albums { album.setValue("other", forKey: "title") }
                // What a batch is answered with does not matter here.
                try? context.save()
            }
            for _ in 0..<2 { _ = try await coordinator.mergeRemoteChanges(of: coordinator.persistentStores[0]) }
            for request in service.requests {
                #expect(request.query("tenant") == "north" && request.headers["X-Version"] == "4", "\(request.target)")
            }
            #expect(service.requests.contains { $0.method != .get } && service.requests.count >= 4, "\(service.targets)")
        }
    }

    // MARK: Lists

    @Test("The next page of a call with a body is asked for with that body") func bodyOfNextPage() throws {
        let service = ScriptedService { request in
            request.query("page") == nil
                ? .json(#"{"items": [{"id": 1, "year": 1970}], "next": "\#(base)/find?page=2"}"#)
                : .json(#"{"items": [{"id": 2, "year": 1970}], "next": null}"#)
        }
        let context = try context(
            Self.json(
                #"{"envelope": "items", "paging": {"next": "body:next"}, "filters": {"form": {"selector": {"place": "body:where"}}, "equal": "is"}}"#,
                #"{"entity": "Album", "calls": [{"name": "find", "method": "POST", "path": "find", "filters": ["year"]}]}"#), service)
        try context.performAndWait {
            expect(try context.fetch(fetch("Album", "year == 1970")).count, equals: 2)
        }
        let bodies = service.requests.map { $0.body.map { String(decoding: $0, as: UTF8.self) } ?? "" }
        #expect(bodies.count == 2 && Set(bodies).count == 1 && bodies[0].contains("1970"), "\(bodies)")
    }

    @Test("The key that always comes last stands behind one that ends as it does") func lastKey() throws {
        let service = ScriptedService(Self.albums)
        let context = try context(
            Self.json(
                #"{"sorting": {"parameter": "sort", "last": "id"}}"#,
                #"{"entity": "Album", "properties": {"kind": "paid", "year": "id"}, "calls": [{"list": "albums", "sorting": ["kind", "year"]}]}"#
            ),
            service)
        try context.performAndWait {
            _ = try context.fetch(fetch("Album", by: ["kind"]))
            _ = try context.fetch(fetch("Album", by: ["-year"]))
        }
        expect(service.requests.map { $0.query("sort") }, equals: ["paid,id", "-id"])
    }

    @Test("A direction of its own is that of one key: orders by several are right") func directions() throws {
        let service = ScriptedService { _ in
            .json(#"[{"id": 1, "title": "a", "year": 1}, {"id": 2, "title": "a", "year": 2}, {"id": 3, "title": "b", "year": 1}]"#)
        }
        let context = try context(
            Self.json(
                #"{"sorting": {"parameter": "sort", "direction": "order"}}"#,
                #"{"entity": "Album", "calls": [{"list": "albums", "sorting": ["title", "year"]}]}"#), service)
        try context.performAndWait {
            let found = try context.fetch(fetch("Album", by: ["title", "-year"]))
            expect(found.map { $0.objectID.uriRepresentation().lastPathComponent }, equals: ["p2", "p1", "p3"])
        }
        #expect(service.requests.allSatisfy { $0.query("sort")?.contains(",") != true }, "\(service.targets)")
    }

    @Test(
        "What a style has no word for is compared in memory, whatever else it has words for",
        arguments: [
            (#"{"expression": {"parameter": "q", "and": " and ", "or": " or "}}"#, "NOT (title CONTAINS 'b')", "a"),
            (#"{"expression": {"parameter": "q", "and": " and ", "not": "not {}"}}"#, "year == 1971 OR title == 'x'", "b"),
            (#"{"selector": {"place": "query:q", "nor": null}}"#, "NOT (title CONTAINS 'b')", "a"),
            (#"{"selector": {"place": "query:q", "or": null}}"#, "year == 1971 OR title == 'x'", "b"),
        ])
    func connectives(_ form: String, _ predicate: String, _ title: String) throws {
        let service = ScriptedService(Self.albums)
        let words =
            form.contains("selector")
            ? #""equal": "is", "contains": "has""# : #""equal": "{name} is {value}", "contains": "{name} has {value}""#
        let context = try context(Self.json(#"{"filters": {"form": \#(form), \#(words)}}"#), service)
        try context.performAndWait {
            expect(try context.fetch(fetch("Album", predicate)).map { $0.text("title") }, equals: [title])
        }
        expect(service.targets, equals: ["GET /albums"])
    }

    // MARK: Changes

    @Test("A version that is a field is compared before a deletion, which has no field") func versionOfDeletion() throws {
        let version = Mutexed(4)
        let service = ScriptedService { request in
            if request.method == .delete { return .json("", status: 204) }
            let album = #"{"id": 1, "title": "a", "revision": \#(version.withValue { $0 })}"#
            return .json(request.path == "/albums" ? "[\(album)]" : album)
        }
        let album = NSEntityDescription(name: "Album")
        album.properties = [NSAttributeDescription(name: "title", type: .string)]
        let json = Self.json(#"{"version": "number:revision", "saving": {"precondition": "field"}}"#)
        let context = try WebService(json: Data(json.utf8)).context(service, NSManagedObjectModel(entities: [album]))
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect(album.text("title"), equals: "a")
            version.withValue { $0 = 5 }
            context.delete(album)
            let error = try #require(throws: NSError.self) { try context.save() }
            expect(error.code, equals: NSManagedObjectMergeError, "\(error)")
            #expect(!service.requests.contains { $0.method == .delete })
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            expect(service.requests.filter { $0.method == .delete }.map(\.target), equals: ["DELETE /albums/1"])
        }
    }

    @Test("A resource in a list of several has the constants of its body, also with its identifier") func constantsOfDocuments() throws {
        let service = ScriptedService { request in
            request.method == .post ? .json(#"[{"id": 1, "rev": "2"}, {"id": 2, "rev": "2"}]"#) : Self.albums(request)
        }
        let context = try context(
            Self.json(
                #"""
                {"saving": {"conflicts": "none", "constants": {"self": {"jsonText": "\"albums/{SELF}\""}},
                  "batch": {"documents": {"path": "batch", "list": "docs", "deleted": "gone"}}, "receipt": {"id": "id", "version": "rev"}}}
                """#), service)
        try context.performAndWait {
            for album in try context.fetch(fetch("Album")) { album.setValue("other", forKey: "title") }
            try context.save()
        }
        let sent = try #require(service.requests.first { $0.method == .post }?.json?["docs"]?.array)
        expect(sent.compactMap { $0["self"]?.string }.sorted(), equals: ["albums/1", "albums/2"])
    }

    @Test("Nothing is said to be saved for which the description has no request: new resources have no identifier that a service assigns")
    func identifiedOnly() throws {
        let service = ScriptedService(Self.albums)
        let context = try context(Self.json(#"{"saving": {"create": null, "createIdentified": "PUT {path}/{SELF}"}}"#), service)
        context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Album", into: context).setValue("new", forKey: "title")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("Album") == true, "\(String(describing: error))")
        }
        expect(service.targets, equals: [])
    }

    @Test("A list is deleted to its end, wherever its answers name the next page", arguments: ["header:Next", "link:next", "body:next"])
    func pagesOfDeletion(next: String) throws {
        let address = "\(base)/albums?page=2"
        let service = ScriptedService { request in
            request.query("page") == nil
                ? .json(
                    #"{"items": [{"id": 1}], "next": "\#(address)"}"#, headers: ["Next": address, "Link": "<\(address)>; rel=\"next\""])
                : .json(#"{"items": [{"id": 2}], "next": null}"#)
        }
        let context = try context(
            Self.json(#"{"envelope": "items", "paging": {"next": "\#(next)"}, "saving": {"deletesLists": true}}"#), service)
        try context.performAndWait {
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Album")))
        }
        expect(service.targets, equals: ["DELETE /albums", "DELETE /albums?page=2"])
    }

    // MARK: Feeds

    private func changes(_ style: String, _ answer: @escaping @Sendable (WebRequest) -> WebResponse) async throws -> [String] {
        let feed = #""changeFeed": {"since": {"parameter": "since", "token": "body:token", "deleted": "gone"}}"#
        let service = ScriptedService(answer)
        let context = try context(Self.json(#"{"envelope": {"items": "items"}, \#(style)\#(feed)}"#), service)
        let coordinator = try #require(context.persistentStoreCoordinator)
        for _ in 0..<2 { _ = try await coordinator.mergeRemoteChanges(of: coordinator.persistentStores[0]) }
        return service.targets
    }

    @Test("A feed goes on where its answers name the next page, and ends where they have null there") func pagesOfFeed() async throws {
        let targets = try await changes(#""paging": {"next": "body:next"}, "#) { request in
            switch (request.query("since"), request.query("page")) {
            case (nil, nil): .json(#"{"items": [{"id": 1, "title": "a"}, {"id": 2, "title": "b"}], "token": "t", "next": null}"#)
            case (_, nil): .json(#"{"items": [{"id": 1, "title": "c"}], "token": "u", "next": "\#(base)/albums?since=t&page=2"}"#)
            default: .json(#"{"items": [{"id": 2, "title": "d"}], "token": "v", "next": null}"#)
            }
        }
        expect(targets, equals: ["GET /albums", "GET /albums?since=t", "GET /albums?since=t&page=2"])
    }

    @Test(
        "A feed that is not what the description says is an error: changes would be lost without a word",
        arguments: [#"{"items": []}"#, #"{"token": "t", "others": []}"#, #"{"token": "t", "items": [{"title": "nameless"}]}"#])
    func feed(_ answer: String) async throws {
        let isToken = !answer.contains("token")
        let error = await #expect(throws: NSError.self) {
            _ = try await changes("") { request in
                let isFeed = request.query("since") != nil
                return .json(isFeed || isToken ? answer : #"{"token": "t", "items": [{"id": 1, "title": "a"}]}"#)
            }
        }
        #expect(error?.localizedDescription.contains("Album.changes") == true, "\(String(describing: error))")
    }
}
