internal import Foundation
internal import Predicates
internal import Synchronization

/// A thread that waits for a task, and runs it meanwhile where it is the task's executor.
// `state` is guarded by its mutex.
final class CallingExecutor: TaskExecutor {
    private struct State {
        var jobs = Fifo<UnownedJob>()
        var isOver = false
    }
    private let state = Synchronization.Mutex(State())
    /// Signalled for each job, and for the end.
    private let wakeUp = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wakeUp.signal()
    }

    /// Called by the task when it has nothing more to do.
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
