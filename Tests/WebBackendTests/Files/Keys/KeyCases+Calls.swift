import CoreData
import Foundation
import RemoteStore
import WebTransport

extension KeyCase {
    // MARK: Calls

    static let calls: [KeyCase] = [
        call("call.list", text: #""list": $"#, #""albums""#, #""others""#),
        album(
            "call.one", text: #""calls": [{"list": "albums", "properties": ["link"]}, {"one": $}]"#, #""albums/{SELF}""#, #""album/{SELF}""#
        ),
        call("call.name", text: #""path": "albums", "name": $"#, #""all""#, #""every""#, #""one""#, scenario: told),
        call("call.method", text: #""name": "all", "path": "find", "method": $"#, #""GET""#, #""POST""#),
        call("call.path", text: #""name": "all", "path": $"#, #""albums""#, #""others""#),
        call("call.query", text: #""list": "albums", "query": $"#, "{}", #"{"a": "b"}"#),
        call(
            "call.body", text: #""name": "all", "method": "POST", "path": "find", "body": $"#, "null", #"{"a": 1}"#,
            #"{"jsonText": "{\"b\": {}}"}"#),
        KeyCase(
            keys: ["call.returns"],
            text:
                #"{"address": "\#(base)", "resources": [{"entity": "Album", "calls": [{"name": "all", "path": "albums", "returns": $}]}]}"#,
            values: [#""list""#, #""one""#, #""map""#],
            scenario: Scenario { $0.path == "/albums" ? .json(#"{"4": {"title": "four"}, "id": 3}"#) : nil }),
        call("call.items", text: #""list": "albums", "items": $"#, #""items""#, #""data""#, scenario: enveloped),
        call("call.parameters", text: #""list": "albums", "parameters": $"#, "[]", #"{"year": "y"}"#),
        call("call.filters", text: #""list": "albums", "filters": $"#, style: #"{"filters": "byName"}"#, "null", #"["year"]"#, "[]"),
        call(
            "call.sorting", text: #""list": "albums", "sorting": $"#, style: #"{"sorting": {"parameter": "s", "sortsNilFirst": true}}"#,
            "null", #"["year"]"#, "[]"),
        call(
            "call.paging", text: #""list": "albums", "paging": $"#, style: #"{"paging": {"page": "p", "size": "n"}}"#, "null", #""none""#,
            #"{"of": 7}"#),
        call("call.properties", text: #""list": "albums", "properties": $"#, "null", #"["title"]"#),
        call(
            "call.includes", text: #""list": "albums", "includes": $"#, style: #"{"includes": "include={paths}"}"#, #"["band"]"#,
            #"["tags"]"#),
        KeyCase(
            keys: ["call.includesSubentities"],
            text:
                #"{"address": "\#(base)", "resources": [{"entity": "Item", "kinds": {"path": "sort", "entities": {"Book": "Book"}}, "calls": [{"list": "items", "includesSubentities": $}]}]}"#,
            values: ["true", "false"], scenario: items),
        call("call.freshness", text: #""list": "albums", "freshness": $"#, "null", "100"),
        KeyCase(
            keys: ["call.cost", "cost.request"], text: cost(#""request": $"#), values: ["1", "5000"], scenario: told),
        KeyCase(keys: ["cost.row"], text: cost(#""row": $"#), values: ["1", "5000"], scenario: told),
        KeyCase(keys: ["cost.expectedRows"], text: cost(#""expectedRows": $"#), values: ["1", "5000"], scenario: told),
        call("parameter.for", text: #""list": "albums", "parameters": [{"for": $, "named": "q"}]"#, #""title""#, #"["year"]"#),
        call("parameter.named", text: #""list": "albums", "parameters": [{"for": "year", "named": $}]"#, #""p""#, #""q""#),
        call(
            "parameter.required", text: #""list": "albums", "parameters": [{"for": "year", "named": "q", "required": $}]"#, "true", "false"),
        call(
            "parameter.maximumValues",
            text: #""list": "albums", "parameters": [{"for": "year", "isIn": "q={values}", "maximumValues": $}]"#, "1", "3"),
        call(
            "parameter.text", text: #""list": "albums", "parameters": [{"for": "title", "named": "q", "text": $}]"#, #""exact""#,
            #""caseInsensitive""#,
            #""diacriticInsensitive""#, #""caseAndDiacriticInsensitive""#,
            scenario: Scenario(kind: .told, predicates: ["title ==[c] 'x'", "title ==[d] 'x'", "title ==[cd] 'x'"])),
        call("parameter.exact", text: #""list": "albums", "parameters": [{"for": "year", "named": "q", "exact": $}]"#, "true", "false"),
    ]
    static let told = Scenario(kind: .told)
    static func cost(_ text: String) -> String {
        #"{"address": "\#(base)", "resources": [{"entity": "Album", "calls": [{"list": "albums", "cost": {\#(text)}}, "one"]}]}"#
    }

    // MARK: Resources

    static let resources: [KeyCase] = [
        KeyCase(
            keys: ["resource.entity"], text: #"{"address": "\#(base)", "resources": [{"entity": $}]}"#,
            values: [#""Album""#, #""Band""#, #""None""#]),
        album("resource.path", text: #""path": $"#, #""albums""#, #""records""#),
        album("resource.type", text: #""type": $, "saving": {"constants": {"t": {"jsonText": "\"{type}\""}}}"#, "null", #""disc""#),
        album("resource.identity", text: #""identity": $"#, "null", #""uid""#, #"["id", "uid"]"#),
        KeyCase(
            keys: ["resource.identifier"],
            text: #"{"address": "\#(base)", "resources": ["Album", {"entity": "Band", "identifier": $}, "Tag"]}"#,
            values: [#""integer""#, #""string""#, #""uuid""#],
            scenario: Scenario { request in
                request.path == "/bands"
                    ? .json(
                        #"[{"id": "7"}, {"id": "68b696d7-320b-4402-a412-d9cee10fc6a3"}, {"id": "68B696D7-320B-4402-A412-D9CEE10FC6A3"}]"#)
                    : nil
            }),
        album(
            "resource.version", text: #""saving": {"precondition": "ifMatch"}, "version": $"#, #""none""#, #""eTag""#,
            #"{"number": "version"}"#, #"{"tag": "rev"}"#),
        album("resource.properties", text: #""properties": $"#, "{}", #"{"title": "extra.title"}"#),
        album("resource.ignored", text: #""ignored": $"#, "[]", #"["title"]"#),
        KeyCase(
            keys: ["resource.kinds", "kinds.path"],
            text: #"{"address": "\#(base)", "resources": [{"entity": "Item", "kinds": {"path": $, "entities": {"Book": "Book"}}}]}"#,
            values: [#""sort""#, #""kind""#], scenario: items),
        KeyCase(
            keys: ["kinds.entities"],
            text: #"{"address": "\#(base)", "resources": [{"entity": "Item", "kinds": {"path": "sort", "entities": $}}]}"#,
            values: ["{}", #"{"Book": "Book"}"#, #"{"Book": "Item"}"#], scenario: items),
        album("resource.calls", text: #""calls": $"#, "null", #"["list"]"#),
        album("resource.saving", text: #""saving": $"#, "{}", #"{"update": null}"#),
        album("resource.readOnly", text: #""readOnly": $"#, "true", "false"),
        album(
            "resource.unreadable", text: #""unreadable": $"#, #""ownError""#, #""reported""#, #""refused""#, #""keptRaw""#,
            scenario: Scenario(
                answer: { request in
                    request.method == .get && request.path == "/albums"
                        ? .json(#"[{"id": 1, "year": "soon", "title": "x"}, {"id": 2, "title": "y"}]"#) : nil
                },
                extra: { context, lines in
                    let albums = (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))) ?? []
                    lines += albums.map { "\($0.value(forKey: "year") == nil) \($0.faultError == nil)" }
                })),
    ]

    // MARK: Properties

    static func property(_ name: String, _ text: String, _ keys: [String], _ values: [String], _ row: String = "{}") -> KeyCase {
        KeyCase(
            keys: keys,
            text:
                #"{"address": "\#(base)", "style": {"filters": "byName", "lists": true}, "resources": [{"entity": "Album", "properties": {"\#(name)": {\#(text)}}}, "Band", "Tag"]}"#,
            values: values,
            scenario: Scenario { request in
                guard row != "{}", request.method == .get else { return nil }
                if request.path == "/albums" { return .json("[\(row)]") }
                return request.path.hasPrefix("/albums/") ? .json(row) : nil
            })
    }

    static let mappings: [KeyCase] = [
        property("title", #""path": $"#, ["property.path"], [#""title""#, #""extra.title""#]),
        property(
            "title", #""as": $"#,
            ["property.as", "transform.enumeration", "transform.enumerationOfJSON", "transform.joined", "transform.wrapped"],
            [
                #""byType""#, #""text""#, #""json""#, #"{"enumeration": {"7": "seven"}}"#, #"{"enumerationOfJSON": {"7": "VII"}}"#,
                #"{"joined": "+"}"#,
                #"{"wrapped": {"key": "k"}}"#,
            ], #"{"id": 1, "title": 7}"#),
        property("title", #""as": $"#, [], [#""byType""#, #"{"joined": "+"}"#, #""json""#], #"{"id": 1, "title": ["a", "b"]}"#),
        property(
            "releaseDate", #""as": $"#, ["transform.date"],
            [
                #"{"date": "iso8601"}"#, #"{"date": "day"}"#, #"{"date": "secondsSince1970"}"#, #"{"date": "millisecondsSince1970"}"#,
                #"{"date": "secondsSinceReferenceDate"}"#, #"{"date": "http"}"#, #"{"date": "pattern:yyyy"}"#,
            ]),
        property("rating", #""as": $"#, ["transform.scaled"], [#""byType""#, #"{"scaled": 0.5}"#]),
        property("link", #""as": $"#, ["transform.relativeURL"], [#""byType""#, #"{"relativeURL": "https://x.example/"}"#]),
        property(
            "title", #""as": {"wrapped": {"key": $}}"#, ["wrapped.key"], [#""k""#, #""l""#],
            #"{"id": 1, "title": {"k": "one", "l": "two"}}"#),
        property(
            "title", #""as": {"wrapped": {"key": "k", "constants": $}}"#, ["wrapped.constants"], ["{}", #"{"c": "1"}"#],
            #"{"id": 1, "title": {"k": "one"}}"#),
        property(
            "title", #""as": {"wrapped": {"key": "k", "as": $}}"#, ["wrapped.as"], [#""byType""#, #""text""#, #""json""#],
            #"{"id": 1, "title": {"k": 7}}"#),
        property(
            "band", #""reference": $"#, ["property.reference"], [#""identifier""#, #""link""#, #""object:id""#],
            #"{"id": 1, "band": {"id": 2}}"#),
        property("title", #""readOnly": $"#, ["property.readOnly"], ["true", "false"]),
        property("year", #""query": $"#, ["property.query"], ["null", #""y""#]),
        property(
            "band", #""wholeObjects": $"#, ["property.wholeObjects"], ["true", "false"],
            #"{"id": 1, "band": {"id": 2, "albums": []}, "tags": []}"#),
        property("tags", #""wholeList": $"#, ["property.wholeList"], ["true", "false"]),
    ]
}
