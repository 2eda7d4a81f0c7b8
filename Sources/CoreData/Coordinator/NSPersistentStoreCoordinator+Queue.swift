internal import Foundation

/// The queue that a coordinator's blocks run on, one at a time.
// Both are set once.
final class CoordinatorQueue: Sendable {
    let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
    private let key = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: key, value: true) }

    /// Whether the caller is on the queue.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }
}

extension NSPersistentStoreCoordinator {
    /// Runs `block` on the coordinator's own queue and returns at once.
    public func perform(_ block: @escaping () -> Void) {
        let block = Handover(block)
        workQueue.queue.async { block.value() }
    }

    /// Runs `block` on the coordinator's own queue, waits for it and returns what it returned. It may be called from that queue.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        workQueue.isCurrent ? try block() : try workQueue.queue.sync(execute: block)
    }

    /// Runs `block` on the coordinator's own queue and suspends until it is done; no thread waits.
    ///
    /// - Returns: what `block` returns.
    public func perform<T, Failure: Error>(_ block: @escaping () throws(Failure) -> T) async throws(Failure) -> T {
        let block = Handover(block)
        let result: Handover<Result<T, Failure>> = await withCheckedContinuation { continuation in
            workQueue.queue.async {
                continuation.resume(returning: Handover(Result { () throws(Failure) -> T in try block.value() }))
            }
        }
        return try result.value.get()
    }
}
