import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Enumerations of a service") struct EnumerationTests {
    private static func model() -> NSManagedObjectModel {
        let job = NSEntityDescription(name: "Job")
        job.properties = [NSAttributeDescription(name: "state", type: .string), NSAttributeDescription(name: "number", type: .integer64)]
        return NSManagedObjectModel(entities: [job])
    }

    private static func description(
        _ names: ValueTransform, isReadOnly: Bool = true, _ filters: [Parameter.Operator: String] = [.equal: "{name}={value}"],
        sorting: [String]? = nil
    ) -> WebService {
        var style = ServiceStyle.plain
        style.filters = FilterStyle(.parameters, filters)
        style.sorting = SortStyle("sort")
        return WebService(
            base, style: style,
            resources: [
                WebResource(
                    "Job", properties: ["state": PropertyMapping(names)], calls: [.list(sorting: sorting), .one], isReadOnly: isReadOnly)
            ])
    }

    /// Nine jobs, whose states are 1, 2 and 3 in turn.
    private static func service(isText: Bool = false) -> ScriptedService {
        ScriptedService { request in
            if request.method != .get { return .json("{}") }
            var rows = (1...9).map { (id: $0, state: "\(($0 - 1) % 3 + 1)") }
            if let wanted = request.query("state")?.split(separator: ",").map(String.init) { rows.removeAll { !wanted.contains($0.state) } }
            if let other = request.query("state!") { rows.removeAll { $0.state == other } }
            let items = rows.map { #"{"id": \#($0.id), "number": \#($0.id), "state": \#(isText ? "\"\($0.state)\"" : $0.state)}"# }
            if request.path != "/jobs" { return .json(items[0]) }
            return .json("[\(items.joined(separator: ","))]")
        }
    }

    // MARK: Writing

    private static func sent(_ service: WebService) throws -> JSONValue? {
        let scripted = Self.service()
        let context = try service.context(scripted, Self.model())
        try context.performAndWait {
            let job = try #require(try context.fetch(fetch("Job", by: ["number"])).first)
            expect(job.text("state"), equals: "open")
            job.setValue("closed", forKey: "state")
            try context.save()
        }
        return scripted.requests.last?.json?["state"]
    }

    @Test("A word is written as the key is: text, or JSON where that is said") func written() throws {
        let words = ["1": "open", "2": "closed", "3": "gone"]
        try expect(Self.sent(Self.description(.enumeration(words), isReadOnly: false)), equals: .string("2"))
        try expect(Self.sent(Self.description(.enumerationOfJSON(words), isReadOnly: false)), equals: .integer(2))
        let mixed = ["1": "open", #""2""#: "closed", "3": "gone"]
        try expect(Self.sent(Self.description(.enumerationOfJSON(mixed), isReadOnly: false)), equals: .string("2"))
    }

    #if YAML
    @Test(
        "A key that is a number in YAML is a number in the service", arguments: [("2", JSONValue.integer(2)), (#""2""#, "2"), ("'2'", "2")])
    func yaml(key: String, value: JSONValue) throws {
        let yaml = """
            address: \(base)
            resources:
              - {entity: Job, properties: {state: {as: {enumeration: {1: open, \(key): closed, 3: gone}}}}}
            """
        try expect(Self.sent(WebService(yaml: yaml)), equals: value)
        try expect(WebService(json: WebService(yaml: yaml).json()), equals: WebService(yaml: yaml))
    }

    @Test("A key that is true in YAML is true in the service, also within a name for values") func truth() throws {
        let yaml = """
            address: \(base)
            resources:
              - entity: Job
                properties:
                  state: &state {as: {enumeration: {true: open, false: closed}}}
                  number: *state
            """
        let mapping = PropertyMapping(.enumerationOfJSON(["true": "open", "false": "closed"]))
        try expect(WebService(yaml: yaml).resources[0].properties, equals: ["state": mapping, "number": mapping])
    }
    #endif

    @Test("Verifying finds a service that has the words in another form", arguments: [true, false]) func verified(isText: Bool) async throws
    {
        let words = ["1": "open", "2": "closed", "3": "gone"]
        var options = WebClient.Options()
        options.retries = .never
        func findings(_ transform: ValueTransform) async throws -> [CapabilityFinding] {
            let backend = try WebBackend(
                Self.description(transform, isReadOnly: false), model: Self.model(), transport: Self.service(isText: isText),
                options: options)
            return try await backend.verify(sample: 20).findings.filter { $0.asked == "state" && $0.advice.contains("key") }
        }
        let (text, json) = (try await findings(.enumeration(words)), try await findings(.enumerationOfJSON(words)))
        expect(text.isEmpty, equals: isText, "\(text)")
        expect(json.isEmpty, equals: !isText, "\(json)")
    }

    // MARK: Several words

    private static let several = ValueTransform.enumeration(["1": "open", "2": "open", "3": "closed"])

    @Test(
        "All words of a value are asked for, or it is decided in memory",
        arguments: [
            [Parameter.Operator.equal: "{name}={value}", .notEqual: "{name}!={value}"],
            [.equal: "{name}={value}", .isIn: "{name}={values}", .notEqual: "{name}!={value}"],
        ])
    func severalWords(_ filters: [Parameter.Operator: String]) throws {
        let service = Self.service()
        let context = try Self.description(Self.several, filters).context(service, Self.model())
        try context.performAndWait {
            for (format, count) in [
                ("state == 'open'", 6), ("state == 'closed'", 3), ("state != 'open'", 3), ("state != 'closed'", 6),
                ("state IN {'open', 'closed'}", 9), ("NOT (state == 'open')", 3),
            ] { expect(try context.count(for: fetch("Job", format)), equals: count, "\(format)") }
        }
        if filters[.isIn] != nil { #expect(service.targets.contains("GET /jobs?state=1,2"), "\(service.targets)") }
    }

    @Test("Which of several words to write is not known") func ambiguous() throws {
        do {
            _ = try Self.description(Self.several, isReadOnly: false).context(Self.service(), Self.model())
            Issue.record("It is accepted")
        } catch { #expect(error.localizedDescription.contains("“open” has several words"), "\(error.localizedDescription)") }
    }

    // MARK: Words that are not there

    @Test("What the service has no word for is not there, and needs no request", arguments: [true, false]) func unknown(hasNil: Bool) throws
    {
        var filters: [Parameter.Operator: String] = [
            .equal: "{name}={value}", .isIn: "{name}={values}", .notEqual: "{name}!={value}",
        ]
        if hasNil { filters[.isNotNil] = "{name}_set=1" }
        let service = Self.service()
        let context = try Self.description(.enumeration(["1": "open", "2": "paused", "3": "closed"]), filters).context(
            service, Self.model())
        try context.performAndWait {
            expect(try context.count(for: fetch("Job", "state == 'OPEN'")), equals: 0)
            expect(try context.fetch(fetch("Job", "state IN {'OPEN', 'SHUT'}")).count, equals: 0)
            expect(service.targets, equals: [])
            expect(try context.count(for: fetch("Job", "state IN {'OPEN', 'open'}")), equals: 3)
            expect(try context.count(for: fetch("Job", "state != 'OPEN'")), equals: 9)
            expect(try context.count(for: fetch("Job", "NOT (state == 'OPEN')")), equals: 9)
            expect(try context.count(for: fetch("Job", "state == 'OPEN' OR state == 'closed'")), equals: 3)
        }
    }

    // MARK: Order

    @Test(
        "An order that the service has otherwise is not claimed",
        arguments: [ValueTransform.enumeration(["1": "open", "2": "closed"]), .enumerationOfJSON(["1": "open"])])
    func order(_ transform: ValueTransform) throws {
        do {
            _ = try Self.description(transform, sorting: ["state"]).context(Self.service(), Self.model())
            Issue.record("It is accepted")
        } catch { #expect(error.localizedDescription.contains("Remove it from “sorting”"), "\(error.localizedDescription)") }
        var scaled = Self.description(.byType, sorting: ["number"])
        scaled.resources[0].properties["number"] = PropertyMapping(.scaled(by: -1))
        #expect(throws: NSError.self) { try scaled.context(Self.service(), Self.model()) }
        scaled.resources[0].properties["number"] = PropertyMapping(.scaled(by: 10))
        _ = try scaled.context(Self.service(), Self.model())
    }
}
