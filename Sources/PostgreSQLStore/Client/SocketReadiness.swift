#if PostgreSQL
internal import Dispatch
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Waits until a socket is readable or writable. No thread blocks, except one that may block, for a short time.
enum SocketReadiness {
    /// The reason why a wait has ended.
    enum Outcome: Sendable {
        case ready, timedOut, cancelled
        /// The system does not watch the socket.
        case refused
    }

    /// How long a thread that may wait does so itself, in milliseconds: a small transaction takes less, and to hand it over to another thread and back
    /// takes longer than its work.
    private static let ownWait = 50

    /// Waits for a socket, which must stay open until the call returns.
    ///
    /// - Parameters:
    ///   - timeout: The seconds to wait; nil for any time.
    ///   - isCancellable: Whether the wait ends when the task is cancelled.
    static func wait(
        _ socket: Int32, reads: Bool, writes: Bool, timeout: Double? = nil, isCancellable: Bool
    ) async -> Outcome {
        if BlockingCall.mayWait, !(isCancellable && Task.isCancelled) {
            let limit = timeout.map { min(Self.ownWait, Int($0 * 1000)) } ?? Self.ownWait
            var descriptor = pollfd(fd: socket, events: Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), revents: 0)
            // The subsequent read or write detects a failure.
            if BlockingCall.whileWaiting({ poll(&descriptor, 1, Int32(limit)) }) > 0 { return .ready }
        }
        let wait = SocketWait()
        if !isCancellable { return await wait.run(socket, reads: reads, writes: writes, timeout) }
        return await withTaskCancellationHandler {
            await wait.run(socket, reads: reads, writes: writes, timeout)
        } onCancel: {
            wait.end(.cancelled)
        }
    }
}

/// One wait for a socket.
// `state` is guarded by its lock.
final class SocketWait: Sendable {
    // The watch is made and ended under the lock.
    private struct State: @unchecked Sendable {
        var outcome: SocketReadiness.Outcome?
        var watch: SocketWatch?
        var continuation: CheckedContinuation<SocketReadiness.Outcome, Never>?
    }
    private let state = LockedBox(State())
    private static let timers = DispatchQueue(label: "PostgreSQLStore.sockets")

    fileprivate func run(_ socket: Int32, reads: Bool, writes: Bool, _ timeout: Double?) async -> SocketReadiness.Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> SocketReadiness.Outcome? in
                if let outcome = state.outcome { return outcome }
                guard let watch = SocketWatch(socket, reads: reads, writes: writes, for: self) else { return .refused }
                state.watch = watch
                state.continuation = continuation
                return nil
            }
            if let outcome { return continuation.resume(returning: outcome) }
            if let timeout { Self.timers.asyncAfter(deadline: .now() + timeout) { [weak self] in self?.end(.timedOut) } }
        }
    }

    /// Ends the wait, after which the socket may be closed; the first outcome counts.
    func end(_ outcome: SocketReadiness.Outcome) {
        let (watch, continuation) = state.withLock { state -> (SocketWatch?, CheckedContinuation<SocketReadiness.Outcome, Never>?) in
            if state.outcome != nil { return (nil, nil) }
            state.outcome = outcome
            defer { (state.watch, state.continuation) = (nil, nil) }
            return (state.watch, state.continuation)
        }
        watch?.end()
        continuation?.resume(returning: outcome)
    }
}
#endif
