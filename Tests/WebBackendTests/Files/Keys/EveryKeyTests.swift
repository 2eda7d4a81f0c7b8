import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// The keys of a description, one by one: a key that is read and changes nothing would be a promise that nobody keeps.
@Suite("Every key of a description", .serialized) struct EveryKeyTests {
    private static let again = Mutexed(SeededGenerator(seed: TestSeed.current(for: "Every key of a description")))

    @Test(
        "Each value of each key is used, so that requests or results differ by it, or is refused when the description is loaded",
        arguments: KeyCase.all)
    func isUsed(_ example: KeyCase) async throws {
        var traces: [String: String] = [:]
        var refused: [String] = []
        for value in example.values {
            if let reason = example.refusal(value) { refused.append("\(value): \(reason)") } else { traces[value] = "" }
        }
        // What is done goes on until each value has shown itself.
        for step in Scenario.Step.allCases where example.scenario.steps.contains(step) {
            for value in traces.keys.sorted() { traces[value]? += try await example.trace(value, step) }
            guard Set(traces.values).count == traces.count else { continue }
            // What differs by chance would hide a key that changes nothing; each run looks at some.
            if traces.count > 1, Self.again.withValue({ $0.chance(0.2) }), let value = traces.keys.min(), let trace = traces[value] {
                #expect(try await trace.hasSuffix(example.trace(value, step)), "\(example.testDescription): \(value) differs from itself")
            }
            break
        }
        let isKept = traces.count > 1 || traces.count == 1 && !refused.isEmpty && (example.isRefused || example.mayBeRefused)
        #expect(isKept || example.mayBeRefused && !refused.isEmpty, "\(example.testDescription): \(refused)")
        #expect(!example.isRefused || traces.count == 1, "\(example.testDescription): another value is accepted: \(traces.keys.sorted())")
        for (value, trace) in traces {
            let twins = traces.filter { $0.value == trace && $0.key < value }.keys.sorted()
            #expect(twins.isEmpty, "\(example.testDescription): \(value) and \(twins) are the same: \(trace.prefix(3000))")
        }
    }

    @Test("The table has each key of the schema, and each word that a key's value may be") func isWhole() throws {
        let schema = try JSONValue(parsing: Array(WebService.schema.utf8))
        let definitions = try #require(schema["$defs"]?.object)
        var missing: [String] = []
        for definition in definitions.members {
            for (key, value) in Self.properties(definition.value) {
                let name = "\(definition.key).\(key)"
                // Signs are other names of comparisons, which have their own test.
                if KeyCase.elsewhere.contains(name) || Parameter.Operator(rawValue: key) != nil { continue }
                let examples = KeyCase.all.filter { $0.keys.contains(name) }
                if examples.isEmpty {
                    missing.append(name)
                    continue
                }
                let values = examples.flatMap(\.values).joined(separator: "\n")
                for word in Self.words(value, definitions) where !values.contains("\"\(word)") { missing.append("\(name)=\(word)") }
            }
        }
        #expect(missing.isEmpty, "\(missing.count): \(missing.sorted().joined(separator: ", "))")
        let known = Set(
            definitions.members.flatMap { definition in Self.properties(definition.value).map { "\(definition.key).\($0.key)" } })
        let gone = Set(KeyCase.all.flatMap(\.keys)).subtracting(known)
        #expect(gone.isEmpty, "\(gone.sorted())")
    }

    @Test("A sign says the same as the word of its comparison", arguments: Parameter.Operator.allCases)
    func signs(_ comparison: Parameter.Operator) throws {
        func service(_ key: String) throws -> WebService {
            try WebService(
                json: Data(
                    #"""
                    {"address": "\#(base)", "style": {"filters": {"\#(key)": "a", "listComparisons": {"\#(key)": "b"}}}, "resources": [
                      {"entity": "Album", "calls": [{"list": "albums", "parameters": [{"for": "year", "\#(key)": "c"}]}]}]}
                    """#.utf8))
        }
        #expect(try service("\(comparison)") == service(comparison.rawValue))
    }

    /// The keys of objects of a definition.
    private static func properties(_ schema: JSONValue) -> [(key: String, value: JSONValue)] {
        var found: [(key: String, value: JSONValue)] = []
        for member in schema["properties"]?.object?.members ?? [] { found.append((member.key, member.value)) }
        for list in ["anyOf", "allOf", "oneOf"] { for part in schema[list]?.array ?? [] { found += properties(part) } }
        return found
    }

    /// The words that a value may be, those of definitions that it refers to included.
    private static func words(_ schema: JSONValue, _ definitions: JSONObject, depth: Int = 0) -> [String] {
        if depth > 3 || schema["type"]?.string == "array" { return [] }
        var found = (schema["enum"]?.array ?? []).compactMap(\.string)
        if let name = schema["$ref"]?.string?.split(separator: "/").last, let definition = definitions[String(name)] {
            found += words(definition, definitions, depth: depth + 1)
        }
        for part in schema["anyOf"]?.array ?? [] { found += words(part, definitions, depth: depth) }
        return found
    }
}

/// A key in a description where it matters, with values by which something differs.
struct KeyCase: CustomTestStringConvertible, Sendable {
    /// The keys of the schema, each with its definition: `style.names`.
    let keys: [String]
    /// The description, with `$` in the place of the value.
    let text: String
    let values: [String]
    /// What is seen of it.
    var scenario = Scenario()
    /// Whether all values but one are refused.
    var isRefused = false
    /// Whether it is enough that one value is refused.
    var mayBeRefused = false

    var testDescription: String { keys.isEmpty ? text : keys.joined(separator: ", ") }

    /// The error of the description with a value; nil where it is accepted.
    func refusal(_ value: String) -> String? {
        do {
            let file = try WebServiceFile(json: json(value))
            if scenario.kind != .client { _ = try scenario.backend(file, ScriptedService { _ in .json("[]") }) }
            return nil
        } catch {
            return error.localizedDescription
        }
    }

    /// Returns what a step shows of the description with a value.
    func trace(_ value: String, _ step: Scenario.Step) async throws -> String {
        let file = try WebServiceFile(json: json(value))
        if scenario.kind == .client { return try await scenario.clientTrace(file) }
        // A scenario waits for tasks.
        return try await onOwnThread { [scenario] in try scenario.trace(file, step) }
    }

    private func json(_ value: String) -> Data { Data(text.replacingOccurrences(of: "$", with: value).utf8) }

    /// A key of a style.
    static func style(_ keys: String..., text: String, _ values: String..., scenario: Scenario = Scenario()) -> KeyCase {
        KeyCase(
            keys: keys, text: #"{"address": "\#(base)", "style": {\#(text)}, "resources": ["Album", "Band", "Tag"]}"#, values: values,
            scenario: scenario)
    }

    /// A key of the resource of albums.
    static func album(_ keys: String..., text: String, style: String = "{}", _ values: String..., scenario: Scenario = Scenario())
        -> KeyCase
    {
        KeyCase(
            keys: keys,
            text: #"{"address": "\#(base)", "style": \#(style), "resources": [{"entity": "Album", \#(text)}, "Band", "Tag"]}"#,
            values: values, scenario: scenario)
    }

    /// A key of a call that lists albums.
    static func call(_ keys: String..., text: String, style: String = "{}", _ values: String..., scenario: Scenario = Scenario()) -> KeyCase
    {
        KeyCase(
            keys: keys,
            text:
                #"{"address": "\#(base)", "style": \#(style), "resources": [{"entity": "Album", "calls": [{\#(text)}, "one"]}, "Band", "Tag"]}"#,
            values: values, scenario: scenario)
    }

    /// A key of the whole file.
    static func file(_ keys: String..., text: String, _ values: String..., scenario: Scenario = Scenario()) -> KeyCase {
        KeyCase(keys: keys, text: #"{\#(text)}"#, values: values, scenario: scenario)
    }

    /// A key of the client.
    static func client(_ keys: String..., text: String, _ values: String...) -> KeyCase {
        KeyCase(keys: keys, text: #"{"address": "\#(base)", \#(text)}"#, values: values, scenario: Scenario(kind: .client))
    }
}
