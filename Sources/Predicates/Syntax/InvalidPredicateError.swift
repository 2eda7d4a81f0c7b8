public import Foundation

/// Why a predicate could not be read, compiled or evaluated.
///
/// An error in a format string shows the place:
///
/// ```
/// Expected an expression, found the end of the format
///   name ==
///          ^
/// ```
public struct InvalidPredicateError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// What went wrong.
    public enum Kind: String, Hashable, Sendable {
        /// The format string is not in the predicate language.
        case syntax
        /// The format string asks for more or fewer arguments than were given, or for one of another type.
        case arguments
        /// The predicate nests deeper than ``PredicateLimits/nesting``.
        case tooDeep
        /// A key is not one of the thing the predicate is compiled for.
        case unknownKeyPath
        /// A variable has no value.
        case unboundVariable
        /// A regular expression is not valid.
        case invalidPattern
        /// The clause means nothing for these types, or cannot be evaluated here.
        case unsupported
        /// A Swift value has no counterpart among property values.
        case unconvertibleValue
    }

    /// What went wrong.
    public let kind: Kind
    /// What went wrong, in a sentence.
    public let message: String
    /// The format string, when the error is in one.
    public let format: String?
    /// Where in the format string the error is, counted in characters.
    public let position: Int?
    /// What would have been right in that place, when that can be said.
    public let expected: String?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - kind: What went wrong.
    ///   - message: The same in a sentence.
    ///   - format: The format string, when the error is in one.
    ///   - position: Where in the format string, counted in characters.
    ///   - expected: What would have been right there.
    public init(kind: Kind, message: String, format: String? = nil, position: Int? = nil, expected: String? = nil) {
        self.kind = kind
        self.message = message
        self.format = format
        self.position = position
        self.expected = expected
    }

    /// The message, and below it the line of the format string with a caret under the place.
    public var description: String {
        guard let format else { return message }
        guard let position else { return "\(message)\n  \(format)" }
        var line = ""
        var caret = 0
        for (index, character) in format.enumerated() {
            if index < position { caret += 1 }
            if character.isNewline {
                if index >= position { break }
                line = ""
                caret = 0
            } else {
                line.append(character)
            }
        }
        // A long line is cut around the place, so that the message stays readable.
        var shown = Substring(line)
        if line.count > 120 {
            let from = max(0, min(caret - 60, line.count - 120))
            shown = line.dropFirst(from).prefix(120)
            caret -= from
        }
        return "\(message)\n  \(shown)\n  \(String(repeating: " ", count: caret))^"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

/// The bounds that keep a predicate from a stranger harmless.
public enum PredicateLimits {
    /// How deeply predicates and expressions may nest; beyond it reading and compiling throw ``InvalidPredicateError/Kind/tooDeep``.
    public static let nesting = 100
    /// How deeply what ``PredicateArchive`` writes and reads may nest: Foundation's archivers call themselves at each level, and need much stack.
    public static let archiveNesting = 40
}
