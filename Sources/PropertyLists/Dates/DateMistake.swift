/// Why a text is no date of a notation.
package struct DateMistake: Error, Hashable, Sendable {
    /// A part of a date, or of the text around it.
    enum Part: String, Sendable {
        case year, month, day, hour, minute, second, fraction, offset
    }

    /// The expected text, in messages.
    enum What: String, Sendable {
        case blank = "a blank"
        case timeOrEnd = "“T” or the end"
        case zoneOrEnd = "“Z”, an offset or the end"
        case wordOrEnd = "“Z”, “UTC”, an offset or the end"
        case mailZone = "“GMT” or an offset"
        case offset = "an offset from −18:00 to +18:00"
        case positiveYear = "a year, of which 0 is not negative,"
        case reachedYear = "a year that seconds reach, which are 285 million"
        case weekday = "a weekday"
        case weekdayOrDay = "a weekday or a day"
        case month = "the name of a month"
        case halfDay = "AM or PM"
        case literal = "what the pattern says"
        case cookie = "a time, a day, a month and a year since 1601"
        case end = "the end"
    }

    /// Without reference-counted parts, because it is thrown in loops.
    enum Reason: Hashable, Sendable {
        /// A part is no number of so many digits.
        case digits(Part, Int)
        /// A part is a number outside of its range.
        case range(Part, Int, Int)
        /// Another weekday is that of the date.
        case weekday(Int)
        /// A character of ASCII should be there.
        case character(UInt8)
        case expected(What)
    }

    /// The offset in the text of the first wrong byte.
    package let place: Int
    let reason: Reason

    init(_ place: Int, _ reason: Reason) { (self.place, self.reason) = (place, reason) }

    /// The expected text.
    private var expectation: String {
        switch reason {
        case .digits(.fraction, _): "digits of a fraction"
        case .digits(let part, 1): "digits of the \(part.rawValue)"
        case .digits(let part, let count): "\(count) digits of the \(part.rawValue)"
        case .range(let part, let first, let last): "\(part == .hour ? "an" : "a") \(part.rawValue) from \(first) to \(last)"
        case .weekday(let weekday): "the weekday of the date, which is \(DateParts.weekdays[weekday]),"
        case .character(let character): "“\(Unicode.Scalar(character))”"
        case .expected(let what): what.rawValue
        }
    }

    /// Returns a sentence that explains the mistake in the text.
    ///
    /// - Parameter text: The text, of which at most 60 characters are quoted.
    package func description(of text: some StringProtocol) -> String {
        let utf8 = Array(text.utf8)
        let place = min(max(0, place), utf8.count)
        let rest = String(decoding: utf8[place...], as: UTF8.self)
        let character = String(decoding: utf8[..<place], as: UTF8.self).count + 1
        let found = rest.isEmpty ? "it ends" : "there is “\(Self.shown(rest, 20))”"
        return "“\(Self.shown(text, 60))” is not a date: at character \(character) \(found), where \(expectation) should be."
    }

    private static func shown(_ text: some StringProtocol, _ count: Int) -> String {
        let line = String(text.prefix(count).map { $0.isNewline ? " " : $0 })
        return text.count > count ? line + "…" : line
    }
}
