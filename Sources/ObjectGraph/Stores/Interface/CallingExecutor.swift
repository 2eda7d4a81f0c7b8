internal import Foundation
internal import Predicates
internal import Synchronization

/// Runs one task on the thread that waits for it.
// `state` is guarded by its mutex.
final class CallingExecutor: TaskExecutor {
    private struct State {
        var jobs = Fifo<UnownedJob>()
        var isOver = false
    }
    private let state = Synchronization.Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        arrived.signal()
    }

    /// Called by the task when it has nothing more to do.
    func end() { state.withLock { $0.isOver = true } }

    /// Runs what the task does, from its creation to its end.
    func run() {
        while true {
            // One signal comes for each job.
            arrived.wait()
            guard let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) else { continue }
            job.runSynchronously(on: asUnownedTaskExecutor())
            if state.withLock({ $0.isOver }) { return }
        }
    }
}
