internal import Foundation
internal import ObjectGraph

/// A lock that one process at a time has while it migrates a store: a file beside the store, which is removed with the lock.
///
/// The system releases the lock of a process that ends. A file that such a process leaves behind is used by the next.
struct MigrationLock {
    private let descriptor: Int32
    private let path: String

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - url: The store.
    ///   - timeout: The number of seconds to wait.
    /// - Throws: Code 134090 if another process has the lock for longer, and the error of creating the file.
    init(of url: URL, timeout: TimeInterval) throws {
        let url = url.resolvingSymlinksInPath()
        path = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).migration-lock").path
        let end = Date().addingTimeInterval(timeout)
        while true {
            let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard opened >= 0 else {
                throw CoreDataError.make(
                    NSMigrationError, "The store at \(url.path) cannot be migrated.",
                    reason: "No file can be made beside it: \(String(cString: strerror(errno))).", next: "Make its directory writable.",
                    info: [NSFilePathErrorKey: url.path])
            }
            if flock(opened, LOCK_EX | LOCK_NB) == 0 {
                // The process that had the lock may have removed the file meanwhile: the lock of an unlinked file excludes no one.
                if Self.isFile(opened, at: path) {
                    descriptor = opened
                    return
                }
                close(opened)
                continue
            }
            close(opened)
            guard Date() < end else {
                throw CoreDataError.make(
                    NSPersistentStoreTimeoutError, "The store at \(url.path) cannot be opened.",
                    reason: "Another process has been migrating it for \(Int(timeout)) seconds.",
                    next: "Wait for it, or set a longer timeout (NSPersistentStoreTimeoutOption).", info: [NSFilePathErrorKey: url.path])
            }
            usleep(20_000)
        }
    }

    /// Releases the lock and removes its file.
    func release() {
        unlink(path)
        close(descriptor)
    }

    private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
        var opened = stat()
        var named = stat()
        guard fstat(descriptor, &opened) == 0, stat(path, &named) == 0 else { return false }
        return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }
}
