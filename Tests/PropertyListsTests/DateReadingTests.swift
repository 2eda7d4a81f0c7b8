import Foundation
import PropertyLists
import TestSupport
import Testing

/// What each notation reads, and refuses.
@Suite("Dates are read whole, or refused") struct DateReadingTests {
    private static func seconds(_ text: String, _ notation: DateNotation) -> Double? { try? DateText.seconds(text, notation) }

    @Test("No form of ISO 8601 reads a day, a time or an offset that does not exist, or a part of a text")
    func refused() {
        let texts = [
            "", "2026", "2026-03", "20260301", "2026-3-1", "2026-02-30", "2026-02-29", "2026-13-01", "2026-00-01", "2026-01-00",
            "2026-04-31",
            "2026-03-01T", "2026-03-01T10", "2026-03-01T1000", "2026-03-01T25:00", "2026-03-01T25:00:00Z", "2026-03-01T24:00:00Z",
            "2026-03-01T10:60:00Z", "2026-03-01T10:00:61Z", "2026-03-01T10:00:00.Z", "2026-03-01T10:00:00+99:99",
            "2026-03-01T10:00:00+18:01",
            "2026-03-01T10:00:00-19:00", "2026-03-01T10:00:00+01:60", "2026-03-01T10:00:00+1", "2026-03-01T10:00:00+01:",
            "2026-03-01T10:00:00Zx",
            "2026-03-01T10:00:00Z ", " 2026-03-01", "2026-03-01 ", "2026-03-01x", "2026-03-01 junk", "2026-03-01 10:00:00 junk",
            "2026-03-01 10:00:00  UTC", "2026-03-01 10:00:00 UTCx", "2026-03-01 10:00:00 CET", "-0000-01-01", "-000000-01-01", "+126-01-01",
            "٢٠٢٦-03-01", "2026–03–01", "2026-03-01T10:00:00Z\0", "999999999-01-01", "+999999999-01-01", "-0001-02-29", "1900-02-29", "nan",
            "inf",
        ]
        for notation in [DateNotation.iso8601, .database, .typed] {
            for text in texts { #expect(Self.seconds(text, notation) == nil, "\(notation): \(text)") }
        }
    }

    @Test("One date is read from all its spellings in ISO 8601")
    func spellings() {
        let plain = [
            "2026-03-01T10:00:00Z", "2026-03-01t10:00:00z", "2026-03-01 10:00:00", "2026-03-01T10:00", "2026-03-01T10:00:00.000Z",
            "2026-03-01T10:00:00,0", "2026-03-01T11:00:00+01:00", "2026-03-01T11:00:00+0100", "2026-03-01T11:00:00+01",
            "2026-02-28T16:00:00-18:00",
            "2026-03-02T04:00:00+18:00", "2026-03-01T10:00:00-00:00", "+2026-03-01T10:00:00Z", "+002026-03-01T10:00:00Z",
        ]
        let blank = ["2026-03-01 10:00:00 ", "2026-03-01 10:00:00 Z", "2026-03-01 11:00:00 +01", "2026-03-01 11:00:00.0 +01:00"]
        let words = ["2026-03-01 10:00:00 UTC", "2026-03-01 10:00:00UTC", "2026-03-01 10:00 utc", "2026-03-01T10:00:00.0 GMT"]
        for text in plain + blank + words {
            let isPlain = plain.contains(text)
            expect(Self.seconds(text, .typed), equals: 794_052_000, "\(text)")
            expect(Self.seconds(text, .database), equals: words.contains(text) ? nil : 794_052_000, "\(text)")
            expect(Self.seconds(text, .iso8601), equals: isPlain ? 794_052_000 : nil, "\(text)")
        }
    }

    @Test("A leap second is the first second of the next day, at the end of a month in UTC, and refused elsewhere")
    func leapSeconds() {
        for text in ["2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00", "2016-12-31T18:59:60-05:00", "2017-01-01T00:00:00Z"] {
            expect(Self.seconds(text, .iso8601), equals: 504_921_600, "\(text)")
        }
        expect(Self.seconds("2016-12-31T23:59:60.25Z", .iso8601), equals: 504_921_600.25)
        for text in ["2016-12-31T12:34:60Z", "2016-12-30T23:59:60Z", "2016-12-31T23:59:60+01:00", "2016-12-31T23:58:60Z"] {
            #expect(Self.seconds(text, .iso8601) == nil, "\(text)")
        }
        expect(Self.seconds("Sat, 31 Dec 2016 23:59:60 GMT", .http), equals: 504_921_600)
        #expect(Self.seconds("Sat, 31 Dec 2016 12:34:60 GMT", .http) == nil)
    }

    @Test("The calendar is the Gregorian one, also before it was one, before the year 1 and after 9999")
    func distantYears() {
        expect(Self.seconds("1582-10-10", .iso8601), equals: Double(DateCalendar.days(1582, 10, 10)! * 86_400))
        expect(Self.seconds("0000-02-29", .iso8601), equals: Double(DateCalendar.days(0, 2, 29)! * 86_400))
        expect(Self.seconds("-0043-03-15", .iso8601), equals: Double(DateCalendar.days(-43, 3, 15)! * 86_400))
        expect(Self.seconds("+012026-03-01", .iso8601), equals: Double(DateCalendar.days(12_026, 3, 1)! * 86_400))
        expect(DateText.text(Double(DateCalendar.days(-43, 3, 15)! * 86_400)), equals: "-000043-03-15T00:00:00Z")
        expect(DateText.text(Double(DateCalendar.days(12_026, 3, 1)! * 86_400)), equals: "+012026-03-01T00:00:00Z")
    }

    @Test("The three forms of HTTP and those of mails are read")
    func http() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 GMT",
            "6 Nov 1994 09:49:37 +0100", "Sun, 06 Nov 1994 03:49:37 EST", "sun, 06 november 1994 8:49:37 utc",
            "Sun, 06 Nov 1994 08:49:37 -0000",
        ] {
            expect(Self.seconds(text, .http), equals: -194_195_423, "\(text)")
        }
        for text in [
            "", "Sun, 06 Nov", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, 30 Feb 1994 08:49:37 GMT", "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 GMT x",
            "Sun, 06 Nov 1994 08:49:37 +99:99", "Sun, 06 Nov 1994 08:49:37 MEZ", "Sun, 06 Nov 994 08:49:37 GMT",
            "Sun, 06-Nov 1994 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994 GMT", "Su, 06 Nov 1994 08:49:37 GMT", "2026-03-01",
        ] {
            #expect(Self.seconds(text, .http) == nil, "\(text)")
        }
        // RFC 9110: not more than fifty years from now.
        let text = "06-Nov-77 08:49:37 GMT"
        expect((try? DateText.seconds(text, .http, latestYear: 2076)).map(DateText.year), equals: 1977)
        expect((try? DateText.seconds(text, .http, latestYear: 2077)).map(DateText.year), equals: 2077)
    }

    @Test("Dates of cookies are read as RFC 6265 says")
    func cookies() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Mon, 06-Nov-1994 08:49:37 PST",
            "1994 nov 06 8:49:37", "08:49:37x 6th November 94", "06;Nov;1994;08:49:37",
        ] {
            expect(Self.seconds(text, .cookie), equals: -194_195_423, "\(text)")
        }
        for text in [
            "", "Sun, 06 Nov 1994", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60", "06 Nov 1600 08:49:37",
            "31 Nov 1994 08:49:37", "32 Nov 1994 08:49:37", "06 Nox 1994 08:49:37", "06 Nov 1994 008:49:37",
        ] {
            #expect(Self.seconds(text, .cookie) == nil, "\(text)")
        }
        expect(Self.seconds("06 Nov 69 08:49:37", .cookie).map(DateText.year), equals: 2069)
        expect(Self.seconds("06 Nov 70 08:49:37", .cookie).map(DateText.year), equals: 1970)
    }

    @Test("A number is a date only where it was written for one that has no text")
    func numbers() {
        func distant(_ text: String, takesWhole: Bool = false) -> Double? {
            var copy = text
            return copy.withUTF8 { DateText.distant(UnsafeRawBufferPointer($0), takesWhole: takesWhole) }
        }
        expect(distant("1e+300"), equals: 1e300)
        expect(distant("-63145526401.0"), equals: -63_145_526_401)
        for text in [
            "2026", "20260301", "1772359200", "-63145526401", "nan", "inf", "-inf", "0x10", "0x1p3", "", ".", "1e999", "2026-03-01", "1.5 ",
        ] {
            #expect(distant(text) == nil, "\(text)")
        }
        // Earlier versions wrote whole numbers into files, for years beyond 0 to 9999.
        expect(distant("-63145526401", takesWhole: true), equals: -63_145_526_401)
        expect(distant("252423993600", takesWhole: true), equals: 252_423_993_600)
        for text in ["2026", "20260301", "1772359200", "-63145526400", "252423993599"] {
            #expect(distant(text, takesWhole: true) == nil, "\(text)")
        }
    }

    @Test("Seconds since 1970 are decimal numerals")
    func counts() {
        func seconds(_ text: String, _ count: DateCount) -> Double? {
            var copy = text
            return copy.withUTF8 { count.seconds(UnsafeRawBufferPointer($0)) }
        }
        expect(seconds("978307200", .seconds1970), equals: 0)
        expect(seconds("978307200500", .milliseconds1970), equals: 0.5)
        expect(seconds("978307200500000", .microseconds1970), equals: 0.5)
        expect(seconds("-1.5e0", .seconds2001), equals: -1.5)
        for text in ["", "nan", "inf", "-inf", "0x10", "1e999", "1 ", "1,5", "2026-03-01"] {
            #expect(seconds(text, .seconds1970) == nil, "\(text)")
        }
    }

    @Test("A mistake says what was found, where, and what should be there")
    func messages() {
        func message(_ text: String, _ notation: DateNotation = .typed) -> String? {
            do throws(DateMistake) {
                _ = try DateText.seconds(text, notation)
                return nil
            } catch {
                return error.description(of: text)
            }
        }
        expect(
            message("2026-02-30"), equals: "“2026-02-30” is not a date: at character 9 there is “30”, where a day from 1 to 28 should be.")
        expect(
            message("2026-03-01T10:00:00+99:99"),
            equals:
                "“2026-03-01T10:00:00+99:99” is not a date: at character 20 there is “+99:99”, where an offset from −18:00 to +18:00 should be."
        )
        expect(
            message("2026-03-01 25:00"),
            equals: "“2026-03-01 25:00” is not a date: at character 12 there is “25:00”, where an hour from 0 to 23 should be.")
        expect(
            message("2026-03-01 10:00:00 UTC or so"),
            equals: "“2026-03-01 10:00:00 UTC or so” is not a date: at character 24 there is “ or so”, where the end should be.")
        expect(message("2026-03"), equals: "“2026-03” is not a date: at character 8 it ends, where “-” should be.")
        expect(message("äöü"), equals: "“äöü” is not a date: at character 1 there is “äöü”, where 4 digits of the year should be.")
        expect(
            message("Mon, 06 Nov 1994 08:49:37 GMT", .http),
            equals:
                "“Mon, 06 Nov 1994 08:49:37 GMT” is not a date: at character 1 there is “Mon, 06 Nov 1994 08:…”, where the weekday of the date, "
                + "which is Sunday, should be.")
    }
}
