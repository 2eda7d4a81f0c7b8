internal import Foundation
internal import Platform
internal import Predicates

/// Threads that run the jobs of tasks, separate from those of the shared pool: as many as needed for each job to get one, even if others are blocked.
///
/// At most one thread at a time is being started or woken. It requests the next one if more jobs wait, so that many short jobs do not create many
/// threads. Of the idle threads, the one that has worked last is used first, because its memory is still cached; the others end.
// Everything is in a `LockedBox`.
final class WaitingThreads: Sendable {
    private struct Entry {
        let job: UnownedJob
        let executor: any TaskExecutor
    }

    private final class Worker: Sendable {
        let wakeUp = DispatchSemaphore(value: 0)
    }

    /// The way in which a job gets a thread.
    private enum Call {
        case none
        case wake(Worker)
        case start
    }

    private struct State {
        var entries = Fifo<Entry>()
        var idle: [Worker] = []
        /// Whether a thread was started or woken that has not arrived yet.
        var isComing = false

        /// Requests a thread if jobs wait and none is on its way.
        mutating func send() -> Call {
            if isComing || entries.isEmpty { return .none }
            isComing = true
            return idle.popLast().map { .wake($0) } ?? .start
        }
    }

    /// The number of seconds that a thread stays without jobs.
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

    /// Waits for jobs. Returns false if none have come for a while.
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
