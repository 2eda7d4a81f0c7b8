/// Reads the parts of a date from text, in order.
package struct DateScanner {
    /// The caller keeps the bytes.
    private let text: UnsafeRawBufferPointer
    private var place = 0

    package init(_ text: UnsafeRawBufferPointer) { self.text = text }

    package var isAtEnd: Bool { place == text.count }

    /// Passes a byte, if it is the next one.
    package mutating func pass(_ byte: UInt8) -> Bool {
        guard place < text.count, text[place] == byte else { return false }
        place += 1
        return true
    }

    /// Reads a number of so many digits; nil where there are fewer.
    package mutating func digits(_ count: Int) -> Int? {
        guard place + count <= text.count else { return nil }
        var value = 0
        for index in place..<place + count {
            let digit = text[index] &- 0x30
            guard digit <= 9 else { return nil }
            value = value * 10 + Int(digit)
        }
        place += count
        return value
    }

    /// Reads the digits behind a point: the number below one that is nearest to them.
    package mutating func fraction() -> Double? {
        let start = place
        var (numerator, denominator) = (0.0, 1.0)
        while place < text.count, text[place] &- 0x30 <= 9 {
            numerator = numerator * 10 + Double(text[place] - 0x30)
            denominator *= 10
            place += 1
        }
        if place == start { return nil }
        // Up to fifteen digits both are exact, and so is their quotient but for one rounding.
        if place - start <= 15 { return numerator / denominator }
        return Double("0." + String(decoding: text[start..<place], as: UTF8.self))
    }
}

extension DateScanner {
    /// Returns the seconds since 2001-01-01 of a date in the form of ISO 8601; nil for other text.
    ///
    /// - Parameter text: `2026-03-01T10:00:00.123456+01:00`, of which everything behind the day may be missing, with a space or a small
    ///   letter for `T`; without an offset it is in Coordinated Universal Time.
    package static func iso8601(_ text: UnsafeRawBufferPointer) -> Double? {
        var scanner = DateScanner(text)
        return scanner.iso8601()
    }

    private mutating func iso8601() -> Double? {
        guard let year = digits(4), pass("-"), let month = digits(2), pass("-"), let day = digits(2),
            let days = GregorianDays.days(year, month, day)
        else { return nil }
        if isAtEnd { return Double(days * 86_400) }
        guard pass("T") || pass("t") || pass(" "), let hour = digits(2), pass(":"), let minute = digits(2), hour < 24, minute < 60 else {
            return nil
        }
        var (second, fraction) = (0, 0.0)
        if pass(":") {
            // A leap second is the first one of the next minute.
            guard let value = digits(2), value <= 60 else { return nil }
            second = value
            if pass(".") || pass(",") {
                guard let value = self.fraction() else { return nil }
                fraction = value
            }
        }
        guard let offset = offset() else { return nil }
        return Double(days * 86_400 + hour * 3600 + minute * 60 + second - offset) + fraction
    }

    /// Reads how many seconds the time is ahead, up to the end of the text.
    private mutating func offset() -> Int? {
        if isAtEnd { return 0 }
        if pass("Z") || pass("z") { return isAtEnd ? 0 : nil }
        let isBehind = pass("-")
        guard isBehind || pass("+"), let hours = digits(2) else { return nil }
        _ = pass(":")
        guard let minutes = isAtEnd ? 0 : digits(2), isAtEnd else { return nil }
        return (hours * 3600 + minutes * 60) * (isBehind ? -1 : 1)
    }

    @inline(__always) private mutating func pass(_ character: Unicode.Scalar) -> Bool { pass(UInt8(ascii: character)) }
}
