internal import Foundation
internal import Platform
internal import Predicates

/// Restores the files beside a store, its log (`-wal`) and the file of shared memory (`-shm`), once the last reader of this process has closed the
/// store.
///
/// Even when it only reads, SQLite writes an index of the log to the file of shared memory, or creates both files. If another process has the store
/// open, the files are in its use and stay. No connection trusts an existing file of shared memory: the first one rebuilds the index.
final class SQLSharedMemory: Sendable {
    private struct Note {
        /// The number of open connections that began since the note was made.
        var readers = 0
        /// Whether there was a log, which stays.
        let hadLog: Bool
        /// The bytes of the file of shared memory; nil if there was none.
        let bytes: Data?
    }

    /// The notes, by the path of the store.
    private static let notes = LockedBox<[String: Note]>([:])
    private let path: String

    /// Notes the present files before a connection is opened; nil if nothing is to be restored, because another process has the store open.
    ///
    /// The file is read while no other connection is open, not even in this process: closing a file releases the process's locks on it.
    convenience init?(noting path: String) {
        if let known = SQLSharedMemory(joining: path) {
            self.init(path: known.path)
            return
        }
        let hadLog = access(path + "-wal", F_OK) == 0
        var bytes: Data?
        if hadLog || access(path + "-shm", F_OK) == 0 {
            guard let lock = SQLiteFiles.connectForLooking(URL(fileURLWithPath: path), keepsLog: hadLog) else {
                self.init(joining: path)
                return
            }
            bytes = FileManager.default.contents(atPath: path + "-shm")
            withExtendedLifetime(lock) {}
        }
        self.init(path: path)
        Self.notes.withLock { notes in
            if !Self.count(in: &notes, path) { notes[path] = Note(readers: 1, hadLog: hadLog, bytes: bytes) }
        }
    }

    /// Counts a connection in addition to others that have made the note; nil if there is no note.
    init?(joining path: String) {
        guard Self.notes.withLock({ Self.count(in: &$0, path) }) else { return nil }
        self.path = path
    }

    private init(path: String) { self.path = path }

    private static func count(in notes: inout [String: Note], _ path: String) -> Bool {
        guard notes[path] != nil else { return false }
        notes[path]?.readers += 1
        return true
    }

    /// Ends a connection, which is closed. The last one puts the file back.
    func close() {
        let last: Note? = Self.notes.withLock { notes in
            guard let note = notes[path] else { return nil }
            if note.readers == 1 { return notes.removeValue(forKey: path) }
            notes[path]?.readers -= 1
            return nil
        }
        guard let last, last.hadLog || isLogEmpty else { return }
        // No other connection is open while this one is. A log that did not exist before is removed with it.
        guard let lock = SQLiteFiles.connectForLooking(URL(fileURLWithPath: path), keepsLog: last.hadLog) else { return }
        let file = path + "-shm"
        if let bytes = last.bytes {
            if FileManager.default.contents(atPath: file) != bytes { try? bytes.write(to: URL(fileURLWithPath: file)) }
        } else {
            unlink(file)
        }
        withExtendedLifetime(lock) {}
    }

    /// Whether there is an empty log. A log that another program has filled meanwhile, and left, stays.
    private var isLogEmpty: Bool {
        var status = stat()
        return stat(path + "-wal", &status) == 0 && status.st_size == 0
    }
}
