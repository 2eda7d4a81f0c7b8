package import Foundation

/// Dates in ISO 8601, in UTC, with as many digits of seconds as it takes to read the same date back.
package enum DateText {
    /// Returns the text of a date; its seconds since 2001 where no calendar has it.
    package static func string(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 1e11 else { return "\(seconds)" }
        let whole = seconds.rounded(.down)
        guard let fraction = fraction(seconds, whole) else { return "\(seconds)" }
        let (day, second) = floorDivide(Int(whole), by: 86_400)
        let (year, month, dayOfMonth) = civil(day + 11_323)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let sign = year < 0 ? "-" : ""
        let digits = String(abs(year))
        let years = sign + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let time = "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
        return "\(years)-\(two(month))-\(two(dayOfMonth))T\(time)\(fraction)Z"
    }

    /// Returns the shortest digits of a fraction with which the same date is read; nil where none do.
    private static func fraction(_ seconds: Double, _ whole: Double) -> String? {
        let fraction = seconds - whole
        if fraction == 0 { return "" }
        var (scale, digits) = (1.0, 0)
        while digits < 9 {
            (scale, digits) = (scale * 10, digits + 1)
            let number = (fraction * scale).rounded()
            if number < scale, whole + number / scale == seconds {
                let text = String(Int(number))
                return "." + String(repeating: "0", count: digits - text.count) + text
            }
        }
        // All digits, of dates near 2001. A date just before it may have more than the fraction.
        guard whole + fraction == seconds else { return nil }
        let text = "\(fraction)"
        return text.hasPrefix("0.") && !text.contains("e") ? String(text.dropFirst()) : nil
    }

    private static func floorDivide(_ number: Int, by divisor: Int) -> (Int, Int) {
        let remainder = (number % divisor + divisor) % divisor
        return ((number - remainder) / divisor, remainder)
    }

    /// Returns the date of a number of days since 1970, in the proleptic Gregorian calendar.
    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let (era, dayOfEra) = floorDivide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
