internal import Foundation
internal import ObjectGraph
package import Platform

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The file of a store: read as a whole, and replaced as a whole.
package struct ArchiveFile: Sendable {
    /// The path of the file itself, beyond symbolic links.
    let path: String

    /// How many bytes a system call writes at most, when they come in smaller pieces. Tests take fewer, so that a small file takes several calls.
    package static let bufferSize = LockedBox(1 << 20)

    init(_ url: URL) { path = url.resolvingSymlinksInPath().path }

    private var directory: String {
        let parent = (path as NSString).deletingLastPathComponent
        return parent.isEmpty ? "." : parent
    }

    /// Returns the error of a system call that has failed.
    func failure(_ number: Int32, _ what: String, isWriting: Bool) -> NSError {
        FileFailure.error(number, what, path, isWriting: isWriting)
    }

    // MARK: Reading

    /// Reads the file.
    ///
    /// - Returns: Its bytes, and the stamp of what was read; nil where there is no file.
    /// - Throws: The system's error; code 256 for a file that changes all the time.
    func read() throws -> (bytes: [UInt8], stamp: FileStamp)? {
        do {
            let (bytes, stamp) = try OpenFile.bytes(path)
            return (bytes, stamp)
        } catch {
            if FileFailure.number(of: error) == ENOENT { return nil }
            throw error
        }
    }

    // MARK: Writing

    /// Replaces the file, or creates it: `body` writes a file beside it, which is synced to the disk and then moved into place.
    ///
    /// Whatever happens meanwhile, the old file or the new one exists as a whole. Call it under ``withLock(timeout:_:)``.
    ///
    /// - Parameter keepsMode: Whether the new file has the permissions of the old one.
    /// - Returns: The stamp of the new file.
    /// - Throws: The system's error, or that of `body`; the old file still exists then.
    func replace(keepsMode: Bool = true, _ body: (ArchiveOutput) throws -> Void) throws -> FileStamp {
        let old = FileStamp(path)
        // Replacing a file needs no right to write it.
        if let old, !old.isWritable { throw failure(EACCES, "written", isWriting: true) }
        let temporary = "\(temporaryPrefix)\(UUID().uuidString)"
        let output = try ArchiveOutput(OpenFile(writing: temporary))
        do {
            if let old, keepsMode { try output.file.setOwner(like: path).setMode(old.mode) }
            try body(output)
            try output.flush()
            try output.file.synchronize()
            try output.file.close()
            try FileCalls.rename(temporary, to: path)
        } catch {
            unlink(temporary)
            throw error
        }
        try FileCalls.synchronize(directory)
        guard let stamp = FileStamp(path) else { throw failure(errno, "read", isWriting: false) }
        return stamp
    }

    private var temporaryPrefix: String { "\(directory)/.\((path as NSString).lastPathComponent).writing-" }

    /// Removes the remains of interrupted writes. Call it under ``withLock(timeout:_:)``.
    func removeRemains() {
        let prefix = (temporaryPrefix as NSString).lastPathComponent
        for name in FileCalls.names(in: directory) where name.hasPrefix(prefix) { unlink("\(directory)/\(name)") }
    }

    /// Deletes the file, if there is one.
    func remove() throws { try FileCalls.remove(path) }

    // MARK: Locking

    /// Runs `body` while no other store of this framework, in any process, writes in the file's folder.
    ///
    /// - Parameter timeout: How many seconds to wait for others.
    /// - Throws: Code 134090 when others still write after that time.
    func withLock<Result>(timeout: TimeInterval, _ body: () throws -> Result) throws -> Result {
        // On a disk without locks, the stamp of the file tells what others write.
        guard let lock = try FileLock(.folder(directory), timeout: timeout, isNeeded: false) else {
            throw CoreDataError.make(
                NSPersistentStoreTimeoutError, "The store at \(path) cannot be written.",
                reason: "Others have been writing it all the time.",
                next: "Try again later.", info: [NSFilePathErrorKey: path])
        }
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }
}

/// Writes to a file through a buffer.
// Used by the thread that writes the file.
final class ArchiveOutput {
    let file: OpenFile
    // The buffer belongs to the output, which releases it.
    private let start: UnsafeMutableRawPointer
    private var used = 0
    private let capacity = ArchiveFile.bufferSize.withLock { $0 }
    /// The number of bytes that were appended.
    private(set) var count = 0

    init(_ file: OpenFile) {
        self.file = file
        start = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { start.deallocate() }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        count += bytes.count
        if used + bytes.count > capacity { try flush() }
        if bytes.count > capacity { return try file.write(bytes) }
        if let base = bytes.baseAddress { (start + used).copyMemory(from: base, byteCount: bytes.count) }
        used += bytes.count
    }

    func append(_ bytes: some Collection<UInt8>) throws {
        let isDone: ()? = try bytes.withContiguousStorageIfAvailable { try append(UnsafeRawBufferPointer($0)) }
        if isDone == nil { try Array(bytes).withUnsafeBytes { try append($0) } }
    }

    func flush() throws {
        if used == 0 { return }
        let bytes = UnsafeRawBufferPointer(start: start, count: used)
        used = 0
        try file.write(bytes)
    }
}
