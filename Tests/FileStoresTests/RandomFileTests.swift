import CoreData
import FileStores
import Foundation
import TestSupport
import Testing

@Suite("Random files") struct RandomFileTests {
    private func forEachSeed(_ name: String, _ body: (inout SeededGenerator, _ place: Comment) throws -> Void) throws {
        let first = TestSeed.current(for: "RandomFileTests.\(name)")
        var count = 0
        for round in TestRounds(seconds: 0.7, atLeast: 20) {
            let seed = first &+ UInt64(round)
            var generator = SeededGenerator(seed: seed)
            try body(&generator, "COREDATA_TEST_SEED=\(seed)")
            count += 1
        }
        print("\(count) files were read.")
    }

    @Test("Whatever the bytes are, a file opens or is an error, and reading it changes nothing")
    func hostile() throws {
        let scratch = try Scratch()
        let pieces: [[UInt8]] =
            [
                "\"", "\"\"", ",", ";", "\n", "\r\n", "\r", "\\", "#", "id", "text", "1", "é", "😀", "\u{0}", "[", "]", "{", "}", ":",
                "null", "{\"id\":1}",
                "\"Note\":", "id,text,other\n", "1,a,b\n", "2,,\n", "1e9", "-", ".",
            ].map { Array($0.utf8) } + [[0xFF], [0xFE], [0xEF, 0xBB, 0xBF], [0xC3], [0xD8, 0x00]]
        try forEachSeed("hostile") { generator, place in
            var bytes: [UInt8] = Bool.random(using: &generator) ? Array("id,text,other\n".utf8) : []
            for _ in 0..<Int.random(in: 0..<24, using: &generator) { bytes += pieces.randomElement(using: &generator) ?? [] }
            var layout = FileLayout()
            layout.skipsUnreadableRecords = Bool.random(using: &generator)
            layout.keepsRowsUpTo = Bool.random(using: &generator) ? 0 : 1 << 20
            var dialect = CSVDialect()
            dialect.escape = Bool.random(using: &generator) ? .doubled : .backslash
            dialect.comment = Bool.random(using: &generator) ? "#" : nil
            dialect.hasHeader = Bool.random(using: &generator)
            dialect.encoding = FileEncoding.allCases.randomElement(using: &generator).flatMap { Bool.random(using: &generator) ? $0 : nil }
            for name in ["Note.csv", "Note.json"] {
                try scratch.write(bytes, name)
                let description =
                    name.hasSuffix("csv")
                    ? CSVStore.description(at: scratch.url(name), dialect: dialect, layout: layout)
                    : JSONStore.description(at: scratch.url(name), layout: layout)
                if let context = try? open(description, Library.notes()) {
                    _ = try context.all("Note", by: "text").map { $0.value(forKey: "other") }
                }
                try expect(scratch.bytes(name), equals: bytes, place)
            }
            _ = try? CSVDialect.detect(in: scratch.url("Note.csv"))
            _ = try? NSManagedObjectModel(describingCSV: scratch.url("Note.csv"), dialect: dialect)
        }
    }

    @Test("After random edits, a file has what a plain table says, and its other lines byte by byte")
    func edits() throws {
        let scratch = try Scratch()
        let texts = ["", "a", "b,c", "\"q\"", "two\nlines", "é😀", " blank ", "#x", "NULL", "\r\n", "00601"]
        try forEachSeed("edits") { generator, place in
            var table: [Int64: [String?]] = [:]
            var file = "id,text,kept,other\n"
            var lines: [Int64: String] = [:]
            for id in 1...Int64.random(in: 1...8, using: &generator) {
                let text = Bool.random(using: &generator) ? "plain \(id)" : nil
                table[id] = [text, nil]
                let line = "\(id),\(text ?? ""),\"k\"\"\(id)\",\n"
                lines[id] = line
                file += line
            }
            var last = table.keys.max() ?? 0
            _ = try? FileManager.default.removeItem(at: scratch.url(".Note.csv.coredata"))
            try scratch.write(file, "Note.csv")
            let context = try open(
                CSVStore.description(at: scratch.url("Note.csv")), Library.notes(["id", "text", "other"], types: ["id": .integer64]))
            for _ in 0..<3 {
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let notes = try context.all("Note", by: "id")
                    let note = notes.randomElement(using: &generator)
                    let id = note?.value(forKey: "id") as? Int64 ?? 0
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0:
                        // A key that was deleted in this save is still that of a record.
                        let new = last + 1 + Int64.random(in: 0..<3, using: &generator)
                        let text = texts.randomElement(using: &generator)
                        context.insert("Note", ["id": new, "text": text as Any])
                        table[new] = [text, nil]
                        last = new
                    case 1 where note != nil && table.count > 1:
                        if let note { context.delete(note) }
                        table[id] = nil
                        lines[id] = nil
                    default:
                        let text = Bool.random(using: &generator) ? texts.randomElement(using: &generator) : nil
                        note?.setValue(text, forKey: "other")
                        if note != nil {
                            table[id]?[1] = text
                            lines[id] = nil
                        }
                    }
                }
                try context.save()
                let written = try scratch.text("Note.csv")
                for line in lines.values { #expect(written.contains(line), place) }
                let again = try open(
                    CSVStore.description(at: scratch.url("Note.csv")), Library.notes(["id", "text", "other"], types: ["id": .integer64]))
                let found = try again.all("Note").map {
                    ($0.value(forKey: "id") as? Int64 ?? 0, [$0.value(forKey: "text") as? String, $0.value(forKey: "other") as? String])
                }
                expect(Dictionary(found, uniquingKeysWith: { first, _ in first }), equals: table, place)
            }
        }
    }
}
