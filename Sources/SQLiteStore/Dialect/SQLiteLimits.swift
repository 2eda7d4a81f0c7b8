internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The errors of statements that SQLite refuses because of their text.
enum SQLiteLimits {
    /// Marks errors of statements that SQLite could not prepare.
    static let unpreparedKey = "CoreDataUnpreparedStatement"

    /// Returns whether SQLite refused to prepare a statement because of its text, not because of the state of the file or the memory.
    ///
    /// A statement that was translated from a request is well-formed. So if the file has the tables and columns of the model, it was
    /// beyond one of SQLite's limits: on the depth of expressions, parameters, joined tables, columns, or terms. SQLite has one code for
    /// all of them, and its messages depend on the installed library.
    static func isRefused(_ error: any Error) -> Bool {
        let error = error as NSError
        guard error.userInfo[unpreparedKey] as? Bool == true, let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError else {
            return false
        }
        // A comparison by another program's collation is not a matter of size.
        if isMissingCollation(error) { return false }
        // SQLITE_ERROR, SQLITE_ABORT and SQLITE_TOOBIG; the upper bytes have details.
        return cause.domain == NSSQLiteErrorDomain && [1, 4, 18].contains(cause.code & 0xFF)
    }

    /// SQLITE_ERROR_MISSING_COLLSEQ
    static let missingCollation = SQLITE_ERROR | 1 << 8

    /// Returns whether a statement compares texts by a collation that SQLite does not have.
    static func isMissingCollation(_ error: any Error) -> Bool {
        guard let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError else { return false }
        return cause.domain == NSSQLiteErrorDomain && cause.code == Int(missingCollation)
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
