#if PostgreSQL
import Foundation
import Testing
import TestSupport

@testable import coredata_demo
@testable import PostgreSQLStore

/// The chapter of the demo over a database.
@Suite("What the demo prints of a database") struct DatabaseDemoTests {
    @Test("A file and a database show the same, and what two servers have changed is there once") func chapter() async throws {
        let folder = try ScratchFolder("coredata-demo")
        defer { folder.remove() }
        let file = folder.file("output.txt")
        try Data().write(to: file)
        let url = try await server().database()
        try await DatabaseChapter(terminal: Terminal(output: try FileHandle(forWritingTo: file)), url: url).run()
        let lines = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let rows = lines.filter { $0.hasSuffix("Home") || $0.hasSuffix("done") }.map { $0.split(separator: " ").joined(separator: " ") }
        let both = ["Mend the lamp Home", "Water the plants Home"]
        expect(rows, equals: both + both + ["Buy a lamp Home done"])
        expect(lines.filter { $0.hasPrefix("✗") }.count, equals: 1)
    }
}
#endif
