internal import Foundation
internal import ObjectGraph
internal import Platform

/// Reads, writes and locks the files of a store, with the store's errors.
enum StoreFiles {
    /// How many seconds a store waits for others that write in its folder.
    static let timeout: TimeInterval = SQLiteStoreDefaults.timeout

    /// How far a save has come when it failed.
    enum SaveProgress {
        /// The files have their old content.
        case unchanged
        /// The save is decided: the next program that opens the files for writing finishes it.
        case decided
        /// The files have their new content, which may not be on the disk yet.
        case written

        /// What the reader of the error can do.
        var next: String {
            switch self {
            case .unchanged: "Nothing was changed. See to it that the folder can be written to and has room."
            case .decided: "The save is finished when the files are next opened for writing. See to it that all of them can be replaced."
            case .written: "The files have the new content, which may not be on the disk. Check the disk, and save again."
            }
        }
    }

    /// Returns the error of a save that a call of the system has ended.
    static func saveFailure(_ error: any Error, after progress: SaveProgress) -> any Error {
        guard let number = FileFailure.number(of: error) else { return error }
        let info = (error as NSError).userInfo
        let path = info[NSFilePathErrorKey] as? String ?? "?"
        let words = (info[NSLocalizedDescriptionKey] as? String) ?? "The file at \(path) cannot be written."
        let what = words.range(of: ". ").map { String(words[..<$0.lowerBound]) + "." } ?? words
        return CoreDataError.make(
            NSPersistentStoreSaveError, what, reason: FileFailure.reason(number),
            next: progress.next, cause: error, info: [NSFilePathErrorKey: path])
    }

    /// Returns the error of a path that names no store.
    static func notFound(_ path: String) -> NSError { FileFailure.error(ENOENT, "found", path, isWriting: false) }

    /// Reads a file.
    ///
    /// - Parameter progress: Counts bytes; a cancelled one ends the reading.
    /// - Returns: Its bytes, which the caller must deallocate, and the state that they are of.
    static func read(_ path: String, progress: Progress?) throws -> (memory: UnsafeMutableRawPointer, count: Int, stamp: FileStamp) {
        let counted = progress?.completedUnitCount ?? 0
        let (buffer, stamp) = try OpenFile.whole(path) { file, size in
            progress?.completedUnitCount = counted
            let buffer = FileBuffer(size)
            while buffer.count < size {
                if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
                let part = UnsafeMutableRawBufferPointer(start: buffer.start + buffer.count, count: min(size - buffer.count, 4 << 20))
                let count = try file.read(into: part, at: buffer.count)
                buffer.count += count
                progress?.completedUnitCount += Int64(count)
                if count < part.count { break }
            }
            return buffer
        }
        return (buffer.handOver(), buffer.count, stamp)
    }

    /// Reads the beginning of a file: so many bytes, or all where it has fewer; nil where there is no file.
    static func beginning(of path: String, count: Int) throws -> [UInt8]? {
        guard FileStamp(path) != nil else { return nil }
        let file = try OpenFile(reading: path)
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            done = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Writes a new file and its bytes to the disk.
    ///
    /// - Parameter other: The file that it will replace, whose owner it gets.
    static func writeNew(_ path: String, _ text: TextBytes, mode: UInt32, replacing other: String? = nil) throws {
        // An interrupted save may have left one. A symbolic link in its place leads to a file of others.
        try FileCalls.remove(path)
        let file = try OpenFile(writing: path, mode: mode)
        do {
            // The creation mask may have taken permissions away. A disk without permissions keeps those that it has.
            if let other { file.setOwner(like: other) }
            try? file.setMode(mode)
            try file.write(text.buffer)
            try file.synchronize()
        } catch {
            try? FileCalls.remove(path)
            throw error
        }
    }

    /// Runs `body` while no other process that uses this lock writes to files of a folder.
    ///
    /// - Throws: Code 134090 where others have it for longer than ``timeout``; and the error of `body`.
    static func locking<Result>(_ folder: String, _ body: () throws -> Result) throws -> Result {
        // On a disk without locks, the stamps of the files tell what others write.
        guard let lock = try FileLock(.folder(folder), timeout: timeout, isNeeded: false) else {
            throw CoreDataError.make(
                NSPersistentStoreTimeoutError, "The files in \(folder) cannot be used.",
                reason: "Another program has been writing them for \(Int(timeout)) seconds.", next: "Try again later.",
                info: [NSFilePathErrorKey: folder])
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }
}

/// Memory that a file is read into: deallocated with the buffer, unless it was handed over.
private final class FileBuffer {
    private(set) var start: UnsafeMutableRawPointer
    private var isOwned = true
    var count = 0

    init(_ size: Int) { start = .allocate(byteCount: max(size, 8), alignment: 8) }

    deinit { if isOwned { start.deallocate() } }

    /// Returns the memory, which the caller deallocates from now on.
    func handOver() -> UnsafeMutableRawPointer {
        isOwned = false
        return start
    }
}
