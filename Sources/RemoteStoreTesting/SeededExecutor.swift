public import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Runs tasks one after another on the thread that calls ``run()``, in an order that a seed determines.
///
/// Work that is started by ``start(_:)`` runs here, including everything that remote stores start for it. A task that waits for something else, such as a
/// message of a ``SimulatedNetwork`` or a ``ManualClock``, does not run; when no task can continue, ``run()`` returns. A run of several clients is therefore
/// reproducible with the same seed, as long as they do not wait for other threads.
public final class SeededExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var random: SeededGenerator
    }

    private let state: LockedBox<State>

    /// Creates an executor.
    public init(seed: UInt64) { state = LockedBox(State(random: SeededGenerator(seed: seed))) }

    /// Accepts a part of a task, which ``run()`` runs. The runtime calls it, on any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// Runs tasks until each is done or waits for something else.
    ///
    /// Call it on one thread at a time, and not from a task of this executor.
    public func run() {
        while let job = state.withLock({ state -> UnownedJob? in
            guard !state.jobs.isEmpty else { return nil }
            return state.jobs.remove(at: state.random.below(state.jobs.count))
        }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Starts work, which continues while ``run()`` runs.
    ///
    /// - Returns: The started work, which has the result once it is available.
    public func start<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) -> StartedWork<Result> {
        let started = StartedWork<Result>()
        BlockingCall.$simulated.withValue(self) {
            started.task.set(
                Task(executorPreference: self) {
                    do { started.value.set(.success(try await work())) } catch { started.value.set(.failure(error)) }
                })
        }
        return started
    }

    /// Runs work to its end, if it waits only for tasks of this executor.
    ///
    /// - Throws: The error of the work; ``WaitingWork`` if it waits for something else.
    public func complete<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) throws -> Result {
        let started = start(work)
        run()
        guard let result = started.result else { throw WaitingWork() }
        return try result.get()
    }
}

/// Work that a ``SeededExecutor`` runs.
public final class StartedWork<Value: Sendable>: Sendable {
    let value = LockedBox<Result<Value, any Error>?>(nil)
    let task = LockedBox<Task<Void, Never>?>(nil)

    /// The result; nil while the work continues.
    public var result: Result<Value, any Error>? { value.withLock { $0 } }
    /// Whether it is done.
    public var isDone: Bool { result != nil }
    /// Cancels its task.
    public func cancel() { task.withLock { $0 }?.cancel() }
}

/// The error of work that waits for something else.
public struct WaitingWork: LocalizedError, CustomStringConvertible {
    /// The same as ``description``.
    public var errorDescription: String? { description }
    /// A description of the remedy.
    public var description: String {
        "The work waits for something that its executor does not run: deliver the messages of the network, or let time pass."
    }
}
