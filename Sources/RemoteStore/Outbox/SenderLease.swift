internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The right to send the changes of a file: one sender has it at a time, of all processes.
///
/// It is a lock on a file beside the cache's. The system gives it back when the process ends, however that happens.
// What changes is in a `LockedBox`.
final class SenderLease: Sendable {
    private let path: String?
    private let lock = LockedBox<FileLock?>(nil)

    /// Creates the lease of a file; nil for a cache in memory, which nobody else has.
    init(for url: URL?) { path = url.map { $0.path + "-sender" } }

    /// Takes the lease.
    ///
    /// - Returns: Whether this sender has it.
    /// - Throws: Code 512 where the file cannot be made or locked.
    func take() throws -> Bool {
        guard let path else { return true }
        return try lock.withLock { lock in
            if lock != nil { return true }
            do { lock = try FileLock(.file(path), timeout: 0) } catch {
                throw CoreDataError.make(
                    CocoaError.Code.fileWriteUnknown.rawValue, "Pending changes cannot be sent.",
                    reason:
                        "The file \(path) cannot be locked: \(FileFailure.number(of: error).map(FileFailure.reason) ?? error.localizedDescription)",
                    next: "Make its directory writable, on a disk that has locks.", cause: error)
            }
            return lock != nil
        }
    }

    /// Whether this sender has it, so that no other process notes outcomes.
    var isHeld: Bool { path == nil || lock.withLock { $0 != nil } }

    /// Gives the lease back.
    func giveBack() { lock.set(nil) }
}
