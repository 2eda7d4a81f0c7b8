extension DateText {
    /// Reads `2026-03-01T10:00:00.123456+01:00`, of which everything after the day may be missing; without an offset it is UTC.
    static func iso8601(_ text: UnsafeRawBufferPointer) -> Double? {
        var reader = ISO8601Reader(text: text)
        return reader.seconds()
    }
}

/// Reads the parts of a date in the form of ISO 8601.
private struct ISO8601Reader {
    /// The caller keeps the bytes.
    let text: UnsafeRawBufferPointer
    private var place = 0

    init(text: UnsafeRawBufferPointer) { self.text = text }

    /// Returns seconds since the reference date; nil for what is no date.
    mutating func seconds() -> Double? {
        guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2), month >= 1, month <= 12, day >= 1,
            day <= Self.daysIn(month, year)
        else { return nil }
        let days = Self.daysSinceReference(year, month, day) * 86400
        if isAtEnd { return Double(days) }
        guard take("T") || take("t") || take(" "), let hour = digits(2), take(":"), let minute = digits(2), hour < 24, minute < 60 else {
            return nil
        }
        var second = 0
        if take(":") {
            guard let value = digits(2), value <= 60 else { return nil }
            second = value
        }
        var seconds = Double(days + hour * 3600 + minute * 60 + second)
        if take(".") || take(",") {
            guard let fraction = fraction() else { return nil }
            seconds += fraction
        }
        if isAtEnd { return seconds }
        if take("Z") || take("z") { return isAtEnd ? seconds : nil }
        let sign: Double
        if take("+") { sign = -1 } else if take("-") { sign = 1 } else { return nil }
        guard let hours = digits(2) else { return nil }
        _ = take(":")
        guard let minutes = isAtEnd ? 0 : digits(2), isAtEnd else { return nil }
        return seconds + sign * Double(hours * 3600 + minutes * 60)
    }

    @inline(__always) private var isAtEnd: Bool { place == text.count }

    @inline(__always) private mutating func digits(_ count: Int) -> Int? {
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

    @inline(__always) private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard place < text.count, text[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// Reads the digits behind the point; fifteen of them count.
    private mutating func fraction() -> Double? {
        var numerator = 0.0
        var denominator = 1.0
        let start = place
        while place < text.count, text[place] >= 0x30, text[place] <= 0x39 {
            if place - start < 15 {
                numerator = numerator * 10 + Double(text[place] - 0x30)
                denominator *= 10
            }
            place += 1
        }
        return place == start ? nil : numerator / denominator
    }

    private static func daysIn(_ month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the Gregorian calendar since 1 January 2001: by years that begin in March, so that the leap day is the last.
    private static func daysSinceReference(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 730_791
    }
}
