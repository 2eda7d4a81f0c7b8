#if PostgreSQL
internal import Dispatch
internal import Foundation
internal import Platform
internal import Predicates

/// Waits for a time, as `Task.sleep` does, without the task pool, which that needs to end: all its threads may be blocked by calls that wait for
/// this one.
enum Pause {
    private enum State {
        case begun
        case waiting(CheckedContinuation<Void, any Error>)
        case over
    }

    /// A queue with a thread of its own, separate from the threads of tasks and of Dispatch's shared queues.
    private static let queue = DispatchQueue(label: "PostgreSQLStore.pauses")

    /// - Throws: `CancellationError`, at once when the task is cancelled.
    static func wait(_ seconds: Double) async throws {
        try Task.checkCancellation()
        if seconds <= 0 { return }
        let state = LockedBox(State.begun)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    if case .over = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isOver { return continuation.resume(throwing: CancellationError()) }
                queue.asyncAfter(deadline: .now() + seconds) { end(state)?.resume() }
            }
        } onCancel: {
            end(state)?.resume(throwing: CancellationError())
        }
    }

    /// Ends a wait. Returns the waiting continuation, unless the wait has ended before.
    private static func end(_ state: LockedBox<State>) -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            defer { state = .over }
            return if case .waiting(let continuation) = state { continuation } else { nil }
        }
    }
}
#endif
