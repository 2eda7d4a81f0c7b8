internal import Foundation
internal import JSONReading
internal import PropertyLists
internal import RemoteStore

/// The form of a property's dates in JSON: a form of the description, with its pattern parsed.
struct DateSpelling: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
        case text(DateNotation)
        /// ISO 8601; only the day is written.
        case day
        case number(DateCount)
    }

    /// The form of the description.
    let form: DateForm
    private let kind: Kind

    /// - Throws: The mistake in a pattern.
    init(_ form: DateForm) throws(DatePattern.Mistake) {
        self.form = form
        kind =
            switch form {
            case .iso8601: .text(.iso8601)
            case .day: .day
            case .http: .text(.http)
            case .pattern(let pattern): .text(.pattern(try DatePattern(ofDateFormatter: pattern)))
            case .secondsSince1970: .number(.seconds1970)
            case .millisecondsSince1970: .number(.milliseconds1970)
            case .secondsSinceReferenceDate: .number(.seconds2001)
            }
    }

    /// Whether the dates are text.
    var isText: Bool {
        if case .number = kind { false } else { true }
    }

    /// The notation in which texts are read.
    private var notation: DateNotation? {
        switch kind {
        case .text(let notation): notation
        case .day: .iso8601
        case .number: nil
        }
    }

    /// Whether texts are read as ISO 8601.
    var isISO8601: Bool { notation == .iso8601 }

    /// The steps between the dates that the form can express; nil if it can express all dates.
    var steps: DateSteps? {
        func keeps(_ seconds: Double) -> Bool {
            let read: Double? =
                switch json(Date(timeIntervalSinceReferenceDate: seconds)) {
                case .string(let text)?:
                    Array(text.utf8).withUnsafeBytes { self.seconds($0) }
                case .integer(let number)?: self.seconds(Double(number))
                case .number(let number)?: self.seconds(number)
                default: nil
                }
            // Bounded: a fraction, of which each has its opposite.
            return read.map { abs($0 - seconds) < 1e-6 } ?? false
        }
        if keeps(86_400.123456) { return nil }
        for unit in [0.001, 1, 60, 3600, 86_400] where [1, 7, 12_345].allSatisfy({ keeps(Double($0) * unit) }) {
            return DateSteps(seconds: unit, mayLieBetween: kind == .day)
        }
        return DateSteps(seconds: .infinity)
    }

    // MARK: Reading

    /// Returns the seconds since 2001 of a text; nil if it is not a date of the form.
    func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
        switch kind {
        case .text(let notation): try? DateText.seconds(text, notation)
        case .day: try? DateText.seconds(text, .iso8601)
        case .number(let count): count.seconds(text)
        }
    }

    /// Returns the seconds since 2001 of a number; nil for a form of text.
    func seconds(_ number: Double) -> Double? {
        if case .number(let count) = kind { count.seconds(number) } else { nil }
    }

    /// Returns the mistake in a text that is not a date of the form, and the expected form.
    func mistake(in text: String) -> String? {
        guard let notation else { return nil }
        do throws(DateMistake) {
            _ = try DateText.seconds(text, notation)
            return nil
        } catch {
            return "\(error.description(of: text)) The description wants \(notation.examples)."
        }
    }

    // MARK: Writing

    /// Returns a date as JSON; nil if the form cannot express it.
    func json(_ date: Date) -> JSONValue? {
        let seconds = date.timeIntervalSinceReferenceDate
        switch kind {
        case .text(.pattern(let pattern)): return DateText.text(seconds, pattern).map { .string($0) }
        case .text(.http): return DateText.http(seconds).map { .string($0) }
        case .text: return DateText.rounded(seconds).map { .string($0) }
        case .day: return DateText.day(seconds).map { .string($0) }
        case .number(let count):
            let number = count.number(seconds)
            guard number.isFinite else { return nil }
            // Milliseconds are whole.
            let value = count.perSecond == 1 ? number : number.rounded()
            // Bounded: a fraction, of which each has its opposite.
            return value.rounded() == value && abs(value) < 1e15 ? .integer(Int64(value)) : .number(value)
        }
    }
}

extension ValueTransform {
    /// The form of dates that the transform names; nil for other transforms.
    var dateForm: DateForm? {
        switch self {
        case .date(let form): form
        case .wrapped(_, _, let inner): inner.dateForm
        case .byType, .enumeration, .enumerationOfJSON, .scaled, .text, .json, .relativeURL, .joined: nil
        }
    }
}
