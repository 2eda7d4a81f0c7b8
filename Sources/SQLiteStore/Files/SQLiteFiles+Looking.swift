internal import CSQLite
internal import Foundation

extension SQLiteFiles {
    /// Opens a connection that leaves a file with a log, and the files beside it, unchanged to the last byte: a refused store must not be modified.
    ///
    /// Another connection would write the log into the file when it is closed, or write the file of shared memory when it is opened. This one keeps
    /// all other connections out while it is open: close it soon.
    ///
    /// - Parameter keepsLog: Whether the log stays. Otherwise it is removed at the end, and created temporarily if there is none. A file with a
    ///   journal is left alone then, since the connection would roll back the journal's transaction.
    /// - Returns: The connection; nil if there is no log to keep, and if others have the file open, in which case closing writes nothing.
    static func connectForLooking(_ url: URL, keepsLog: Bool = true) -> SQLConnection? {
        guard !isInMemory(url), access(url.path + (keepsLog ? "-wal" : "-journal"), F_OK) == (keepsLog ? 0 : -1),
            let connection = try? SQLConnection(url.path, flags: SQLITE_OPEN_READWRITE, path: url.path, timeout: 0),
            sqlite3_db_readonly(connection.handle, "main") == 0, !keepsLog || coredata_sqlite3_keep_log(connection.handle) == SQLITE_OK
        else { return nil }
        do {
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = 1", .opening)
            _ = try connection.texts("SELECT name FROM sqlite_master LIMIT 1", .opening)
            return connection
        } catch {
            return nil
        }
    }

    /// Opens a connection for one read, after which it is closed; see ``connectForLooking(_:)``.
    static func connectForReadingOnce(_ url: URL, timeout: TimeInterval) throws -> SQLConnection {
        if let connection = connectForLooking(url) { return connection }
        return try connectForReading(url, timeout: timeout)
    }
}
