internal import Foundation
internal import JSONReading
internal import PropertyLists

/// Reads and writes dates.
enum DateText {
    /// Returns a date as JSON.
    static func json(_ date: Date, _ form: DateForm) -> JSONValue {
        func number(_ value: Double) -> JSONValue {
            value.rounded() == value && abs(value) < 1e15 ? .integer(Int64(value)) : .number(value)
        }
        switch form {
        case .secondsSince1970: return number(date.timeIntervalSince1970)
        case .millisecondsSince1970: return number((date.timeIntervalSince1970 * 1000).rounded())
        case .secondsSinceReferenceDate: return number(date.timeIntervalSinceReferenceDate)
        case .iso8601, .day, .http, .pattern: return .string(text(date, form))
        }
    }

    /// Returns a date as text.
    static func text(_ date: Date, _ form: DateForm) -> String {
        switch form {
        // Foundation writes the days before 1582 by the Julian calendar, and ISO 8601 has the Gregorian one.
        case .iso8601 where date.timeIntervalSince1970 < gregorianStart:
            let seconds = date.timeIntervalSince1970
            let days = (seconds / 86400).rounded(.down)
            let time = text(Date(timeIntervalSince1970: seconds - days * 86400), form)
            return day(Int(days)) + time.dropFirst(10)
        case .day where date.timeIntervalSince1970 < gregorianStart: return day(Int((date.timeIntervalSince1970 / 86400).rounded(.down)))
        case .iso8601:
            let seconds = date.timeIntervalSince1970
            let whole = seconds.rounded() == seconds
            var style = Date.ISO8601FormatStyle(timeZone: .gmt)
            if !whole {
                style = Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: .gmt)
                // Three digits are written: more would be lost, and the value that comes back would differ.
                let micros = (seconds * 1_000_000).rounded()
                if (micros / 1000).rounded() * 1000 != micros {
                    let base = Date(timeIntervalSince1970: (micros / 1_000_000).rounded(.down)).formatted(
                        Date.ISO8601FormatStyle(timeZone: .gmt))
                    let fraction = Int(micros - (micros / 1_000_000).rounded(.down) * 1_000_000)
                    let digits = String(repeating: "0", count: 6 - "\(fraction)".count) + "\(fraction)"
                    return base.dropLast() + ".\(digits)Z"
                }
            }
            return date.formatted(style)
        case .day: return date.formatted(Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day())
        case .http: return formatter("EEE, dd MMM yyyy HH:mm:ss 'GMT'").string(from: date)
        case .pattern(let pattern): return formatter(pattern).string(from: date)
        case .secondsSince1970: return "\(date.timeIntervalSince1970)"
        case .millisecondsSince1970: return "\((date.timeIntervalSince1970 * 1000).rounded())"
        case .secondsSinceReferenceDate: return "\(date.timeIntervalSinceReferenceDate)"
        }
    }

    /// The first day of the Gregorian calendar, in seconds since 1970.
    private static let gregorianStart = -12_219_292_800.0

    /// Returns a day of the Gregorian calendar, as if it had always been.
    private static func day(_ daysSince1970: Int) -> String {
        let (year, month, day) = GregorianDays.date(daysSince1970 - 11_323)
        func padded(_ number: Int, _ count: Int) -> String {
            String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    private static func formatter(_ pattern: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = pattern
        return formatter
    }

    /// Returns seconds since the reference date for a number; nil for a form of text.
    static func seconds(_ number: Double, _ form: DateForm) -> Double? {
        switch form {
        case .secondsSince1970: number - Date.timeIntervalBetween1970AndReferenceDate
        case .millisecondsSince1970: number / 1000 - Date.timeIntervalBetween1970AndReferenceDate
        case .secondsSinceReferenceDate: number
        case .iso8601, .day, .http, .pattern: nil
        }
    }

    /// Returns seconds since the reference date for text; nil for what is no date of the form.
    static func seconds(_ text: UnsafeRawBufferPointer, _ form: DateForm) -> Double? {
        switch form {
        case .iso8601, .day: return DateScanner.iso8601(text)
        case .secondsSince1970, .millisecondsSince1970, .secondsSinceReferenceDate:
            return Double(String(decoding: text, as: UTF8.self)).flatMap { seconds($0, form) }
        case .http:
            return formatter("EEE, dd MMM yyyy HH:mm:ss zzz").date(from: String(decoding: text, as: UTF8.self))?
                .timeIntervalSinceReferenceDate
        case .pattern(let pattern):
            return formatter(pattern).date(from: String(decoding: text, as: UTF8.self))?.timeIntervalSinceReferenceDate
        }
    }
}
