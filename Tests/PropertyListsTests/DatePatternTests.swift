import Foundation
import PropertyLists
import TestSupport
import Testing

/// Patterns of files, and those of `DateFormatter`.
@Suite("Patterns of dates") struct DatePatternTests {
    private static func formatter(_ pattern: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = pattern
        return formatter
    }

    /// Returns a pattern that has a whole date and a time, in a random order.
    private static func pattern(_ random: inout SeededGenerator) -> String {
        func one(_ texts: [String]) -> String { texts[random.below(texts.count)] }
        var parts = [
            one(["yyyy", "y", "u", "uuuu"]), one(["M", "MM", "MMM", "MMMM", "LL", "LLLL"]), one(["d", "dd"]), one(["m", "mm"]),
        ]
        parts += random.chance(0.5) ? [one(["H", "HH"])] : [one(["h", "hh"]), "a"]
        parts.append(one(["s", "ss"]))
        if random.chance(0.3) { parts.append(one(["SS", "SSS", "SSSSSS"])) }
        if random.chance(0.3) { parts.append(one(["E", "EEE", "EEEE"])) }
        if random.chance(0.3) { parts.append(one(["z", "zzz", "Z", "ZZZ", "ZZZZZ", "X", "XX", "XXX", "xx", "xxx"])) }
        parts.shuffle(using: &random)
        return parts.dropFirst().reduce(parts[0]) { text, part in
            text + one([" ", "; ", "/", "'T'", " 'o''clock' ", "_", " — ", "''"]) + part
        }
    }

    @Test("A pattern writes and reads as DateFormatter does")
    func dateFormatter() throws {
        let seed = TestSeed.current(for: "dateFormatter")
        for round in TestRounds(seconds: 1, atLeast: 100) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let text = Self.pattern(&random)
            let comment: Comment = "COREDATA_TEST_SEED=\(seed), round \(round): \(text)"
            let (pattern, formatter) = (try DatePattern(ofDateFormatter: text), Self.formatter(text))
            for _ in 0..<5 {
                let whole = Double(Int64.random(in: -12_000_000_000..<252_000_000_000, using: &random))
                let seconds = whole + (text.contains("S") ? Double(random.below(4)) / 4 : 0)
                let date = Date(timeIntervalSinceReferenceDate: seconds)
                let written = try #require(DateText.text(seconds, pattern), comment)
                expect(written, equals: formatter.string(from: date), comment)
                expect(try? DateText.seconds(written, .pattern(pattern)), equals: seconds, "\(comment): \(written)")
            }
        }
    }

    @Test("A pattern is read whole, or refused")
    func refused() throws {
        func seconds(_ text: String, _ pattern: String) throws -> Double? {
            try? DateText.seconds(text, .pattern(try DatePattern(ofDateFormatter: pattern)))
        }
        for (text, pattern) in [
            ("2026-02-30", "yyyy-MM-dd"), ("2026-03-01 junk", "yyyy-MM-dd"), (" 2026-03-01", "yyyy-MM-dd"), ("26-03-01", "yyyy-MM-dd"),
            ("2026-13-01", "yyyy-MM-dd"), ("12026-03-01", "y-MM-dd"), ("20260230", "yyyyMMdd"), ("2026031", "yyyyMMdd"), ("25:00", "HH:mm"),
            ("24:00", "HH:mm"), ("13:00 PM", "h:mm a"), ("1:00 XM", "h:mm a"), ("2026-03-01 +99:99", "yyyy-MM-dd xxx"),
            ("Mon, 1 Mar 2026", "EEE, d MMM yyyy"), ("1 Mrz 2026", "d MMM yyyy"), ("10:00:60", "HH:mm:ss"), ("10:00.", "HH:mm.SS"),
        ] {
            expect(try seconds(text, pattern), equals: nil, "\(text) (\(pattern))")
        }
        for (text, pattern) in [
            ("2026-3-1", "yyyy-MM-dd"), ("2026-03-01", "yyyy-M-d"), ("20260301", "yyyyMMdd"), ("1.3.2026", "dd.MM.yyyy"),
            ("26-03-01", "yy-MM-dd"),
            ("2026-03-01", "yy-MM-dd"), ("Mar 1, 2026", "MMMM d, yyyy"), ("march 1, 2026", "MMM d, yyyy"),
            ("Sunday 1 Mar 2026", "E d MMM yyyy"),
            ("2026-03-01T01:00+0100", "yyyy-MM-dd'T'HH:mmZ"), ("2026-03-01T01:00+01:00", "yyyy-MM-dd'T'HH:mmZ"),
            ("2026-03-01T00:00Z", "yyyy-MM-dd'T'HH:mmZ"), ("12:00 AM 2026-03-01", "h:mm a yyyy-MM-dd"),
        ] {
            expect(try seconds(text, pattern), equals: 794_016_000, "\(text) (\(pattern))")
        }
    }

    @Test("A letter that is not read is refused, with what to write")
    func letters() {
        func message(_ text: String) -> String? {
            do throws(DatePattern.Mistake) {
                _ = try DatePattern(ofDateFormatter: text)
                return nil
            } catch {
                return error.message
            }
        }
        for text in [
            "YYYY-MM-dd", "yyyy-'W'ww", "D yyyy", "yyyy G", "QQQ yyyy", "zzzz", "ZZZZ", "yyyy-MM-ddTHH", "MMMMM", "SSSSSSSSSS", "yMd", "",
            "'open",
        ] {
            #expect(message(text) != nil, "\(text)")
        }
        #expect(message("YYYY-MM-dd")?.contains("Write yyyy") == true)
        #expect(message("yyyy-MM-ddTHH")?.contains("'T'") == true)
        #expect(throws: DatePattern.Mistake.self) { try DatePattern(ofFiles: "d.M.yyyy") }
        #expect(throws: DatePattern.Mistake.self) { try DatePattern(ofFiles: "") }
    }

    @Test("A pattern of files writes and reads the same date, or refuses its year")
    func files() throws {
        let seed = TestSeed.current(for: "files")
        let whole = try DatePattern(ofFiles: "dd.MM.yyyyTHH:mm:ss,SSSZ")
        let short = try DatePattern(ofFiles: "yyMMddHHmmss")
        for round in TestRounds(seconds: 0.3, atLeast: 500) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let seconds = Double(Int64.random(in: -70_000_000_000..<260_000_000_000, using: &random)) + Double(random.below(1000)) / 1000
            let comment: Comment = "COREDATA_TEST_SEED=\(seed), round \(round): \(seconds)"
            let year = DateText.year(seconds)
            let text = DateText.text(seconds, whole)
            expect(text != nil, equals: 0...9999 ~= year, comment)
            if let text { expect(try? DateText.seconds(text, .pattern(whole)), equals: seconds, comment) }
            let shortText = DateText.text(seconds, short)
            expect(shortText != nil, equals: 1970...2069 ~= year, comment)
            if let shortText { expect(try? DateText.seconds(shortText, .pattern(short)), equals: seconds.rounded(.down), comment) }
        }
        for text in [
            "30.02.2026T10:00:00,000Z", "01.03.2026T25:00:00,000Z", "1.3.2026T10:00:00,000Z", "01.03.2026T10:00:00,00Z", "01.03.2026",
        ] {
            #expect((try? DateText.seconds(text, .pattern(whole))) == nil, "\(text)")
        }
    }
}
