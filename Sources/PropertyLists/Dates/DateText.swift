/// Reads and writes dates as text, for the whole package. A date is its seconds since 2001-01-01 in UTC, as in `Date`.
package enum DateText {
    /// The last year that two digits mean in the dates of cookies (RFC 6265).
    package static let usualLatestYear = 2069

    /// Returns the seconds since 2001 of a text.
    ///
    /// - Parameters:
    ///   - text: The UTF-8 of the text.
    ///   - latestYear: The last year that two digits may denote. RFC 9110 requires the one in fifty years.
    /// - Throws: The mistake and its place, if the text is not a date of the notation.
    package static func seconds(
        _ text: UnsafeRawBufferPointer, _ notation: DateNotation, latestYear: Int = usualLatestYear
    ) throws(DateMistake) -> Double {
        var scanner = DateScanner(text)
        switch notation {
        case .iso8601: return try scanner.iso8601(.plain)
        case .database: return try scanner.iso8601(.blank)
        case .typed: return try scanner.iso8601(.words)
        case .http: return try scanner.http(latestYear: latestYear)
        case .cookie: return try scanner.cookie(latestYear: latestYear)
        case .pattern(let pattern): return try scanner.seconds(pattern)
        }
    }

    /// Returns the seconds since 2001 of a text.
    ///
    /// - Throws: The mistake and its place, if the text is not a date of the notation.
    package static func seconds(
        _ text: String, _ notation: DateNotation, latestYear: Int = usualLatestYear
    ) throws(DateMistake) -> Double {
        var copy = text
        // `withUTF8` passes no typed errors on.
        let result = copy.withUTF8 { bytes in
            Result { () throws(DateMistake) in try seconds(UnsafeRawBufferPointer(bytes), notation, latestYear: latestYear) }
        }
        return try result.get()
    }

    /// Returns the seconds since 2001 of a number that ``append(_:to:)`` has written for a date that has no text in ISO 8601; nil for other text.
    ///
    /// - Parameter takesWhole: Whether a number without a point is accepted if it lies beyond the years 0 to 9999. A smaller one never is: it would
    ///   be a year, a day without hyphens, or seconds since 1970.
    package static func distant(_ text: UnsafeRawBufferPointer, takesWhole: Bool = false) -> Double? {
        var hasPoint = false
        var hasDigit = false
        for byte in text {
            switch byte {
            case 0x30...0x39: hasDigit = true
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): hasPoint = true
            case UInt8(ascii: "-"), UInt8(ascii: "+"): break
            default: return nil
            }
        }
        guard hasDigit, let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return nil }
        return hasPoint || takesWhole && !(-63_145_526_400..<252_423_993_600 ~= number) ? number : nil
    }
}

extension DateText {
    /// Returns the year of a date, in UTC; for dates after the last one that has a year, and for numbers that are not dates, it is the last year.
    package static func year(_ seconds: Double) -> Int {
        let limit = Double(DateParts.limit - 1)
        return DateParts(Int(min(max(-limit, seconds), limit).rounded(.down))).year
    }
}
