@_spi(Stores) internal import CoreData
internal import Foundation

/// The open file of a store, locked by one process at a time.
// Used under the store's lock that admits one writer at a time.
final class LogFile {
    private(set) var path: String
    private let descriptor: Int32
    /// The end of the last complete save.
    private(set) var end: Int
    private let isSynchronized: Bool
    /// The error after which the end of the file is unknown.
    private var failure: NSError?

    /// Opens or creates a file.
    ///
    /// - Throws: Code 134080 where another process has it open; the system's error.
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
            // Another process may have replaced the file between opening and locking.
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

    /// Calls `body` with the contents of the file.
    func withContents<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        if isEmpty { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let address = mmap(nil, end, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw LogStoreError.system(path, "read") }
        defer { munmap(address, end) }
        return try body(UnsafeRawBufferPointer(start: address, count: end))
    }

    /// Truncates the file.
    func truncate(to place: Int) throws {
        guard ftruncate(descriptor, off_t(place)) == 0 else { throw LogStoreError.system(path, "cut") }
        end = place
    }

    /// Appends data atomically.
    ///
    /// - Parameter body: Calls its argument with bytes, any number of times.
    /// - Throws: The system's error. The file is then unchanged.
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

    /// Synchronizes the file to the disk if the store's options require it.
    private func synchronize() throws {
        guard isSynchronized else { return }
        guard fdatasync(descriptor) == 0 else { throw LogStoreError.system(path, "brought onto the disk") }
    }

    // MARK: New files

    /// Creates a file under a temporary name, and renames it when it is complete and synchronized.
    ///
    /// - Returns: The open file, if it is to stay open.
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
            file.path = path
            if isSynchronized { try synchronizeFolder(of: path) }
            return file
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Returns the name of a file that is being written.
    static func temporaryPath(_ path: String) -> String { path + ".new" }

    private static func synchronizeFolder(of path: String) throws {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw LogStoreError.system(path, "brought onto the disk") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw LogStoreError.system(path, "brought onto the disk") }
    }
}
