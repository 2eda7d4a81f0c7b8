import Foundation
import JSONReading
import Testing
import WebBackend
import WebTransport

/// A row of the little services of ``FilterLanguageTests``.
struct FilterRow: Sendable {
    let title: String?
    let year: Int
    var band: Int?
}

/// A language in which services take filters: its description, and what a service does that speaks it.
struct FilterLanguage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The keys of the style's filters.
    let filters: String
    /// Whether references are compared, too.
    var comparesBands = false
    /// Returns whether a row is found by a request; nil for a request that the service does not understand.
    let finds: @Sendable (FilterRow, [(name: String, value: String)]) -> Bool?

    func service() throws -> WebService {
        try WebService(
            json: Data(
                #"""
                {"address": "\#(base)", "style": {"filters": {\#(filters)}, "saving": null}, "resources": [{"entity": "Album",
                 "ignored": ["releaseDate", "rating", "price", "isLive", "kind", \#(comparesBands ? "" : #""band", "#)"tracks"]}, {"entity": "Band", "ignored": ["homepage"]}]}
                """#.utf8))
    }

    /// Answers a request over rows.
    func answer(_ request: WebRequest, _ rows: [FilterRow]) -> WebResponse {
        if request.path == "/bands" { return .json(#"[{"id": 1, "name": "1"}, {"id": 2, "name": "2"}, {"id": 3, "name": "3"}]"#) }
        let parameters = request.url.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&") ?? []
        let query = parameters.map { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                part.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
        var found: [JSONValue] = []
        for row in rows {
            guard let isFound = finds(row, query) else { return .json(#"{"message": "\#(query)"}"#, status: 400) }
            if isFound {
                found.append(
                    [
                        "id": .integer(Int64(row.year)), "year": .integer(Int64(row.year)), "title": row.title.map { .string($0) } ?? .null,
                        "band": row.band.map { .integer(Int64($0)) } ?? .null,
                    ])
            }
        }
        return .json(JSONValue.array(found).description)
    }

    static let all = [oData, sql, rsql, script, postgREST, django, joined]

    // MARK: Expressions

    private static func expression(_ parameter: String, _ grammar: ExpressionGrammar)
        -> @Sendable (FilterRow, [(name: String, value: String)]) -> Bool?
    {
        { row, query in
            guard let text = query.first(where: { $0.name == parameter })?.value else { return query.isEmpty }
            var reader = ExpressionReader(text, grammar, row)
            guard let found = reader.whole() else { return nil }
            return found == .yes
        }
    }

    static let oData = FilterLanguage(
        testDescription: "OData",
        filters: #"""
            "form": {"expression": {"parameter": "$filter", "and": " and ", "or": " or ", "not": "not ({})"}}, "quoting": "singleQuoted",
            "equal": "{name} eq {value}", "notEqual": "{name} ne {value}", "lessThan": "{name} lt {value}", "isIn": "{name} in ({values})",
            "contains": "contains({name},{value})", "beginsWith": "startswith({name},{value})", "endsWith": "endswith({name},{value})",
            "isNil": "{name} eq null", "isNotNil": "{name} ne null", "inexact": ["notEqual"]
            """#,
        comparesBands: true,
        finds: expression(
            "$filter",
            ExpressionGrammar(
                and: " and ", or: " or ", not: "not ",
                signs: [(" eq ", .equal), (" ne ", .notEqual), (" lt ", .less), (" in ", .isIn)],
                functions: [("contains", .contains), ("startswith", .begins), ("endswith", .ends)], isThreeValued: false)))

    static let sql = FilterLanguage(
        testDescription: "SQL",
        filters: #"""
            "form": {"expression": {"parameter": "where", "and": " AND ", "or": " OR ", "not": "NOT ({})"}}, "quoting": "singleQuoted",
            "equal": "{name} = {value}", "notEqual": "{name} <> {value}", "lessThan": "{name} < {value}", "isIn": "{name} IN ({values})",
            "like": "{name} LIKE {value}", "wildcards": {"any": "%", "one": "_", "escape": "\\"},
            "isNil": "{name} IS NULL", "isNotNil": "{name} IS NOT NULL"
            """#,
        comparesBands: true,
        finds: expression(
            "where",
            ExpressionGrammar(
                and: " AND ", or: " OR ", not: "NOT ",
                signs: [
                    (" = ", .equal), (" <> ", .notEqual), (" < ", .less), (" IN ", .isIn), (" LIKE ", .like), (" IS NULL", .isNull),
                    (" IS NOT NULL", .isNotNull),
                ], isThreeValued: true)))

    static let rsql = FilterLanguage(
        testDescription: "values without quotation marks",
        filters: #"""
            "form": {"expression": {"parameter": "filter", "and": ";", "or": ","}}, "equal": "{name}=={value}", "notEqual": "{name}!={value}",
            "lessThan": "{name}=lt={value}", "isIn": "{name}=in=({values})", "reserved": ["*", "(", ")"], "inexact": ["notEqual"]
            """#,
        finds: expression(
            "filter",
            ExpressionGrammar(
                and: ";", or: ",", not: nil, signs: [("==", .equal), ("!=", .notEqual), ("=lt=", .less), ("=in=", .isIn)], isBare: true,
                isThreeValued: false)))

    static let script = FilterLanguage(
        testDescription: "quotation marks with backslashes",
        filters: #"""
            "form": {"expression": {"parameter": "q", "and": " && ", "or": " || ", "not": "!({})"}}, "quoting": {"backslashed": "'"},
            "equal": "{name} == {value}", "contains": "has({name},{value})", "beginsWith": "begins({name},{value})",
            "like": "{name} ~ {value}", "wildcards": {"any": "*"}, "isNil": "{name} == null"
            """#,
        finds: expression(
            "q",
            ExpressionGrammar(
                and: " && ", or: " || ", not: "!", signs: [(" == ", .equal), (" ~ ", .stars)],
                functions: [("has", .contains), ("begins", .begins)], isBackslashed: true, isThreeValued: false)))

    // MARK: Parameters

    static let postgREST = FilterLanguage(
        testDescription: "PostgREST",
        filters: #"""
            "equal": "{name}=eq.{value}", "notEqual": "{name}=neq.{value}", "lessThan": "{name}=lt.{value}", "like": "{name}=like.{value}",
            "wildcards": {"any": "%", "one": "_", "escape": "\\"}, "reserved": ["*"], "isNil": "{name}=is.null", "isNotNil": "{name}=not.is.null"
            """#
    ) { row, query in
        var isFound = true
        for (name, value) in query {
            let own = name == "title" ? row.title : "\(row.year)"
            guard name == "title" || name == "year" else { return nil }
            func argument(_ sign: String) -> String? { value.hasPrefix(sign) ? String(value.dropFirst(sign.count)) : nil }
            if value == "is.null" {
                isFound = isFound && own == nil
            } else if value == "not.is.null" {
                isFound = isFound && own != nil
            } else if let value = argument("eq.") {
                isFound = isFound && own.map { $0 == value } ?? false
            } else if let value = argument("neq.") {
                isFound = isFound && own.map { $0 != value } ?? false
            } else if let value = argument("lt.") {
                isFound =
                    isFound
                    && own.map { name == "year" ? (Int($0) ?? 0) < (Int(value) ?? 0) : $0.utf8.lexicographicallyPrecedes(value.utf8) }
                        ?? false
            } else if let value = argument("like.") {
                isFound =
                    isFound
                    && own.map { matchesPattern(Array($0), Array(value.replacing("*", with: "%")), any: "%", one: "_", escape: "\\") }
                        ?? false
            } else {
                return nil
            }
        }
        return isFound
    }

    static let django = FilterLanguage(
        testDescription: "Django",
        filters: #"""
            "equal": "{name}={value}", "lessThan": "{name}__lt={value}", "isIn": "{name}__in={each}", "contains": "{name}__contains={value}",
            "beginsWith": "{name}__startswith={value}", "endsWith": "{name}__endswith={value}", "isNil": "{name}__isnull=true",
            "isNotNil": "{name}__isnull=false", "inexactForText": true
            """#
    ) { row, query in
        var isFound = true
        let several = Dictionary(grouping: query, by: \.name)
        for (key, values) in several {
            let (name, value) = (key.split(separator: "_").first.map(String.init) ?? "", values[0].value)
            guard let own = name == "title" ? row.title : "\(row.year)" else {
                isFound = isFound && key.hasSuffix("__isnull") && value == "true"
                continue
            }
            // A view drops what is empty.
            if value.isEmpty, values.count == 1 { continue }
            switch key.dropFirst(name.count) {
            case "": isFound = isFound && own == value
            case "__lt":
                isFound = isFound && (name == "year" ? (Int(own) ?? 0) < (Int(value) ?? 0) : own.utf8.lexicographicallyPrecedes(value.utf8))
            case "__in": isFound = isFound && values.contains { $0.value == own }
            case "__contains": isFound = isFound && own.contains(value)
            case "__startswith": isFound = isFound && own.hasPrefix(value)
            case "__endswith": isFound = isFound && own.hasSuffix(value)
            case "__isnull": isFound = isFound && value == "false"
            default: return nil
            }
        }
        return isFound
    }

    static let joined = FilterLanguage(
        testDescription: "joined lists of JSON",
        filters: #"""
            "quoting": "json", "equal": "filter[{name}]={value}", "isIn": "filter[{name}][in]={values}", "contains": "filter[{name}][has]={value}"
            """#
    ) { row, query in
        var isFound = true
        for (key, value) in query {
            let isTitle = key.hasPrefix("filter[title]")
            let own: JSONValue = isTitle ? row.title.map { .string($0) } ?? .null : .integer(Int64(row.year))
            func json(_ text: String) -> JSONValue? { try? JSONValue(parsing: Array(text.utf8)) }
            if key.hasSuffix("[in]") {
                // Cut at every comma, whatever it stands in.
                let parts = value.split(separator: ",", omittingEmptySubsequences: false).map { json(String($0)) }
                if parts.contains(where: { $0 == nil }) { return nil }
                isFound = isFound && parts.contains { $0 == own }
            } else if key.hasSuffix("[has]") {
                guard let part = json(value)?.string else { return nil }
                isFound = isFound && own.string?.contains(part) ?? false
            } else {
                guard let other = json(value) else { return nil }
                isFound = isFound && own == other
            }
        }
        return isFound
    }
}

/// Returns whether a text matches a pattern.
func matchesPattern(_ text: [Character], _ pattern: [Character], any: Character, one: Character?, escape: Character?) -> Bool {
    func matches(_ place: Int, _ sign: Int) -> Bool {
        guard sign < pattern.count else { return place == text.count }
        if pattern[sign] == escape, sign + 1 < pattern.count {
            return place < text.count && text[place] == pattern[sign + 1] && matches(place + 1, sign + 2)
        }
        if pattern[sign] == any { return (place...text.count).contains { matches($0, sign + 1) } }
        guard place < text.count, pattern[sign] == one || pattern[sign] == text[place] else { return false }
        return matches(place + 1, sign + 1)
    }
    return matches(0, 0)
}

/// How expressions are written in a language.
struct ExpressionGrammar: Sendable {
    enum Operation: Sendable { case equal, notEqual, less, isIn, like, stars, contains, begins, ends, isNull, isNotNull }
    let and: String
    let or: String
    let not: String?
    let signs: [(text: String, operation: Operation)]
    var functions: [(name: String, operation: Operation)] = []
    /// Whether values have no quotation marks, and end before a sign.
    var isBare = false
    /// Whether quotation marks within have a backslash, and are not doubled.
    var isBackslashed = false
    /// Whether comparisons with nothing are neither true nor false.
    let isThreeValued: Bool
}

/// Reads an expression, and says whether a row matches.
struct ExpressionReader {
    enum Truth { case yes, no, unknown }

    private var rest: Substring
    private let grammar: ExpressionGrammar
    private let row: FilterRow

    init(_ text: String, _ grammar: ExpressionGrammar, _ row: FilterRow) { (rest, self.grammar, self.row) = (text[...], grammar, row) }

    mutating func whole() -> Truth? {
        guard let found = alternatives(), rest.isEmpty else { return nil }
        return found
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.unicodeScalars.starts(with: text.unicodeScalars) else { return false }
        rest = Substring(rest.unicodeScalars.dropFirst(text.unicodeScalars.count))
        return true
    }

    private mutating func alternatives() -> Truth? {
        guard var found = parts() else { return nil }
        while take(grammar.or) {
            guard let next = parts() else { return nil }
            found = found == .yes || next == .yes ? .yes : found == .unknown || next == .unknown ? .unknown : .no
        }
        return found
    }

    private mutating func parts() -> Truth? {
        guard var found = part() else { return nil }
        while take(grammar.and) {
            guard let next = part() else { return nil }
            found = found == .no || next == .no ? .no : found == .unknown || next == .unknown ? .unknown : .yes
        }
        return found
    }

    private mutating func part() -> Truth? {
        if let not = grammar.not, take(not) {
            guard let inner = part() else { return nil }
            return inner == .yes ? .no : inner == .no ? .yes : .unknown
        }
        if take("(") {
            guard let inner = alternatives(), take(")") else { return nil }
            return inner
        }
        for (name, operation) in grammar.functions where take(name + "(") {
            guard let property = property(), take(","), let value = value(), take(")") else { return nil }
            return compare(property, operation, [value])
        }
        guard let property = property() else { return nil }
        for (sign, operation) in grammar.signs where take(sign) {
            switch operation {
            case .isNull, .isNotNull: return compare(property, operation, [])
            case .isIn:
                guard take("(") else { return nil }
                var values: [String?] = []
                repeat {
                    guard let value = value() else { return nil }
                    values.append(value)
                } while take(",")
                return take(")") ? compare(property, operation, values) : nil
            default: return value().map { compare(property, operation, [$0]) }
            }
        }
        return nil
    }

    private mutating func property() -> String? { ["title", "year", "band"].first { take($0) } }

    /// Returns a value; an inner nil for null, nil for none.
    private mutating func value() -> String?? {
        if grammar.isBare {
            let text = rest.prefix { !";,()".contains($0) }
            rest = rest[text.endIndex...]
            return .some(String(text))
        }
        if take("null") { return .some(nil) }
        guard take("'") else {
            let digits = rest.prefix { $0.isNumber || $0 == "-" }
            rest = rest[digits.endIndex...]
            return digits.isEmpty ? nil : .some(String(digits))
        }
        var text = ""
        while let next = rest.unicodeScalars.first {
            rest = Substring(rest.unicodeScalars.dropFirst())
            if grammar.isBackslashed, next == "\\", let escaped = rest.unicodeScalars.first {
                rest = Substring(rest.unicodeScalars.dropFirst())
                text.unicodeScalars.append(escaped)
            } else if next == "'" {
                if grammar.isBackslashed || !take("'") { return .some(text) }
                text += "'"
            } else {
                text.unicodeScalars.append(next)
            }
        }
        return nil
    }

    private func compare(_ property: String, _ operation: ExpressionGrammar.Operation, _ values: [String?]) -> Truth {
        let own = property == "title" ? row.title : property == "band" ? row.band.map { "\($0)" } : "\(row.year)"
        func truth(_ value: Bool) -> Truth { value ? .yes : .no }
        if operation == .isNull { return truth(own == nil) }
        if operation == .isNotNull { return truth(own != nil) }
        if grammar.isThreeValued, own == nil || values.contains(where: { $0 == nil }) { return .unknown }
        switch operation {
        case .equal: return truth(own == values[0])
        case .notEqual: return truth(own != values[0])
        case .isIn: return truth(values.contains { $0 == own })
        default: break
        }
        guard let own, let value = values[0] else { return .no }
        switch operation {
        case .less: return truth(property == "year" ? (Int(own) ?? 0) < (Int(value) ?? 0) : own.utf8.lexicographicallyPrecedes(value.utf8))
        case .like: return truth(matchesPattern(Array(own), Array(value), any: "%", one: "_", escape: "\\"))
        case .stars: return truth(matchesPattern(Array(own), Array(value), any: "*", one: nil, escape: nil))
        case .contains: return truth(own.contains(value))
        case .begins: return truth(own.hasPrefix(value))
        case .ends: return truth(own.hasSuffix(value))
        default: return .no
        }
    }
}
