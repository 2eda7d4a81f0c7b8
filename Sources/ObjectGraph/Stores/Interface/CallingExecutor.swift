internal import Foundation
internal import Predicates
internal import Synchronization

/// A thread that waits for a task, and runs the task meanwhile if it is its executor.
// `state` is guarded by its mutex.
final class CallingExecutor: TaskExecutor {
    private struct State {
        var jobs = Fifo<UnownedJob>()
        var isOver = false
        #if DEBUG
        var isAnsweredByPool = false
        #endif
    }
    private let state = Synchronization.Mutex(State())
    /// Signalled for each job, and for the end.
    private let wakeUp = DispatchSemaphore(value: 0)

    #if DEBUG
    /// The threads that run the jobs; nil for the waiting thread.
    private let threads: WaitingThreads?
    private let watch: PoolWatch?
    private let waiting = pthread_self()

    init(on threads: WaitingThreads?, _ watch: PoolWatch?) {
        self.threads = threads
        self.watch = watch
    }

    /// Whether a thread of the task pool has resumed the task.
    var isAnsweredByPool: Bool { state.withLock { $0.isAnsweredByPool } }
    #endif

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        #if DEBUG
        // The waiting thread itself starts the task, and also resumes it if it runs it.
        if let watch, pthread_equal(waiting, pthread_self()) == 0, watch.isPoolThread() { state.withLock { $0.isAnsweredByPool = true } }
        if let threads { return threads.enqueue(job, on: self) }
        #endif
        state.withLock { $0.jobs.append(job) }
        wakeUp.signal()
    }

    /// Called by the task when it is finished.
    func end() {
        state.withLock { $0.isOver = true }
        wakeUp.signal()
    }

    /// Waits for the end of the task.
    func run() {
        while !state.withLock({ $0.isOver }) {
            if wakeUp.wait(timeout: .now()) == .timedOut { BlockingCall.whileWaiting { wakeUp.wait() } }
            guard let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) else { continue }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
