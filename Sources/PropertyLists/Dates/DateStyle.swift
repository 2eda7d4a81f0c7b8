/// The style of dates as text in a column of another program's table: ISO 8601, in the form of one of its texts.
package struct DateStyle: Hashable, Sendable {
    /// The character of ASCII between the day and the time; nil for days only.
    package let separator: UInt8?
    /// The number of digits of a second's fraction; 0 for whole seconds, which have a fraction only if the date does.
    package let fractionDigits: Int
    /// The text after the time: nothing, `Z` or `+00:00`. Times are in UTC.
    package let zone: String

    package var isDay: Bool { separator == nil }

    /// The style of days.
    package static let day = DateStyle(separator: nil)

    package init(separator: Unicode.Scalar? = " ", fractionDigits: Int = 0, zone: String = "") {
        self.separator = separator.map { UInt8(ascii: $0) }
        self.fractionDigits = fractionDigits
        self.zone = zone
    }

    /// Creates the style of a text; nil if the text is not a date.
    package init?(of text: String) {
        guard (try? DateText.seconds(text, .database)) != nil else { return nil }
        let scalars = text.unicodeScalars
        guard let colon = scalars.firstIndex(of: ":") else {
            self = .day
            return
        }
        let separator = scalars[scalars.index(colon, offsetBy: -3)]
        let time = scalars[colon...]
        let point = time.firstIndex { $0 == "." || $0 == "," }
        let digits = point.map { time[$0...].dropFirst().prefix { "0"..."9" ~= $0 }.count } ?? 0
        let zone = time.firstIndex { $0 == "Z" || $0 == "z" || $0 == "+" || $0 == "-" }.map {
            time[$0] == "Z" || time[$0] == "z" ? "Z" : "+00:00"
        }
        // Times of other zones are written in UTC, which is the same time.
        self.init(separator: separator, fractionDigits: digits, zone: zone ?? "")
    }
}
