import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend

/// The article that has all keys of description files.
@Suite("The article of all keys") struct KeyReferenceTests {
    private static let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/WebBackend/WebBackend.docc/DescriptionKeys.md")

    /// The tables, as the schema has the keys, which is made of the tables by which files are read.
    private static func tables() throws -> String {
        let schema = try JSONValue(parsing: Array(WebService.schema.utf8))
        let definitions = try #require(schema["$defs"]?.object)
        var text = ""
        for definition in definitions.members.sorted(by: { $0.key < $1.key }) {
            let rows = rows(definition.value)
            if rows.isEmpty { continue }
            text +=
                "\n### \(definition.key)\n\n| Key | What it says | Default |\n| --- | --- | --- |\n" + rows.joined(separator: "\n") + "\n"
        }
        return text
    }

    private static func rows(_ schema: JSONValue) -> [String] {
        var rows: [String] = []
        let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
        for member in schema["properties"]?.object?.members ?? [] {
            // Signs are other names of comparisons.
            if Parameter.Operator(rawValue: member.key) != nil { continue }
            let summary = (member.value["description"]?.string ?? "").replacing("|", with: "\\|")
            let standard = member.value["default"].map { "`\($0)`" } ?? (required.contains(member.key) ? "must be there" : "")
            rows.append("| `\(member.key)` | \(summary) | \(standard.replacing("|", with: "\\|")) |")
        }
        for list in ["anyOf", "allOf", "oneOf"] { for part in schema[list]?.array ?? [] { rows += Self.rows(part) } }
        return rows
    }

    @Test("has each of them with what it says and its default; WRITE_DESCRIPTION_KEYS writes it anew") func isWhole() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let mark = "<!-- generated -->\n"
        let parts = text.components(separatedBy: mark)
        try #require(parts.count == 2)
        let wanted = parts[0] + mark + (try Self.tables())
        if ProcessInfo.processInfo.environment["WRITE_DESCRIPTION_KEYS"] != nil { try Data(wanted.utf8).write(to: Self.article) }
        let known = Set(text.split(separator: "\n"))
        let missing = wanted.split(separator: "\n").filter { !known.contains($0) }
        #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
        #expect(
            wanted == text,
            "The order differs, or the article has keys that there are none of: write it anew with WRITE_DESCRIPTION_KEYS=1.")
    }
}
