internal import Foundation
internal import Platform

/// Runs a task once for all callers that need its result at the same time.
///
/// A cancelled caller gets `CancellationError` at once. The task continues for the others.
final class SingleFlight<Value: Sendable>: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
        var nextID = 0
        var isRunning = false
        /// The callers that were cancelled before they waited.
        var cancelled: Set<Int> = []
    }

    private enum Step {
        case wait
        case start
        case end
    }

    private let state = LockedBox(State())

    /// Returns the result of the running task. If none is running, it starts this one.
    func value(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        defer { _ = state.withLock { $0.cancelled.remove(id) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let step: Step = state.withLock { state in
                    if state.cancelled.contains(id) { return .end }
                    state.waiting[id] = continuation
                    if state.isRunning { return .wait }
                    state.isRunning = true
                    return .start
                }
                switch step {
                case .wait: break
                case .end: continuation.resume(throwing: CancellationError())
                case .start:
                    Task(executorPreference: SeparateThreads.shared) { [self] in
                        do {
                            finish(.success(try await work()))
                        } catch {
                            finish(.failure(error))
                        }
                    }
                }
            }
        } onCancel: {
            let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
                if let continuation = state.waiting.removeValue(forKey: id) { return continuation }
                state.cancelled.insert(id)
                return nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private func finish(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            state.isRunning = false
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(with: result) }
    }
}

/// Runs unstructured tasks on separate threads, because programs that wait for the result may block all threads of the shared pool.
// The queue is set once.
private final class SeparateThreads: TaskExecutor {
    static let shared = SeparateThreads()
    private let queue = DispatchQueue(label: "WebTransport.tasks", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
