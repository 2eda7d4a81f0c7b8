internal import Foundation
internal import Logging
internal import Synchronization

/// Lets synchronous code wait for asynchronous work.
///
/// The work runs on threads of its own, so that it comes to its end although every thread that runs tasks may be waiting.
enum Waiting {
    /// Runs tasks on threads of its own, none of which the pool of all tasks lacks.
    static let executor: any TaskExecutor = WaitingExecutor()

    /// Says in the log that the main thread or the main queue is about to stand still.
    static func warnOnMainQueue(_ what: @autoclosure () -> String) {
        // Where `main` is asynchronous, the main queue may run on any thread.
        guard Thread.isMainThread || ContextQueue.main.isCurrent else { return }
        Log.context.warning("The main queue waits for \(what()). Load it before by `await`, or use a private-queue context.")
    }

    /// Runs `work` and stands still until it is done.
    ///
    /// - Parameter what: what is waited for, for the log: on the main queue waiting is worth a warning.
    static func wait<Result: Sendable>(
        for what: @autoclosure () -> String, _ work: @escaping @Sendable () async throws -> Result
    ) throws -> Result {
        warnOnMainQueue(what())
        let done = DispatchSemaphore(value: 0)
        let answer = Answer<Result>()
        Task(executorPreference: executor) {
            do { answer.set(.success(try await work())) } catch { answer.set(.failure(error)) }
            done.signal()
        }
        done.wait()
        return try answer.get()
    }

    /// What the work has come to.
    // `value` is guarded by its mutex.
    private final class Answer<Value: Sendable>: Sendable {
        private let value = Synchronization.Mutex<Swift.Result<Value, any Error>?>(nil)

        func set(_ result: Swift.Result<Value, any Error>) { value.withLock { $0 = result } }

        func get() throws -> Value {
            guard let result = value.withLock({ $0 }) else { preconditionFailure("The work was waited for and has left no result.") }
            return try result.get()
        }
    }
}

/// Runs the tasks that somebody stands still for.
// The queue is set once.
private final class WaitingExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "CoreData.waiting", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
