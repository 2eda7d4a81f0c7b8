internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The right to send the changes of a file: only one sender among all processes has it at a time.
///
/// It is a lock on a file next to the cache's file. The system releases it when the process ends for any reason.
// The mutable state is in a `LockedBox`.
final class SenderLease: Sendable {
    private let path: String?
    private let descriptor = LockedBox<Int32?>(nil)

    /// Creates the lease of a file; nil for a cache in memory, which no other process uses.
    init(for url: URL?) { path = url.map { $0.path + "-sender" } }

    /// Takes the lease.
    ///
    /// - Returns: Whether this sender has it.
    /// - Throws: Code 512 if the file cannot be created.
    func take() throws -> Bool {
        guard let path else { return true }
        return try descriptor.withLock { descriptor in
            if descriptor != nil { return true }
            let opened = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            guard opened >= 0 else {
                throw CoreDataError.make(
                    CocoaError.Code.fileWriteUnknown.rawValue, "Pending changes cannot be sent.",
                    reason: "The file \(path) cannot be opened: \(String(cString: strerror(errno))).", next: "Make its directory writable.")
            }
            guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
                close(opened)
                return false
            }
            descriptor = opened
            return true
        }
    }

    /// Whether this sender has it, so that no other process records outcomes.
    var isHeld: Bool { path == nil || descriptor.withLock { $0 != nil } }

    /// Releases the lease.
    func giveBack() {
        descriptor.withLock { descriptor in
            if let known = descriptor { close(known) }
            descriptor = nil
        }
    }

    deinit { giveBack() }
}
