import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("What a description claims") struct RefusedClaimTests {
    private func context(_ json: String, _ service: ScriptedService) throws -> NSManagedObjectContext {
        try WebService(json: Data(json.utf8)).context(service)
    }

    @Test(
        "A list at another path claims no filters and orders under a style whose lists claim none; those that it names, it has",
        arguments: ["djangoREST", "gitHub"])
    func listPath(style: String) throws {
        let rows = #"[{"id": 1, "title": "a", "year": 1970}, {"id": 2, "title": "b", "year": 1971}]"#
        // As a view does that does not know a parameter.
        let service = ScriptedService { _ in .json(style == "gitHub" ? rows : #"{"results": \#(rows), "next": null, "count": 2}"#) }
        for list in [#""list""#, #"{"list": "records/"}"#, #"{"name": "all", "path": "records/"}"#] {
            let json = #"{"address": "\#(base)", "style": "\#(style)", "resources": [{"entity": "Album", "calls": [\#(list)]}]}"#
            let context = try context(json, service)
            try context.performAndWait {
                expect(try context.fetch(fetch("Album", "year == 1971", by: ["year"])).map { $0.text("title") }, equals: ["b"], "\(list)")
                expect(try context.count(for: fetch("Album", "year == 1971")), equals: 1, "\(list)")
            }
        }
        #expect(
            service.targets.allSatisfy { !$0.contains("year") && !$0.contains("sort") && !$0.contains("ordering") }, "\(service.targets)")
        let named = #"{"list": "records/", "filters": ["year"]}"#
        let context = try context(
            #"{"address": "\#(base)", "style": "\#(style)", "resources": [{"entity": "Album", "calls": [\#(named)]}]}"#, service)
        _ = try context.performAndWait { try context.fetch(fetch("Album", "year == 1971")) }
        #expect(service.targets.last?.contains("year=1971") == true, "\(service.targets)")
    }

    @Test("Text that becomes JSON when its templates are replaced is sent as that JSON, also where a change reads the resource before")
    func jsonText() throws {
        let service = ScriptedService { request in
            if request.method == .patch { return .json("{}") }
            return .json(request.path == "/find" ? #"{"id": 7, "title": "a"}"# : #"[{"id": 7}]"#)
        }
        let json = #"""
            {"address": "\#(base)", "style": {"saving": {"conflicts": "byReading"}}, "resources": [{"entity": "Album", "ignored": ["year", "band"],
              "calls": [{"name": "all", "path": "albums", "properties": ["kind"]},
                        {"name": "find", "method": "POST", "path": "find", "returns": "one", "body": {"jsonText": "{\"key\": {\"id\": {SELF}}}"}}]}]}
            """#
        let context = try context(json, service)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect(album.text("title"), equals: "a")
            album.setValue("b", forKey: "title")
            try context.save()
        }
        let asked = service.requests.filter { $0.path == "/find" }
        #expect(asked.count >= 2)
        for request in asked { expect(request.body.map { String(decoding: $0, as: UTF8.self) }, equals: #"{"key":{"id":7}}"#) }
    }

    @Test("What came along with one resource is read, also where the answer is the resource itself") func includedBesideOne() throws {
        let service = ScriptedService { request in
            request.path == "/albums"
                ? .json(#"[{"id": 1}]"#)
                : .json(#"{"id": 1, "title": "a", "band": 5, "included": [{"kind": "bands", "id": 5, "name": "b"}]}"#)
        }
        let json = #"""
            {"address": "\#(base)", "style": {"envelope": {"included": "included", "type": "kind"}}, "resources": ["Band", "Album"]}
            """#
        let context = try context(json, service)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect(album.text("title"), equals: "a")
            expect((album.value(forKey: "band") as? NSManagedObject)?.text("name"), equals: "b")
            #expect(!service.targets.contains("GET /bands/5"), "\(service.targets)")
        }
    }

    @Test("A call's own parameter is sent beside the style's expression or selector") func ownParameter() throws {
        for form in [
            #"{"form": {"expression": {"parameter": "q", "and": " and "}}, "equal": "{name} eq {value}"}"#,
            #"{"form": {"selector": {"place": "query:where"}}, "equal": "$eq"}"#,
        ] {
            let service = ScriptedService { _ in .json("[]") }
            let json = #"""
                {"address": "\#(base)", "style": {"filters": \#(form)}, "resources": [{"entity": "Album", "calls": [
                  {"list": "albums", "filters": ["title"], "parameters": [{"for": "year", "greaterThan": "after={value}"}]}]}]}
                """#
            let context = try context(json, service)
            _ = try context.performAndWait { try context.fetch(fetch("Album", "year > 1969 AND title == 'x'")) }
            let target = try #require(service.targets.first)
            #expect(target.contains("after=1969") && target.contains("title"), "\(target)")
        }
    }

    /// A part of a description that nothing would come of, and what the error names.
    struct Claim: CustomTestStringConvertible, Sendable {
        let style: String
        let resource: String
        let names: [String]
        var testDescription: String { "\(style) \(resource)" }

        init(style: String = "{}", _ resource: String = #""Album""#, _ names: String...) {
            (self.style, self.resource, self.names) = (style, resource, names)
        }
    }

    private static func call(_ call: String) -> String { #"{"entity": "Album", "calls": [\#(call)]}"# }
    private static func saving(_ saving: String) -> String { #"{"entity": "Album", "saving": \#(saving)}"# }
    private static func property(_ name: String, _ mapping: String) -> String {
        #"{"entity": "Album", "properties": {"\#(name)": \#(mapping)}}"#
    }

    static let claims: [Claim] = [
        Claim(style: #"{"contentType": "application/x-www-form-urlencoded"}"#, #""Album""#, "contentType", "application/json"),
        Claim(style: #"{"contentType": "multipart/form-data"}"#, #""Album""#, "contentType"),
        Claim(style: #"{"accept": "text/csv"}"#, #""Album""#, "accept"),
        Claim(style: #"{"fields": "names"}"#, #""Album""#, "fields"), Claim(style: #"{"fields": "f={fields}"}"#, #""Album""#, "{fields}"),
        Claim(style: #"{"includes": "include"}"#, #""Album""#, "includes"),
        Claim(style: #"{"filters": {"equal": "{name}"}}"#, call("\"list\""), "{name}"),
        Claim(style: #"{"envelope": {"type": "type"}}"#, #""Album""#, "envelope.type"),
        Claim(style: #"{"errors": {"missing": ["no"]}}"#, #""Album""#, "errors.flag"),
        Claim(style: #"{"errors": {"pointer": "field"}}"#, #""Album""#, "errors.list"),
        Claim(style: #"{"sorting": {"parameter": "sort", "sortsNilFirst": true, "place": "body"}}"#, call("\"list\""), "POST"),
        Claim(style: #"{"sorting": {"parameter": "sort", "place": "body", "last": "id"}}"#, #""Album""#, "sorting.last"),
        Claim(style: #"{"filters": {"form": {"selector": {"place": "body:selector"}}, "equal": "$eq"}}"#, call("\"list\""), "POST"),
        Claim(style: #"{"paging": {"page": "p", "inBody": true}}"#, call("\"list\""), "POST"),
        Claim(style: #"{"paging": {"page": "p", "next": "body:next"}}"#, call("\"list\""), "envelope.items"),
        Claim(style: #"{"paging": {"form": "none", "hasMore": "header:More"}}"#, #""Album""#, "hasMore"),
        Claim(style: #"{"paging": {"form": "address"}}"#, #""Album""#, "next"),
        Claim(style: #"{"paging": {"cursor": "after"}}"#, #""Album""#, "next"),
        Claim(style: #"{"paging": {"offset": "o", "first": 1}}"#, #""Album""#, "first"),
        Claim(style: #"{"paging": {"page": "p", "endsEmpty": true, "endsShort": true}}"#, #""Album""#, "endsShort"),
        Claim(style: #"{"paging": {"page": "p", "countsByHead": true}}"#, #""Album""#, "countsByHead"),
        Claim(style: #"{"paging": {"page": "p", "totalParameter": "count=1"}}"#, #""Album""#, "totalParameter"),
        Claim(style: #"{"paging": {"page": "p", "total": "header:T", "totalParameter": "count"}}"#, #""Album""#, "count"),
        Claim(style: #"{"paging": {"page": "p", "total": "link:last"}}"#, #""Album""#, "total"),
        Claim(call(#""list", {"list": "others"}"#), "list", "name"), Claim(call(#"{"one": "a/{SELF}", "filters": ["year"]}"#), "filters"),
        Claim(call(#"{"one": "a/{SELF}", "paging": {"page": "p"}}"#), "paging"),
        Claim(call(#"{"list": "a", "includes": ["band"]}"#), "includes", "band"),
        Claim(style: #"{"includes": "include={paths}"}"#, call(#"{"list": "a", "includes": ["tracks.album"]}"#), "deep"),
        Claim(call(#"{"list": "a", "parameters": [{"for": "year"}]}"#), "parameter"),
        Claim(call(#"{"list": "a", "parameters": [{"for": "year", "named": "y", "maximumValues": 5}]}"#), "isIn"),
        Claim(call(#"{"name": "x", "method": "POST", "path": "a", "body": {"jsonText": "{\"id\": }"}}"#), "JSON"),
        Claim(saving(#"{"conflicts": "backend"}"#), "precondition"), Claim(saving(#"{"precondition": "ifMatch"}"#), "version"),
        Claim(saving(#"{"constants": {"data.id": {"jsonText": "\"{id}\""}}}"#), "{id}"),
        Claim(saving(#"{"constants": {"a": {"jsonText": "{"}}}"#), "JSON"),
        Claim(saving(#"{"removal": {"jsonText": "}"}}"#), "removal"),
        Claim(#"{"entity": "Album", "readOnly": true, "saving": {"delete": null}}"#, "readOnly"),
        Claim(#"{"entity": "Album", "ignored": ["year"], "properties": {"year": "y"}}"#, "year"),
        Claim(property("title", #"{"wholeObjects": true}"#), "wholeObjects"),
        Claim(property("band", #"{"wholeList": false}"#), "wholeList"),
        Claim(property("releaseDate", #"{"as": "text"}"#), "transform"),
        Claim(property("band", #"{"reference": "link:bands/{id}"}"#), "{SELF}"),
    ]

    @Test("What no request and no answer would show is refused when the backend is made, with what to write instead", arguments: claims)
    func refused(_ claim: Claim) throws {
        let json = #"{"address": "\#(base)", "style": \#(claim.style), "resources": [\#(claim.resource)]}"#
        do {
            _ = try context(json, ScriptedService { _ in .json("[]") })
            Issue.record("It is accepted: \(json)")
        } catch {
            expect((error as NSError).code, equals: NSPersistentStoreOpenError, "\(error)")
            for name in claim.names { #expect(error.localizedDescription.contains(name), "\(error.localizedDescription)") }
        }
    }
}
