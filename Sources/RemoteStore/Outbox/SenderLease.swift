internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The right to send the changes of a file: only one sender among all processes has it at a time.
///
/// It is a lock on a file next to the cache's file. The system releases it when the process ends for any reason.
// The mutable state is in a `LockedBox`.
final class SenderLease: Sendable {
    private let path: String?
    private let lock = LockedBox<FileLock?>(nil)

    /// Creates the lease of a file; nil for a cache in memory, which no other process uses.
    init(for url: URL?) { path = url.map { $0.path + "-sender" } }

    /// Takes the lease.
    ///
    /// - Returns: Whether this sender has it.
    /// - Throws: Code 512 if the file cannot be created or locked.
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

    /// Whether this sender has it, so that no other process records outcomes.
    var isHeld: Bool { path == nil || lock.withLock { $0 != nil } }

    /// Releases the lease.
    func giveBack() { lock.set(nil) }
}
