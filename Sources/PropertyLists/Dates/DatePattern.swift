/// A pattern of dates in Coordinated Universal Time, with English names, for a service or a file that does not use a standard notation.
package struct DatePattern: Hashable, Sendable {
    /// A part of a pattern. A width of 1 is a number without leading zeros.
    enum Part: Hashable, Sendable {
        case year(width: Int)
        case shortYear
        case month(width: Int)
        case day(width: Int)
        case hour(width: Int)
        /// An hour from 1 to 12.
        case halfDayHour(width: Int)
        case minute(width: Int)
        case second(width: Int)
        case fraction(width: Int)
        case monthName(isFull: Bool)
        case weekdayName(isFull: Bool)
        /// `AM` or `PM`.
        case halfDay
        case zone(Zone)
        case literal([UInt8])
    }

    /// How an offset of zero is written. Each reads all of them, and other offsets.
    enum Zone: String, Sendable {
        case name = "GMT"
        case letter = "Z"
        case hours = "+00"
        case digits = "+0000"
        case colon = "+00:00"
    }

    /// Why a text is no pattern.
    package struct Mistake: Error, Hashable, Sendable {
        package let message: String
    }

    /// The given pattern.
    package let text: String
    let parts: [Part]
    /// Whether numbers have exactly as many digits as the pattern has letters, as for the patterns of files; otherwise leading zeros may be missing.
    let isExact: Bool
    /// The last year that two digits mean.
    let latestYear: Int
    /// The year of a pattern without years.
    let usualYear: Int

    // MARK: Patterns of files

    /// Creates a pattern of the letters `yyyy`, `yy`, `MM`, `dd`, `HH`, `mm`, `ss` and `SSS`; `T`, `Z` and characters that are not letters stand for
    /// themselves. Years of two digits are those from 1970 to 2069.
    ///
    /// - Throws: A mistake that names an unknown letter, or an empty text.
    package init(ofFiles text: String) throws(Mistake) {
        let letters: [(String, Part)] = [
            ("yyyy", .year(width: 4)), ("yy", .shortYear), ("MM", .month(width: 2)), ("dd", .day(width: 2)), ("HH", .hour(width: 2)),
            ("mm", .minute(width: 2)), ("ss", .second(width: 2)), ("SSS", .fraction(width: 3)),
        ]
        var parts: [Part] = []
        var rest = Substring(text)
        while let first = rest.first {
            if let (letter, part) = letters.first(where: { rest.hasPrefix($0.0) }) {
                parts.append(part)
                rest = rest.dropFirst(letter.count)
            } else if let byte = first.asciiValue, !first.isLetter || first == "T" || first == "Z" {
                parts.append(.literal([byte]))
                rest = rest.dropFirst()
            } else {
                throw Mistake(message: "It has no letter “\(first)”; it has yyyy, yy, MM, dd, HH, mm, ss and SSS.")
            }
        }
        if parts.isEmpty { throw Mistake(message: "It is empty.") }
        (self.text, self.parts, isExact, latestYear, usualYear) = (text, parts, true, DateText.usualLatestYear, 2001)
    }

    // MARK: Patterns of DateFormatter

    /// Creates a pattern of `DateFormatter` in the locale `en_US_POSIX` and UTC. Years of two digits are those from 1950 to 2049, as there, and a
    /// pattern without a year refers to 2000.
    ///
    /// - Throws: An unsupported letter: those of weeks, eras, quarters and full names of zones.
    package init(ofDateFormatter text: String) throws(Mistake) {
        var parts: [Part] = []
        var literal: [UInt8] = []
        var rest = text[...]
        while let first = rest.first {
            if first == "'" {
                try Self.readQuoted(&rest, &literal)
            } else if first.isASCII, first.isLetter {
                let letters = rest.prefix { $0 == first }
                rest = rest.dropFirst(letters.count)
                guard let part = Self.part(first, letters.count) else {
                    throw Mistake(
                        message: "“\(letters)” is not read; it has y, M, d, E, H, h, a, m, s, S, z, Z, X and x. \(Self.replacement(first))")
                }
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = []
                parts.append(part)
            } else {
                literal += String(first).utf8
                rest = rest.dropFirst()
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        if parts.isEmpty { throw Mistake(message: "It is empty.") }
        for (part, next) in zip(parts, parts.dropFirst()) where part.isNumber && next.isNumber && part.width == nil {
            throw Mistake(message: "Nothing tells where a number ends and the next one begins; write yyyyMMdd.")
        }
        (self.text, self.parts, isExact, latestYear, usualYear) = (text, parts, false, 2049, 2000)
    }

    /// Reads text between apostrophes, in which two of them denote one.
    private static func readQuoted(_ rest: inout Substring, _ literal: inout [UInt8]) throws(Mistake) {
        rest = rest.dropFirst()
        if rest.first == "'" {
            literal.append(UInt8(ascii: "'"))
            rest = rest.dropFirst()
            return
        }
        while let first = rest.first {
            rest = rest.dropFirst()
            if first != "'" {
                literal += String(first).utf8
            } else if rest.first == "'" {
                literal.append(UInt8(ascii: "'"))
                rest = rest.dropFirst()
            } else {
                return
            }
        }
        throw Mistake(message: "An apostrophe is not closed.")
    }

    private static func part(_ letter: Character, _ count: Int) -> Part? {
        switch (letter, count) {
        case ("y", 2): .shortYear
        case ("y", 1), ("y", 4), ("u", 1), ("u", 4): .year(width: count)
        case ("M", 1...2), ("L", 1...2): .month(width: count)
        case ("M", 3...4), ("L", 3...4): .monthName(isFull: count == 4)
        case ("d", 1...2): .day(width: count)
        case ("E", 1...4), ("c", 3...4): .weekdayName(isFull: count == 4)
        case ("H", 1...2): .hour(width: count)
        case ("h", 1...2): .halfDayHour(width: count)
        case ("a", 1...3): .halfDay
        case ("m", 1...2): .minute(width: count)
        case ("s", 1...2): .second(width: count)
        case ("S", 1...9): .fraction(width: count)
        case ("z", 1...3): .zone(.name)
        case ("Z", 1...3): .zone(.digits)
        case ("Z", 5), ("X", 1...3): .zone(.letter)
        case ("x", 1): .zone(.hours)
        case ("x", 2): .zone(.digits)
        case ("x", 3): .zone(.colon)
        default: nil
        }
    }

    private static func replacement(_ letter: Character) -> String {
        switch letter {
        case "Y": "Write yyyy: YYYY is the year of a week."
        case "y", "u": "Write yyyy or yy."
        case "D": "Write dd: D is the day of the year."
        case "T": "Write 'T', in apostrophes."
        case "Z", "z", "O", "v", "V": "Write Z for +0000, ZZZZZ for Z, or zzz for GMT."
        default: "Write letters that stand for themselves in apostrophes."
        }
    }
}

extension DatePattern.Part {
    var isNumber: Bool {
        switch self {
        case .year, .shortYear, .month, .day, .hour, .halfDayHour, .minute, .second, .fraction: true
        case .monthName, .weekdayName, .halfDay, .zone, .literal: false
        }
    }

    /// The number of digits, if it is always the same.
    var width: Int? {
        switch self {
        case .shortYear: 2
        case .year(let width), .month(let width), .day(let width), .hour(let width), .halfDayHour(let width), .minute(let width),
            .second(let width):
            width > 1 ? width : nil
        case .fraction(let width): width
        case .monthName, .weekdayName, .halfDay, .zone, .literal: nil
        }
    }
}
