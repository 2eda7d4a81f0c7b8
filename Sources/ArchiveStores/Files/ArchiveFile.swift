internal import Foundation
internal import ObjectGraph
package import Predicates

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

    /// Called before each system call of a write, with its name. Tests end the process there.
    package static let onStep = LockedBox<(@Sendable (String) -> Void)?>(nil)

    /// The maximum number of bytes that a system call writes, if they arrive in smaller pieces. Tests use fewer, so that a small file takes several
    /// calls.
    package static let bufferSize = LockedBox(1 << 20)

    init(_ url: URL) { path = url.resolvingSymlinksInPath().path }

    private var directory: String {
        let parent = (path as NSString).deletingLastPathComponent
        return parent.isEmpty ? "." : parent
    }

    private static func step(_ name: String) { if let onStep = onStep.withLock({ $0 }) { onStep(name) } }

    /// Returns the error of a system call that has failed.
    func failure(_ number: Int32, _ what: String, isWriting: Bool) -> NSError {
        let code: CocoaError.Code =
            switch number {
            case ENOENT: isWriting ? .fileNoSuchFile : .fileReadNoSuchFile
            case EACCES, EPERM: isWriting ? .fileWriteNoPermission : .fileReadNoPermission
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            case EROFS: .fileWriteVolumeReadOnly
            default: isWriting ? .fileWriteUnknown : .fileReadUnknown
            }
        let next =
            switch number {
            case ENOENT: "Check the path; the folder of a new store must exist."
            case EACCES, EPERM, EROFS: "Check the rights of the file and its folder, or open the store read-only."
            case ENOSPC, EDQUOT: "Make room on the disk."
            default: "Check the disk and the rights of the file."
            }
        return CoreDataError.make(
            code.rawValue, "The file at \(path) cannot be \(what).", reason: String(cString: strerror(number)), next: next,
            cause: NSError(domain: NSPOSIXErrorDomain, code: Int(number)), info: [NSFilePathErrorKey: path])
    }

    // MARK: Reading

    /// Reads the file.
    ///
    /// - Returns: Its bytes, and the stamp of the file that was read; nil if there is no file.
    /// - Throws: The system's error; code 134080 for a file that changes while it is read.
    func read() throws -> (bytes: [UInt8], stamp: FileStamp)? {
        for _ in 0..<5 {
            // A pipe without a writer would be waited for.
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            if descriptor < 0, errno == ENOENT { return nil }
            guard descriptor >= 0 else { throw failure(errno, "read", isWriting: false) }
            defer { close(descriptor) }
            let before = try stamp(of: descriptor)
            let bytes = try [UInt8](unsafeUninitializedCapacity: before.size) { buffer, count in
                while count < buffer.count {
                    let part = pread(descriptor, buffer.baseAddress! + count, buffer.count - count, off_t(count))
                    if part < 0, errno == EINTR { continue }
                    guard part >= 0 else { throw failure(errno, "read", isWriting: false) }
                    if part == 0 { break }
                    count += part
                }
            }
            if bytes.count == before.size, try stamp(of: descriptor) == before { return (bytes, before) }
        }
        throw CoreDataError.make(
            NSPersistentStoreOpenError, "The file at \(path) cannot be read.", reason: "It is being written.",
            next: "Try again when the other program has written it.", info: [NSFilePathErrorKey: path])
    }

    private func stamp(of descriptor: Int32) throws -> FileStamp {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno, "read", isWriting: false) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure(EISDIR, "read", isWriting: false) }
        return FileStamp(status)
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
        var old = stat()
        let hasOld = stat(path, &old) == 0
        let temporary = "\(temporaryPrefix)\(UUID().uuidString)"
        Self.step("open")
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(errno, "written", isWriting: true) }
        var isOpen = true
        do {
            if hasOld, keepsMode, fchmod(descriptor, old.st_mode & 0o7777) != 0 { throw failure(errno, "written", isWriting: true) }
            let output = ArchiveOutput(descriptor, self)
            try body(output)
            try output.flush()
            Self.step("fsync")
            guard fsync(descriptor) == 0 else { throw failure(errno, "written", isWriting: true) }
            Self.step("close")
            isOpen = false
            guard close(descriptor) == 0 else { throw failure(errno, "written", isWriting: true) }
            Self.step("rename")
            guard rename(temporary, path) == 0 else { throw failure(errno, "written", isWriting: true) }
        } catch {
            if isOpen { close(descriptor) }
            unlink(temporary)
            throw error
        }
        Self.step("fsync directory")
        try syncDirectory()
        Self.step("done")
        guard let stamp = FileStamp(path) else { throw failure(errno, "read", isWriting: false) }
        return stamp
    }

    static func noteStep(_ name: String) { step(name) }

    private func syncDirectory() throws {
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno, "written", isWriting: true) }
        defer { close(descriptor) }
        // Some network disks cannot sync directories, and report that.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure(errno, "written", isWriting: true) }
    }

    private var temporaryPrefix: String { "\(directory)/.\((path as NSString).lastPathComponent).writing-" }

    /// Removes the remains of interrupted writes. Call it under ``withLock(timeout:_:)``.
    func removeRemains() {
        let prefix = (temporaryPrefix as NSString).lastPathComponent
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] where name.hasPrefix(prefix) {
            unlink("\(directory)/\(name)")
        }
    }

    /// Deletes the file, if there is one.
    func remove() throws {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw failure(errno, "deleted", isWriting: true)
    }

    // MARK: Locking

    /// Runs `body` while no other store of this framework, in any process, writes in the file's folder.
    ///
    /// - Parameter timeout: How many seconds to wait for others.
    /// - Throws: Code 134090 when others still write after that time.
    func withLock<Result>(timeout: TimeInterval, _ body: () throws -> Result) throws -> Result {
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno, "written", isWriting: true) }
        defer { close(descriptor) }
        let end = Date().addingTimeInterval(timeout)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            // A disk without locks: the stamp still reveals the writes of others.
            guard errno == EWOULDBLOCK else { break }
            guard Date() < end else {
                throw CoreDataError.make(
                    NSPersistentStoreTimeoutError, "The store at \(path) cannot be written.",
                    reason: "Others have been writing it all the time.",
                    next: "Try again later.", info: [NSFilePathErrorKey: path])
            }
            usleep(5000)
        }
        return try body()
    }
}

/// Writes to a file through a buffer.
// Used by the thread that writes the file.
final class ArchiveOutput {
    private let descriptor: Int32
    private let file: ArchiveFile
    // The buffer belongs to the output, which releases it.
    private let start: UnsafeMutableRawPointer
    private var used = 0
    private let capacity = ArchiveFile.bufferSize.withLock { $0 }
    /// The number of bytes that were appended.
    private(set) var count = 0

    init(_ descriptor: Int32, _ file: ArchiveFile) {
        self.descriptor = descriptor
        self.file = file
        start = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { start.deallocate() }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        count += bytes.count
        if used + bytes.count > capacity { try flush() }
        if bytes.count > capacity { return try write(bytes) }
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
        try write(bytes)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        ArchiveFile.noteStep("write")
        var done = 0
        while done < bytes.count {
            let part = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]))
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else { throw file.failure(errno, "written", isWriting: true) }
            done += part
        }
    }
}

/// The system's function, which has the name of the method that calls it.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int { write(descriptor, bytes.baseAddress, bytes.count) }
