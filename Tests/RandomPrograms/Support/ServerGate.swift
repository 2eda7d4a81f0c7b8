/// Holds back what an asynchronous store is asked by one task, until a test lets it go: what others ask meanwhile is answered.
// `state` has its lock.
package final class ServerGate: Sendable {
    /// The gate that the questions of this task, and of those that it makes, come to.
    @TaskLocal package static var current: ServerGate?

    /// Whether the server answers a question as it is when it is asked, and not as it is when the answer is let go.
    package let answersAtOnce: Bool
    private let state = GuardedState(State())

    private struct State {
        var isOpen = false
        var failure: (any Error)?
        var held: (question: String, continuation: CheckedContinuation<Void, Never>)?
    }

    package init(answersAtOnce: Bool = false) { self.answersAtOnce = answersAtOnce }

    /// The question that is held back.
    package var question: String? { state.withLock { $0.held?.question } }

    /// Suspends until the question is let go.
    package func pass(_ question: String) async throws {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.held = (question, continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        if let failure = state.withLock(\.failure) { throw failure }
    }

    /// Lets go of what is held back; the next question is held back again.
    package func release() {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held
        }
        held?.continuation.resume()
    }

    /// Lets go of what is held back, and holds nothing back any more.
    ///
    /// - Parameter failure: what questions fail with from now on.
    package func open(failure: (any Error)? = nil) {
        state.withLock { state in
            state.isOpen = true
            state.failure = failure
        }
        release()
    }
}
