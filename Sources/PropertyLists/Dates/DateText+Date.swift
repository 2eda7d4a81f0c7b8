package import Foundation

extension DateText {
    /// Returns a date in ISO 8601, with which the same date is read; a number of seconds for what has no such text, as ``append(_:to:)``.
    package static func text(_ date: Date) -> String { text(date.timeIntervalSinceReferenceDate) }

    /// Returns the date of a text, or of a number that ``text(_:)`` has written for a date that has no text.
    ///
    /// - Throws: What is no date of the notation, and where.
    package static func date(_ text: String, _ notation: DateNotation) throws(DateMistake) -> Date {
        do throws(DateMistake) {
            return Date(timeIntervalSinceReferenceDate: try seconds(text, notation))
        } catch {
            var copy = text
            guard let seconds = copy.withUTF8({ distant(UnsafeRawBufferPointer($0)) }) else { throw error }
            return Date(timeIntervalSinceReferenceDate: seconds)
        }
    }
}
