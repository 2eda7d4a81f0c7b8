internal import Foundation
internal import PropertyLists

/// Writes and reads dates in a format.
struct DateText: Sendable {
    private enum Form: Sendable {
        case iso8601
        /// A number of seconds, divided by a factor, since a date that is so many seconds after 2001.
        case number(factor: Double, origin: Double)
        case pattern([Part])
    }
    private enum Part: Sendable {
        case year, shortYear, month, day, hour, minute, second, milliseconds
        case literal(UInt8)
    }
    private let form: Form
    let name: String
    private static let from1970To2001 = 978_307_200.0

    /// Creates a format by its name or pattern; nil where the pattern has other letters.
    init?(_ name: String) {
        self.name = name
        switch name {
        case "iso8601": form = .iso8601
        case "seconds2001": form = .number(factor: 1, origin: 0)
        case "seconds1970": form = .number(factor: 1, origin: -Self.from1970To2001)
        case "milliseconds1970": form = .number(factor: 1000, origin: -Self.from1970To2001)
        default:
            let letters: [(String, Part)] = [
                ("yyyy", .year), ("yy", .shortYear), ("MM", .month), ("dd", .day), ("HH", .hour), ("mm", .minute), ("ss", .second),
                ("SSS", .milliseconds),
            ]
            var parts: [Part] = []
            var rest = Substring(name)
            while let first = rest.first {
                if let (text, part) = letters.first(where: { rest.hasPrefix($0.0) }) {
                    parts.append(part)
                    rest = rest.dropFirst(text.count)
                } else if let byte = first.asciiValue, !first.isLetter || first == "T" || first == "Z" {
                    parts.append(.literal(byte))
                    rest = rest.dropFirst()
                } else {
                    return nil
                }
            }
            if parts.isEmpty { return nil }
            form = .pattern(parts)
        }
    }

    // MARK: Reading

    /// Returns a date as seconds since 2001; nil for text of another form.
    func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
        switch form {
        case .iso8601: return DateScanner.iso8601(text) ?? NumberText.double(text, separator: 0x2E)
        case .number(let factor, let origin): return NumberText.double(text, separator: 0x2E).map { $0 / factor + origin }
        case .pattern(let parts): return Self.seconds(text, parts)
        }
    }

    private static func seconds(_ text: UnsafeRawBufferPointer, _ parts: [Part]) -> Double? {
        var reader = DateScanner(text)
        var (year, month, day, hour, minute, second, milliseconds) = (2001, 1, 1, 0, 0, 0, 0)
        for part in parts {
            let number: Int?
            switch part {
            case .literal(let byte):
                guard reader.pass(byte) else { return nil }
                continue
            case .year: number = reader.digits(4)
            case .milliseconds: number = reader.digits(3)
            case .shortYear, .month, .day, .hour, .minute, .second: number = reader.digits(2)
            }
            guard let number else { return nil }
            switch part {
            case .year: year = number
            case .shortYear: year = number < 70 ? 2000 + number : 1900 + number
            case .month: month = number
            case .day: day = number
            case .hour: hour = number
            case .minute: minute = number
            case .second: second = number
            case .milliseconds: milliseconds = number
            case .literal: break
            }
        }
        guard reader.isAtEnd, let whole = Calendar2001.seconds(year, month, day, hour, minute, second) else { return nil }
        return Double(whole) + Double(milliseconds) / 1000
    }

    // MARK: Writing

    /// Appends a date. In ISO 8601, it has as many digits as give the same date back, and a date that has no such text is a number of seconds.
    func append(_ seconds: Double, to output: inout [UInt8]) {
        switch form {
        case .number(let factor, let origin): NumberText.append((seconds - origin) * factor, separator: 0x2E, to: &output)
        case .iso8601:
            let whole = seconds.rounded(.down)
            guard abs(whole) < 1e12 else { return NumberText.append(seconds, separator: 0x2E, to: &output) }
            let (year, month, day, rest) = Calendar2001.date(Int(whole))
            guard 0...9999 ~= year else { return NumberText.append(seconds, separator: 0x2E, to: &output) }
            let fraction = seconds - whole
            var digits = ""
            if fraction != 0 {
                let exact = (1...18).lazy.map { String(format: "%.\($0)f", fraction) }.first { text in
                    text.hasPrefix("0.") && Double(text).map { whole + $0 == seconds } ?? false
                }
                guard let exact else { return NumberText.append(seconds, separator: 0x2E, to: &output) }
                digits = String(exact.dropFirst(1))
            }
            Self.put(year, 4, &output)
            output.append(0x2D)
            Self.put(month, 2, &output)
            output.append(0x2D)
            Self.put(day, 2, &output)
            output.append(UInt8(ascii: "T"))
            Self.put(rest / 3600, 2, &output)
            output.append(0x3A)
            Self.put(rest / 60 % 60, 2, &output)
            output.append(0x3A)
            Self.put(rest % 60, 2, &output)
            output += digits.utf8
            output.append(UInt8(ascii: "Z"))
        case .pattern(let parts):
            let total = (seconds * 1000).rounded(.down)
            guard abs(total) < 1e15 else { return NumberText.append(seconds, separator: 0x2E, to: &output) }
            let (year, month, day, rest) = Calendar2001.date(Int((total / 1000).rounded(.down)))
            for part in parts {
                switch part {
                case .year: Self.put(year, 4, &output)
                case .shortYear: Self.put(year % 100, 2, &output)
                case .month: Self.put(month, 2, &output)
                case .day: Self.put(day, 2, &output)
                case .hour: Self.put(rest / 3600, 2, &output)
                case .minute: Self.put(rest / 60 % 60, 2, &output)
                case .second: Self.put(rest % 60, 2, &output)
                case .milliseconds: Self.put(Int(total - (total / 1000).rounded(.down) * 1000), 3, &output)
                case .literal(let byte): output.append(byte)
                }
            }
        }
    }

    private static func put(_ number: Int, _ width: Int, _ output: inout [UInt8]) {
        let digits = Array(String(number).utf8)
        output += repeatElement(0x30, count: max(0, width - digits.count)) + digits
    }
}

/// The seconds around 2001, in Coordinated Universal Time.
private enum Calendar2001 {
    /// Returns the seconds since 2001; nil for a time that does not exist.
    static func seconds(_ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int) -> Int? {
        guard 0...24 ~= hour, 0...59 ~= minute, 0...60 ~= second, let days = GregorianDays.days(year, month, day) else { return nil }
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Returns the date of so many seconds since 2001, with the seconds of the day.
    static func date(_ seconds: Int) -> (year: Int, month: Int, day: Int, rest: Int) {
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let (year, month, day) = GregorianDays.date(days)
        return (year, month, day, seconds - days * 86_400)
    }
}
