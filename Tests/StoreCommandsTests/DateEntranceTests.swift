import CoreData
import Foundation
import JSONReading
import PropertyLists
import TestSupport
import Testing

@testable import StoreCommands

/// Dates that files and options have. The reader itself has its tests in PropertyListsTests.
@Suite("Dates that the command is given") struct DateEntranceTests {
    private static let wrong = [
        "2026-02-30", "2026-03-01T10:00:00+99:99", "2026-03-01T25:00:00Z", "2026-03-01 junk", "2026-03-01T10:00:00Z junk", "20260301",
        "nan", "inf", "0x10",
        "",
    ]

    @Test("An import of JSON and of CSV refuses what is no date, and says where")
    func importRefuses() {
        let attribute = NSAttributeDescription(name: "day", type: .date)
        for text in Self.wrong + ["2026"] {
            for value in [ExchangeRecord.Value.json(.string(text)), .text(text)] {
                let mistake = #expect(throws: ExchangeValue.Mistake.self, "\(text)") { try ExchangeValue.value(value, of: attribute) }
                #expect(mistake?.message.contains("“\(text)” is not a date: at character") == true, "\(mistake?.message ?? "")")
            }
        }
    }

    @Test("An import reads what an export has written, whatever the date")
    func exportsAreRead() throws {
        let attribute = NSAttributeDescription(name: "day", type: .date)
        let seed = TestSeed.current(for: "exportsAreRead")
        for round in TestRounds(seconds: 0.2, atLeast: 200) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let seconds = Double.random(in: -1...1, using: &random) * pow(10, Double.random(in: -12...18, using: &random))
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let comment: Comment = "COREDATA_TEST_SEED=\(seed), round \(round): \(seconds)"
            guard case .string(let text) = ValueText.json(date, attribute) else {
                Issue.record(comment)
                return
            }
            try expect(ExchangeValue.value(.json(.string(text)), of: attribute) as? Date, equals: date, comment)
            try expect(ExchangeValue.value(.text(text), of: attribute) as? Date, equals: date, comment)
        }
    }

    @Test("--since refuses what is neither a date nor a number, and reads what the history shows")
    func since() throws {
        for text in Self.wrong where text != "20260301" {
            let failure = #expect(throws: NSError.self, "\(text)") { try HistoryReport.start(text) }
            #expect("\(failure as Any)".contains("is not a date: at character"), "\(failure as Any)")
        }
        for text in ["2026-03-01T10:00:00Z", "2026-03-01 10:00:00 UTC", "2026-03-01 11:00+01:00", DateText.text(794_052_000)] {
            guard case .date(let date) = try HistoryReport.start(text) else {
                Issue.record("\(text)")
                continue
            }
            expect(date.timeIntervalSinceReferenceDate, equals: 794_052_000, "\(text)")
        }
        guard case .transaction(20_260_301) = try HistoryReport.start("20260301") else {
            Issue.record("A whole number is that of a transaction.")
            return
        }
    }
}
