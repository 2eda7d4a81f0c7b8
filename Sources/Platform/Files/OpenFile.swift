internal import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An open file of the system, which is closed with its last reference.
// Used by one thread at a time.
package final class OpenFile {
    package let path: String
    // -1 once the file is closed.
    private var descriptor: Int32

    /// Opens a file for reading.
    ///
    /// - Throws: The system's error; one that says so for a folder, a pipe or a device: a pipe would be waited for, and a device may have no end.
    package init(reading path: String) throws {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileFailure.error(errno, "read", path, isWriting: false) }
        let kind = try mode() & S_IFMT
        // `deinit` closes it.
        guard kind == S_IFREG else { throw FileFailure.noFile(path, isFolder: kind == S_IFDIR) }
    }

    /// What becomes of a file that is there where a new one is made.
    package enum Existing: Sendable {
        /// It is emptied, and written anew.
        case emptied
        /// Making the file is an error.
        case refused
    }

    /// Makes a file and opens it for writing.
    ///
    /// - Parameters:
    ///   - mode: The permissions, from which the process's mask takes some.
    ///   - existing: What becomes of a file that is there.
    package init(writing path: String, mode: UInt32 = 0o666, existing: Existing = .refused) throws {
        self.path = path
        FileCalls.will(.open(path))
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (existing == .emptied ? O_TRUNC : O_EXCL), mode_t(mode & 0o7777))
        guard descriptor >= 0 else { throw FileFailure.error(errno, "written", path, isWriting: true) }
    }

    deinit { if descriptor >= 0 { Foundation.close(descriptor) } }

    private func mode() throws -> mode_t {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure.error(errno, "read", path, isWriting: false) }
        return status.st_mode
    }

    /// The state of the file.
    package func stamp() throws -> FileStamp {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure.error(errno, "read", path, isWriting: false) }
        return FileStamp(status)
    }

    /// Reads bytes into memory.
    ///
    /// - Returns: How many: fewer than there is room for at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int = 0) throws -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        var count = 0
        while count < buffer.count {
            let part = pread(descriptor, start + count, buffer.count - count, off_t(offset + count))
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else { throw FileFailure.error(errno, "read", path, isWriting: false) }
            if part == 0 { break }
            count += part
        }
        return count
    }

    /// Writes bytes at the end of what has been written.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while let start = rest.baseAddress, !rest.isEmpty {
            FileCalls.will(.write(path))
            let count = Foundation.write(descriptor, start, min(rest.count, 16 << 20))
            if count < 0, errno == EINTR { continue }
            // A file that takes nothing, and says no error, has no room.
            guard count > 0 else { throw FileFailure.error(count == 0 ? ENOSPC : errno, "written", path, isWriting: true) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Gives the file the owner and the group of another file, as far as this process may.
    ///
    /// Call it before ``setMode(_:)``: the system takes some permissions away with the owner.
    @discardableResult package func setOwner(like other: String) -> OpenFile {
        var (status, own) = (stat(), stat())
        guard stat(other, &status) == 0, fstat(descriptor, &own) == 0, (status.st_uid, status.st_gid) != (own.st_uid, own.st_gid) else {
            return self
        }
        if fchown(descriptor, status.st_uid, status.st_gid) != 0 { _ = fchown(descriptor, own.st_uid, status.st_gid) }
        return self
    }

    /// Gives the file permissions, whatever the process's mask.
    package func setMode(_ mode: UInt32) throws {
        FileCalls.will(.setMode(path))
        guard fchmod(descriptor, mode_t(mode & 0o7777)) == 0 else { throw FileFailure.error(errno, "written", path, isWriting: true) }
    }

    /// Brings the bytes to the disk.
    package func synchronize() throws {
        FileCalls.will(.synchronize(path))
        guard fsync(descriptor) == 0 else { throw FileFailure.error(errno, "written to the disk", path, isWriting: true) }
    }

    /// Closes the file. Some disks tell only now that they have not written it.
    package func close() throws {
        FileCalls.will(.close(path))
        let closed = Foundation.close(descriptor)
        descriptor = -1
        guard closed == 0 else { throw FileFailure.error(errno, "written", path, isWriting: true) }
    }

    // MARK: Whole files

    /// Reads a file as it was at one time: again where others write it meanwhile.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - body: Reads the file, which has so many bytes, and returns what it has read. What it returns may be thrown away: it owns its memory.
    /// - Returns: What `body` has returned, and the state of the file that it is of.
    /// - Throws: The error of `body`; code 256 for a file that has changed during each of a hundred attempts.
    package static func whole<Result>(_ path: String, _ body: (OpenFile, Int) throws -> Result) throws -> (
        content: Result, stamp: FileStamp
    ) {
        for _ in 0..<100 {
            let file = try OpenFile(reading: path)
            let before = try file.stamp()
            let content = try body(file, before.size)
            if try file.stamp() == before { return (content, before) }
        }
        throw FileFailure.error(EBUSY, "read: others are writing it all the time", path, isWriting: false)
    }

    /// Reads the bytes of a file as they were at one time.
    package static func bytes(_ path: String) throws -> (content: [UInt8], stamp: FileStamp) {
        try whole(path) { file, size in
            try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        }
    }
}
