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

/// The system calls that change files, in the order in which a save needs them.
package enum FileCalls {
    /// Called before each call that makes a change, with its name. Tests end the process there. It is set before stores are opened.
    package static let observer = LockedBox<(@Sendable (String) -> Void)?>(nil)

    private static func will(_ call: String) { observer.withLock { $0 }?(call) }

    static func failure(_ what: String, _ path: String, _ code: Int32 = errno) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The file at \(path) cannot be \(what).", reason: String(cString: strerror(code)) + ".",
            next: "Nothing was changed. See to it that the folder can be written to and has room.",
            cause: NSError(domain: NSPOSIXErrorDomain, code: Int(code)), info: [NSFilePathErrorKey: path])
    }

    /// Reads a file.
    ///
    /// - Parameter progress: The progress that counts bytes; cancelling it ends the reading.
    /// - Returns: The bytes, which the caller must deallocate, and the state of the file.
    static func read(_ path: String, progress: Progress?) throws -> (memory: UnsafeMutableRawPointer, count: Int, stamp: FileStamp) {
        let descriptor = try openFile(path)
        defer { close(descriptor) }
        while true {
            var info = stat()
            guard fstat(descriptor, &info) == 0 else { throw unreadable(path) }
            let stamp = FileStamp(info)
            let memory = UnsafeMutableRawPointer.allocate(byteCount: max(stamp.size, 8), alignment: 8)
            var count = 0
            while count < stamp.size {
                if progress?.isCancelled == true {
                    memory.deallocate()
                    throw CocoaError(.userCancelled)
                }
                let read = pread(descriptor, memory + count, min(stamp.size - count, 4 << 20), off_t(count))
                if read < 0 && errno == EINTR { continue }
                guard read >= 0 else {
                    memory.deallocate()
                    throw unreadable(path)
                }
                if read == 0 { break }
                count += read
                progress?.completedUnitCount += Int64(read)
            }
            // Others may have written to the file meanwhile.
            guard fstat(descriptor, &info) == 0, FileStamp(info) == stamp, count == stamp.size else {
                memory.deallocate()
                progress?.completedUnitCount -= Int64(count)
                continue
            }
            return (memory, count, stamp)
        }
    }

    /// Reads the beginning of a file, at most a number of bytes; nil if there is no file.
    static func beginning(of path: String, count: Int) throws -> [UInt8]? {
        guard FileStamp(path) != nil else { return nil }
        let descriptor = try openFile(path)
        defer { close(descriptor) }
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let read = pread(descriptor, buffer.baseAddress.known("it has room") + done, count - done, off_t(done))
                if read < 0 && errno == EINTR { continue }
                guard read >= 0 else { throw unreadable(path) }
                if read == 0 { break }
                done += read
            }
        }
    }

    /// Opens a file for reading. Anything but a regular file is refused: reading a pipe could block, and a device may be endless.
    private static func openFile(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw CoreDataError.make(
                CocoaError.Code.fileReadUnknown.rawValue, "The file at \(path) cannot be read.",
                reason: "It is a \(info.st_mode & S_IFMT == S_IFDIR ? "folder" : "pipe or a device"), and no file.",
                next: "Copy what it gives to a file.", info: [NSFilePathErrorKey: path])
        }
        return descriptor
    }

    private static func unreadable(_ path: String) -> NSError {
        let code = errno
        return CoreDataError.make(
            CocoaError.Code.fileReadUnknown.rawValue, "The file at \(path) cannot be read.", reason: String(cString: strerror(code)) + ".",
            cause: NSError(domain: NSPOSIXErrorDomain, code: Int(code)), info: [NSFilePathErrorKey: path])
    }

    /// Writes a new file, and syncs its bytes to the disk.
    static func writeNew(_ path: String, _ text: TextBytes, mode: UInt32) throws {
        let bytes = text.buffer
        will("open")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(mode & 0o7777))
        guard descriptor >= 0 else { throw failure("written", path) }
        defer { close(descriptor) }
        do {
            will("fchmod")
            // The file mode creation mask may have removed permissions.
            _ = fchmod(descriptor, mode_t(mode & 0o7777))
            var written = 0
            while written < bytes.count {
                will("write")
                let count = write(descriptor, text.start + written, min(bytes.count - written, 16 << 20))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw failure("written", path, count == 0 ? ENOSPC : errno) }
                written += count
            }
            will("fsync")
            guard fsync(descriptor) == 0 else { throw failure("written to the disk", path) }
        } catch {
            unlink(path)
            throw error
        }
    }

    static func move(_ path: String, to destination: String) throws {
        will("rename")
        guard rename(path, destination) == 0 else { throw failure("replaced", destination) }
    }

    static func remove(_ path: String) {
        will("unlink")
        unlink(path)
    }

    /// Syncs the names in a folder to the disk.
    static func syncFolder(_ path: String) throws {
        will("fsync")
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opened", path) }
        defer { close(descriptor) }
        // Some file systems cannot sync a folder, and need not.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw failure("written to the disk", path) }
    }

    /// Runs `body` under a lock that excludes other processes from writing to files of a folder, if they use this lock.
    ///
    /// The lock is on the folder itself, so it needs no lock file.
    static func locking<Result>(_ folder: String, _ body: () throws -> Result) throws -> Result {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opened", folder) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("locked", folder) }
        }
        return try body()
    }

    /// Returns whether a path is that of a symbolic link.
    static func isLink(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
    }

    /// Returns the names in a folder.
    static func names(in folder: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
}
