internal import Foundation
internal import Predicates

/// Threads that run the jobs of tasks, apart from those of the shared pool: as many as it takes for each job to get one, also while others are blocked.
///
/// One thread at a time is on its way to the jobs. It sends for the next one where more jobs wait, so that many short jobs do not make many threads. Of
/// the threads that have nothing to do the one goes first that has worked last, for its memory is at hand; the others end.
// Everything is in a `LockedBox`.
final class WaitingThreads: Sendable {
    private struct Entry {
        let job: UnownedJob
        let executor: any TaskExecutor
    }

    private final class Worker: Sendable {
        let wakeUp = DispatchSemaphore(value: 0)
    }

    /// How a job gets a thread.
    private enum Call {
        case none
        case wake(Worker)
        case start
    }

    private struct State {
        var entries = Fifo<Entry>()
        var idle: [Worker] = []
        /// Whether a thread was started or woken that has not come yet.
        var isComing = false

        /// Sends for a thread where jobs wait and none is coming.
        mutating func send() -> Call {
            if isComing || entries.isEmpty { return .none }
            isComing = true
            return idle.popLast().map { .wake($0) } ?? .start
        }
    }

    /// How long a thread stays without jobs, in seconds.
    private static let idleSeconds = 5.0

    private let state = LockedBox(State())

    /// Runs a job on one of the threads.
    ///
    /// - Parameter executor: The executor that the job counts as running on: its task returns to it after each suspension.
    func enqueue(_ job: UnownedJob, on executor: any TaskExecutor) {
        let call = state.withLock { state in
            state.entries.append(Entry(job: job, executor: executor))
            return state.send()
        }
        make(call)
    }

    private func make(_ call: Call) {
        switch call {
        case .none: break
        case .wake(let worker): worker.wakeUp.signal()
        case .start: Thread.start("CoreData.waiting") { self.run(Worker()) }
        }
    }

    private func run(_ worker: Worker) {
        state.withLock { $0.isComing = false }
        repeat {
            while let (entry, call) = next(worker) {
                make(call)
                withExtendedLifetime(entry.executor) { entry.job.runSynchronously(on: entry.executor.asUnownedTaskExecutor()) }
            }
        } while stays(worker)
    }

    /// Takes the first job, and the call that provides a thread for the next one; if there is no job, records that the worker is idle.
    private func next(_ worker: Worker) -> (Entry, Call)? {
        state.withLock { state in
            guard !state.entries.isEmpty else {
                state.idle.append(worker)
                return nil
            }
            let entry = state.entries.removeFirst()
            return (entry, state.send())
        }
    }

    /// Waits for jobs. Returns false where none have come for a while.
    private func stays(_ worker: Worker) -> Bool {
        if worker.wakeUp.wait(timeout: .now() + Self.idleSeconds) == .timedOut {
            let isUnwanted = state.withLock { state in
                guard let place = state.idle.firstIndex(where: { $0 === worker }) else { return false }
                state.idle.remove(at: place)
                return true
            }
            if isUnwanted { return false }
            // It was sent for in this moment.
            worker.wakeUp.wait()
        }
        state.withLock { $0.isComing = false }
        return true
    }
}
