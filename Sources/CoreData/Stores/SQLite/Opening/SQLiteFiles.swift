internal import CSQLite
internal import Foundation

/// Opens the files of stores.
enum SQLiteFiles {
    /// Where a store keeps the values that lie in files of their own; nil for a store in memory.
    static func externalFiles(of url: URL?) -> URL? {
        guard let url, !isInMemory(url) else { return nil }
        return url.deletingLastPathComponent().appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
            .appendingPathComponent("_EXTERNAL_DATA")
    }

    /// Whether a place stands for a store that lives in memory and is gone with its coordinator.
    static func isInMemory(_ url: URL) -> Bool { url.path == "/dev/null" }

    /// A connection that writes.
    ///
    /// - Parameter creates: whether a file that is not there is made.
    static func connectForWriting(_ url: URL, timeout: TimeInterval, creates: Bool) throws -> SQLConnection {
        let flags = SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0)
        if isInMemory(url) { return try SQLConnection(":memory:", flags: flags, path: url.path, timeout: timeout) }
        if !creates { try requireFile(url) }
        let connection = try SQLConnection(url.path, flags: flags, path: url.path, timeout: timeout)
        // SQLite opens what it may not write for reading, and would say so at some later time, or that something cannot be opened.
        if sqlite3_db_readonly(connection.handle, "main") == 1 {
            throw SQLError.make(
                code: SQLITE_READONLY, message: String(cString: sqlite3_errstr(SQLITE_READONLY)), .opening, path: url.path)
        }
        connection.isOfSharedFile = true
        return connection
    }

    /// A connection that reads and leaves the file and its directory as they are, on a disk that cannot be written to as well.
    static func connectForReading(_ url: URL, timeout: TimeInterval) throws -> SQLConnection {
        try requireFile(url)
        let log = url.path + "-wal"
        let hasLog = ((try? FileManager.default.attributesOfItem(atPath: log)[.size]) as? NSNumber)?.intValue ?? 0 > 0
        if !hasLog, !FileManager.default.isWritableFile(atPath: url.deletingLastPathComponent().path) {
            // Nobody writes here: SQLite need not look for the locks and logs of others, for which it would want to make files.
            return try SQLConnection(
                uri(url) + "?immutable=1", flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path: url.path, timeout: timeout)
        }
        let connection = try SQLConnection(url.path, flags: SQLITE_OPEN_READONLY, path: url.path, timeout: timeout)
        connection.isOfSharedFile = true
        connection.leavesNoFiles = !FileManager.default.fileExists(atPath: log)
        do {
            _ = try connection.texts("SELECT name FROM sqlite_master LIMIT 1", .opening)
            return connection
        } catch let error as NSError where hasLog && error.userInfo[NSSQLiteErrorDomain] as? Int == Int(SQLITE_CANTOPEN) {
            return try connectToCopy(url, log: log, timeout: timeout)
        }
    }

    // MARK: Side by side

    /// Whether other connections can read a file while this one writes to it: with a log that readers and the writer share.
    static func isReadSideBySide(_ url: URL, _ connection: SQLConnection, _ options: SQLiteOptions) throws -> Bool {
        if isInMemory(url) || !connection.isOfSharedFile { return false }
        // Who wants to be alone says so.
        if options.pragmas.contains(where: { $0.name == "locking_mode" }) { return false }
        return try connection.texts("PRAGMA journal_mode", .opening).first?.first == "wal"
    }

    /// What tells a file from another one at the same place; nil where there is none.
    static func identity(of url: URL) -> FileIdentity? {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        return FileIdentity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
    }

    struct FileIdentity: Equatable {
        let device: UInt64
        let number: UInt64
    }

    /// A connection that only reads, beside the one of a store.
    static func connectBeside(_ url: URL, _ options: SQLiteOptions) throws -> SQLConnection {
        let connection = try SQLConnection(url.path, flags: SQLITE_OPEN_READONLY, path: url.path, timeout: options.timeout)
        for pragma in options.pragmas where pragmasOfConnections.contains(pragma.name) { _ = try connection.texts(pragma.sql, .opening) }
        return connection
    }

    /// Pragmas that are about one connection and not about the file.
    private static let pragmasOfConnections: Set<String> = [
        "cache_size", "mmap_size", "temp_store", "threads", "case_sensitive_like", "automatic_index", "reverse_unordered_selects",
        "analysis_limit", "cell_size_check", "trusted_schema",
    ]

    /// Reads a log that SQLite cannot open where it lies, for want of a shared file beside it, in a copy that is gone with the connection.
    private static func connectToCopy(_ url: URL, log: String, timeout: TimeInterval) throws -> SQLConnection {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent("store")
        try FileManager.default.copyItem(atPath: url.path, toPath: copy.path)
        try FileManager.default.copyItem(atPath: log, toPath: copy.path + "-wal")
        let connection = try SQLConnection(copy.path, flags: SQLITE_OPEN_READWRITE, path: url.path, timeout: timeout)
        // The files stay open without their names; what reads them needs no others beside them from here on.
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = 1", .opening)
        _ = try connection.texts("SELECT name FROM sqlite_master LIMIT 1", .opening)
        return connection
    }

    private static func uri(_ url: URL) -> String {
        "file:"
            + (url.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#"))) ?? "")
    }

    private static func requireFile(_ url: URL) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), !isDirectory.boolValue else {
            throw CoreDataError.make(
                CocoaError.Code.fileReadNoSuchFile.rawValue, "The store at \(url.path) cannot be opened.",
                reason: isDirectory.boolValue ? "It is a directory." : "There is no such file.",
                next: "Check the URL, or open it for writing to make it.", info: [NSFilePathErrorKey: url.path])
        }
    }
}
