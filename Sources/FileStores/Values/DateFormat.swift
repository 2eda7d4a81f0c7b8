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
    /// - Throws: The mistake in a pattern.
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

    /// Examples of its texts, for errors; nil if the name is clear.
    var examples: String? {
        if case .iso8601 = form { DateNotation.iso8601.examples } else { nil }
    }

    /// Returns a date as seconds since 2001; nil for text in another form.
    func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
        switch form {
        // A date without a text in ISO 8601 is a number there; earlier versions had no text for years outside of 0 to 9999.
        case .iso8601: (try? DateText.seconds(text, .iso8601)) ?? DateText.distant(text, takesWhole: true)
        case .number(let count): count.seconds(text)
        case .pattern(let pattern): try? DateText.seconds(text, .pattern(pattern))
        }
    }

    /// Appends a date. ISO 8601 has as many digits as are needed to read the same date.
    ///
    /// - Returns: False, with nothing appended, if a pattern cannot express the date.
    func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
        switch form {
        case .iso8601: DateText.append(seconds, to: &output)
        case .number(let count): NumberText.append(count.number(seconds), separator: 0x2E, to: &output)
        case .pattern(let pattern): return DateText.append(seconds, pattern, to: &output)
        }
        return true
    }
}
