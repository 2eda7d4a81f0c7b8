public import Foundation
internal import PropertyLists

/// The error of a predicate that could not be parsed, compiled or evaluated.
///
/// An error in a format string shows the position:
///
/// ```
/// Expected an expression, found the end of the format
///   name ==
///          ^
/// ```
public struct InvalidPredicateError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// The kinds of error.
    public enum Kind: String, Hashable, Sendable {
        /// The format string is invalid.
        case syntax
        /// The format string has too few or too many arguments, or one of a wrong type.
        case arguments
        /// The predicate nests deeper than ``PredicateLimits/nesting``.
        case tooDeep
        /// The schema does not have a key.
        case unknownKeyPath
        /// A variable has no value.
        case unboundVariable
        /// A regular expression is invalid.
        case invalidPattern
        /// A regular expression takes more than ``PredicateLimits/matchSteps`` for a text.
        case tooCostly
        /// The clause does not support these types, or cannot be evaluated.
        case unsupported
        /// A Swift value has no counterpart in property values.
        case unconvertibleValue
    }

    /// The kind of error.
    public let kind: Kind
    /// The message, in a sentence.
    public let message: String
    /// The format string, for an error in one.
    public let format: String?
    /// The position in the format string, in characters.
    public let position: Int?
    /// The expected token, if it is known.
    public let expected: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of error.
    ///   - message: The message, in a sentence; beyond some kilobytes, its middle is left out.
    ///   - format: The format string, for an error in one.
    ///   - position: The position in the format string, in characters.
    ///   - expected: The expected token.
    public init(kind: Kind, message: String, format: String? = nil, position: Int? = nil, expected: String? = nil) {
        self.kind = kind
        self.message = message.shortened
        self.format = format
        self.position = position
        self.expected = expected
    }

    /// The message, followed by the line of the format string with a caret at the position.
    public var description: String {
        guard let format else { return message }
        guard let position else { return "\(message)\n  \(format.shortened)" }
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
        // A long line is truncated around the position.
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

/// The limits that make untrusted predicates safe to parse and to evaluate.
public enum PredicateLimits {
    /// The maximum nesting of predicates and expressions, and the maximum number of keys in a key path; beyond it, parsing and compiling throw
    /// ``InvalidPredicateError/Kind/tooDeep``.
    public static let nesting = 100
    /// The maximum nesting in archives of ``PredicateArchive``: Foundation's archivers recurse and need much stack.
    public static let archiveNesting = 40
    /// The maximum steps of a regular expression (`MATCHES`) for one text, with ten more for each of its characters; beyond it, evaluation throws
    /// ``InvalidPredicateError/Kind/tooCostly``. They take about a fifth of a second.
    public static let matchSteps = 10_000_000
}

extension InvalidPredicateError {
    /// Returns the error of a key path with more keys than ``PredicateLimits/nesting``; nil for a shorter one.
    package static func ofPath(with count: Int, in clause: String? = nil) -> InvalidPredicateError? {
        guard count > PredicateLimits.nesting else { return nil }
        // The clause itself would be as long as the path.
        let place = clause.map { ", in the clause \($0.prefix(80))…" } ?? ""
        return InvalidPredicateError(
            kind: .tooDeep, message: "A key path has \(count) keys, and may have \(PredicateLimits.nesting)\(place)")
    }
}
