internal import Foundation
internal import ObjectGraph
internal import Platform

/// The lock that one process at a time has while it migrates a store: a file beside the store, which goes with the lock.
struct MigrationLock {
    private let lock: FileLock

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - url: The store.
    ///   - timeout: For how many seconds to wait.
    /// - Throws: Code 134090 where another process has the lock for longer, and the error of creating the file.
    init(of url: URL, timeout: TimeInterval) throws {
        let url = url.resolvingSymlinksInPath()
        let path = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).migration-lock").path
        let taken: FileLock?
        do { taken = try FileLock(.temporaryFile(path), timeout: timeout) } catch {
            throw CoreDataError.make(
                NSMigrationError, "The store at \(url.path) cannot be migrated.",
                reason:
                    "No file can be made and locked beside it: \(FileFailure.number(of: error).map(FileFailure.reason) ?? error.localizedDescription)",
                next: "Make its directory writable.", cause: error, info: [NSFilePathErrorKey: url.path])
        }
        guard let taken else {
            throw CoreDataError.make(
                NSPersistentStoreTimeoutError, "The store at \(url.path) cannot be opened.",
                reason: "Another process has been migrating it for \(Int(timeout)) seconds.",
                next: "Wait for it, or set a longer timeout (NSPersistentStoreTimeoutOption).", info: [NSFilePathErrorKey: url.path])
        }
        lock = taken
    }

    /// Removes the file of the lock, which goes with its last reference.
    func release() { lock.removeFile() }
}
