import Foundation
import Testing

@testable import StoreCommands

/// Dates are written so that the same date is read back.
@Suite struct DateTextTests {
    // Foundation's formatter has the Julian calendar before 1582.
    @Test func datesAgreeWithFoundation() {
        let formatter = ISO8601DateFormatter()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let seconds = Double(Int64.random(in: -12_000_000_000...30_000_000_000, using: &generator))
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(DateText.string(date) == formatter.string(from: date), "\(seconds)")
        }
    }

    @Test func fractionsAreShortAndDatesOfNoCalendarAreNumbers() {
        #expect(DateText.string(Date(timeIntervalSinceReferenceDate: 0.25)) == "2001-01-01T00:00:00.25Z")
        #expect(DateText.string(Date(timeIntervalSinceReferenceDate: -0.5)) == "2000-12-31T23:59:59.5Z")
        #expect(DateText.string(Date(timeIntervalSinceReferenceDate: .infinity)) == "inf")
    }
}
