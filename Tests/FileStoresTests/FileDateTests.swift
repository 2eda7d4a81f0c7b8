import CoreData
import FileStores
import Foundation
import TestSupport
import Testing

@Suite("Dates in files") struct FileDateTests {
    /// Returns the dates of a file with one column; throws where one cannot be read.
    private func dates(_ texts: [String], format: String) throws -> [Double?] {
        let scratch = try Scratch()
        let rows = texts.enumerated().map { "\($0.offset + 1);\"\($0.element)\"" }
        try scratch.write((["id;day"] + rows).joined(separator: "\n") + "\n", "Note.csv")
        let context = try open(description(scratch, format), Library.notes(["day"], types: ["day": .date]))
        let notes = try context.all("Note", by: "day")
        return notes.map { ($0.value(forKey: "day") as? Date)?.timeIntervalSinceReferenceDate }
    }

    private func description(_ scratch: Scratch, _ format: String) -> NSPersistentStoreDescription {
        var dialect = CSVDialect.excel
        dialect.values.dateFormat = format
        return CSVStore.description(at: scratch.url("Note.csv"), dialect: dialect)
    }

    @Test(
        "What is no date of the format is an error",
        arguments: [
            (
                "iso8601",
                ["2026-02-30", "2026-03-01T10:00:00+99:99", "2026-03-01T25:00", "2026-03-01 junk", "2026", "20260301", "1772359200", "nan"]
            ),
            ("seconds1970", ["nan", "inf", "0x10", "2026-03-01", "1e999"]),
            ("dd.MM.yyyy HH:mm", ["30.02.2026 10:00", "01.03.2026 25:00", "01.03.2026 24:30", "01.03.2026 10:00 Uhr", "1.3.2026 10:00"]),
        ])
    func refused(format: String, texts: [String]) throws {
        for text in texts {
            let failure = #expect(throws: NSError.self, "\(text)") { try dates([text], format: format) }
            expect(failure?.localizedDescription.contains("a date (\(format)"), equals: true, "\(failure as Any)")
            expect(failure?.localizedDescription.contains("found “\(text)”"), equals: true, "\(failure as Any)")
        }
    }

    @Test("Files of earlier versions, with numbers for the years beyond 0 to 9999, are read")
    func earlierFiles() throws {
        expect(
            try dates(["-63145526401", "-63145526401.5", "252423993600", "1e+300"], format: "iso8601"),
            equals: [-63_145_526_401.5, -63_145_526_401, 252_423_993_600, 1e300])
    }

    @Test("A saved date is read again, or is refused by the save")
    func saved() throws {
        let seed = TestSeed.current(for: "saved")
        var random = SeededGenerator(seed: seed)
        let seconds =
            [0, -0.5, -63_145_526_401, 252_423_993_600, 1e300, -1e-300]
            + (0..<40).map { _ in Double.random(in: -1...1, using: &random) * pow(10, Double.random(in: -6...13, using: &random)) }
        let scratch = try Scratch()
        try scratch.write("id;day\n", "Note.csv")
        let model = Library.notes(["day"], types: ["day": .date])
        let context = try open(description(scratch, "iso8601"), model)
        for one in seconds { context.insert("Note", ["day": Date(timeIntervalSinceReferenceDate: one)]) }
        try context.save()
        let reopened = try open(description(scratch, "iso8601"), model)
        let read = try reopened.all("Note", by: "day")
        expect(
            read.map { ($0.value(forKey: "day") as? Date)?.timeIntervalSinceReferenceDate }, equals: seconds.sorted(),
            "COREDATA_TEST_SEED=\(seed)")
        // A pattern has four digits for a year.
        try scratch.write("id;day\n", "Note.csv")
        let patterned = try open(description(scratch, "yyyy-MM-dd"), model)
        patterned.insert("Note", ["day": Date(timeIntervalSinceReferenceDate: 252_423_993_600)])
        let failure = #expect(throws: NSError.self) { try patterned.save() }
        #expect("\(failure as Any)".contains("yyyy-MM-dd"))
        try expect(scratch.text("Note.csv"), equals: "id;day\n")
    }
}
