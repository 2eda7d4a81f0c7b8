package import Foundation
internal import PropertyLists

/// Dates in ISO 8601, in UTC, with as many digits of seconds as it takes to read the same date back.
package enum DateText {
    /// Returns the text of a date; its seconds since 2001 where the year is not one of 0 to 9999, which ISO 8601 writes with four digits.
    package static func string(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) < 1e12 else { return "\(seconds)" }
        let whole = seconds.rounded(.down)
        guard let fraction = fraction(seconds, whole) else { return "\(seconds)" }
        let (day, second) = floorDivide(Int(whole), by: 86_400)
        let (year, month, dayOfMonth) = GregorianDays.date(day)
        guard 0...9999 ~= year else { return "\(seconds)" }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let digits = String(year)
        let years = String(repeating: "0", count: 4 - digits.count) + digits
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
}
