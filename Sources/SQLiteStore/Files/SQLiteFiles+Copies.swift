internal import CSQLite
internal import Foundation

extension SQLiteFiles {
    /// Reads a file whose last transaction must be rolled back, through a temporary copy.
    ///
    /// - Returns: Nil if others roll it back meanwhile, or continue writing: a copy would then be inconsistent, and the file may be read in place.
    static func connectToUnfinishedCopy(_ url: URL, timeout: TimeInterval) throws -> SQLConnection? {
        let journal = url.path + "-journal"
        // The journal's pages overwrite those of the copy. The journal is copied first: whatever others roll back in the file meanwhile, the result
        // is the same.
        for _ in 0..<5 {
            guard let before = FileManager.default.contents(atPath: journal) else { return nil }
            let connection = Result { try connectToCopy(url, beside: "-journal", timeout: timeout) }
            if FileManager.default.contents(atPath: journal) == before { return try connection.get() }
        }
        return nil
    }

    /// Reads a file through a temporary copy, with a file beside it. SQLite must write to the first to use the second.
    ///
    /// - Parameter ending: The ending of the file beside it: that of a log whose shared-memory file is missing, or of a journal.
    static func connectToCopy(_ url: URL, beside ending: String, timeout: TimeInterval) throws -> SQLConnection {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coredata-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appendingPathComponent("store")
        try FileManager.default.copyItem(atPath: url.path + ending, toPath: copy.path + ending)
        try copyDatabase(url, to: copy, timeout: timeout)
        let connection = try SQLConnection(copy.path, flags: SQLITE_OPEN_READWRITE, path: url.path, timeout: timeout)
        // The files stay open after they are deleted; the connection needs no further files from here on.
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = 1", .opening)
        _ = try connection.texts("SELECT name FROM sqlite_master LIMIT 1", .opening)
        return connection
    }

    /// Copies a database file through SQLite's own descriptor: if this process closed another one, its locks of the file would end.
    private static func copyDatabase(_ url: URL, to copy: URL, timeout: TimeInterval) throws {
        let source = try SQLConnection(url.path, flags: SQLITE_OPEN_READONLY, path: url.path, timeout: timeout)
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(source.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods?.pointee, let read = methods.xRead, let measure = methods.xFileSize
        else { throw SQLError.make(code: SQLITE_IOERR, message: "The file cannot be copied.", .opening, path: url.path) }
        var size: sqlite3_int64 = 0
        try check(measure(file, &size), url)
        try check(FileManager.default.createFile(atPath: copy.path, contents: nil) ? SQLITE_OK : SQLITE_CANTOPEN, url)
        let target = try FileHandle(forWritingTo: copy)
        defer { try? target.close() }
        var block = Data(count: 1 << 20)
        var place: sqlite3_int64 = 0
        while place < size {
            let count = Int(min(sqlite3_int64(block.count), size - place))
            // The file may become shorter meanwhile: its rest is then read as zeros, and the journal contains the former pages.
            let code = block.withUnsafeMutableBytes { read(file, $0.baseAddress, Int32(count), place) }
            try check(code == SQLITE_IOERR | (2 << 8) ? SQLITE_OK : code, url)
            try target.write(contentsOf: block.prefix(count))
            place += sqlite3_int64(count)
        }
        withExtendedLifetime(source) {}
    }

    private static func check(_ code: Int32, _ url: URL) throws {
        if code != SQLITE_OK { throw SQLError.make(code: code, message: String(cString: sqlite3_errstr(code)), .opening, path: url.path) }
    }
}
