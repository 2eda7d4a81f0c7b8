extension DateText {
    /// Returns a date in ISO 8601, as ``append(_:to:)`` writes it.
    package static func text(_ seconds: Double) -> String {
        var output: [UInt8] = []
        append(seconds, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a date in ISO 8601, in UTC, with as many digits as it takes to read the same date back: `2026-03-01T10:00:00.25Z`.
    ///
    /// Years outside of 0 to 9999 have a sign and at least six digits, as JavaScript reads them. A date without such a text is a number of seconds
    /// since 2001, always with a point or an exponent, which ``distant(_:takesWhole:)`` reads: dates beyond 285 million years, and dates so close to
    /// 2001 that they would need more than forty digits of a second.
    package static func append(_ seconds: Double, to output: inout [UInt8]) {
        if !appendExact(seconds, to: &output) { output += "\(seconds)".utf8 }
    }

    /// Returns a date in ISO 8601, in UTC, rounded to nanoseconds if it would need more than forty digits of a second; nil for one beyond 285 million
    /// years.
    package static func rounded(_ seconds: Double) -> String? {
        var output: [UInt8] = []
        if appendExact(seconds, to: &output) { return String(decoding: output, as: UTF8.self) }
        guard seconds.magnitude < Double(DateParts.limit) else { return nil }
        let (whole, number) = split(seconds, 9)
        append(DateParts(whole), separator: UInt8(ascii: "T"), to: &output)
        appendFraction(number, 9, to: &output)
        output.append(UInt8(ascii: "Z"))
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the day of a date in UTC; nil for one beyond 285 million years.
    package static func day(_ seconds: Double) -> String? {
        guard seconds.magnitude < Double(DateParts.limit) else { return nil }
        var output: [UInt8] = []
        // Bounded: within 285 million years, as is looked at first.
        append(DateParts(Int(seconds.rounded(.down))), separator: nil, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns a date in the style of a column; nil for a year that four digits do not hold.
    package static func text(_ seconds: Double, _ style: DateStyle) -> String? {
        guard seconds.magnitude < Double(DateParts.limit) else { return nil }
        // Rounded to the digits that the text has, which may carry over to the next day.
        let digits = style.isDay ? 0 : min(style.fractionDigits == 0 ? 6 : style.fractionDigits, 9)
        // Bounded: within 285 million years, as is looked at first.
        let (whole, number) = style.isDay ? (Int(seconds.rounded(.down)), 0) : split(seconds, digits)
        let parts = DateParts(whole)
        guard 0...9999 ~= parts.year else { return nil }
        var output: [UInt8] = []
        append(parts, separator: style.separator, to: &output)
        if number > 0 { appendFraction(number, digits, to: &output) }
        return String(decoding: output, as: UTF8.self) + style.zone
    }

    /// Returns a date of HTTP, without its fraction; nil for a year that four digits do not hold.
    package static func http(_ seconds: Double) -> String? {
        guard seconds.magnitude < Double(DateParts.limit) else { return nil }
        // Bounded: within 285 million years, as is looked at first.
        let parts = DateParts(Int(seconds.rounded(.down)))
        guard 0...9999 ~= parts.year else { return nil }
        var output = Array("\(DateParts.weekdays[parts.weekday])".utf8.prefix(3)) + Array(", ".utf8)
        append(parts.day, 2, to: &output)
        output += " \(DateParts.months[parts.month - 1])".utf8.prefix(4)
        output.append(UInt8(ascii: " "))
        append(parts.year, 4, to: &output)
        output.append(UInt8(ascii: " "))
        appendTime(parts, to: &output)
        output += " GMT".utf8
        return String(decoding: output, as: UTF8.self)
    }

    // MARK: Parts

    /// Returns the whole seconds of a date, and its fraction rounded to so many digits.
    private static func split(_ seconds: Double, _ digits: Int) -> (whole: Int, number: Int) {
        let whole = seconds.rounded(.down)
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let number = ((seconds - whole) * scale).rounded()
        return number >= scale ? (Int(whole) + 1, 0) : (Int(whole), Int(number))
    }

    /// Appends a date with all its digits, and a `Z`; appends nothing if there are too many.
    private static func appendExact(_ seconds: Double, to output: inout [UInt8]) -> Bool {
        guard seconds.magnitude < Double(DateParts.limit) else { return false }
        let whole = seconds.rounded(.down)
        let fraction = seconds - whole
        let start = output.count
        append(DateParts(Int(whole)), separator: UInt8(ascii: "T"), to: &output)
        if fraction != 0, !appendExactFraction(seconds, whole, fraction, to: &output) {
            output.removeSubrange(start...)
            return false
        }
        output.append(UInt8(ascii: "Z"))
        return true
    }

    /// Appends the shortest digits of a fraction with which the same date is read; returns false if there are none.
    private static func appendExactFraction(_ seconds: Double, _ whole: Double, _ fraction: Double, to output: inout [UInt8]) -> Bool {
        var scale = 1.0
        for digits in 1...9 {
            scale *= 10
            let number = (fraction * scale).rounded()
            if number < scale, whole + number / scale == seconds {
                appendFraction(Int(number), digits, to: &output)
                return true
            }
        }
        // All digits, of dates near 2001. A date just before it may have more than the fraction.
        guard whole + fraction == seconds else { return false }
        let text = "\(fraction)"
        // 0.0625, or 6.25e-05 for smaller numbers.
        let parts = text.split(separator: "e")
        let digits = parts[0].utf8.filter { $0 != UInt8(ascii: ".") }
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        guard exponent > -5 || digits.count - exponent <= 40 else { return false }
        output.append(UInt8(ascii: "."))
        output += repeatElement(0x30, count: max(0, -exponent - 1))
        output += exponent == 0 ? digits.dropFirst() : digits[...]
        // A mantissa such as 5.0 has a redundant digit.
        while output.last == 0x30 { output.removeLast() }
        return true
    }

    private static func appendFraction(_ number: Int, _ digits: Int, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "."))
        append(number, digits, to: &output)
    }

    /// Appends a day, and a time if there is a separator.
    private static func append(_ parts: DateParts, separator: UInt8?, to output: inout [UInt8]) {
        switch parts.year {
        case 0...9999: append(parts.year, 4, to: &output)
        case let year:
            output.append(UInt8(ascii: year < 0 ? "-" : "+"))
            // Bounded: a year of 285 million at most.
            append(abs(year), 6, to: &output)
        }
        output.append(UInt8(ascii: "-"))
        append(parts.month, 2, to: &output)
        output.append(UInt8(ascii: "-"))
        append(parts.day, 2, to: &output)
        guard let separator else { return }
        output.append(separator)
        appendTime(parts, to: &output)
    }

    private static func appendTime(_ parts: DateParts, to output: inout [UInt8]) {
        append(parts.hour, 2, to: &output)
        output.append(UInt8(ascii: ":"))
        append(parts.minute, 2, to: &output)
        output.append(UInt8(ascii: ":"))
        append(parts.second, 2, to: &output)
    }

    /// Appends a number with at least so many digits.
    static func append(_ number: Int, _ width: Int, to output: inout [UInt8]) {
        var (count, beyond) = (0, number)
        while beyond > 0 { (count, beyond) = (count + 1, beyond / 10) }
        // From the last digit: to reverse a part of the bytes would copy all of them.
        for _ in 0..<max(count, width) { output.append(0x30) }
        var (rest, place) = (number, output.count)
        while rest > 0 {
            place -= 1
            output[place] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
