internal import CSQLite
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// Copies, replaces and destroys the files of stores; a failure leaves the previous files.
enum SQLiteFileCopy {
    /// Copies a database that others may be using to a new place: completely under another name, and then by renaming.
    ///
    /// - Parameter finish: Changes the copy before it is renamed.
    static func copy(
        _ source: SQLConnection, to url: URL, timeout: TimeInterval, finish: (SQLConnection) throws -> Void = { _ in }
    ) throws {
        try checkMissing(url)
        try make(url) { temporary in
            let copy = try SQLiteFiles.connectForWriting(temporary, timeout: timeout, creates: true)
            try fill(copy, from: source, timeout: timeout)
            try finish(copy)
        }
    }

    /// Creates the file of a database under another name, and renames it when it is complete.
    ///
    /// - Parameter body: Creates the file and closes it.
    static func make(_ url: URL, _ body: (URL) throws -> Void) throws {
        let manager = FileManager.default
        let temporary = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent)-\(UUID().uuidString)")
        defer { for file in files(of: temporary) { try? manager.removeItem(at: file) } }
        try body(temporary)
        let log = URL(fileURLWithPath: temporary.path + "-wal")
        if let size = (try? manager.attributesOfItem(atPath: log.path)[.size]) as? NSNumber, size.intValue > 0 {
            throw CoreDataError.make(
                NSPersistentStoreOperationError, "The store at \(url.path) cannot be written.",
                reason: "The copy \(temporary.path) is still open.", next: "Try again.", info: [NSFilePathErrorKey: url.path])
        }
        try FileCalls.synchronize(temporary)
        // Remains of a deleted database would be taken for this one's.
        for file in files(of: url).dropFirst() where manager.fileExists(atPath: file.path) { try FileCalls.remove(file) }
        try FileCalls.rename(temporary, to: url)
        try FileCalls.synchronize(url.deletingLastPathComponent())
    }

    /// Replaces the content of a database that others may be using: they see the new content once it is complete.
    static func fill(_ target: SQLConnection, from source: SQLConnection, timeout: TimeInterval) throws {
        guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
            throw SQLError.make(target.handle, sqlite3_errcode(target.handle), .writing, path: target.path)
        }
        let deadline = Date().addingTimeInterval(timeout)
        var code = SQLITE_OK
        repeat {
            code = sqlite3_backup_step(backup, -1)
            // The backup does not wait for other connections.
            if code == SQLITE_BUSY || code == SQLITE_LOCKED { sqlite3_sleep(10) }
        } while (code == SQLITE_BUSY || code == SQLITE_LOCKED) && Date() < deadline
        let end = sqlite3_backup_finish(backup)
        if code != SQLITE_DONE {
            // The error of the step; finishing may have reported none.
            throw SQLError.make(
                code: end == SQLITE_OK ? code : end, message: String(cString: sqlite3_errstr(code)), .writing, path: target.path)
        }
    }

    /// Returns the database and SQLite's files beside it.
    static func files(of url: URL) -> [URL] { ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: url.path + $0) } }

    /// Checks that there is no file, or an empty one, as a destroyed store leaves it.
    static func checkMissing(_ url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        if try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber == 0 { return }
        throw CoreDataError.make(
            CocoaError.Code.fileWriteFileExists.rawValue, "There is a file at \(url.path) already.",
            next: "Choose another place, destroy the store there, or replace it with replacePersistentStore(at:…).",
            info: [NSFilePathErrorKey: url.path])
    }

    // MARK: External data files

    /// Copies external data files, and syncs them. Their names are unique, so none is overwritten.
    ///
    /// - Parameter links: Whether the files get additional names instead, if the disk supports them: no file is ever changed.
    static func copyExternalFiles(from source: URL, to destination: URL, links: Bool = false) throws {
        guard let from = SQLiteFiles.externalFiles(of: source), let to = SQLiteFiles.externalFiles(of: destination), from != to else {
            return
        }
        let manager = FileManager.default
        guard manager.fileExists(atPath: from.path) else { return }
        try manager.createDirectory(at: to, withIntermediateDirectories: true)
        for file in try manager.contentsOfDirectory(at: from, includingPropertiesForKeys: nil) {
            let place = to.appendingPathComponent(file.lastPathComponent)
            if manager.fileExists(atPath: place.path) { continue }
            let part = to.appendingPathComponent(".\(UUID().uuidString)")
            do {
                if links { try FileCalls.link(file, to: part) } else { try manager.copyItem(at: file, to: part) }
                try FileCalls.synchronize(part)
                try FileCalls.rename(part, to: place)
            } catch {
                try? manager.removeItem(at: part)
                throw error
            }
        }
        // The names of the files, of the folder and of the one around it.
        for folder in [to, to.deletingLastPathComponent(), to.deletingLastPathComponent().deletingLastPathComponent()] {
            try FileCalls.synchronize(folder)
        }
    }

    /// Deletes the external data files of replaced content.
    static func removeExternalFiles(of destination: URL, notIn source: URL) {
        guard let from = SQLiteFiles.externalFiles(of: source), let to = SQLiteFiles.externalFiles(of: destination), from != to else {
            return
        }
        let manager = FileManager.default
        for file in (try? manager.contentsOfDirectory(at: to, includingPropertiesForKeys: nil)) ?? []
        where !manager.fileExists(atPath: from.appendingPathComponent(file.lastPathComponent).path) {
            do { try FileCalls.remove(file) } catch {
                Log.store.notice("The file \(file.path) of a value that was replaced stays: \(error.localizedDescription)")
            }
        }
    }

    // MARK: Destroying

    /// Empties an unused database and deletes all files beside it. Does nothing if there is no database.
    ///
    /// The empty file remains, as on Apple's platforms: a process that opens the database meanwhile has the same file.
    ///
    /// - Parameter isForced: Whether to ignore other connections, and files that are not databases.
    /// - Throws: Code 134090 if others use the database; nothing is deleted then.
    static func destroy(_ url: URL, timeout: TimeInterval, isForced: Bool) throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: url.path), !isForced { try requireSole(url, timeout: timeout) }
        // The log files come first: a database without its log is an older state, while a log without its database is useless.
        for file in files(of: url).reversed() where manager.fileExists(atPath: file.path) {
            if file.path == url.path { try empty(file) } else { try manager.removeItem(at: file) }
        }
        guard let external = SQLiteFiles.externalFiles(of: url)?.deletingLastPathComponent() else { return }
        if manager.fileExists(atPath: external.path) { try manager.removeItem(at: external) }
    }

    private static func empty(_ file: URL) throws {
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.truncate(atOffset: 0)
        try handle.synchronize()
    }

    /// Checks that no other connection to a database is open. A file that is not a database is not in use.
    private static func requireSole(_ url: URL, timeout: TimeInterval) throws {
        do {
            let connection = try SQLiteFiles.connectForWriting(url, timeout: min(timeout, 5), creates: false)
            // Only a sole connection can leave the mode in which readers and writers share the log.
            let mode = try connection.texts("PRAGMA journal_mode = DELETE", .writing)
            guard mode.first?.first == "delete" else { throw inUse(url) }
            try connection.execute("BEGIN EXCLUSIVE; ROLLBACK")
        } catch let error as NSError {
            switch error.userInfo[NSSQLiteErrorDomain] as? Int {
            case Int(SQLITE_BUSY), Int(SQLITE_LOCKED): throw inUse(url, error)
            case Int(SQLITE_NOTADB), Int(SQLITE_CORRUPT): return
            default: throw error
            }
        }
    }

    private static func inUse(_ url: URL, _ cause: NSError? = nil) -> NSError {
        CoreDataError.make(
            NSPersistentStoreTimeoutError, "The store at \(url.path) cannot be destroyed.", reason: "Others have it open.",
            next: "Close it there first, or give NSPersistentStoreForceDestroyOption.", cause: cause, info: [NSFilePathErrorKey: url.path])
    }
}
