import CoreData
import Foundation
import RemoteStore
import WebTransport

extension KeyCase {
    // MARK: Comparisons

    /// A predicate for each comparison, and its template.
    static let operators: [(word: String, predicate: String)] = [
        ("equal", "title == 'x'"), ("notEqual", "title != 'x'"), ("lessThan", "year < 3"), ("lessThanOrEqual", "year <= 3"),
        ("greaterThan", "year > 3"),
        ("greaterThanOrEqual", "year >= 3"), ("isIn", "year IN {3, 4}"), ("beginsWith", "title BEGINSWITH 'x'"),
        ("endsWith", "title ENDSWITH 'x'"),
        ("contains", "title CONTAINS 'x'"), ("like", "title LIKE 'x*'"), ("isNil", "title == nil"), ("isNotNil", "title != nil"),
    ]
    static func template(_ word: String, _ value: String = "{value}") -> String {
        #""\#(word)": "{name}_\#(word)=\#(word == "isIn" ? "{values}" : value)""#
    }

    static let comparisons: [KeyCase] =
        operators.flatMap { word, predicate -> [KeyCase] in
            let values = word == "isIn" ? "{values}" : "{value}"
            let pair = ["null", #""{name}_is=\#(values)""#]
            // Without any comparison a form of filters is refused.
            let signs = word == "like" ? #""wildcards": {"any": "*", "one": "?"}, "# : ""
            let another = word == "equal" ? #""isNotNil": "{name}_known=1""# : #""equal": "{name}={value}""#
            return [
                KeyCase(
                    keys: ["filters.\(word)"],
                    text:
                        #"{"address": "\#(base)", "style": {"filters": {"form": "parameters", \#(signs)\#(another), "\#(word)": $}}, "resources": ["Album"]}"#,
                    values: pair, scenario: Scenario(predicates: [predicate])),
                KeyCase(
                    keys: ["parameter.\(word)"],
                    text: #"""
                        {"address": "\#(base)", "style": {"filters": {\#(signs)\#(another)}}, "resources": [{"entity": "Album", "calls": [{"list": "albums", "parameters": [
                          {"for": ["title", "year"], "maximumValues": \#(word == "isIn" ? 3 : 1), "\#(word)": $}]}]}]}
                        """#,
                    values: [#""p=\#(values)""#, #""q=\#(values)""#], scenario: Scenario(predicates: [predicate])),
            ]
        }

    static let listComparisons: [KeyCase] =
        ["equal", "isIn"].map { (word: String) -> KeyCase in
            KeyCase(
                keys: ["listComparisons.\(word)"],
                text:
                    #"{"address": "\#(base)", "style": {"lists": true, "filters": {"form": "parameters", "beginsWith": "{name}_b={value}", "listComparisons": {"\#(word)": $}}}, "resources": ["Album", "Tag"]}"#,
                values: ["null", #""has_{name}=\#(word == "isIn" ? "{values}" : "{value}")""#],
                scenario: tagged(by: word))
        }

    /// Fetches albums by their tags.
    static func tagged(by word: String) -> Scenario {
        Scenario(extra: { context, lines in
            let tags = (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))) ?? []
            let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
            request.predicate =
                word == "isIn"
                ? NSPredicate(format: "ANY tags IN %@", tags) : tags.first.map { NSPredicate(format: "ANY tags == %@", $0) }
            lines.append("\((try? context.fetch(request))?.count ?? -1)")
        })
    }

    static let otherListComparisons: [KeyCase] =
        operators.map(\.word).filter { !["equal", "isIn"].contains($0) }.map { (word: String) -> KeyCase in
            // Members of lists are compared for equality only.
            style(
                "listComparisons.\(word)", text: #""filters": {"equal": "{name}={value}", "listComparisons": {"\#(word)": $}}"#, "null",
                #""h={value}""#
            ).refusing()
        }

    static let filters: [KeyCase] = [
        style(
            "filters.form", text: #""filters": $"#, #"{"form": "none"}"#, #"{"form": "parameters", "equal": "{name}={value}"}"#,
            #"{"form": {"expression": {"parameter": "q", "and": " and "}}, "equal": "{name}={value}"}"#,
            #"{"form": {"selector": {"place": "query:where"}}, "equal": "is"}"#),
        style("expression.parameter", text: expression(#""parameter": $, "and": " and ""#), #""q""#, #""f""#),
        style(
            "expression.and", text: expression(#""parameter": "q", "and": $"#), #"" and ""#, #"";""#,
            scenario: Scenario(predicates: ["title == 'x' AND year == 3"])),
        style(
            "expression.or", text: expression(#""parameter": "q", "and": " and ", "or": $"#), "null", #"" or ""#, #""|""#,
            scenario: Scenario(predicates: ["title == 'x' OR year == 3"])),
        style(
            "expression.not", text: expression(#""parameter": "q", "and": " and ", "or": " or ", "not": $"#), "null", #""not ({})""#,
            #""!{}""#,
            scenario: Scenario(predicates: ["NOT (title CONTAINS 'x')"])),
        style(
            "expression.group", text: expression(#""parameter": "q", "and": " and ", "or": " or ", "group": $"#), #""({})""#, #""[{}]""#,
            scenario: Scenario(predicates: ["title == 'z' AND (title == 'x' OR year == 3)"])),
        style("selector.place", text: selector(#""place": $"#), #""query:where""#, #""query:filter""#, #""body:selector""#),
        style("selector.constants", text: selector(#""place": "query:where", "constants": $"#), "null", #"{"a": 1}"#),
        style(
            "selector.and", text: selector(#""place": "query:where", "and": $"#), #""$and""#.replacing("$", with: "\\u0024"), #""all""#,
            scenario: Scenario(predicates: ["title == 'x' AND year == 3"])),
        style(
            "selector.or", text: selector(#""place": "query:where", "or": $"#), "null", #""any""#,
            scenario: Scenario(predicates: ["title == 'x' OR year == 3"])),
        style(
            "selector.nor", text: selector(#""place": "query:where", "nor": $"#), "null", #""none""#,
            scenario: Scenario(predicates: ["NOT (title CONTAINS 'x')"])),
        style(
            "filters.quoting", text: #""filters": {"quoting": $, \#(template("equal"))}"#, #""bare""#, #""bareUnlessAmbiguous""#,
            #""json""#, #""singleQuoted""#,
            #"{"backslashed": "|"}"#, scenario: Scenario(predicates: ["title == '7'", "title == 'x'"])),
        style("filters.separator", text: #""filters": {"separator": $, \#(template("isIn"))}"#, #"",""#, #"";""#),
        style("filters.maximumValues", text: #""filters": {"maximumValues": $, \#(template("isIn"))}"#, "1", "50"),
        style("filters.inexact", text: #""filters": {"inexact": $, \#(template("equal"))}"#, "[]", #"["equal"]"#),
        style(
            "filters.caseInsensitive", text: #""filters": {"caseInsensitive": $, \#(template("equal"))}"#, "[]", #"["equal"]"#,
            scenario: Scenario(predicates: ["title ==[c] 'X'"])),
        style(
            "filters.identifier", text: #""filters": {"identifier": $, \#(template("isIn"))}, "calls": ["list"]"#, "null", #""id""#,
            #""key""#),
        style(
            "filters.comparesTextInOrder", text: #""filters": {"comparesTextInOrder": $, \#(template("lessThan"))}"#, "true", "false",
            scenario: Scenario(predicates: ["title < 'x'"])),
        KeyCase.call(
            "filters.pathSeparator", text: #""list": "albums", "filters": ["band.name"]"#,
            style: #"{"filters": {"pathSeparator": $, \#(template("equal"))}}"#, "null", #""__""#, #"".""#),
        style("filters.referenceSuffix", text: #""filters": {"referenceSuffix": $, \#(template("equal"))}"#, #""""#, #""_id""#),
        style(
            "filters.listComparisons", text: #""lists": true, "filters": {"listComparisons": $, \#(template("equal"))}"#, "null",
            #"{"equal": "any_{name}={value}"}"#, scenario: tagged(by: "equal")),
        style(
            "filters.wildcards", text: #""filters": {"wildcards": $, \#(template("like"))}"#, #"{"any": "*", "one": "?"}"#,
            #"{"any": "%", "one": "?"}"#, scenario: Scenario(predicates: ["title LIKE 'x?y*z'"])),
        style(
            "wildcards.any", text: #""filters": {"wildcards": {"any": $}, \#(template("like"))}"#, #""*""#, #""%""#,
            scenario: Scenario(predicates: ["title LIKE 'x?y*z'"])),
        style(
            "wildcards.one", text: #""filters": {"wildcards": {"any": "*", "one": $}, \#(template("like"))}"#, "null", #""?""#, #""_""#,
            scenario: Scenario(predicates: ["title LIKE 'x?y*z'"])),
        style(
            "wildcards.escape", text: #""filters": {"wildcards": {"any": "*", "escape": $}, \#(template("like"))}"#, "null", #""!""#,
            #""^""#, scenario: Scenario(predicates: [#"title LIKE 'x\\*y*z'"#])),
        style(
            "filters.reserved", text: #""filters": {"reserved": $, \#(template("equal"))}"#, "[]", #"["x"]"#,
            scenario: Scenario(predicates: ["title == 'x'"])),
        style("filters.inexactForText", text: #""filters": {"inexactForText": $, \#(template("equal"))}"#, "true", "false"),
    ]
    static func expression(_ text: String) -> String {
        #""filters": {"form": {"expression": {\#(text)}}, "equal": "{name} is {value}", "contains": "{name} has {value}", "quoting": "json"}"#
    }
    static func selector(_ text: String) -> String {
        #""filters": {"form": {"selector": {\#(text)}}, "equal": "is", "greaterThan": "gt", "contains": "has"}"#
    }

    // MARK: Orders

    static func sorting(_ key: String, _ text: String, _ values: String..., sorts: [[String]] = []) -> KeyCase {
        KeyCase(
            keys: [key],
            text:
                #"{"address": "\#(base)", "style": {"sorting": {\#(text)}}, "resources": [{"entity": "Album", "calls": [{"name": "all", "method": "POST", "path": "find", "sorting": ["title", "year", "rating"]}, "one"]}, "Band", "Tag"]}"#,
            values: values, scenario: Scenario(sorts: sorts))
    }

    static let orders: [KeyCase] = [
        sorting("sorting.parameter", #""parameter": $"#, #""sort""#, #""order""#),
        sorting("sorting.ascending", #""parameter": "sort", "ascending": $"#, #""{name}""#, #""{name}:up""#),
        sorting("sorting.descending", #""parameter": "sort", "descending": $"#, "null", #""-{name}""#, #""{name}:down""#),
        sorting("sorting.separator", #""parameter": "sort", "separator": $"#, #"",""#, #"";""#, sorts: [["title", "year"]]),
        sorting("sorting.maximumKeys", #""parameter": "sort", "maximumKeys": $"#, "1", "2", sorts: [["title", "year"]]),
        style(
            "sorting.sortsTextInOrder", text: #""sorting": {"parameter": "sort", "sortsNilFirst": true, "sortsTextInOrder": $}"#, "true",
            "false"),
        style("sorting.sortsNilFirst", text: #""sorting": {"parameter": "sort", "sortsNilFirst": $}"#, "null", "true"),
        sorting("sorting.direction", #""parameter": "sort", "direction": $"#, "null", #""dir""#),
        sorting("direction.parameter", #""parameter": "sort", "direction": {"parameter": $}"#, #""dir""#, #""d""#),
        sorting("direction.ascending", #""parameter": "sort", "direction": {"parameter": "dir", "ascending": $}"#, #""asc""#, #""up""#),
        sorting(
            "direction.descending", #""parameter": "sort", "direction": {"parameter": "dir", "descending": $}"#, #""desc""#, #""down""#),
        sorting(
            "sorting.place", #""parameter": "sort", $"#, #""place": "query""#, #""ascending": "up", "descending": "down", "place": "body""#),
        sorting("sorting.descendingParameter", #""parameter": "sort", "descendingParameter": $"#, "null", #""down""#, #""sort""#),
        sorting("sorting.last", #""parameter": "sort", "last": $"#, "null", #""id""#),
    ]

    // MARK: Pages

    /// Five albums, two a page.
    static let paged = Scenario { request in
        guard request.method == .get || request.method == .head, request.path == "/albums" || request.path.hasPrefix("/next") else {
            return nil
        }
        if request.method == .head { return .json("", headers: ["Total": "3", "Other": "4"]) }
        let number =
            ["p", "o", "c", "at"].compactMap { request.query($0) }.first.flatMap { Int($0.drop { !$0.isNumber }) }
            ?? (request.path == "/next" ? 2 : Int(request.path.split(separator: "/").last ?? "") ?? 1)
        if number <= 1 {
            return page(
                [1, 2],
                #", "next": "\#(base)/next", "links": [{"rel": "self", "href": "\#(base)"}, {"rel": "next", "href": "\#(base)/next"}], "cursor": "2", "more": true, "less": false, "total": 3, "count": 2, "relation": "gte", "precise": "eq""#,
                headers: ["Next": "2", "Total": "3", "Link": "<\(base)/next>; rel=\"next\""])
        }
        return switch number {
        case 2: page([3], #", "next": "\#(base)/next/3", "cursor": "7", "more": false, "total": 3, "count": 2"#, headers: ["Total": "3"])
        // Behind the last page some services name others, which are empty.
        case 3: page([], #", "next": "\#(base)/next/4", "cursor": "8", "more": false, "total": 3, "count": 2"#, headers: ["Total": "3"])
        case 7: page([], #", "next": null, "cursor": "8", "more": false, "total": 3, "count": 2"#, headers: ["Total": "3"])
        default: page([], #", "next": null, "cursor": null, "more": false, "total": 3, "count": 2"#, headers: ["Total": "3"])
        }
    }

    static func paging(_ keys: String..., text: String, _ values: String...) -> KeyCase {
        KeyCase(
            keys: keys, text: #"{"address": "\#(base)", "style": {"envelope": "items", "paging": {\#(text)}}, "resources": ["Album"]}"#,
            values: values, scenario: paged)
    }

    static let pages: [KeyCase] = [
        paging("paging.page", text: #""of": 2, "page": $"#, #""p""#, #""q""#),
        paging("paging.offset", text: #""of": 2, "offset": $"#, #""o""#, #""skip""#),
        paging("paging.cursor", text: #""next": "body:cursor", "endsEmpty": true, "cursor": $"#, #""c""#, #""at""#),
        paging("paging.form", text: #"$"#, #""form": "none""#, #""form": "address", "next": "body:next""#, #""form": "address""#),
        paging("paging.first", text: #""page": "p", "of": 2, "first": $"#, "1", "0"),
        paging("paging.size", text: #""page": "p", "of": 2, "size": $"#, "null", #""n""#),
        paging("paging.of", text: #""page": "p", "size": "n", "of": $"#, "2", "3"),
        paging(
            "paging.next", "answerPart.body", text: #""page": "p", "of": 2, "next": $"#, #""body:next""#, #""body:none""#,
            #""contentRange""#),
        paging("answerPart.header", text: #""page": "p", "of": 2, "next": $"#, #""header:Next""#, #""header:None""#),
        paging(
            "answerPart.linkInList", "linkInList.name", text: #""next": {"linkInList": {"name": $}}"#, #""next""#, #""last""#),
        paging("linkInList.in", text: #""next": {"linkInList": {"name": "next", "in": $}}"#, #""links""#, #""none""#),
        paging("linkInList.relation", text: #""next": {"linkInList": {"name": "next", "relation": $}}"#, #""rel""#, #""none""#),
        paging("linkInList.address", text: #""next": {"linkInList": {"name": "next", "address": $}}"#, #""href""#, #""none""#),
        paging("answerPart.link", text: #""page": "p", "of": 2, "next": $"#, #""link:next""#, #""link:last""#),
        paging("paging.hasMore", text: #""page": "p", "of": 2, "hasMore": $"#, #""body:more""#, #""body:less""#, #""contentRange""#),
        paging("paging.total", text: #""page": "p", "of": 2, "total": $"#, "null", #""body:total""#, #""body:count""#, #""contentRange""#),
        paging(
            "paging.exactTotal", text: #""page": "p", "of": 2, "total": "body:total", "exactTotal": $"#, "null",
            #"{"at": "body:relation", "is": "eq"}"#),
        paging(
            "answerMark.at", text: #""page": "p", "of": 2, "total": "body:total", "exactTotal": {"is": "eq", "at": $}"#,
            #""body:relation""#,
            #""body:precise""#, #""contentRange""#),
        paging(
            "answerMark.is", text: #""page": "p", "of": 2, "total": "body:total", "exactTotal": {"at": "body:relation", "is": $}"#,
            #""eq""#,
            #""gte""#),
        paging("paging.totalParameter", text: #""page": "p", "of": 2, "total": "body:total", "totalParameter": $"#, "null", #""count=1""#),
        KeyCase(
            keys: ["paging.stability"],
            text:
                #"{"address": "\#(base)", "style": {"envelope": "items", "paging": {"page": "p", "of": 2, "stability": $}}, "resources": ["Album"]}"#,
            values: [#""cursors""#, #""offsets""#], scenario: Scenario(kind: .told, answer: paged.answer)),
        paging("paging.endsEmpty", text: #""page": "p", "of": 2, "endsEmpty": $"#, "true", "false"),
        paging("paging.endsShort", text: #""cursor": "c", "next": "body:cursor", "of": 2, "endsShort": $"#, "true", "false"),
        paging("paging.countsByHead", text: #""page": "p", "of": 2, "total": "header:Total", "countsByHead": $"#, "true", "false"),
        KeyCase(
            keys: ["paging.inBody"],
            text:
                #"{"address": "\#(base)", "resources": [{"entity": "Album", "calls": [{"name": "all", "method": "POST", "path": "find", "paging": {"page": "p", "size": "n", "inBody": $}}]}]}"#,
            values: ["true", "false"]),
    ]

    /// The ways to ask for the next page, and keys that may stand beside, each with values of which the second claims something.
    private static let pageForms = [
        ("none", #""form": "none""#), ("page", #""page": "p""#), ("offset", #""offset": "o""#),
        ("cursor", #""cursor": "c", "next": "body:cursor""#), ("next", #""next": "body:next""#),
        ("page and next", #""page": "p", "next": "body:next""#),
    ]
    private static let pageKeys: [(key: String, values: [String])] = [
        ("size", ["null", #""n""#]), ("of", ["2", "3"]), ("hasMore", ["null", #""body:more""#]), ("total", ["null", #""body:total""#]),
        ("exactTotal", ["null", #"{"at": "body:relation", "is": "eq"}"#]), ("totalParameter", ["null", #""count=1""#]),
        ("stability", [#""offsets""#, #""cursors""#]), ("endsEmpty", ["false", "true"]),
        ("endsShort", ["false", "true"]), ("countsByHead", ["false", "true"]), ("inBody", ["false", "true"]), ("first", ["0", "1"]),
    ]
    /// What holds whether it is said or not: where a page with fewer resources is the last one anyway, and where two places of an answer tell the same.
    private static let implied: Set<String> = [
        "page, endsShort", "offset, endsShort", "page and next, endsShort", "next, endsShort", "next, hasMore", "cursor, hasMore",
        "page and next, hasMore",
    ]

    /// Each key of pages under each way to ask for them.
    static let pairs: [KeyCase] = pageForms.flatMap { form, text -> [KeyCase] in
        pageKeys.compactMap { key, values -> KeyCase? in
            if implied.contains("\(form), \(key)") { return nil }
            let of = key == "of" ? "" : #""of": 2, "#
            let total =
                key == "totalParameter" || key == "exactTotal"
                ? #""total": "body:total", "# : key == "countsByHead" ? #""total": "header:Total", "# : ""
            var example = KeyCase(
                keys: [],
                text:
                    #"{"address": "\#(base)", "style": {"envelope": "items", "paging": {\#(form == "none" ? "" : of)\#(total)\#(text), "\#(key)": $}}, "resources": ["Album"]}"#,
                values: values, scenario: Scenario(kind: .told, answer: paged.answer))
            example.mayBeRefused = true
            return example
        }
    }
}
