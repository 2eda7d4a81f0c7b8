internal import PropertyLists

/// Writes and reads dates in a format of ``ValueSpelling/dateFormat``.
struct DateFormat: Sendable {
    private enum Form: Sendable {
        case iso8601
        case number(DateCount)
        case pattern(DatePattern)
    }
    private let form: Form
    let name: String

    /// Creates a format by its name or pattern.
    ///
    /// - Throws: What is no letter of a pattern.
    init(_ name: String) throws(DatePattern.Mistake) {
        self.name = name
        form =
            switch name {
            case "iso8601": .iso8601
            case "seconds2001": .number(.seconds2001)
            case "seconds1970": .number(.seconds1970)
            case "milliseconds1970": .number(.milliseconds1970)
            default: .pattern(try DatePattern(ofFiles: name))
            }
    }

    /// What its texts look like, for errors; nil where the name says it.
    var examples: String? {
        if case .iso8601 = form { DateNotation.iso8601.examples } else { nil }
    }

    /// Returns a date as seconds since 2001; nil for text of another form.
    func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
        switch form {
        // A date that has no text in ISO 8601 is a number there, and earlier versions had no text for years beyond 0 to 9999.
        case .iso8601: (try? DateText.seconds(text, .iso8601)) ?? DateText.distant(text, takesWhole: true)
        case .number(let count): count.seconds(text)
        case .pattern(let pattern): try? DateText.seconds(text, .pattern(pattern))
        }
    }

    /// Appends a date. In ISO 8601, it has as many digits as give the same date back.
    ///
    /// - Returns: False where a pattern has no text for the date, and nothing is appended.
    func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
        switch form {
        case .iso8601: DateText.append(seconds, to: &output)
        case .number(let count): NumberText.append(count.number(seconds), separator: 0x2E, to: &output)
        case .pattern(let pattern): return DateText.append(seconds, pattern, to: &output)
        }
        return true
    }
}
