import CoreData
import Foundation
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Habits of web services") struct HabitTests {
    @Test("An error with the status 200 is an error, and one that says that there is no such resource is none") func flaggedErrors() throws
    {
        var style = ServiceStyle.plain
        style.errors = ErrorStyle(messages: ["error_message"], flag: "error", missing: ["unknown"])
        let answers = Answers(#"{"error": true, "error_message": "unknown band"}"#)
        let service = ScriptedService { _ in .json(answers.value) }
        let list = WebCall("ofBand", path: "albums", query: ["band": "{band}"])
        let api = WebService(base, style: style, resources: [WebResource("Album", calls: [list]), WebResource("Band")])
        let context = try api.context(service)
        try context.performAndWait {
            let band = try #require(
                context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: Self.uri(context, "Band/p9")))
            let none = try context.fetch(fetch("Album", "band == %@", [band]))
            #expect(none.isEmpty)
            answers.value = #"{"error": true, "error_message": "too much"}"#
            let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album", "band == %@", [band])) }
            expect(error?.localizedDescription.contains("too much"), equals: true)
            answers.value = #"{"error": false, "id": 9, "name": "Larks"}"#
            try expect(context.existingObject(with: band).text("name"), equals: "Larks")
        }
    }

    @Test("Lists in an order that cannot be chosen are asked for a page in this order, and for all in another") func givenOrder() throws {
        var style = ServiceStyle.plain
        style.sorting = .given
        style.paging = .offsets(size: "limit", of: 10)
        let service = ScriptedService { _ in .json(#"[{"id": 2, "title": "b", "year": 1970}, {"id": 1, "title": "a", "year": 1971}]"#) }
        let api = WebService(base, style: style, resources: [WebResource("Album", calls: [.list(sorting: ["year"])])])
        let context = try api.context(service)
        try context.performAndWait {
            let given = try titles(context, fetch("Album", by: ["year"], limit: 2))
            expect(given, equals: ["b", "a"])
            let other = try titles(context, fetch("Album", by: ["title"], limit: 1))
            expect(other, equals: ["a"])
            expect(service.targets, equals: ["GET /albums?limit=2", "GET /albums?limit=10", "GET /albums?offset=2&limit=10"])
        }
    }

    @Test("A map of one may be the resource itself") func mapOfOne() throws {
        let service = ScriptedService { request in
            request.query("ids") == "7"
                ? .json(#"{"id": 7, "title": "a"}"#) : .json(#"{"7": {"id": 7, "title": "a"}, "8": {"id": 8, "title": "b"}}"#)
        }
        let call = WebCall(
            "several", path: "albums", returns: .map,
            parameters: [WebParameter("SELF", templates: [.isIn: "ids={values}"], isRequired: true, maximumValues: 9)])
        let context = try WebService(base, resources: [WebResource("Album", identifier: .integer, calls: [call])]).context(service)
        try context.performAndWait {
            let ids = try ["Album/p7", "Album/p8", "Album/p9"].compactMap {
                context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: try Self.uri(context, $0))
            }
            try expect(titles(context, fetch("Album", "SELF == %@", [ids[0]])), equals: ["a"])
            try expect(titles(context, fetch("Album", "SELF IN %@", [ids], by: ["title"])), equals: ["a", "b"])
            // What a map does not have does not exist.
            expect(service.requests.count, equals: 2)
        }
    }

    @Test("A value that contains the separator of values is compared here, not taken for two") func separator() throws {
        let service = ScriptedService { _ in .json(#"[{"id": 1, "title": "a,b"}, {"id": 2, "title": "a"}]"#) }
        let call = WebCall("list", path: "albums", parameters: [WebParameter("title", templates: [.isIn: "t={values}"], maximumValues: 9)])
        let context = try WebService(base, resources: [WebResource("Album", calls: [call])]).context(service)
        try context.performAndWait {
            try expect(titles(context, fetch("Album", "title == 'a,b'")), equals: ["a,b"])
            expect(service.targets, equals: ["GET /albums"])
        }
    }

    @Test("Parts of a parent's identifier are parts of its resources', and addresses refer by parts") func compositeParents() throws {
        let band = WebResource(
            "Band", identity: ["label", "name"], ignored: ["homepage"], calls: [.one("bands/{SELF.0}/{SELF.1}"), .list()])
        let album = WebResource(
            "Album", identity: ["@band.0", "@band.1", "year"],
            properties: ["band": PropertyMapping(path: "band_url", reference: .link(template: "bands/{SELF.0}/{SELF.1}"))],
            calls: [.list("bands/{band.0}/{band.1}/albums"), .one("bands/{SELF.0}/{SELF.1}/albums/{SELF.2}")])
        let service = ScriptedService { request in
            switch request.path {
            case "/bands": .json(#"[{"label": "reef", "name": "22"}, {"label": "reef", "name": "Larks"}]"#)
            case "/bands/reef/22/albums": .json(#"[{"title": "One", "year": 1970}]"#)
            case "/bands/reef/22/albums/1970": .json(#"{"title": "One", "year": 1970, "band_url": "https://x.example.com/bands/reef/22"}"#)
            default: .json("[]")
            }
        }
        let api = WebService(base, resources: [band, album])
        let context = try api.context(service)
        let uri = try context.performAndWait {
            let bands = try context.fetch(fetch("Band", by: ["name"]))
            let albums = try #require(bands[0].value(forKey: "albums") as? Set<NSManagedObject>)
            #expect(albums.first?.value(forKey: "band") as? NSManagedObject === bands[0])
            return try #require(albums.first?.objectID.uriRepresentation())
        }
        let second = try api.context(service)
        try second.performAndWait {
            let id = try #require(second.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
            let album = try second.existingObject(with: id)
            expect(album.text("title"), equals: "One")
            // A part that looks like a number is text where the attribute is.
            let band = try #require(album.value(forKey: "band") as? NSManagedObject)
            let bands = try second.fetch(fetch("Band", by: ["name"]))
            #expect(bands.first === band)
        }
        #expect(service.targets.contains("GET /bands/reef/22/albums/1970"))
    }

    @Test("A comparison with an object whose identifier has several parts is made here: no parameter has a place for it")
    func compositeFilters()
        throws
    {
        let band = WebResource(
            "Band", identity: ["label", "name"], ignored: ["homepage"], calls: [.one("bands/{SELF.0}/{SELF.1}"), .list()])
        let album = WebResource(
            "Album", properties: ["band": PropertyMapping(path: "band_url", reference: .link(template: "bands/{SELF.0}/{SELF.1}"))],
            calls: [.list(), .one])
        let service = ScriptedService { request in
            switch request.path {
            case "/bands": .json(#"[{"label": "reef", "name": "Low"}, {"label": "reef", "name": "Larks"}]"#)
            case "/bands/reef/Larks": .json(#"{"label": "reef", "name": "Larks"}"#)
            // What is asked for by a name that the service does not have is nothing.
            case "/albums" where request.url.contains("?"): .json("[]")
            case "/albums":
                .json(
                    #"[{"id": 1, "title": "One", "band_url": "/bands/reef/Low"}, {"id": 2, "title": "Two", "band_url": "/bands/reef/Larks"}]"#
                )
            default: .json("{}", status: 404)
            }
        }
        let style = ServiceStyle(filters: FilterStyle(.parameters, [.equal: "{name}={value}", .isIn: "{name}={values}"], identifier: "id"))
        let context = try WebService(base, style: style, resources: [band, album]).context(service)
        try context.performAndWait {
            let bands = try context.fetch(fetch("Band", by: ["name"]))
            try expect(titles(context, fetch("Album", "band == %@", [bands[1]])), equals: ["One"])
            try expect(titles(context, fetch("Album", "band IN %@", [bands], by: ["title"])), equals: ["One", "Two"])
            expect((bands[0].value(forKey: "albums") as? Set<NSManagedObject>)?.count, equals: 1)
            expect(try context.count(for: fetch("Band", "SELF == %@", [bands[0]])), equals: 1)
            expect(try context.count(for: fetch("Band", "ANY albums.title == 'One'")), equals: 1)
        }
        #expect(!service.targets.contains { $0.contains("?") }, "\(service.targets)")
    }

    @Test("A list may be an element of a list, with the count in another element") func listsInLists() throws {
        let style = ServiceStyle(
            envelope: Envelope(items: "[1]", item: "[1][0]"), paging: .pages("page", of: 2, total: .body("[0].total")))
        let service = ScriptedService { request in
            if request.path.hasSuffix("/3") { return .json(#"[{"total": 1}, [{"id": 3, "title": "c"}]]"#) }
            let items = request.query("page") == "2" ? #"{"id": 3, "title": "c"}"# : #"{"id": 1, "title": "a"}, {"id": 2, "title": "b"}"#
            return .json(#"[{"page": 1, "total": 3}, [\#(items)], "end"]"#)
        }
        let context = try WebService(base, style: style, resources: [WebResource("Album", calls: [.list(), .one])]).context(service)
        try context.performAndWait {
            let all = try titles(context, fetch("Album", by: ["title"]))
            expect(all, equals: ["a", "b", "c"])
            try expect(context.count(for: fetch("Album")), equals: 3)
            let id = try context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: Self.uri(context, "Album/p3"))
            let one = try titles(context, fetch("Album", "SELF == %@", [#require(id)]))
            expect(one, equals: ["c"])
        }
    }

    @Test("Several values are parameters of one name where the template has each") func repeatedParameters() throws {
        let style = ServiceStyle(
            filters: FilterStyle(.parameters, [.isIn: "{name}={each}"], maximumValues: 2))
        let service = ScriptedService { _ in .json("[]") }
        let context = try WebService(base, style: style, resources: [WebResource("Album", calls: [.list()])]).context(service)
        try context.performAndWait {
            _ = try context.fetch(fetch("Album", "title IN {'a,b', 'c'}"))
            expect(service.targets.map { $0.removingPercentEncoding ?? "" }, equals: ["GET /albums?title=a,b&title=c"])
        }
    }

    @Test(
        "A template that would drop values, or send a word in braces, is an error of the description",
        arguments: [
            ("{name}__in={value}", "one of several values"), ("{name}__in={vlaues}", "{vlaues}"), ("{names}={values}", "{names}"),
        ])
    func wrongTemplates(_ template: String, _ says: String) throws {
        let styled = WebService(
            base, style: ServiceStyle(filters: FilterStyle(.parameters, [.isIn: template])),
            resources: [WebResource("Album", calls: [.list()])])
        let custom = WebService(
            base,
            resources: [
                WebResource(
                    "Album",
                    calls: [
                        WebCall("list", path: "albums", parameters: [WebParameter("year", templates: [.isIn: template], maximumValues: 5)])
                    ])
            ])
        for service in [styled, custom] {
            let error = #expect(throws: NSError.self) { try service.context(ScriptedService { _ in .json("[]") }) }
            expect(error?.localizedFailureReason?.contains(says), equals: true, "\(String(describing: error))")
        }
    }

    @Test(
        "A value without quotation marks that would say more in an expression is compared here, not sent",
        arguments: ["a;year==1", "a)", "x,y"])
    func expressionsOfBareValues(_ value: String) throws {
        let filters = FilterStyle(.expression(.init("q", and: ";", or: ",")), [.equal: "{name}=={value}"])
        let service = ScriptedService { _ in .json(#"[{"id": 1, "title": "\#(value)"}, {"id": 2, "title": "plain"}]"#) }
        let context = try WebService(base, style: ServiceStyle(filters: filters), resources: [WebResource("Album", calls: [.list()])])
            .context(service)
        try context.performAndWait {
            try expect(titles(context, fetch("Album", "title == %@", [value])), equals: [value])
            _ = try context.fetch(fetch("Album", "title == 'plain'"))
            expect(service.targets.map { $0.removingPercentEncoding ?? "" }, equals: ["GET /albums", "GET /albums?q=title==plain"])
        }
    }

    private func titles(_ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>) throws -> [String] {
        try context.fetch(request).compactMap { $0.text("title") }
    }

    private static func uri(_ context: NSManagedObjectContext, _ path: String) throws -> URL {
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first?.identifier)
        return try #require(URL(string: "x-coredata://\(store)/\(path)"))
    }
}

/// The body of the next answers.
private final class Answers: Sendable {
    private let text: Synchronization.Mutex<String>
    init(_ text: String) { self.text = Synchronization.Mutex(text) }
    var value: String {
        get { text.withLock { $0 } }
        set { text.withLock { $0 = newValue } }
    }
}
