internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The errors of statements beyond SQLite's limits.
enum SQLiteLimits {
    /// SQLite's messages for statements beyond its limits, which depend on the installed library.
    private static let limits = [
        "parser stack overflow", "too many SQL variables", "too many terms in compound SELECT", "Expression tree is too large",
        "tables in a join", "too many columns", "query aborted",
    ]

    /// Returns whether SQLite rejected a statement for its size.
    static func isTooComplex(_ error: any Error) -> Bool {
        guard let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError, cause.domain == NSSQLiteErrorDomain else {
            return false
        }
        return limits.contains { cause.localizedDescription.contains($0) }
    }

    /// Returns the error of a request beyond SQLite's limits.
    static func tooComplex(_ request: StoreQuery, _ cause: any Error) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError,
            "The SQLite store cannot answer the fetch: its predicate is too large for SQLite.",
            reason: ((cause as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription,
            next: "Nest it less, use IN for many values, or set the request's allowsEvaluationInMemory.", cause: cause)
    }
}
