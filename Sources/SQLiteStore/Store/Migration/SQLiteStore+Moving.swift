internal import CSQLite
package import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

extension SQLiteStore: MovableStore {
    package static func stampOfFiles(at url: URL, options: [AnyHashable: Any]?) throws -> String {
        let connection = try SQLiteFiles.connectForWriting(url, timeout: min(SQLiteOptions(options).timeout, 5), creates: false)
        try SQLiteFileMove.takeAlone(connection, url)
        return try SQLiteFileMove.stamp(connection, url)
    }

    package static func moveFiles(
        from source: URL, to destination: URL, options: [AnyHashable: Any]?, replacing stamp: String?
    ) throws -> Bool {
        let timeout = try min(SQLiteOptions(options).timeout, 5)
        // The log of the source is written into its file, since only that file is moved.
        try SQLiteFileMove.takeAlone(SQLiteFiles.connectForWriting(source, timeout: timeout, creates: false), source)
        try FileCalls.synchronize(source)
        if stamp == nil { try SQLiteFileCopy.checkMissing(destination) }
        // The old store is not written to from here on: the connection has its lock until it is replaced.
        let connection = try stamp.map { _ in try SQLiteFiles.connectForWriting(destination, timeout: timeout, creates: false) }
        if let connection {
            try SQLiteFileMove.takeAlone(connection, destination)
            _ = try connection.texts("PRAGMA locking_mode = EXCLUSIVE")
            try connection.execute("BEGIN EXCLUSIVE; COMMIT")
            if try SQLiteFileMove.stamp(connection, destination) != stamp { return false }
        }
        try SQLiteFileCopy.copyExternalFiles(from: source, to: destination, links: true)
        try SQLiteFileMove.rename(source, to: destination)
        SQLiteFileCopy.removeExternalFiles(of: destination, notIn: source)
        withExtendedLifetime(connection) {}
        return true
    }

    package static func copyClosedFiles(from source: URL, to destination: URL, options: [AnyHashable: Any]?) throws {
        let timeout = try SQLiteOptions(options).timeout
        let reader = try SQLiteFiles.connectForReading(source, timeout: timeout)
        try SQLiteFileCopy.copyExternalFiles(from: source, to: destination, links: true)
        try SQLiteFileCopy.copy(reader, to: destination, timeout: timeout)
    }
}

/// Puts a complete database into the place of another.
enum SQLiteFileMove {
    /// Writes the log into the file, and requires that no other connection is open.
    ///
    /// - Throws: Code 134090 if others have the file open.
    static func takeAlone(_ connection: SQLConnection, _ url: URL) throws {
        do {
            try connection.execute("PRAGMA synchronous = EXTRA")
            let mode = try connection.texts("PRAGMA journal_mode = DELETE", .writing).first?.first
            if mode == "delete" {
                try connection.execute("BEGIN EXCLUSIVE; COMMIT")
                return
            }
        } catch let error as NSError {
            guard [Int(SQLITE_BUSY), Int(SQLITE_LOCKED)].contains(error.userInfo[NSSQLiteErrorDomain] as? Int) else { throw error }
        }
        throw CoreDataError.make(
            NSPersistentStoreTimeoutError, "The store at \(url.path) cannot be migrated.", reason: "Others have it open.",
            next: "Close it there first.", info: [NSFilePathErrorKey: url.path])
    }

    /// Returns a stamp of a file and its content: each change alters its header or its time.
    static func stamp(_ connection: SQLConnection, _ url: URL) throws -> String {
        var status = stat()
        guard stat(url.path, &status) == 0 else { throw SQLError.make(connection.handle, SQLITE_CANTOPEN, .opening, path: url.path) }
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        // The header counts the changes of the file.
        let header = try handle.read(upToCount: 100) ?? Data()
        return "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec) \(header.base64EncodedString())"
    }

    /// Renames a database, which is synced and without a log, to the place of another.
    static func rename(_ source: URL, to destination: URL) throws {
        let directory = destination.deletingLastPathComponent()
        // SQLite would take the older version's files beside the database for those of the newer one.
        for file in SQLiteFileCopy.files(of: destination).dropFirst() + SQLiteFileCopy.files(of: source).dropFirst()
        where FileManager.default.fileExists(atPath: file.path) { try FileCalls.remove(file) }
        try FileCalls.synchronize(directory)
        try FileCalls.rename(source, to: destination)
        try FileCalls.synchronize(directory)
    }
}
