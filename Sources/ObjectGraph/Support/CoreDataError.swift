internal import Foundation
internal import PropertyLists

/// Creates the framework's errors: `NSError`s in `NSCocoaErrorDomain` that say what failed, why, and what to do next.
package enum CoreDataError {
    /// Creates an error. Its texts are short, whatever they quote: see `String.shortened`.
    ///
    /// - Parameters:
    ///   - code: One of the codes of `CoreDataErrorCodes.swift`.
    ///   - what: The failure in one sentence; the localized description.
    ///   - reason: The cause, with the names needed to locate it.
    ///   - next: The action that the reader can take.
    ///   - cause: The underlying error, stored under `NSUnderlyingErrorKey`.
    ///   - info: Additional user info.
    package static func make(
        _ code: Int, _ what: String, reason: String? = nil, next: String? = nil, cause: (any Error)? = nil, info: [String: Any] = [:]
    ) -> NSError {
        var userInfo = info
        let (reason, next) = (reason?.shortened, next?.shortened)
        userInfo[NSLocalizedDescriptionKey] = sentences([what.shortened, reason, next].compactMap { $0 }).shortened
        if let reason { userInfo[NSLocalizedFailureReasonErrorKey] = reason }
        if let next { userInfo[NSLocalizedRecoverySuggestionErrorKey] = next }
        if let cause { userInfo[NSUnderlyingErrorKey] = cause as NSError }
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: userInfo)
    }

    /// Joins the sentences of a message. Each ends with a full stop, even if it quotes another source's message without one.
    private static func sentences(_ parts: [String]) -> String {
        parts.enumerated().map { index, part in
            let last = part.last { !"”\"')".contains($0) }
            let isEnded = index == parts.count - 1 || last.map { ".!?:…^".contains($0) || $0.isNewline } ?? true
            return isEnded ? part : part + "."
        }.joined(separator: " ")
    }

    /// Calls `body`, and appends its error to `errors`, or the errors that it combines.
    static func collect(_ errors: inout [NSError], _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let error = error as NSError
            errors += error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
        }
    }

    /// Returns the lines of a message about many things: the first twenty, and the number of the remaining ones. The user info has all of them.
    package static func list<Element>(_ elements: [Element], _ line: (Element) -> String) -> String {
        let lines = elements.prefix(20).map(line)
        return (lines + (elements.count > lines.count ? ["and \(elements.count - lines.count) more"] : [])).joined(separator: "\n")
    }

    /// Returns names in quotation marks, separated by commas: the first twenty, and the number of the remaining ones.
    package static func names(_ names: some Collection<String>) -> String {
        let shown = names.prefix(20).map { "“\($0)”" }.joined(separator: ", ")
        return names.count > 20 ? "\(shown) and \(names.count - 20) more" : shown
    }

    /// Combines errors into one: the only one, or `NSValidationMultipleErrorsError` with each under `NSDetailedErrorsKey`.
    static func combined(_ errors: [NSError]) -> NSError {
        if errors.count == 1 { return errors[0] }
        return make(
            NSValidationMultipleErrorsError, "\(errors.count) rules are violated.", reason: list(errors) { "• " + $0.localizedDescription },
            info: [NSDetailedErrorsKey: errors])
    }
}
