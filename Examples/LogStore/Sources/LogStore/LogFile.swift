@_spi(Stores) internal import CoreData
internal import Foundation

/// The file of a store that is open: one program at a time has it.
// Used under the lock of its store that lets one write at a time.
final class LogFile {
    let path: String
    private let descriptor: Int32
    /// Where the last whole save ends.
    private(set) var end: Int
    private let isSynchronized: Bool
    /// What went wrong so that the file's end is not known any more.
    private var failure: NSError?

    /// Opens a file, or makes one.
    ///
    /// - Throws: code 134080 where another has it open; the system's error.
    init(_ path: String, isReadOnly: Bool, isSynchronized: Bool) throws {
        self.path = path
        self.isSynchronized = isSynchronized
        while true {
            let descriptor = open(path, isReadOnly ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw LogStoreError.system(path, "opened") }
            guard flock(descriptor, (isReadOnly ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
                close(descriptor)
                throw LogStoreError.inUse(path)
            }
            // Between opening and locking another may have put a new file there.
            if Self.identity(descriptor) == Self.identity(path) {
                self.descriptor = descriptor
                break
            }
            close(descriptor)
        }
        end = Int(lseek(descriptor, 0, SEEK_END))
    }

    deinit { close(descriptor) }

    private struct Identity: Equatable {
        let device: dev_t
        let number: ino_t
    }

    private static func identity(_ descriptor: Int32) -> Identity? {
        var found = stat()
        return fstat(descriptor, &found) == 0 ? Identity(device: found.st_dev, number: found.st_ino) : nil
    }

    private static func identity(_ path: String) -> Identity? {
        var found = stat()
        return stat(path, &found) == 0 ? Identity(device: found.st_dev, number: found.st_ino) : nil
    }

    var isEmpty: Bool { end == 0 }

    /// Calls `body` with what the file holds.
    func withContents<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        if isEmpty { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let address = mmap(nil, end, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw LogStoreError.system(path, "read") }
        defer { munmap(address, end) }
        return try body(UnsafeRawBufferPointer(start: address, count: end))
    }

    /// Cuts off what comes after a place.
    func truncate(to place: Int) throws {
        guard ftruncate(descriptor, off_t(place)) == 0 else { throw LogStoreError.system(path, "cut") }
        end = place
    }

    /// Writes something that counts wholly or not at all.
    ///
    /// - Parameter body: calls its argument with bytes, as often as it likes.
    /// - Throws: the system's error. The file is as it was then.
    func append(_ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        if let failure { throw failure }
        var place = end
        do {
            try body { [self] bytes in
                try write(bytes, at: place)
                place += bytes.count
            }
            try synchronize()
            end = place
        } catch {
            if ftruncate(descriptor, off_t(end)) != 0 {
                failure = LogStoreError.system(path, "written to: what a failed save has left at its end cannot be cut off")
            }
            throw error
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at place: Int) throws {
        var done = 0
        while done < bytes.count {
            let count = pwrite(descriptor, bytes.baseAddress.unsafelyUnwrapped + done, bytes.count - done, off_t(place + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw LogStoreError.system(path, "written") }
            done += count
        }
    }

    /// Brings what was written onto the disk, where the store's options want that.
    private func synchronize() throws {
        guard isSynchronized else { return }
        guard fdatasync(descriptor) == 0 else { throw LogStoreError.system(path, "brought onto the disk") }
    }

    // MARK: Whole files

    /// Makes a file under another name, and gives it its own when it is complete and on the disk.
    ///
    /// - Returns: the file, open, where it is to stay so.
    @discardableResult
    static func make(
        _ path: String, isSynchronized: Bool = true, _ body: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> LogFile {
        let temporary = temporaryPath(path)
        unlink(temporary)
        do {
            let file = try LogFile(temporary, isReadOnly: false, isSynchronized: isSynchronized)
            try file.append(body)
            guard rename(temporary, path) == 0 else { throw LogStoreError.system(path, "put in its place") }
            if isSynchronized { try synchronizeFolder(of: path) }
            return file
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// The name of a file that is being made.
    static func temporaryPath(_ path: String) -> String { path + ".new" }

    private static func synchronizeFolder(of path: String) throws {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw LogStoreError.system(path, "brought onto the disk") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw LogStoreError.system(path, "brought onto the disk") }
    }
}
