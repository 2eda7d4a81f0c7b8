internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Converts SQLite's errors to Core Data's.
enum SQLError {
    /// The operation that failed.
    enum Action {
        case opening
        case reading
        case writing
    }

    /// Returns the error that a connection has just reported.
    ///
    /// - Parameters:
    ///   - connection: The handle; nil when it could not be opened at all.
    ///   - code: SQLite's result code.
    ///   - sql: The statement, which contains no values, because they are bound.
    ///   - isPrepared: Whether SQLite has taken the statement, and failed later.
    static func make(
        _ connection: OpaquePointer?, _ code: Int32, _ action: Action, path: String, sql: String? = nil, isPrepared: Bool = true
    ) -> NSError {
        let extended = connection.map(sqlite3_extended_errcode) ?? code
        // Another statement may have failed since.
        let isLast = extended & 0xFF == code & 0xFF
        let message = isLast ? connection.flatMap { sqlite3_errmsg($0) } : sqlite3_errstr(code)
        return make(
            code: isLast ? extended : code, message: message.map { String(cString: $0) } ?? "code \(code)", action, path: path, sql: sql,
            isPrepared: isPrepared)
    }

    static func make(
        code: Int32, message: String, _ action: Action, path: String, sql: String? = nil, isPrepared: Bool = true
    ) -> NSError {
        let primary = code & 0xFF
        let (cocoa, next) = meaning(of: primary, action)
        var info: [String: Any] = [NSSQLiteErrorDomain: Int(primary), NSFilePathErrorKey: path]
        if let sql { info["NSSQLiteStatement"] = sql }
        if !isPrepared { info[SQLiteLimits.unpreparedKey] = true }
        let cause = NSError(domain: NSSQLiteErrorDomain, code: Int(code), userInfo: [NSLocalizedDescriptionKey: message])
        return CoreDataError.make(
            cocoa, "The store at \(path) could not be \(words(action)).",
            reason: "SQLite says: \(message) (\(code))\(sql.map { ", to: \($0)" } ?? "").",
            next: next, cause: cause, info: info)
    }

    private static func words(_ action: Action) -> String {
        switch action {
        case .opening: "opened"
        case .reading: "read"
        case .writing: "written"
        }
    }

    private static func meaning(of code: Int32, _ action: Action) -> (Int, String) {
        switch code {
        case SQLITE_BUSY, SQLITE_LOCKED:
            (
                NSPersistentStoreTimeoutError,
                "Another connection has it locked: try again, or give NSPersistentStoreTimeoutOption more seconds."
            )
        case SQLITE_FULL: (CocoaError.Code.fileWriteOutOfSpace.rawValue, "Make room on the disk.")
        case SQLITE_READONLY, SQLITE_PERM:
            (
                CocoaError.Code.fileWriteNoPermission.rawValue,
                "Check the permissions of the file and of its directory, or open it with NSReadOnlyPersistentStoreOption."
            )
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            (CocoaError.Code.fileReadCorruptFile.rawValue, "Restore the file from a copy, or give the URL of a SQLite store.")
        case SQLITE_CANTOPEN:
            (
                action == .opening ? CocoaError.Code.fileReadNoSuchFile.rawValue : NSSQLiteError,
                "Check that the directory exists and may be read and written."
            )
        case SQLITE_CONSTRAINT: (NSManagedObjectConstraintMergeError, "Set a merge policy, or save other values.")
        default: (action == .opening ? NSPersistentStoreOpenError : NSSQLiteError, "See the underlying error.")
        }
    }
}
