internal import Foundation

/// A context is a serial executor: an actor can work on its queue, and use its objects without `perform`.
///
/// ```swift
/// actor Library {
///     let context: NSManagedObjectContext
///     nonisolated var unownedExecutor: UnownedSerialExecutor { context.unownedExecutor }
///     …
/// }
/// ```
///
/// Each uninterrupted stretch of the actor's work is one event of the context: pending changes are processed at its end. Not in Apple's API.
extension NSManagedObjectContext: SerialExecutor {
    /// The context as the executor of an actor. The actor must keep the context.
    public final var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Runs a job on the context's queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { self.runEvent { job.runSynchronously(on: self.unownedExecutor) } }
    }

    /// The context as an executor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { unownedExecutor }

    /// Stops the program where the caller is not on the context's queue; what `assumeIsolated` and `preconditionIsolated` ask.
    public func checkIsolated() {
        precondition(contextQueue.isCurrent, misuseMessage("An actor that works on it is used"))
    }

    /// Whether the caller is on the context's queue.
    public func isIsolatingCurrentContext() -> Bool? { contextQueue.isCurrent }
}
