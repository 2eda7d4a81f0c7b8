internal import Foundation
internal import Platform
internal import Predicates

/// Work for another thread while this one continues; this thread does it itself if it needs the result and no other thread has begun.
// `state` has its own lock.
final class SideWork<Value: Sendable>: Sendable {
    private enum State {
        case waiting(@Sendable () -> Value)
        case running
        case done(Value)
    }
    private let state: LockedBox<State>
    private let end = DispatchGroup()

    init(_ work: @escaping @Sendable () -> Value) {
        state = LockedBox(.waiting(work))
        end.enter()
        SideThreads.shared.run { self.runUnlessBegun() }
    }

    private func runUnlessBegun() {
        guard let value = workUnlessBegun() else { return }
        state.withLock { $0 = .done(value) }
        end.leave()
    }

    /// Does the work. It holds nothing of the work when it returns: the thread that needs the result may be the only owner of the work's inputs.
    private func workUnlessBegun() -> Value? {
        let work = state.withLock { state -> (@Sendable () -> Value)? in
            guard case .waiting(let work) = state else { return nil }
            state = .running
            return work
        }
        return work?()
    }

    /// The result. Waits for the thread that makes it.
    var value: Value {
        runUnlessBegun()
        end.wait()
        guard case .done(let value) = state.withLock({ $0 }) else { stopProgram("Work that has ended has left no result.") }
        return value
    }
}
