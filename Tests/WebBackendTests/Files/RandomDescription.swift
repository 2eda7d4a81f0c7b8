import Foundation
import RemoteStore
import TestSupport
import WebTransport

@testable import WebBackend

/// Makes descriptions of services at random, with whatever a description can say.
struct RandomDescription {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    // MARK: Parts

    mutating func flag() -> Bool { Bool.random(using: &random) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func one<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }

    mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? { flag() ? make(&self) : nil }

    mutating func list<Value>(_ make: (inout Self) -> Value) -> [Value] { (0..<number(0...3)).map { _ in make(&self) } }

    mutating func text() -> String {
        one([
            "", "name", "release_date", "none", "{name}={value}", "link:next", "a b", "ä\u{301}€𝄞", "quote\"\\", "tab\t\nline", "null", "1",
            "list", "id:x",
            "page", "GET x", "@band", "true", "{}", "a.b[0]",
        ])
    }

    mutating func texts() -> [String: String] { Dictionary(list { ($0.text(), $0.text()) }, uniquingKeysWith: { first, _ in first }) }

    mutating func path() -> JSONPath {
        switch number(0...3) {
        case 0: ""
        case 1: JSONPath(one(["id", "a.b", "data[2].x", "/a~1b/c", "links.next"]))
        default:
            JSONPath(
                steps: list { random in
                    random.flag()
                        ? .element(random.number(0...9)) : .key(random.one(["a", "b.c", "0", "", "~", "x/y", "[1]", "d]", "-1", "+1"]))
                })
        }
    }

    mutating func json() -> String {
        one([
            "\"{type}\"", "null", "1", "1.0", "-0", "1e400", "{}", "[1,2]", "{\"a\":{\"b\":null}}", "{ \"a\": 1 }", "{\"id\": {SELF}}",
            "not JSON", "",
            "{\"jsonText\":\"x\"}", "true", "\"{SELF}\"", "{\"a\":1,\"a\":2}",
        ])
    }

    mutating func double() -> Double { one([0, 1, 0.001, -2.5, 1e21, 1e-9, 123_456.789, .greatestFiniteMagnitude, 3]) }

    // MARK: Styles

    mutating func part() -> AnswerPart { one([.contentRange, .body(path()), .header(text()), .link(text())]) }

    mutating func paging() -> PagingStyle {
        if number(0...3) == 0 { return .none }
        return PagingStyle(
            one([.none, .number(text(), first: number(0...2)), .offset(text()), .cursor(text()), .address]),
            sizeParameter: maybe { $0.text() },
            size: number(1...200), next: maybe { $0.part() }, hasMore: maybe { $0.part() }, total: maybe { $0.part() },
            totalParameter: maybe { $0.text() }, stability: flag() ? .cursors : .offsets, endsEmpty: flag(), isInBody: flag())
    }

    mutating func operators() -> Set<Parameter.Operator> { Set(list { $0.one(Parameter.Operator.allCases) }) }

    mutating func templates() -> [Parameter.Operator: String] {
        Dictionary(
            list { ($0.one(Parameter.Operator.allCases), $0.one([$0.text(), "q={value}", "={value}"])) },
            uniquingKeysWith: { first, _ in first })
    }

    mutating func filters() -> FilterStyle {
        if number(0...3) == 0 { return one([.none, .byName]) }
        let form = one([
            FilterStyle.Form.none, .parameters,
            .expression(.init(text(), and: text(), or: maybe { $0.text() }, not: maybe { $0.text() }, group: text())),
            .selector(
                .init(
                    one([.query(text()), .body(text())]), constants: maybe { $0.json() }, and: text(), or: maybe { $0.text() },
                    nor: maybe { $0.text() })),
        ])
        var style = FilterStyle(
            form, templates(), quoting: one([.bare, .bareUnlessAmbiguous, .json, .singleQuoted, .backslashed("'"), .backslashed("é")]),
            separator: text(), maximumValues: number(1...500), inexact: operators(), caseInsensitive: operators(),
            identifier: maybe { $0.text() },
            comparesTextInOrder: flag(), pathSeparator: maybe { $0.text() }, referenceSuffix: text())
        style.wildcards = maybe {
            .init(any: $0.one(["*", "%"]), one: $0.maybe { $0.one(["?", "_"]) }, escape: $0.maybe { $0.one(["\\", "!"]) })
        }
        style.reserved = list { $0.text() }
        return style
    }

    mutating func sorting() -> SortStyle {
        if number(0...2) == 0 { return one([.none, SortStyle(text())]) }
        return SortStyle(
            maybe { $0.text() }, ascending: text(), descending: maybe { $0.text() }, separator: text(), maximumKeys: one([1, 2, .max]),
            sortsTextInOrder: flag(), sortsNilFirst: flag(), direction: maybe { .init($0.text(), ascending: $0.text()) },
            place: one([.query, .body]))
    }

    mutating func action() -> SavingStyle.Action {
        .init(one([.post, .put, .patch, .delete]), text(), query: flag() ? [:] : texts(), answer: flag() ? nil : answer())
    }

    mutating func answer() -> SavingStyle.Answer {
        one([.resource(path()), .assigned(path()), .location(nil), .location(text()), .nothing])
    }

    mutating func saving() -> SavingStyle {
        var saving = SavingStyle()
        if flag() { saving.create = maybe { $0.action() } }
        if flag() { saving.createIdentified = action() }
        if flag() { saving.update = maybe { $0.action() } }
        if flag() { saving.delete = maybe { $0.action() } }
        saving.identity = one([.assignedByService, .newUUID, .attribute(text())])
        saving.replacesWholeResources = flag()
        saving.precondition = one([.none, .ifMatch, .field])
        saving.conflicts = one([.backend, .byReading, .none])
        saving.item = path()
        saving.constants = Dictionary(list { ($0.text(), $0.json()) }, uniquingKeysWith: { first, _ in first })
        saving.removal = maybe { $0.json() }
        saving.idempotencyHeader = maybe { $0.text() }
        saving.keyLifetime = maybe { Double($0.number(1...90_000)) }
        saving.batch = maybe { random in
            random.one([
                .documents(path: random.text(), list: random.text(), deleted: random.text()),
                .requests(
                    .init(
                        path: random.text(), list: random.text(), answers: random.path(), maximum: random.number(1...9),
                        status: random.maybe { $0.text() },
                        body: random.text(), error: random.maybe { $0.text() }, hasWholePaths: random.flag(), isAtomic: random.flag())),
            ])
        }
        saving.createsIfNoneMatch = flag()
        saving.deletesLists = flag()
        saving.current = maybe { $0.path() }
        saving.receipt = maybe { .init(id: $0.path(), version: $0.path()) }
        saving.answer = maybe { $0.answer() }
        return saving
    }

    mutating func version() -> VersionSource { one([.none, .eTag, .number(path()), .tag(path())]) }

    mutating func date() -> DateForm {
        one([.iso8601, .day, .secondsSince1970, .millisecondsSince1970, .secondsSinceReferenceDate, .http, .pattern(text())])
    }

    mutating func reference() -> ReferenceStyle {
        one([
            .identifier, .object(id: path()), .typed(data: path(), type: path(), id: path()), .link(template: maybe { $0.text() }),
            .pointer(id: path(), constants: texts()),
        ])
    }

    mutating func style() -> ServiceStyle {
        var style = one([ServiceStyle.plain, .jsonAPI, .djangoREST, .kinto, .gitHub, .couchDB, .parse])
        // Some follow their convention but for a few parts, others have nothing of it.
        let chance = number(0...4)
        func changes(_ random: inout Self) -> Bool { random.number(1...4) <= chance }
        let names = [NameStyle.asTheyAre, .snakeCase, .kebabCase, .pascalCase]
        if changes(&self) { style.names = one(names) }
        if changes(&self) { style.collection = CollectionStyle(text(), names: one(names), isPlural: flag(), typeIsEntity: flag()) }
        if changes(&self) { style.identity = list { $0.text() } }
        if changes(&self) { style.version = version() }
        if changes(&self) { style.attributes = path() }
        if changes(&self) { style.relationships = path() }
        if changes(&self) { style.references = reference() }
        if changes(&self) { style.referenceSuffix = text() }
        if changes(&self) { style.hasLists = flag() }
        if changes(&self) { style.dates = date() }
        if changes(&self) { style.dateWrapping = maybe { .init($0.text(), constants: $0.texts()) } }
        if changes(&self) {
            style.envelope = Envelope(
                items: path(), item: path(), element: path(), included: maybe { $0.path() }, type: maybe { $0.path() })
        }
        if changes(&self) { style.filters = filters() }
        if changes(&self) { style.sorting = sorting() }
        if changes(&self) { style.paging = paging() }
        if changes(&self) { style.fields = maybe { FieldsStyle($0.text(), separator: $0.text()) } }
        if changes(&self) { style.includes = maybe { IncludeStyle($0.text(), separator: $0.text(), isDeep: $0.flag()) } }
        if changes(&self) { style.calls = list { $0.call() } }
        if changes(&self) { style.saving = maybe { $0.saving() } }
        if changes(&self) {
            style.errors = ErrorStyle(
                messages: list { $0.path() }, list: maybe { $0.path() }, pointer: maybe { $0.path() }, detail: path(), isByField: flag())
        }
        if changes(&self) { style.accept = text() }
        if changes(&self) { style.contentType = maybe { $0.text() } }
        if changes(&self) {
            style.changeFeed = maybe {
                $0.one([.couchDB(path: $0.text()), .since(parameter: $0.text(), token: $0.part(), deleted: $0.path())])
            }
        }
        if changes(&self) {
            style.changeSignals = maybe {
                .serverSentEvents(path: $0.text(), names: $0.list { $0.text() }, idleSeconds: Double($0.number(0...999)))
            }
        }
        return style
    }

    // MARK: Resources

    mutating func parameter() -> WebParameter {
        WebParameter(
            keyPaths: list { $0.text() }, templates: templates(), isRequired: flag(), maximumValues: number(1...9),
            text: one([.exact, .caseInsensitive, .diacriticInsensitive, .caseAndDiacriticInsensitive]), isExact: flag())
    }

    mutating func call() -> WebCall {
        switch number(0...3) {
        case 0: return one([.list(), .one, .list(text()), .one(text(), name: text())])
        default:
            return WebCall(
                text(), one([.get, .post]), path: text(), query: texts(), body: maybe { $0.json() }, returns: one([.list, .one, .map]),
                items: maybe { $0.path() }, parameters: list { $0.parameter() }, filters: maybe { $0.list { $0.text() } },
                sorting: maybe { $0.list { $0.text() } }, paging: maybe { $0.paging() }, properties: maybe { Set($0.list { $0.text() }) },
                includes: list { $0.text() }, includesSubentities: flag(), freshness: maybe { $0.one([0, 0.5, 60, 1e8]) },
                cost: .init(request: double(), row: double(), expectedRows: number(0...1000)))
        }
    }

    mutating func transform(depth: Int = 0) -> ValueTransform {
        if depth < 3, number(0...4) == 0 { return .wrapped(text(), constants: texts(), transform(depth: depth + 1)) }
        return one([
            .byType, .text, .json, .date(date()), .enumeration(texts()), .scaled(by: double()), .relativeURL(base: text()),
            .joined(separator: text()),
        ])
    }

    mutating func property() -> PropertyMapping {
        if flag() { return PropertyMapping(path: path()) }
        return PropertyMapping(
            path: maybe { $0.path() }, transform(), reference: maybe { $0.reference() }, isReadOnly: flag(), queryName: maybe { $0.text() },
            isWholeList: flag())
    }

    mutating func resource() -> WebResource {
        if number(0...4) == 0 { return WebResource(text()) }
        return WebResource(
            text(), path: maybe { $0.text() }, type: maybe { $0.text() }, identity: maybe { $0.list { $0.text() } },
            identifier: maybe { $0.one([.integer, .string, .uuid]) }, version: maybe { $0.version() },
            properties: Dictionary(list { ($0.text(), $0.property()) }, uniquingKeysWith: { first, _ in first }),
            ignored: Set(list { $0.text() }), kinds: maybe { .init($0.path(), $0.texts()) }, calls: maybe { $0.list { $0.call() } },
            saving: maybe { $0.saving() }, isReadOnly: flag())
    }

    mutating func service() -> WebService {
        var service = WebService(
            one(["https://api.example.com/v1", "http://localhost:8080", "", "not an address", "/a@b"]), style: style(), headers: texts(),
            query: texts(),
            resources: maybe { $0.list { $0.resource() } })
        if number(0...4) == 0 { service.includesAllEntities.toggle() }
        return service
    }
}
