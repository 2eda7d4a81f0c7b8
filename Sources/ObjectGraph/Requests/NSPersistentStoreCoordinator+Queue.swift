internal import Foundation

extension NSPersistentStoreCoordinator {
    /// Runs `block` on the coordinator's queue and returns at once.
    public func perform(_ block: @escaping () -> Void) {
        let block = QueueBound(block, on: workQueue)
        workQueue.async { block.value() }
    }

    /// Runs `block` on the coordinator's queue and suspends until it is done; no thread waits.
    ///
    /// - Returns: The result of `block`.
    public func perform<T, Failure: Error>(_ block: @escaping () throws(Failure) -> T) async throws(Failure) -> T {
        let block = QueueBound(block, on: workQueue)
        let result = Handover<Result<T, Failure>>()
        await withCheckedContinuation { continuation in
            workQueue.async {
                result.give(Result { () throws(Failure) -> T in try block.value() })
                continuation.resume()
            }
        }
        return try result.take().get()
    }
}

extension NSPersistentStoreCoordinator: QueueOwner {}

extension QueueOwner where Self: NSPersistentStoreCoordinator {
    /// Runs `block` on the coordinator's queue, waits for it and returns its result. May be called from that queue.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        try workQueue.sync(block)
    }
}
