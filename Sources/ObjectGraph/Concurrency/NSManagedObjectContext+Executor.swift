internal import Foundation
internal import Predicates

/// A context is a serial executor: an actor can run on its queue and use its objects without `perform`.
///
/// ```swift
/// actor Library {
///     let context: NSManagedObjectContext
///     nonisolated var unownedExecutor: UnownedSerialExecutor { context.unownedExecutor }
///     …
/// }
/// ```
///
/// Each uninterrupted part of the actor's work is one event of the context: pending changes are processed at its end. Not in Apple's API.
extension NSManagedObjectContext: SerialExecutor {
    /// The context as the executor of an actor, which must retain the context.
    public final var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Runs a job on the context's queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { self.runEvent { job.runSynchronously(on: self.unownedExecutor) } }
    }

    /// Returns the context as an executor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { unownedExecutor }

    /// Stops the program if the caller is not on the context's queue; called by `assumeIsolated` and `preconditionIsolated`.
    public func checkIsolated() {
        stopProgram(unless: contextQueue.isCurrent, misuseMessage("An actor that works on it is used"))
    }

    /// Returns whether the caller is on the context's queue.
    public func isIsolatingCurrentContext() -> Bool? { contextQueue.isCurrent }
}
