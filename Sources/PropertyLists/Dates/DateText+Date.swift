package import Foundation

extension DateText {
    /// Returns a date in ISO 8601 that is read as the same date; or a number of seconds for a date without such a text, as in ``append(_:to:)``.
    package static func text(_ date: Date) -> String { text(date.timeIntervalSinceReferenceDate) }

    /// Returns the date of a text, or of a number that ``text(_:)`` has written for a date that has no text.
    ///
    /// - Throws: The mistake and its place, if the text is not a date of the notation.
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
