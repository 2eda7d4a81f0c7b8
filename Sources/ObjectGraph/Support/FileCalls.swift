internal import Foundation

/// The calls that put files in their places. A migration changes names only by these, so that tests can examine the result of each call.
package enum FileCalls {
    /// A call.
    package enum Call: Sendable {
        /// A file, or a folder with its names, is synchronized to the disk.
        case synchronize(URL)
        /// A file gets another name, and replaces the file that had it.
        case rename(URL, to: URL)
        /// A file gets an additional name.
        case link(URL, to: URL)
        case remove(URL)
    }

    /// An observer of calls. A closure alone is not used as a task-local value: optimized code of Swift 6.3 crashes when it is set.
    package struct Observer: Sendable {
        let note: @Sendable (Call) -> Void

        package init(_ note: @escaping @Sendable (Call) -> Void) { self.note = note }
    }

    /// Called before each call of the task. Only tests set it.
    @TaskLocal package static var observer: Observer?

    /// Synchronizes a file, or a folder with its names, to the disk.
    ///
    /// - Throws: The error of the system, with the path.
    package static func synchronize(_ url: URL) throws {
        observer?.note(.synchronize(url))
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot be synced", url) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("cannot be synced", url) }
    }

    /// Renames a file, in one step. A file that had the new name is replaced.
    package static func rename(_ url: URL, to place: URL) throws {
        observer?.note(.rename(url, to: place))
        guard Foundation.rename(url.path, place.path) == 0 else { throw failure("cannot be moved to its place", place) }
    }

    /// Gives a file an additional name, or copies it if the disk does not support that.
    package static func link(_ url: URL, to place: URL) throws {
        observer?.note(.link(url, to: place))
        if Foundation.link(url.path, place.path) == 0 { return }
        try FileManager.default.copyItem(at: url, to: place)
    }

    /// Removes a file; does nothing if there is none.
    package static func remove(_ url: URL) throws {
        observer?.note(.remove(url))
        guard unlink(url.path) == 0 || errno == ENOENT else { throw failure("cannot be removed", url) }
    }

    private static func failure(_ what: String, _ url: URL) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileWriteUnknown.rawValue, "The file \(url.path) \(what).", reason: String(cString: strerror(errno)),
            next: "Check the disk and the permissions of the directory.", info: [NSFilePathErrorKey: url.path])
    }
}
