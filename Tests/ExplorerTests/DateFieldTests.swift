import CoreData
import Foundation
import TestSupport
import Testing

@testable import Explorer

/// Dates in the fields of a page, without a page.
@Suite("The explorer: dates in fields") struct DateFieldTests {
    private let attribute = NSAttributeDescription(name: "day", type: .date)

    @Test("A field refuses what is no date, and says what, where, and what to write")
    func refused() {
        for text in [
            "2026-02-30", "2026-03-01T10:00:00+99:99", "2026-03-01T25:00:00Z", "2026-03-01 junk", "2026-03-01 10:00:00 UTC or so", "2026",
            "20260301", "",
            "nan", "tomorrow",
        ] {
            let error = #expect(throws: ExplorerError.self, "\(text)") { try ValueParsing.value(text, attribute) }
            #expect("\(error as Any)".contains("is not a date: at character"), "\(error as Any)")
            #expect("\(error as Any)".contains("2026-03-01 10:00:00 UTC"), "\(error as Any)")
        }
    }

    @Test("A field reads the form that its page shows")
    func shown() throws {
        for text in ["2026-03-01 10:00:00 UTC", " 2026-03-01 10:00:00Z ", "2026-03-01T10:00:00Z", "2026-03-01 11:00 +01:00"] {
            try expect(ValueParsing.value(text, attribute) as? Date, equals: Date(timeIntervalSinceReferenceDate: 794_052_000), "\(text)")
        }
    }
}
