import Foundation
import JSONReading
import TestSupport
import Testing

@testable import WebBackend

@Suite struct FileSchemaTests {
    @Test func everyExampleIsWhatTheSchemaHas() throws {
        let checker = try SchemaChecker(WebService.schema)
        for example in DescriptionExamples.all {
            let violation = checker.violation(try JSONValue(parsing: Array(example.utf8)))
            #expect(violation == nil, "\(example)")
        }
    }

    @Test func whatIsWrittenIsWhatTheSchemaHas() throws {
        let seed = TestSeed.current(for: "Descriptions and the schema")
        let checker = try SchemaChecker(WebService.schema)
        for round in 0..<8 {
            var random = RandomDescription(seed: seed &+ UInt64(round))
            let value = try JSONValue(parsing: Array(random.service().json()))
            let violation = checker.violation(value)
            #expect(violation == nil, "seed \(seed): \(value)")
        }
    }

    @Test func theSchemaRefusesWhatTheReaderRefuses() throws {
        let checker = try SchemaChecker(WebService.schema)
        for text in [
            "{}", #"{"address": "https://a.b", "styel": "kinto"}"#, #"{"address": "https://a.b", "style": "kitno"}"#,
            #"{"address": "https://a.b", "style": {"paging": {"page": "p", "offset": "o"}}}"#,
            #"{"address": "https://a.b", "authentication": {"bearer": "secret"}}"#, #"{"address": "https://a.b", "limits": {"rate": 0}}"#,
        ] {
            #expect(checker.violation(try JSONValue(parsing: Array(text.utf8))) != nil, "\(text)")
        }
    }

    /// Python's `jsonschema` is the second reader of the schema, where it is installed.
    @Test(.enabled(if: Self.hasValidator)) func anotherValidatorTakesTheSchemaAndTheExamples() throws {
        let scratch = try ScratchFolder("schema")
        defer { scratch.remove() }
        let folder = scratch.url
        try Data(WebService.schema.utf8).write(to: folder.appendingPathComponent("schema.json"))
        let seed = TestSeed.current(for: "Descriptions for another validator")
        var texts = DescriptionExamples.all
        for round in 0..<10 {
            var random = RandomDescription(seed: seed &+ UInt64(round))
            texts.append(String(decoding: try random.service().json(), as: UTF8.self))
        }
        for (index, text) in texts.enumerated() { try Data(text.utf8).write(to: folder.appendingPathComponent("example\(index).json")) }
        try Data(#"{"address": "https://a.b", "styel": "kinto"}"#.utf8).write(to: folder.appendingPathComponent("wrong.json"))
        let script = """
            import glob, json, sys
            from jsonschema import Draft202012Validator
            schema = json.load(open(sys.argv[1] + "/schema.json"))
            Draft202012Validator.check_schema(schema)
            validator = Draft202012Validator(schema)
            for path in sorted(glob.glob(sys.argv[1] + "/example*.json")):
                validator.validate(json.load(open(path)))
            assert not validator.is_valid(json.load(open(sys.argv[1] + "/wrong.json")))
            """
        let result = try Self.python(["-c", script, folder.path])
        expect(result.status, equals: 0, "\(result.output)")
    }

    private static let hasValidator = (try? python(["-c", "from jsonschema import Draft202012Validator"]))?.status == 0

    private static func python(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
