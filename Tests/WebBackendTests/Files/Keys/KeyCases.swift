import CoreData
import Foundation
import RemoteStore
import WebTransport

extension KeyCase {
    static let all: [KeyCase] = [
        files, styles, answers, calls, resources, mappings, clients,
        only([.predicates, .relationships, .extra], comparisons + filters), only([.extra], listComparisons + otherListComparisons),
        only([.orders, .count], orders), only([.list, .orders, .count], pages), only([.list, .count], pairs),
        only([.changes, .extra], savings), only([.list, .relationships, .changes], errors), only([.list, .extra], feeds),
    ].flatMap { $0 }

    /// Cases in which only some things are done.
    private static func only(_ steps: Set<Scenario.Step>, _ cases: [KeyCase]) -> [KeyCase] {
        cases.map { example in
            var example = example
            example.scenario.steps = steps
            return example
        }
    }

    /// Keys whose use other tests show, and those that say nothing to the program.
    static let elsewhere: Set<String> = [
        // `SignalTests`: events need a connection that stays.
        "style.changeSignals", "changeSignals.serverSentEvents", "serverSentEvents.path", "serverSentEvents.names",
        "serverSentEvents.idleSeconds",
        // It is for editors.
        "file.$schema",
    ]

    /// A page of albums.
    static func page(_ numbers: [Int], _ rest: String = "", headers: WebHeaders = [:]) -> WebResponse {
        .json(#"{"items": [\#(numbers.map { Scenario.row("albums", $0) }.joined(separator: ","))]\#(rest)}"#, headers: headers)
    }

    // MARK: The file

    static let files: [KeyCase] = [
        file("file.address", text: #""address": $"#, #""https://api.example.com/v1""#, #""https://api.example.com/v1/two""#),
        file(
            "file.style", text: #""address": "\#(base)", "style": $"#, #""plain""#, #""jsonAPI""#, #""djangoREST""#, #""kinto""#,
            #""gitHub""#, #""couchDB""#,
            #""parse""#),
        file(
            "style.like", text: #""address": "\#(base)", "style": {"like": $}"#, #""plain""#, #""jsonAPI""#, #""djangoREST""#, #""kinto""#,
            #""gitHub""#,
            #""couchDB""#, #""parse""#),
        file("file.headers", text: #""address": "\#(base)", "headers": $"#, "{}", #"{"X-A": "1"}"#),
        file("file.query", text: #""address": "\#(base)", "query": $"#, "{}", #"{"a": 1}"#),
        file("file.resources", text: #""address": "\#(base)", "resources": $"#, #"["Album"]"#, #"["Album", "Band"]"#),
        file("file.allEntities", text: #""address": "\#(base)", "resources": ["Album"], "allEntities": $"#, "true", "false"),
    ]

    // MARK: The style

    static let styles: [KeyCase] = [
        style("style.names", text: #""names": $"#, #""asTheyAre""#, #""snakeCase""#, #""kebabCase""#, #""pascalCase""#),
        style("style.collection", "collection.path", text: #""collection": {"path": $}"#, #""{name}""#, #""x/{name}""#),
        KeyCase(
            keys: ["collection.names"],
            text: #"{"address": "\#(base)", "style": {"collection": {"names": $}}, "resources": ["sideNote"]}"#,
            values: [#""asTheyAre""#, #""snakeCase""#, #""kebabCase""#, #""pascalCase""#],
            scenario: Scenario(extra: { context, _ in _ = try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "sideNote")) })),
        style("collection.plural", text: #""collection": {"plural": $}"#, "true", "false"),
        style(
            "collection.typeIsEntity",
            text: #""collection": {"typeIsEntity": $}, "saving": {"constants": {"t": {"jsonText": "\"{type}\""}}}"#, "true", "false"),
        style("style.identity", text: #""identity": $"#, #""id""#, #"["uid"]"#, #""missing""#),
        style(
            "style.version", "version.number", "version.tag", text: #""version": $, "saving": {"precondition": "ifMatch"}"#, #""none""#,
            #""eTag""#,
            #"{"number": "version"}"#, #"{"tag": "rev"}"#),
        style("style.attributes", text: #""attributes": $"#, #""""#, #""attributes""#),
        style("style.relationships", text: #""relationships": $"#, #""""#, #""relationships""#),
        style(
            "style.references", "reference.object", "reference.typed", "reference.link", "reference.pointer", text: #""references": $"#,
            #""identifier""#, #""link""#,
            #""object:id""#, #"{"typed": {"data": "data", "type": "type", "id": "id"}}"#, #"{"link": "bands/{SELF}"}"#,
            #"{"pointer": {"id": "x", "constants": {"c": "Pointer"}}}"#),
        album("typed.data", text: typed(#"{"data": $, "type": "type", "id": "id"}"#), #""data""#, #""other""#),
        album("typed.type", text: typed(#"{"data": "data", "type": $, "id": "id"}"#), #""type""#, #""kind""#),
        album("typed.id", text: typed(#"{"data": "data", "type": "type", "id": $}"#), #""id""#, #""key""#),
        album("pointer.id", text: #""properties": {"band": {"reference": {"pointer": {"id": $}}}}"#, #""id""#, #""key""#),
        album(
            "pointer.constants", text: #""properties": {"band": {"reference": {"pointer": {"id": "id", "constants": $}}}}"#, "{}",
            #"{"a": "{type}"}"#),
        style("style.referenceSuffix", text: #""referenceSuffix": $"#, #""""#, #""_id""#),
        style("style.listsAtOneEnd", text: #""listsAtOneEnd": $"#, "true", "false"),
        style(
            "style.omitsNil", text: #""omitsNil": $"#, "true", "false",
            scenario: Scenario { $0.path == "/albums" ? .json(#"[{"id": 1}]"#) : nil }),
        KeyCase(
            keys: ["style.kind"], text: #"{"address": "\#(base)", "style": {"kind": $}, "resources": ["Item"]}"#,
            values: ["null", #""sort""#], scenario: items),
        style(
            "style.comparesDatesAsText",
            text: #""filters": {"equal": "{name}={value}", "greaterThan": "{name}_gt={value}"}, "comparesDatesAsText": $"#,
            "true", "false", scenario: Scenario(predicates: ["releaseDate > CAST(0, 'NSDate')"])),
        style("style.lists", text: #""lists": $"#, "true", "false"),
        style(
            "style.dates", "date.pattern", text: #""dates": $"#, #""iso8601""#, #""day""#, #""secondsSince1970""#,
            #""millisecondsSince1970""#,
            #""secondsSinceReferenceDate""#, #""http""#, #""pattern:yyyy""#),
        style("style.dateWrapping", "wrapping.key", text: #""dateWrapping": $"#, "null", #""iso""#, #"{"key": "at"}"#),
        style("wrapping.constants", text: #""dateWrapping": {"key": "iso", "constants": $}"#, "{}", #"{"__type": "Date"}"#),
        style("style.fields", "fields.template", text: #""fields": $"#, "null", #""f={names}""#, #"{"template": "g={names}"}"#),
        style("fields.separator", text: #""fields": {"template": "f={names}", "separator": $}"#, #"",""#, #"";""#),
        style(
            "style.includes", "includes.template", text: #""includes": $"#, "null", #""include={paths}""#, #"{"template": "with={paths}"}"#),
        KeyCase.call(
            "includes.separator", text: #""list": "albums", "includes": ["band", "tags"]"#,
            style: #"{"includes": {"template": "include={paths}", "separator": $}}"#, #"",""#, #"";""#,
            scenario: Scenario(extra: { context, _ in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
                request.relationshipKeyPathsForPrefetching = ["band", "tags"]
                _ = try? context.fetch(request)
            })),
        KeyCase.call(
            "includes.deep", text: #""list": "albums", "includes": ["tags.albums"]"#,
            style: #"{"includes": {"template": "include={paths}", "deep": $}}"#,
            "true", "false"
        ).refusing(),
        style("style.calls", text: #""calls": $"#, #"["list", "one"]"#, #"[{"list": "other"}, "one"]"#),
        style("style.saving", text: #""listsAtOneEnd": true, "saving": $"#, #""none""#, #"{"delete": null}"#, "{}"),
        style("style.filters", text: #""filters": $"#, #""none""#, #""byName""#, #"{"equal": "{name}_is={value}"}"#),
        KeyCase.call(
            "style.sorting", text: #""list": "albums""#, style: #"{"sorting": $}"#, #""none""#,
            #"{"parameter": "order", "sortsNilFirst": true}"#, #"{"parameter": "by", "sortsNilFirst": true}"#),
        style("style.paging", text: #""paging": $"#, #""none""#, #"{"page": "p"}"#),
        style("style.errors", text: #""errors": $"#, "{}", #"{"messages": ["reason"]}"#, scenario: refusing),
        style("style.accept", text: #""accept": $"#, #""application/json""#, #""application/vnd.x+json""#, #""text/csv""#),
        style(
            "style.contentType", text: #""contentType": $"#, "null", #""application/merge-patch+json""#,
            #""application/x-www-form-urlencoded""#),
    ]

    static let items = Scenario(extra: { context, lines in
        let found = (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))) ?? []
        lines += found.map { "\($0.entity.name ?? "") \($0.value(forKey: "name") ?? "")" }.sorted()
    })
    static let refusing = Scenario { _ in .json(#"{"message": "m", "reason": "r"}"#, status: 400) }
    static func typed(_ reference: String) -> String { #""properties": {"band": {"reference": {"typed": \#(reference)}}}"# }

    func refusing() -> KeyCase {
        var copy = self
        copy.isRefused = true
        return copy
    }

    // MARK: Answers

    static let enveloped = Scenario { request in
        let albums = "[\(Scenario.row("albums", 1))]"
        let bands = #"[{"type": "bands", "kind": "tags", "id": 1, "name": "along"}]"#
        if request.method != .get { return nil }
        if request.path.hasPrefix("/albums/") {
            return .json(#"{"id": 4, "title": "outer", "album": {"id": 5, "title": "inner"}, "with": \#(bands)}"#)
        }
        return request.path == "/albums" ? .json(#"{"data": \#(albums), "items": [], "with": \#(bands), "others": []}"#) : nil
    }

    static let answers: [KeyCase] = [
        style("style.envelope", "envelope.items", text: #""envelope": $"#, #""data""#, #"{"items": "items"}"#, scenario: enveloped),
        album(
            "envelope.item", text: #""calls": [{"list": "albums", "properties": ["link"]}, "one"]"#,
            style: #"{"envelope": {"items": "data", "item": $}}"#, #""""#, #""album""#, scenario: enveloped),
        style("envelope.element", text: #""envelope": {"element": $}"#, #""""#, #""doc""#),
        style("envelope.included", text: #""envelope": {"items": "data", "included": $}"#, "null", #""with""#, scenario: enveloped),
        style(
            "envelope.type", text: #""envelope": {"items": "data", "included": "with", "type": $}"#, #""type""#, #""kind""#,
            scenario: enveloped),
    ]
}
