import Foundation
import PropertyLists
import TestSupport
import Testing

/// Random dates in every notation.
@Suite("Random dates") struct RandomDateTests {
    /// The seconds of a random date: of all years, of those with four digits, of our time, and near to 2001, with and without a fraction.
    static func seconds(_ random: inout SeededGenerator) -> Double {
        let whole =
            switch random.below(4) {
            case 0: Double(Int64.random(in: -9_007_199_254_740_991...9_007_199_254_740_991, using: &random))
            case 1: Double(Int64.random(in: -63_145_526_400..<252_423_993_600, using: &random))
            case 2: Double(Int64.random(in: -1_000_000_000...2_000_000_000, using: &random))
            default: Double.random(in: -1...1, using: &random) * pow(10, Double.random(in: -12...6, using: &random))
            }
        return switch random.below(4) {
        case 0: whole.rounded()
        case 1: whole + Double(random.below(1000)) / 1000
        case 2: whole + Double(random.below(1_000_000)) / 1_000_000
        default: whole + Double.random(in: 0..<1, using: &random)
        }
    }

    @Test("The same date is read from the text that was written")
    func roundTrips() {
        let seed = TestSeed.current(for: "roundTrips")
        for round in TestRounds(seconds: 0.5, atLeast: 2000) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let seconds = Self.seconds(&random)
            let text = DateText.text(seconds)
            let comment: Comment = "COREDATA_TEST_SEED=\(seed), round \(round): \(text)"
            for notation in [DateNotation.iso8601, .database, .typed] {
                let read = (try? DateText.date(text, notation))?.timeIntervalSinceReferenceDate
                expect(read, equals: seconds, comment)
            }
            // Only those beyond all years, and those nearer to 2001 than forty digits tell, are numbers.
            if text.first == "-" || text.first == "+" || text.contains("-") { continue }
            #expect(abs(seconds) >= 9e15 || abs(seconds) < 1.0, comment)
        }
    }

    @Test("The page of the explorer shows a date as its fields read it")
    func shownDates() {
        let seed = TestSeed.current(for: "shownDates")
        for round in TestRounds(seconds: 0.2, atLeast: 500) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let text = DateText.text(Self.seconds(&random))
            // As values.js writes it, in a table and on the page of an object.
            for shown in [text.replacing("T", with: " "), text.replacing("T", with: " ").replacing("Z", with: "") + " UTC"]
            where text.hasSuffix("Z") {
                let read = try? DateText.date(shown, .typed)
                expect(read.map { DateText.text($0) }, equals: text, "COREDATA_TEST_SEED=\(seed), round \(round): \(shown)")
            }
        }
    }

    @Test("Dates are written as Foundation writes them, since it has the Gregorian calendar")
    func foundation() {
        let formatter = ISO8601DateFormatter()
        let http = DateFormatter()
        http.locale = Locale(identifier: "en_US_POSIX")
        http.timeZone = .gmt
        http.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let seed = TestSeed.current(for: "foundation")
        for round in TestRounds(seconds: 0.5, atLeast: 1000) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            // From 1600 to 9999.
            let seconds = Double(Int64.random(in: -12_654_489_600..<252_423_993_600, using: &random))
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            expect(DateText.text(date), equals: formatter.string(from: date), "COREDATA_TEST_SEED=\(seed): \(seconds)")
            let text = http.string(from: date)
            expect(DateText.http(seconds), equals: text, "COREDATA_TEST_SEED=\(seed): \(seconds)")
            expect(try? DateText.seconds(text, .http), equals: seconds, "COREDATA_TEST_SEED=\(seed): \(text)")
            expect(
                try? DateText.seconds(text, .cookie), equals: date < Date(timeIntervalSinceReferenceDate: -12_622_780_800) ? nil : seconds,
                "\(text)")
        }
    }

    @Test("Dates are written as a calendar says that counts the days, in all years")
    func calendar() {
        let seed = TestSeed.current(for: "calendar")
        for round in TestRounds(seconds: 0.3, atLeast: 200) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let year = Int.random(in: -20_000...20_000, using: &random)
            let (month, day) = (Int.random(in: 1...12, using: &random), Int.random(in: 1...31, using: &random))
            guard let days = DateCalendar.days(year, month, day) else { continue }
            let digits = String(format: "%06d-%02d-%02d", abs(year), month, day)
            let text = 0...9999 ~= year ? String(digits.dropFirst(2)) : (year < 0 ? "-" : "+") + digits
            let comment: Comment = "COREDATA_TEST_SEED=\(seed), round \(round): \(text)"
            expect(DateText.day(Double(days * 86_400 + random.below(86_400))), equals: text, comment)
            expect(try? DateText.seconds(text, .iso8601), equals: Double(days * 86_400), comment)
        }
    }

    @Test("A column's style is that of its texts, and has the date to its last digit")
    func styles() {
        let seed = TestSeed.current(for: "styles")
        for round in TestRounds(seconds: 0.3, atLeast: 500) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let digits = random.below(8)
            let style = DateStyle(
                separator: random.chance(0.5) ? " " : "T", fractionDigits: digits == 0 ? 0 : digits,
                zone: ["", "Z", "+00:00"][random.below(3)])
            // A fraction of digits that end with another one than zero.
            let scale = pow(10, Double(digits))
            let fraction = digits == 0 ? 0 : Double(random.below(Int(scale) / 10) * 10 + 1 + random.below(9)) / scale
            let seconds = Double(Int64.random(in: -3_000_000...3_000_000, using: &random)) + fraction
            let comment: Comment = "COREDATA_TEST_SEED=\(seed), round \(round)"
            let text = DateText.text(seconds, style) ?? ""
            expect(DateStyle(of: text), equals: style, "\(comment): \(text)")
            let read = (try? DateText.seconds(text, .database)) ?? .nan
            #expect(abs(read - seconds) < 1e-9, "\(comment): \(text)")
        }
        expect(DateStyle(of: "2026-03-01"), equals: .day)
        #expect(DateStyle(of: "2026-02-30") == nil)
        // A rounded second may be one of the next day.
        expect(DateText.text(-0.0000001, DateStyle(separator: "T", fractionDigits: 3)), equals: "2001-01-01T00:00:00")
        #expect(DateText.text(-63_145_526_401, DateStyle()) == nil)
    }

    @Test("A damaged text is refused, or read as a second reader reads it")
    func damage() {
        let seed = TestSeed.current(for: "damage")
        let letters = Array("0123456789-+:.,TtZz UGMCtceS\r\n\0\u{e}\u{e9}".unicodeScalars)
        for round in TestRounds(seconds: 1, atLeast: 2000) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let notation = [DateNotation.iso8601, .database, .typed, .http][random.below(4)]
            var seconds = Self.seconds(&random)
            if random.chance(0.1) { seconds = 504_921_599 }
            var text = notation == .http ? DateText.http(seconds) ?? "Sun, 06-Nov-94 08:49:37 GMT" : DateText.text(seconds)
            if notation != .http {
                let zone = ["", "Z", "z", "+01:00", "-0530", "+18", " ", " Z", " UTC", "gmt", " +00:00", "+18:01", "+23:59"][
                    random.below(13)]
                text = String(text.dropLast()) + zone
                if random.chance(0.5) { text = text.replacing("T", with: " ") }
            } else {
                text = text.replacing("GMT", with: ["GMT", "+0100", "PST", "-05:30", "UTC"][random.below(5)])
            }
            var scalars = Array(text.unicodeScalars)
            for _ in 0..<random.below(3) where !scalars.isEmpty {
                let place = random.below(scalars.count)
                switch random.below(3) {
                case 0: scalars[place] = letters[random.below(letters.count)]
                case 1: scalars.insert(letters[random.below(letters.count)], at: place)
                default: scalars.remove(at: place)
                }
            }
            var damaged = String.UnicodeScalarView()
            damaged.append(contentsOf: scalars)
            text = String(damaged)
            expect(
                try? DateText.seconds(text, notation), equals: DateReference.seconds(text, notation),
                "COREDATA_TEST_SEED=\(seed), round \(round): \(text) (\(notation))")
        }
    }
}
