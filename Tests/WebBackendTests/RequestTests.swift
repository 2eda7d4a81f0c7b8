import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("What a web service is asked") struct RequestTests {
    private func style(_ change: (inout ServiceStyle) -> Void) -> ServiceStyle {
        var style = ServiceStyle.plain
        change(&style)
        return style
    }

    /// The targets that a fetch asks of a service that answers with nothing.
    private func targets(_ service: WebService, _ request: NSFetchRequest<NSManagedObject>, _ answer: String = "[]") throws -> [String] {
        let transport = ScriptedService { _ in .json(answer) }
        let context = try service.context(transport)
        try context.performAndWait { _ = try context.fetch(request) }
        return transport.targets
    }

    @Test("Filters are parameters as the style writes them, values as the properties do") func parameters() throws {
        var style = style { $0.names = .snakeCase }
        style.filters = FilterStyle(
            .parameters,
            [
                .equal: "{name}={value}", .greaterThanOrEqual: "min_{name}={value}", .lessThan: "max_{name}={value}",
                .isIn: "{name}__in={values}",
                .contains: "q[{name}]={value}",
            ], identifier: "id")
        let service = WebService(base, style: style, resources: [WebResource("Album"), WebResource("Band")])
        let day = Date(timeIntervalSince1970: 0)
        let asked = try targets(
            service,
            fetch("Album", "title CONTAINS %@ AND releaseDate >= %@ AND releaseDate < %@ AND isLive == YES", ["a&b=c", day, day + 86400]))
        expect(asked.count, equals: 1)
        let target = try #require(asked.first)
        for part in ["q[title]=a&b=c", "min_release_date=1970-01-01T00:00:00Z", "max_release_date=1970-01-02T00:00:00Z", "is_live=true"] {
            #expect(target.contains(part), "\(target)")
        }
        try expect(targets(service, fetch("Album", "year IN {1969, 1971}")).first, equals: "GET /albums?year__in=1969,1971")
    }

    @Test("What the style cannot write is finished in memory, and an unknown filter is never sent") func finishedInMemory() throws {
        let service = WebService(base, resources: [WebResource("Album")])
        let transport = ScriptedService { _ in .json(#"[{"id": 1, "title": "a", "year": 1}, {"id": 2, "title": "b", "year": 2}]"#) }
        let context = try service.context(transport)
        try context.performAndWait {
            let found = try context.fetch(fetch("Album", "year > 1"))
            expect(found.compactMap { $0.text("title") }, equals: ["b"])
        }
        expect(transport.targets, equals: ["GET /albums"])
    }

    @Test("Expressions are joined by AND, OR and NOT, and values quoted") func expressions() throws {
        let filters = FilterStyle(
            .expression(.init("$filter", and: " and ", or: " or ", not: "not ({})")),
            [.equal: "{name} eq {value}", .greaterThan: "{name} gt {value}", .contains: "contains({name},{value})"], quoting: .singleQuoted)
        let service = WebService(base, style: style { $0.filters = filters }, resources: [WebResource("Album")])
        let asked = try targets(service, fetch("Album", "(title == %@ OR rating > 4) AND NOT (title CONTAINS 'x')", ["O'Brien"]))
        expect(asked.count, equals: 1)
        let target = try #require(asked.first)
        #expect(target.contains("title eq 'O''Brien' or rating gt 4"), "\(target)")
        #expect(target.contains("not (contains(title,'x'))"), "\(target)")
        #expect(target.contains(" and "), "\(target)")
    }

    @Test("Selectors are JSON, with the constants of the style") func selectors() throws {
        let transport = ScriptedService { _ in .json(#"{"docs": [], "bookmark": "nil"}"#) }
        let context = try WebService("http://127.0.0.1:5984/music", style: .couchDB).context(transport)
        try context.performAndWait { _ = try context.fetch(fetch("Album", "year >= 1969 AND (title == 'a' OR kind IN {'b', 'c'})")) }
        let body = try #require(transport.requests.first?.json)
        expect(transport.requests.first?.url, equals: "http://127.0.0.1:5984/music/_find")
        expect(body["selector"]?["type"]?.string, equals: "Album")
        #expect("\(body)".contains(#""$or":"#) && "\(body)".contains(#"{"year":{"$gte":1969}}"#), "\(body)")
        expect(body["limit"]?.integer, equals: 200)
    }

    @Test("Orders are the style's, one or several keys") func orders() throws {
        let several = WebService(
            base, style: style { $0.sorting = SortStyle("sort") },
            resources: [WebResource("Album", calls: [.list(sorting: ["title", "year"])])])
        try expect(targets(several, fetch("Album", by: ["-year", "title"])), equals: ["GET /albums?sort=-year,title"])
        let direction = SortStyle("sort", descending: nil, maximumKeys: 1, direction: .init("direction"))
        let one = WebService(
            base, style: style { $0.sorting = direction }, resources: [WebResource("Album", calls: [.list(sorting: ["title"])])])
        try expect(targets(one, fetch("Album", by: ["-title"])), equals: ["GET /albums?sort=title&direction=desc"])
    }

    @Test("An optional property is sorted in memory unless the description vouches for the order") func optionalOrders() throws {
        let service = WebService(base, style: style { $0.sorting = SortStyle("sort") }, resources: [WebResource("Album")])
        try expect(targets(service, fetch("Album", by: ["title"])), equals: ["GET /albums"])
    }

    @Test(
        "All pages are read, by numbers, offsets, cursors, addresses and the header Link",
        arguments: [
            PagingStyle.pages(size: "per_page", of: 2), .pages(of: 2, total: .body("count")), .offsets(of: 2),
            .offsets("skip", of: 2, total: .body("count")),
            .following(.body("cursor"), parameter: "after", of: 2), .following(.body("next"), size: "n", of: 2),
            .following(.link("next"), of: 2),
            .following(.header("X-Next"), of: 2),
        ])
    func pages(_ paging: PagingStyle) throws {
        let titles = ["a", "b", "c", "d", "e"]
        let transport = ScriptedService { request in
            let start =
                request.query("after").flatMap { Int($0) } ?? request.query("offset").flatMap { Int($0) } ?? request.query("skip").flatMap {
                    Int($0)
                }
                ?? request.query("page").flatMap { Int($0) }.map { ($0 - 1) * 2 } ?? 0
            let end = min(start + (request.query("limit").flatMap { Int($0) } ?? 2), titles.count)
            let items = (start..<max(start, end)).map { #"{"id": \#($0), "title": "\#(titles[$0])"}"# }.joined(separator: ",")
            let isLast = end >= titles.count
            var headers = WebHeaders()
            if !isLast {
                headers["Link"] = "<\(base)/albums?page=1>; rel=\"first\", <\(base)/albums?offset=\(end)>; rel=\"next\""
                headers["X-Next"] = "/v1/albums?offset=\(end)"
            }
            let next = isLast ? "null" : #""albums?offset=\#(end)""#
            return .json(
                #"{"list": [\#(items)], "count": 5, "cursor": \#(isLast ? "null" : "\"\(end)\""), "next": \#(next)}"#, headers: headers)
        }
        let service = WebService(
            base,
            style: style {
                $0.paging = paging; $0.envelope = Envelope(items: "list")
            }, resources: [WebResource("Album")])
        let context = try service.context(transport)
        try context.performAndWait {
            let found = try context.fetch(fetch("Album"))
            expect(found.compactMap { $0.text("title") }.sorted(), equals: titles)
        }
        // Offsets overlap by one, so that moved pages are noticed.
        #expect(transport.requests.count <= 5)
    }

    @Test("A next page elsewhere is never asked for") func foreignPage() throws {
        for next in [
            "https://evil.example.org/albums", "//evil.example.org/x", "http://api.example.com/v1/albums",
            "https://api.example.com.evil.org/",
        ] {
            let transport = ScriptedService { _ in .json(#"{"results": [], "next": "\#(next)", "count": 9}"#) }
            let service = WebService(base, style: .djangoREST, resources: [WebResource("Album")])
            let context = try service.context(transport)
            context.performAndWait {
                let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
                expect(error?.localizedDescription.contains("outside of the service"), equals: true)
            }
            expect(transport.requests.count, equals: 1)
        }
    }

    @Test("An endless list ends in an error", .timeLimit(.minutes(30))) func endlessPages() throws {
        let transport = ScriptedService { request in .json(#"{"results": [], "next": "\#(request.url)", "count": 9}"#) }
        let context = try WebService(base, style: .djangoREST, resources: [WebResource("Album")]).context(transport)
        context.performAndWait { _ = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) } }
        #expect(transport.requests.count <= 2)
    }

    @Test("An identifier cannot lead a request elsewhere") func hostileIdentifiers() throws {
        let service = WebService(base, resources: [WebResource("Album", identifier: .string, calls: [.one])])
        for (id, path) in [
            ("a/../../admin", "/albums/a%2F..%2F..%2Fadmin"), ("x?y=1#z", "/albums/x%3Fy%3D1%23z"), ("é %00", "/albums/%C3%A9%20%2500"),
        ] {
            let transport = ScriptedService { _ in .json("{}", status: 404) }
            let context = try service.context(transport)
            try context.performAndWait {
                let object = try context.fetch(fetch("Album", "SELF == %@", [try #require(context.id("Album", id))]))
                #expect(object.isEmpty)
            }
            expect(transport.requests.map(\.path), equals: [path])
        }
        for id in ["..", "."] {
            let transport = ScriptedService { _ in .json("{}") }
            let context = try service.context(transport)
            context.performAndWait {
                guard let known = context.id("Album", id) else {
                    Issue.record("There is no such ID.")
                    return
                }
                _ = #expect(throws: NSError.self) { try context.fetch(fetch("Album", "SELF == %@", [known])) }
            }
            #expect(transport.requests.isEmpty)
        }
    }

    @Test("Counting asks for the number, not for the resources") func counting() throws {
        let transport = ScriptedService { _ in .json(#"{"results": [{"id": 1}], "count": 120000, "next": null}"#) }
        var style = ServiceStyle.djangoREST
        style.paging.sizeParameter = "page_size"
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(transport)
        try context.performAndWait {
            let count = try context.count(for: fetch("Album"))
            expect(count, equals: 120_000)
        }
        expect(transport.requests.map { $0.query("page_size") }, equals: ["1"])
    }

    @Test("Fields and the destinations of relationships are asked for as the style says") func shape() throws {
        let transport = ScriptedService { _ in .json(#"{"data": []}"#) }
        let context = try WebService(base, style: .jsonAPI).context(transport)
        try context.performAndWait {
            let request = fetch("Album")
            request.propertiesToFetch = ["title"]
            request.relationshipKeyPathsForPrefetching = ["band", "tracks"]
            _ = try context.fetch(request)
        }
        expect(transport.requests.first?.query("include"), equals: "band,tracks")
    }

    @Test("A fetch of values, or of identifiers, asks for nothing else where the service can leave the rest out") func fields() throws {
        let transport = ScriptedService { _ in .json(#"{"data": []}"#) }
        let context = try WebService(base, style: .jsonAPI).context(transport)
        try context.performAndWait {
            let values = NSFetchRequest<NSDictionary>(entityName: "Album")
            values.resultType = .dictionaryResultType
            values.propertiesToFetch = ["title"]
            _ = try context.fetch(values)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Album")
            ids.resultType = .managedObjectIDResultType
            _ = try context.fetch(ids)
            _ = try context.fetch(fetch("Album"))
        }
        let type = try #require(transport.requests.first?.path.split(separator: "/").last)
        expect(transport.requests.map { $0.query("fields[\(type)]") }, equals: ["title", "", nil])
    }
}

extension NSManagedObjectContext {
    /// The ID of an object of the store with a string as identifier.
    func id(_ entity: String, _ text: String) -> NSManagedObjectID? {
        guard let store = persistentStoreCoordinator?.persistentStores.first, let identifier = store.identifier else { return nil }
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789")
        guard let reference = text.addingPercentEncoding(withAllowedCharacters: allowed),
            let url = URL(string: "x-coredata://\(identifier)/\(entity)/p\(reference)")
        else { return nil }
        return persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url)
    }
}
