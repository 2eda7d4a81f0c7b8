package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The calls of the system by which files get to their places.
///
/// Stores change files by these and by ``OpenFile`` only, so that tests can see each call, and end the process before it.
package enum FileCalls {
    /// A call that changes something, with the path that it is about.
    package enum Call: Sendable {
        /// A file is made, or emptied.
        case open(String)
        case setMode(String)
        case write(String)
        /// A file, or a folder with its names, is brought to the disk.
        case synchronize(String)
        case close(String)
        /// A file gets another name, and replaces what had it.
        case rename(String, to: String)
        /// A file gets a further name.
        case link(String, to: String)
        case remove(String)
    }

    /// A closure that is told of calls. A closure alone is no value of a task: optimized code of Swift 6.3 crashes where it is set.
    package struct Observer: Sendable {
        let note: @Sendable (Call) -> Void

        package init(_ note: @escaping @Sendable (Call) -> Void) { self.note = note }
    }

    /// Told before each call of the task. Only tests set it.
    @TaskLocal package static var observer: Observer?

    /// Told before each call of the process. Only tests set it, in processes of their own.
    package static let processObserver = LockedBox<Observer?>(nil)

    static func will(_ call: Call) {
        observer?.note(call)
        processObserver.withLock { $0 }?.note(call)
    }

    /// Brings a file, or a folder with its names, to the disk.
    ///
    /// - Throws: The error of the system, with the path. Some disks, mostly those of a network, sync no folders, and need not: that is no error.
    package static func synchronize(_ path: String) throws {
        will(.synchronize(path))
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure.error(errno, "written to the disk", path, isWriting: true) }
        defer { close(descriptor) }
        guard fsync(descriptor) != 0 else { return }
        let number = errno
        var status = stat()
        let isFolder = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        guard isFolder, [EINVAL, ENOTSUP, EROFS].contains(number) else {
            throw FileFailure.error(number, "written to the disk", path, isWriting: true)
        }
    }

    /// Brings a file, or a folder with its names, to the disk.
    package static func synchronize(_ url: URL) throws { try synchronize(url.path) }

    /// Gives a file another name, in one step. What had that name is gone.
    package static func rename(_ path: String, to place: String) throws {
        will(.rename(path, to: place))
        guard Foundation.rename(path, place) == 0 else { throw FileFailure.error(errno, "moved to its place", place, isWriting: true) }
    }

    /// Gives a file another name, in one step. What had that name is gone.
    package static func rename(_ url: URL, to place: URL) throws { try rename(url.path, to: place.path) }

    /// Gives a file a further name, or copies it where the disk has no such names.
    package static func link(_ url: URL, to place: URL) throws {
        will(.link(url.path, to: place.path))
        if Foundation.link(url.path, place.path) == 0 { return }
        try FileManager.default.copyItem(at: url, to: place)
    }

    /// Removes a file; nothing where there is none.
    package static func remove(_ path: String) throws {
        will(.remove(path))
        guard unlink(path) == 0 || errno == ENOENT else { throw FileFailure.error(errno, "removed", path, isWriting: true) }
    }

    /// Removes a file; nothing where there is none.
    package static func remove(_ url: URL) throws { try remove(url.path) }

    /// Whether a path is that of a symbolic link.
    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Returns the names in a folder; none where it cannot be read.
    package static func names(in folder: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
}
