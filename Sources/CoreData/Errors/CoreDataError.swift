internal import Foundation

/// Makes the framework's errors: `NSError` in `NSCocoaErrorDomain`, saying what failed, why, and what to do next.
enum CoreDataError {
    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: one of the codes of `CoreDataErrorCodes.swift`.
    ///   - what: what failed, one sentence; becomes the localized description.
    ///   - reason: why, with the names a reader needs to find the place.
    ///   - next: what the reader can do about it.
    ///   - cause: the error below this one, kept under `NSUnderlyingErrorKey`.
    ///   - info: further user info.
    static func make(
        _ code: Int, _ what: String, reason: String? = nil, next: String? = nil, cause: (any Error)? = nil, info: [String: Any] = [:]
    ) -> NSError {
        var userInfo = info
        userInfo[NSLocalizedDescriptionKey] = [what, reason, next].compactMap { $0 }.joined(separator: " ")
        if let reason { userInfo[NSLocalizedFailureReasonErrorKey] = reason }
        if let next { userInfo[NSLocalizedRecoverySuggestionErrorKey] = next }
        if let cause { userInfo[NSUnderlyingErrorKey] = cause as NSError }
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: userInfo)
    }

    /// One error for all of `errors`: the only one, or `NSValidationMultipleErrorsError` with each under `NSDetailedErrorsKey`.
    static func combined(_ errors: [NSError]) -> NSError {
        if errors.count == 1 { return errors[0] }
        let lines = errors.map { "• " + $0.localizedDescription }
        return make(
            NSValidationMultipleErrorsError, "\(errors.count) rules are violated.", reason: lines.joined(separator: "\n"),
            info: [NSDetailedErrorsKey: errors])
    }

    /// A store broke its contract in the named method.
    static func contract(_ store: NSPersistentStore, _ method: String, _ reason: String, next: String) -> NSError {
        make(
            NSPersistentStoreOperationError, "\(Swift.type(of: store)).\(method) does not answer as a store must.", reason: reason,
            next: next, info: [NSAffectedStoresErrorKey: [store]])
    }
}
