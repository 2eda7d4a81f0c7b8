import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Dates in the tables of other programs") struct TableDateTests {
    @Test("A text that is no date is an error that says what, where, and what is read")
    func refused() throws {
        let file = try OthersFile(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, day DATETIME); INSERT INTO t VALUES (1, '2026-03-01 10:00:00'), (2, '2026-03-01 10:00:00')"
        )
        let model = try file.draft().model
        for text in ["2026-02-30", "2026-03-01 10:00:00+99:99", "2026-03-01 25:00", "2026-03-01 10:00:00 junk", "+19:00"] {
            try file.execute("UPDATE t SET day = '\(text)' WHERE id = 2")
            let context = try file.open(model)
            context.performAndWait {
                let failure = #expect(throws: NSError.self, "\(text)") { try context.found("T") }
                let reason = failure?.localizedFailureReason ?? ""
                #expect(
                    reason.contains("“\(text)” is not a date: at character") && reason.contains("2026-03-01 10:00:00.25+01:00"), "\(reason)"
                )
            }
        }
    }

    @Test("All the forms of SQLite are read as the same date, and a saved one is read again")
    func forms() throws {
        let texts = [
            "2026-03-01 10:00:00", "2026-03-01T10:00:00Z", "2026-03-01 10:00", "2026-03-01 11:00:00+01:00", "2026-03-01 11:00:00 +01:00",
            "2026-03-01 10:00:00.000", "2026-03-01 10:00:00 ",
        ]
        let rows = texts.enumerated().map { "(\($0.offset + 1), '\($0.element)')" }.joined(separator: ", ")
        let file = try OthersFile("CREATE TABLE t (id INTEGER PRIMARY KEY, day DATETIME); INSERT INTO t VALUES \(rows)")
        let context = try file.open()
        let seed = TestSeed.current(for: "forms")
        var random = SeededGenerator(seed: seed)
        try context.performAndWait {
            for row in try context.found("T") {
                expect(row.value(forKey: "day") as? Date, equals: Date(timeIntervalSinceReferenceDate: 794_052_000))
                // Of the years 0 to 9999, in microseconds.
                let date = Date(
                    timeIntervalSinceReferenceDate: Double(Int64.random(in: -63_145_526_400..<252_423_993_600, using: &random)) + 0.25)
                row.setValue(date, forKey: "day")
                try context.save()
                context.refresh(row, mergeChanges: false)
                expect(row.value(forKey: "day") as? Date, equals: date, "COREDATA_TEST_SEED=\(seed)")
            }
        }
    }
}
