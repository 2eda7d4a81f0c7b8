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

    @Test(
        "Limits of which one takes the effect of another are refused",
        arguments: [
            ("retries", #"{"tries": 1, "firstDelay": 3}"#), ("rate", #"{"seconds": 60}"#),
            ("redirects", #"{"maximum": 0, "allowsInsecure": true}"#),
        ])
    func limits(key: String, value: String) throws {
        let json = #"{"address": "\#(base)", "limits": {"\#(key)": \#(value)}}"#
        let error = #expect(throws: NSError.self) { _ = try WebServiceFile(json: Data(json.utf8)) }
        #expect(error?.code == NSPersistentStoreOpenError && error?.localizedDescription.contains("limits.\(key)") == true)
    }

    @Test("A header of every request does not take the place of what the style says")
    func headers() throws {
        for (style, header) in [
            (#"{"accept": "application/vnd.a+json"}"#, "Accept"), (#"{"contentType": "application/json"}"#, "content-type"),
            (#"{"saving": {"idempotencyHeader": "Request-Key"}}"#, "request-key"),
        ] {
            let json =
                #"{"address": "\#(base)", "style": \#(style), "headers": {"\#(header)": "application/vnd.b+json"}, "resources": ["Album"]}"#
            let error = #expect(throws: NSError.self, "\(json)") { _ = try context(json, ScriptedService { _ in .json("[]") }) }
            #expect(error?.localizedDescription.contains(header) == true, "\(String(describing: error))")
        }
        // Where the style says nothing, the header may.
        _ = try context(
            #"{"address": "\#(base)", "headers": {"Accept": "application/vnd.b+json"}, "resources": ["Album"]}"#,
            ScriptedService { _ in .json("[]") })
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
        Claim(
            style: #"{"sorting": {"parameter": "sort", "sortsNilFirst": true, "place": "body", "ascending": "asc", "descending": "desc"}}"#,
            call("\"list\""), "POST"),
        Claim(style: #"{"sorting": {"parameter": "sort", "place": "body", "last": "id"}}"#, #""Album""#, "sorting.last"),
        Claim(style: #"{"filters": {"form": {"selector": {"place": "body:selector"}}, "equal": "$eq"}}"#, call("\"list\""), "POST"),
        Claim(
            style: #"{"filters": {"form": {"expression": {"parameter": "q", "and": ",", "not": "1 = 1"}}, "equal": "{name}={value}"}}"#,
            #""Album""#, "filters.not", "{}"),
        Claim(
            style:
                #"{"filters": {"form": {"expression": {"parameter": "q", "and": ",", "not": "NOT {value}{}"}}, "equal": "{name}={value}"}}"#,
            #""Album""#, "filters.not"),
        Claim(
            style: #"{"filters": {"form": {"expression": {"parameter": "q", "and": ",", "group": "all"}}, "equal": "{name}={value}"}}"#,
            #""Album""#, "filters.group"),
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

    /// Keys of which another one takes the effect.
    static let combinations: [Claim] = [
        Claim(style: #"{"filters": {"form": "none", "quoting": "json"}}"#, #""Album""#, "filters"),
        Claim(style: #"{"filters": {"form": {"selector": {"place": "query:q"}}}}"#, #""Album""#, "filters.form"),
        Claim(style: selector(#""quoting": "json""#), #""Album""#, "filters.quoting"),
        Claim(style: selector(#""separator": ";""#), #""Album""#, "filters.separator"),
        Claim(style: filters(#""separator": ";""#), #""Album""#, "filters.separator", "{values}"),
        Claim(style: filters(#""caseInsensitive": ["contains"]"#), #""Album""#, "filters.caseInsensitive"),
        Claim(style: filters(#""maximumValues": 7"#), #""Album""#, "filters.maximumValues", "isIn"),
        Claim(style: #"{"filters": {"beginsWith": "{name}={value}", "identifier": "id"}}"#, #""Album""#, "filters.identifier"),
        Claim(style: filters(#""lessThan": "{name}_before=1""#), #""Album""#, "{value}"),
        Claim(style: #"{"filters": {"equal": "q={value}"}}"#, #""Album""#, "{name}"),
        Claim(style: filters(#""quoting": "json""#), call(#"{"list": "a", "filters": ["tracks.album"]}"#), "tracks.album"),
        Claim(style: #"{"filters": {"lessThan": "{name}_before={value}"}}"#, call(#"{"list": "a", "filters": ["isLive"]}"#), "isLive"),
        Claim(
            style: #"{"sorting": {"parameter": "s", "sortsNilFirst": false}}"#, call(#"{"list": "albums", "sorting": ["year"]}"#),
            "sortsNilFirst"),
        Claim(style: #"{"sorting": {"descending": null}}"#, #""Album""#, "sorting.parameter"),
        Claim(style: #"{"sorting": {"parameter": "s", "ascending": "up"}}"#, #""Album""#, "{name}"),
        Claim(style: #"{"sorting": {"parameter": "s", "descending": "down"}}"#, #""Album""#, "{name}"),
        Claim(style: #"{"sorting": {"parameter": "s", "descending": "{name}"}}"#, #""Album""#, "null"),
        Claim(style: #"{"sorting": {"parameter": "s", "direction": "d", "descending": "{name}-"}}"#, #""Album""#, "sorting.descending"),
        Claim(style: #"{"sorting": {"parameter": "s", "direction": "d", "maximumKeys": 2}}"#, #""Album""#, "maximumKeys: 1"),
        Claim(
            style: #"{"sorting": {"parameter": "s", "direction": {"parameter": "d", "ascending": "x", "descending": "x"}}}"#, #""Album""#,
            "sorting.direction"),
        Claim(style: #"{"sorting": {"parameter": "s", "place": "body"}}"#, #""Album""#, "asc"),
        Claim(
            style: #"{"sorting": {"parameter": "s", "place": "body", "ascending": "asc", "descending": "desc", "separator": ";"}}"#,
            #""Album""#, "sorting.separator"),
        Claim(style: #"{"fields": "fields=all"}"#, #""Album""#, "{names}"),
        Claim(style: #"{"errors": {"detail": "text"}}"#, #""Album""#, "errors.list"),
        Claim(style: #"{"paging": {"of": 20}}"#, #""Album""#, "of", "page"),
        Claim(style: #"{"paging": {"form": "none", "stability": "cursors"}}"#, #""Album""#, "stability"),
        Claim(style: #"{"paging": {"form": "none", "endsShort": true}}"#, #""Album""#, "endsShort"),
        Claim(style: #"{"paging": {"next": "header:Next", "inBody": true}}"#, #""Album""#, "inBody"),
        Claim(style: #"{"paging": {"page": "p", "next": "header:Next", "endsEmpty": true}}"#, #""Album""#, "endsEmpty"),
        Claim(
            style: #"{"paging": {"page": "p", "total": "header:T", "countsByHead": true}}"#,
            call(#"{"name": "x", "method": "POST", "path": "find"}"#), "HEAD"),
        Claim(call(#"{"name": "x", "path": "find", "body": {"a": 1}}"#), "method: POST"),
        Claim(
            style: #"{"paging": {"page": "p", "inBody": true}}"#,
            call(#"{"name": "x", "method": "POST", "path": "find", "body": [1]}"#), "object"),
        Claim(call(#"{"one": "a/{SELF}", "sorting": ["year"]}"#), "no order"),
        Claim(call(#"{"list": "a", "parameters": [{"for": "year", "named": "y", "text": "caseInsensitive"}]}"#), "text"),
        Claim(call(#"{"list": "a", "parameters": [{"for": "isLive", "equal": "live=true"}]}"#), "{value}"),
        Claim(style: #"{"changeFeed": {"since": {"parameter": "s", "token": "contentRange", "deleted": "d"}}}"#, #""Album""#, "token"),
        Claim(
            style: #"{"paging": {"page": "p"}, "changeFeed": {"since": {"parameter": "s", "token": "header:T", "deleted": "d"}}}"#,
            #""Album""#, "paging: none"),
        Claim(saving(#"{"delete": {"method": "DELETE", "path": "{path}/{SELF}", "answer": "nothing"}}"#), "answer", "delete"),
        Claim(saving(#"{"delete": "DELETE {path}"}"#), "{SELF}"), Claim(saving(#"{"update": "PATCH {path}"}"#), "{SELF}"),
        Claim(saving(#"{"update": "GET {path}/{SELF}"}"#), "update", "GET"),
        Claim(saving(#"{"create": "PUT {path}/{SELF}"}"#), "newUUID"),
        Claim(saving(#"{"create": "POST bands/{bandID}/albums"}"#), "bandID"),
        Claim(saving(#"{"createsIfNoneMatch": true}"#), "newUUID"),
        Claim(saving(#"{"current": "now"}"#), "current", "precondition"),
        Claim(
            #"{"entity": "Album", "version": "eTag", "saving": {"precondition": "ifMatch", "conflicts": "none"}}"#, "conflicts",
            "precondition"),
        Claim(saving(#"{"batch": {"requests": {"path": "batch", "maximum": 1}}}"#), "batch: none"),
        Claim(
            saving(#"{"idempotencyHeader": "K", "batch": {"requests": {"path": "b", "status": null, "error": "e"}}}"#), "idempotencyHeader"),
        Claim(saving(documents(#""idempotencyHeader": "K""#)), "idempotencyHeader", "batch: none"),
        Claim(
            #"{"entity": "Album", "version": "tag:rev", "saving": \#(documents(#""precondition": "ifMatch""#))}"#, "precondition: field"),
        Claim(saving(documents(#""identity": "newUUID", "createsIfNoneMatch": true"#)), "createsIfNoneMatch"),
        Claim(saving(documents(#""item": "data""#)), "item"),
        Claim(saving(documents(#""update": {"method": "PUT", "path": "{path}/{SELF}", "query": {"notify": 1}}"#)), "query"),
        Claim(
            #"{"entity": "Album", "calls": ["list"], "saving": {"update": "PUT {path}/{SELF}", "replacesWholeResources": true}}"#,
            "calls: [one]"),
        Claim(
            #"{"entity": "Album", "version": "number:v", "calls": ["list"], "saving": {"precondition": "field"}}"#, "calls: [one]"),
        Claim(style: #"{"paging": {"page": "p"}}"#, saving(#"{"deletesLists": true}"#), "deletesLists: false"),
        Claim(
            #"{"entity": "Album", "calls": [{"name": "all", "method": "POST", "path": "find"}], "saving": {"deletesLists": true}}"#,
            "deletesLists: false"),
        Claim(#"{"entity": "Album", "identifier": "integer", "saving": {"identity": "newUUID"}}"#, "identifier"),
        Claim(#"{"entity": "Album", "identity": ["a", "b"], "identifier": "integer"}"#, "identifier"),
        Claim(#"{"entity": "Album", "kinds": {"path": "kind", "entities": {}}}"#, "kinds"),
        Claim(property("tracks", #"{"reference": "link"}"#), "lists: true"), Claim(property("tracks", #"{"wholeList": false}"#), "path"),
    ]
    private static func filters(_ text: String) -> String { #"{"filters": {"equal": "{name}={value}", \#(text)}}"# }
    private static func selector(_ text: String) -> String {
        #"{"filters": {"form": {"selector": {"place": "query:q"}}, "equal": "$eq", \#(text)}}"#
    }
    private static func documents(_ text: String) -> String {
        #"{\#(text), "batch": {"documents": {"path": "b", "list": "docs", "deleted": "gone"}}}"#
    }

    @Test(
        "What no request and no answer would show is refused when the backend is made, with what to write instead",
        arguments: claims + combinations)
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
