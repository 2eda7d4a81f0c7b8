internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import PropertyLists

/// Opens the files of stores.
package enum SQLiteFiles {
    /// Returns the directory of a store's external data files; nil for an in-memory store.
    static func externalFiles(of url: URL?) -> URL? {
        guard let url, !isInMemory(url) else { return nil }
        // Built by hand for usual names: with each step, Foundation asks the file system whether the path is a directory.
        let path = url.path
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            let name = path[path.utf8.index(after: slash)...]
            if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
                !name.utf8[name.utf8.index(after: dot)...].isEmpty, name.utf8.allSatisfy(isUsual)
            {
                return URL(fileURLWithPath: "\(path[...slash]).\(name[..<dot])_SUPPORT/_EXTERNAL_DATA", isDirectory: true)
            }
        }
        return url.deletingLastPathComponent().appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
            .appendingPathComponent("_EXTERNAL_DATA")
    }

    private static func isUsual(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
    }

    /// Returns whether a URL denotes a store in memory.
    static func isInMemory(_ url: URL) -> Bool { url.path == "/dev/null" }

    /// Opens a connection for writing.
    ///
    /// - Parameter creates: Whether to create a missing file, and its directory.
    static func connectForWriting(_ url: URL, timeout: TimeInterval, creates: Bool) throws -> SQLConnection {
        let flags = SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0)
        if isInMemory(url) { return try SQLConnection(":memory:", flags: flags, path: url.path, timeout: timeout) }
        if creates { try requireSideFiles(url.path) } else { try requireFile(url) }
        let path = url.path
        let connection: SQLConnection
        do { connection = try SQLConnection(path, flags: flags, path: path, timeout: timeout) } catch {
            // Mostly the directory is there.
            guard creates, try makeDirectory(of: url) else { throw error }
            connection = try SQLConnection(path, flags: flags, path: path, timeout: timeout)
        }
        // SQLite opens a file that it cannot write to as read-only, and reports that later or less clearly.
        if sqlite3_db_readonly(connection.handle, "main") == 1 {
            throw SQLError.make(
                code: SQLITE_READONLY, message: String(cString: sqlite3_errstr(SQLITE_READONLY)), .opening, path: url.path)
        }
        connection.isOfSharedFile = true
        return connection
    }

    /// Opens a connection for reading that does not change the file and its directory, even on a read-only disk.
    ///
    /// A file whose last transaction must be rolled back, because its program ended within it, is read through a copy.
    ///
    /// - Parameter keepsFiles: Whether the file of shared memory is also left alone while it is read: see ``SQLiteKeepsFilesOption``. Otherwise the
    ///   file is restored when the last reader is closed.
    static func connectForReading(_ url: URL, timeout: TimeInterval, keepsFiles: Bool = false) throws -> SQLConnection {
        try requireFile(url)
        // Files that this process has created are removed with its last reader, so that all readers are counted.
        let own = SQLSharedMemory(joining: url.path)
        if keepsFiles, own == nil, let connection = try connectLeavingMemory(url, timeout: timeout) { return connection }
        defer { own?.close() }
        let log = url.path + "-wal"
        let hasLog = ((try? FileManager.default.attributesOfItem(atPath: log)[.size]) as? NSNumber)?.intValue ?? 0 > 0
        if !hasLog, !FileManager.default.isWritableFile(atPath: url.deletingLastPathComponent().path) {
            // No other process writes here: SQLite need not check for locks and logs, for which it would create files.
            return try SQLConnection(
                uri(url) + "?immutable=1", flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path: url.path, timeout: timeout)
        }
        func connect() throws -> SQLConnection {
            let connection = try openReader(url, keeping: SQLSharedMemory(noting: url.path), timeout: timeout)
            connection.isOfSharedFile = true
            _ = try connection.texts("SELECT name FROM sqlite_master LIMIT 1", .opening)
            return connection
        }
        do { return try connect() } catch let error as NSError where isUnfinished(error) {
            // Only a connection that may write can roll back the program's unfinished transaction.
            if let copy = try connectToUnfinishedCopy(url, timeout: timeout) { return copy }
            return try connect()
        } catch let error as NSError where hasLog && isUnopened(error) {
            return try connectToCopy(url, beside: "-wal", timeout: timeout)
        }
    }

    /// Opens a connection for reading, after whose end the file of shared memory is restored.
    private static func openReader(_ url: URL, keeping memory: SQLSharedMemory?, timeout: TimeInterval) throws -> SQLConnection {
        do {
            let connection = try SQLConnection(url.path, flags: SQLITE_OPEN_READONLY, path: url.path, timeout: timeout)
            if let memory { connection.didClose = { memory.close() } }
            return connection
        } catch {
            memory?.close()
            throw error
        }
    }

    /// Opens a connection that follows writers through the shared-memory file of the log, and does not write to it.
    ///
    /// - Returns: Nil if there is no such file, or if a writer's last connection removes it meanwhile.
    private static func connectLeavingMemory(_ url: URL, timeout: TimeInterval) throws -> SQLConnection? {
        // A writer has both files; one without the other is left over.
        func hasMemory() -> Bool { access(url.path + "-shm", F_OK) == 0 && access(url.path + "-wal", F_OK) == 0 }
        guard hasMemory() else { return nil }
        let connection = try openLeavingMemory(url, timeout: timeout)
        connection.isOfSharedFile = true
        do {
            _ = try connection.texts("SELECT name FROM sqlite_master LIMIT 1", .opening)
            return connection
        } catch let error as NSError where isUnopened(error) && !hasMemory() {
            return nil
        }
    }

    private static func openLeavingMemory(_ url: URL, timeout: TimeInterval) throws -> SQLConnection {
        try SQLConnection(
            uri(url) + "?readonly_shm=1", flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path: url.path, timeout: timeout)
    }

    /// Returns whether SQLite could not open a file: the store's or one beside it.
    private static func isUnopened(_ error: NSError) -> Bool { error.userInfo[NSSQLiteErrorDomain] as? Int == Int(SQLITE_CANTOPEN) }

    /// Returns whether a file cannot be read before a transaction is undone, of which it has the journal.
    static func isUnfinished(_ error: NSError) -> Bool {
        (error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(SQLITE_READONLY | (3 << 8))
    }

    // MARK: Concurrent readers

    /// Returns whether other connections can read a file while this one writes to it: with a write-ahead log.
    ///
    /// - Parameter mode: The journal mode; nil if it is unknown.
    static func supportsConcurrentReaders(
        _ url: URL, _ connection: SQLConnection, _ options: SQLiteOptions, mode: String?
    ) throws -> Bool {
        if isInMemory(url) || !connection.isOfSharedFile { return false }
        // An exclusive locking mode excludes other connections.
        if options.pragmas.contains(where: { $0.name == "locking_mode" }) { return false }
        if let mode { return mode == "wal" }
        return try connection.texts("PRAGMA journal_mode", .opening).first?.first == "wal"
    }

    /// Returns the identity of a file, which differs from that of another file at the same URL; nil if there is no file.
    static func identity(of url: URL) -> FileIdentity? {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        return FileIdentity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
    }

    struct FileIdentity: Equatable {
        let device: UInt64
        let number: UInt64
    }

    /// Opens a read-only connection in addition to that of a store.
    static func openConcurrentReader(_ url: URL, _ options: SQLiteOptions) throws -> SQLConnection {
        let own = SQLSharedMemory(joining: url.path)
        let connection =
            options.keepsFiles && own == nil
            ? try openLeavingMemory(url, timeout: options.timeout) : try openReader(url, keeping: own, timeout: options.timeout)
        for pragma in options.pragmas where pragmasOfConnections.contains(pragma.name) { _ = try connection.texts(pragma.sql, .opening) }
        return connection
    }

    /// The pragmas that apply to a connection and not to the file.
    private static let pragmasOfConnections: Set<String> = [
        "cache_size", "mmap_size", "temp_store", "threads", "case_sensitive_like", "automatic_index", "reverse_unordered_selects",
        "analysis_limit", "cell_size_check", "trusted_schema",
    ]

    private static func uri(_ url: URL) -> String {
        "file:"
            + (url.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#"))) ?? "")
    }

    /// Creates the directory of a file. Returns false if it exists.
    private static func makeDirectory(of url: URL) throws -> Bool {
        let directory = url.deletingLastPathComponent()
        if FileManager.default.fileExists(atPath: directory.path) { return false }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            return true
        } catch {
            throw CoreDataError.make(
                CocoaError.Code.fileReadNoSuchFile.rawValue, "The store at \(url.path) cannot be opened.",
                reason: "Its directory does not exist and cannot be created.", next: "Check the URL and the rights of its directories.",
                cause: error, info: [NSFilePathErrorKey: url.path])
        }
    }

    private static func requireFile(_ url: URL) throws {
        var status = stat()
        let exists = stat(url.path, &status) == 0
        let kind = status.st_mode & S_IFMT
        guard exists, kind == S_IFREG else {
            // A pipe would be waited for.
            throw CoreDataError.make(
                CocoaError.Code.fileReadNoSuchFile.rawValue, "The store at \(url.path) cannot be opened.",
                reason: !exists
                    ? "There is no such file." : kind == S_IFDIR ? "It is a directory." : "It is a pipe or a device, and no file.",
                next: "Check the URL, or open it for writing to make it.", info: [NSFilePathErrorKey: url.path])
        }
        try requireSideFiles(url.path)
    }

    /// - Throws: An error if a pipe, a device or a folder is in the place of one of SQLite's files beside the store, since SQLite would wait for it.
    package static func requireSideFiles(_ path: String) throws {
        for ending in ["-wal", "-shm", "-journal"] {
            var status = stat()
            guard stat(path + ending, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
            throw CoreDataError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue, "The store at \(path) cannot be opened.",
                reason: "\((path as NSString).lastPathComponent)\(ending) beside it is no file.", next: "Remove it.",
                info: [NSFilePathErrorKey: path + ending])
        }
    }
}
