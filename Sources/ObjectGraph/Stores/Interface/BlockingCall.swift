internal import Foundation
internal import Logging
internal import Predicates
internal import Synchronization

/// Lets synchronous code wait for asynchronous work.
///
/// The work runs on separate threads, or on the waiting one, so that it completes even if every thread of the task pool is blocked. So do its child
/// tasks and the actors that it calls. The pool has as many threads as there are processors, and a pool thread that waits here is unavailable there.
/// If the work itself waits for something that only the pool runs, the wait is as long as the pool is busy, and is endless if all threads of the pool
/// wait in this way:
///
/// - a task that it starts by `Task { }` or `Task.detached { }` without an executor: those do not inherit this one;
/// - a task or an actor's call that another task has begun there;
/// - `Task.sleep`, whose end a thread of the pool must notice.
///
/// Stores therefore start tasks on ``executor``, and let their own threads resume tasks that wait for a connection. If the caller's code has to wait
/// for the pool, it must call from a thread of its own. Tests find calls that do not, see ``PoolWatch``.
package enum BlockingCall {
    /// Runs tasks on separate threads, without using those of the shared pool; within a simulation, on the simulation's executor.
    package static var executor: any TaskExecutor { simulated ?? waiting }
    private static let waiting = WaitingExecutor()

    /// Whether the thread that runs the current task may wait for a moment: it is one of the separate ones, or waits for that task.
    package static var mayWait: Bool {
        withUnsafeCurrentTask { task in
            guard let executor = task?.unownedTaskExecutor else { return false }
            return executor == waiting.asUnownedTaskExecutor() || executor == caller?.asUnownedTaskExecutor()
        }
    }
    /// The thread that waits for the current task. Tasks that this one starts know it, too, and may run elsewhere.
    @TaskLocal private static var caller: CallingExecutor?

    /// Runs `body`, which waits for a store, on a thread that may wait: the queues of contexts have another thread meanwhile.
    package static func whileWaiting<Result>(_ body: () -> Result) -> Result { QueueWorkers.shared.whileWaiting(body) }

    /// Returns an executor for one task that ``StartingExecutor/run()`` begins; nil within a simulation, which decides itself what runs when.
    package static func startingExecutor() -> StartingExecutor? { simulated == nil ? StartingExecutor(waiting.threads) : nil }

    /// Runs the tasks of a simulation one after another; nil for everything else. Tasks pass it on to the tasks that they start.
    @TaskLocal package static var simulated: (any TaskExecutor)?

    /// Logs that the main thread or main queue is about to block.
    static func warnOnMainQueue(_ what: @autoclosure () -> String) {
        // With an asynchronous `main`, the main queue may run on any thread.
        guard ContextQueue.main.isCurrent else { return }
        Log.context.warning("The main queue waits for \(what()). Load it before by `await`, or use a private-queue context.")
    }

    /// Runs `work` and blocks until it is done.
    ///
    /// - Parameters:
    ///   - what: A description of the work for the log, which warns when the main queue is blocked.
    ///   - isHere: Whether the calling thread does the work, which has no concurrent parts: no other thread need be woken.
    package static func wait<Result: Sendable>(
        for what: @autoclosure () -> String, onCallingThread isHere: Bool = false, _ work: @escaping @Sendable () async throws -> Result
    ) throws -> Result {
        warnOnMainQueue(what())
        // Written by the task before it ends, and read after that: the lock of `caller` orders the two.
        nonisolated(unsafe) var answer: Swift.Result<Result, any Error>?
        #if DEBUG
        let watch = PoolWatch.onThisThread
        // The threads are the same; only a call's own executor sees which thread resumes its work.
        let caller = CallingExecutor(on: isHere ? nil : waiting.threads, watch)
        let executor: any TaskExecutor = isHere || watch != nil ? caller : waiting
        #else
        let caller = CallingExecutor()
        let executor: any TaskExecutor = isHere ? caller : waiting
        #endif
        // Not on the executor of a simulation, whose thread waits here.
        $simulated.withValue(nil) {
            $caller.withValue(caller) {
                _ = Task(executorPreference: executor) {
                    do { answer = .success(try await work()) } catch { answer = .failure(error) }
                    caller.end()
                }
            }
        }
        caller.run()
        #if DEBUG
        if let watch, caller.isAnsweredByPool {
            watch.report("A thread of the task pool has waited for \(what()), which needed a turn of that pool.")
        }
        #endif
        guard let answer else { stopProgram("The work was waited for and has left no result.") }
        return try answer.get()
    }
}

/// Runs the tasks that threads are blocked for.
private final class WaitingExecutor: TaskExecutor {
    let threads = WaitingThreads()

    func enqueue(_ job: consuming ExecutorJob) { threads.enqueue(UnownedJob(job), on: self) }
}

/// Runs one task: up to its first wait on the thread that starts it, and from there on as ``BlockingCall/executor`` does.
///
/// For a task that is created under a lock and has little to do before it waits: no other thread need be woken for that.
package final class StartingExecutor: TaskExecutor {
    private enum Start {
        case expected
        case held(UnownedJob)
        /// The thread runs the task, which may already have moved elsewhere; with the task's continuation, if it is to move.
        case running(ObjectIdentifier, CheckedContinuation<Void, Never>? = nil)
        case over
    }

    private let threads: WaitingThreads
    private let start = Synchronization.Mutex<Start>(.expected)

    fileprivate init(_ threads: WaitingThreads) { self.threads = threads }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = start.withLock { start in
            guard case .expected = start else { return false }
            start = .held(job)
            return true
        }
        if !isHeld { threads.enqueue(job, on: self) }
    }

    /// Runs the task that was created with this executor, until its first suspension. Call it once, without a lock.
    package func run() {
        let thread = Self.thread
        let job: UnownedJob? = start.withLock { start in
            guard case .held(let job) = start else { return nil }
            start = .running(thread)
            return job
        }
        guard let job else { return start.withLock { $0 = .over } }
        job.runSynchronously(on: asUnownedTaskExecutor())
        let leaving = start.withLock { start in
            defer { start = .over }
            return if case .running(_, let leaving) = start { leaving } else { CheckedContinuation<Void, Never>?.none }
        }
        leaving?.resume()
    }

    /// Lets the thread that has begun the task continue with its own work, if it still runs the task: the result that the task waited for may have
    /// come first.
    ///
    /// Call it in the task, before it has much to do.
    package func leave() async {
        guard isRunningHere() else { return }
        await withCheckedContinuation { continuation in
            start.withLock { start in if case .running(let thread, _) = start { start = .running(thread, continuation) } }
        }
    }

    /// Returns whether this thread has begun the task, and still runs it.
    private func isRunningHere() -> Bool {
        let here = Self.thread
        return start.withLock { start in if case .running(here, _) = start { true } else { false } }
    }

    private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }
}
