internal import Foundation

/// Runs a body that blocks its thread, on one of its own: the threads of tasks are few, and other tests need them.
package func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// Runs a body on so many threads at once, none of which others need; waits for all, and throws what the first of them has thrown.
///
/// `DispatchQueue.concurrentPerform` takes threads of the pool that tasks run on, too, and does without where those are busy.
package func onOwnThreads(_ count: Int, _ body: @Sendable (Int) throws -> Void) throws {
    let (lock, ended) = (NSLock(), DispatchGroup())
    nonisolated(unsafe) var failure: (any Error)?
    withoutActuallyEscaping(body) { body in
        // Threads that have ended let go of their block a little later: they hold the variable, not the body.
        nonisolated(unsafe) var work: (@Sendable (Int) throws -> Void)? = body
        for number in 0..<count {
            ended.enter()
            Thread.detachNewThread {
                do { try work?(number) } catch { lock.withLock { failure = failure ?? error } }
                ended.leave()
            }
        }
        ended.wait()
        work = nil
    }
    if let failure { throw failure }
}
