import Foundation
import PropertyLists
import TestSupport
import Testing

@testable import StoreCommands

/// Dates are written so that the same date is read back.
@Suite struct DateTextTests {
    // Foundation's formatter has the Julian calendar before 1582.
    @Test func datesAgreeWithFoundation() {
        let formatter = ISO8601DateFormatter()
        let seed = TestSeed.current(for: "datesAgreeWithFoundation")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let seconds = Double(Int64.random(in: -12_000_000_000...30_000_000_000, using: &generator))
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            expect(DateText.string(date), equals: formatter.string(from: date), "COREDATA_TEST_SEED=\(seed): \(seconds)")
        }
    }

    @Test func theSameDateIsReadBack() {
        let seed = TestSeed.current(for: "theSameDateIsReadBack")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let seconds = Double.random(in: -1...1, using: &generator) * pow(10, Double.random(in: -12...13, using: &generator))
            var text = DateText.string(Date(timeIntervalSinceReferenceDate: seconds))
            let read = text.withUTF8 { DateScanner.iso8601(UnsafeRawBufferPointer($0)) } ?? Double(text)
            expect(read, equals: seconds, "COREDATA_TEST_SEED=\(seed): \(text)")
        }
    }

    @Test func fractionsAreShortAndDatesOfNoCalendarAreNumbers() {
        expect(DateText.string(Date(timeIntervalSinceReferenceDate: 0.25)), equals: "2001-01-01T00:00:00.25Z")
        expect(DateText.string(Date(timeIntervalSinceReferenceDate: -0.5)), equals: "2000-12-31T23:59:59.5Z")
        expect(DateText.string(Date(timeIntervalSinceReferenceDate: .infinity)), equals: "inf")
        // The first and the last moment of the years with four digits.
        expect(DateText.string(Date(timeIntervalSinceReferenceDate: -63_145_526_400)), equals: "0000-01-01T00:00:00Z")
        expect(DateText.string(Date(timeIntervalSinceReferenceDate: -63_145_526_401)), equals: "-63145526401.0")
        expect(DateText.string(Date(timeIntervalSinceReferenceDate: 252_423_993_599)), equals: "9999-12-31T23:59:59Z")
        expect(DateText.string(Date(timeIntervalSinceReferenceDate: 252_423_993_600)), equals: "252423993600.0")
    }
}
