import Foundation

/// A MATCHES pattern: a regular expression that must match the whole string.
///
/// An expression may try each way to divide a text, whose number doubles with each character. An untrusted pattern must not block the program: beyond
/// ``PredicateLimits/matchSteps``, or when the memory for backtracking is used up, the comparison is an error.
struct MatchPattern {
    private let expression: NSRegularExpression
    private let options: PredicateComparison.Options
    private let clause: String

    init(_ pattern: String, _ options: PredicateComparison.Options, clause: String) throws {
        // Case is handled by the expression, because folding would turn `\S` into `\s`.
        self.options = options.subtracting(.caseInsensitive)
        self.clause = clause
        do {
            expression = try NSRegularExpression(
                pattern: "\\A(?:" + TextMatching.folded(pattern, self.options) + ")\\z",
                options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
        } catch {
            throw InvalidPredicateError(
                kind: .invalidPattern, message: "\(pattern.quoted()) is not a regular expression, in the clause \(clause)")
        }
    }

    /// How many steps there are between two calls of the engine.
    private static let stepsOfReport = 10_000

    func matches(_ text: String) throws -> Bool {
        let text = TextMatching.folded(text, options)
        let count = text.utf16.count
        // Each character of a long text takes some steps.
        var rest = PredicateLimits.matchSteps / Self.stepsOfReport + count / 1_000
        var (isFound, hasFailed) = (false, false)
        expression.enumerateMatches(
            in: text, options: [.reportProgress, .reportCompletion], range: NSRange(location: 0, length: count)
        ) { result, flags, stop in
            if result != nil { isFound = true }
            if flags.contains(.internalError) { hasFailed = true }
            if flags.contains(.progress) {
                rest -= 1
                if rest < 0 || TimeLimit.isOver { hasFailed = true }
            }
            if isFound || hasFailed { stop.pointee = true }
        }
        if hasFailed, !isFound {
            try TimeLimit.check()
            throw InvalidPredicateError(
                kind: .tooCostly,
                message: "The regular expression tries too many ways to match a text of \(count) characters: the limit is "
                    + "\(PredicateLimits.matchSteps) steps. Let no repeated part repeat within itself, in the clause \(clause.prefix(200))")
        }
        return isFound
    }
}
