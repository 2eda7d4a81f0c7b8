internal import Foundation

/// The form of dates in a text column: ISO 8601, in one of the ways that programs write it.
struct SQLiteDateStyle: Hashable, Sendable {
    /// What is between the day and the time; nil for days only.
    var separator: Character? = " "
    /// The number of digits of a second's fraction; 0 for whole seconds.
    var fractionDigits = 0
    /// Whether a fraction of 0 is left out, as Python's programs do.
    var omitsZeroFraction = true
    /// What follows the time: nothing, `Z` or `+00:00`. Times are in UTC.
    var zone = ""

    var isDay: Bool { separator == nil }

    /// The form of days.
    static let day = SQLiteDateStyle(separator: nil)

    init(separator: Character? = " ", fractionDigits: Int = 0, zone: String = "") {
        (self.separator, self.fractionDigits, self.zone) = (separator, fractionDigits, zone)
    }

    /// The form of a text; nil for one that is no date.
    init?(of text: String) {
        guard SQLiteDates.seconds(text) != nil else { return nil }
        if text.utf8.count == 10 {
            self = .day
            return
        }
        let time = text.dropFirst(11)
        self.init(separator: text.dropFirst(10).first ?? " ")
        if let dot = time.firstIndex(of: ".") { fractionDigits = time[dot...].dropFirst().prefix { $0.isNumber }.count }
        if let zone = time.firstIndex(where: { $0 == "Z" || $0 == "+" || $0 == "-" }) {
            // Times of other zones are written in UTC, which is the same time.
            self.zone = time[zone] == "Z" ? "Z" : "+00:00"
        }
    }
}

/// Dates as the columns of other programs have them.
enum SQLiteDates {
    /// The seconds from 1970 to 2001.
    static let epoch = Date.timeIntervalBetween1970AndReferenceDate

    // MARK: Texts

    /// Returns the seconds since 2001 of an ISO 8601 text: a day, or a day and a time, which is in UTC unless it says otherwise; nil for another
    /// text.
    static func seconds(_ text: String) -> Double? {
        var text = text
        return text.withUTF8 { seconds($0) }
    }

    static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        var place = 0
        func number(_ digits: Int) -> Int? {
            guard place + digits <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[place..<place + digits] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            place += digits
            return value
        }
        func skip(_ letter: Character) -> Bool {
            guard place < bytes.count, bytes[place] == letter.asciiValue else { return false }
            place += 1
            return true
        }
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2), (1...12).contains(month),
            (1...daysIn(month, year)).contains(day)
        else { return nil }
        let days = daysSince1970(year, month, day)
        var seconds = Double(days) * 86_400 - epoch
        if place == bytes.count { return seconds }
        guard skip(" ") || skip("T") || skip("t"), let hour = number(2), skip(":"), let minute = number(2), hour < 24, minute < 60 else {
            return nil
        }
        seconds += Double(hour * 3600 + minute * 60)
        if skip(":") {
            guard let second = number(2), second <= 60 else { return nil }
            seconds += Double(second)
            if skip(".") {
                let start = place
                while place < bytes.count, bytes[place] >= 0x30, bytes[place] <= 0x39 { place += 1 }
                guard place > start, place - start <= 12,
                    let fraction = Double("0." + String(decoding: bytes[start..<place], as: UTF8.self))
                else { return nil }
                seconds += fraction
            }
        }
        _ = skip(" ")
        if place == bytes.count || skip("Z") || skip("z") { return place == bytes.count ? seconds : nil }
        let isNegative = skip("-")
        guard isNegative || skip("+"), let hours = number(2), hours < 24 else { return nil }
        _ = skip(":")
        var minutes = 0
        if place < bytes.count {
            guard let given = number(2), given < 60 else { return nil }
            minutes = given
        }
        let offset = Double(hours * 3600 + minutes * 60)
        return place == bytes.count ? seconds - (isNegative ? -offset : offset) : nil
    }

    /// Returns seconds since 2001 as a text; nil for a year that four digits do not hold.
    static func text(_ seconds: Double, _ style: SQLiteDateStyle) -> String? {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        // Rounded to the digits that the text has, which may carry over to the next day.
        let digits = style.isDay ? 0 : min(style.fractionDigits == 0 ? 6 : style.fractionDigits, 9)
        var whole = (seconds + epoch).rounded(.down)
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        var fraction = (((seconds + epoch) - whole) * scale).rounded()
        if fraction >= scale, digits > 0 {
            fraction = 0
            whole += 1
        }
        let (days, rest) = Int(whole).quotientAndFlooredRemainder(86_400)
        guard let (year, month, day) = date(days) else { return nil }
        let text = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        guard let separator = style.separator else { return text }
        var time = "\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
        if fraction > 0 || !style.omitsZeroFraction { time += ".\(padded(Int(fraction), digits))" }
        return text + String(separator) + time + style.zone
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    // MARK: The calendar

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
    private static func daysIn(_ month: Int, _ year: Int) -> Int {
        month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// The Gregorian calendar, also for the days before it, as SQLite and ISO 8601 have it.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years that begin in March have their leap day last.
        let shifted = month <= 2 ? year - 1 : year
        let (era, ofEra) = shifted.quotientAndFlooredRemainder(400)
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    private static func date(_ days: Int) -> (year: Int, month: Int, day: Int)? {
        let (era, ofEra) = (days + 719_468).quotientAndFlooredRemainder(146_097)
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * ofYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (0...9999).contains(year) ? (year, month, ofYear - (153 * shifted + 2) / 5 + 1) : nil
    }
}

extension Int {
    fileprivate func quotientAndFlooredRemainder(_ divisor: Int) -> (Int, Int) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}
