#if PostgreSQL
internal import Dispatch
internal import Synchronization

/// Waits until a socket can be read or written. No thread waits meanwhile.
enum SocketReadiness {
    /// The reason why a wait has ended.
    enum Outcome: Sendable {
        case ready, timedOut, cancelled
    }

    /// Waits for a socket, which must stay open until the call returns.
    ///
    /// - Parameters:
    ///   - timeout: The seconds to wait; nil for any time.
    ///   - isCancellable: Whether the wait ends when the task is cancelled.
    static func wait(
        _ socket: Int32, reads: Bool, writes: Bool, timeout: Double? = nil, isCancellable: Bool
    ) async -> Outcome {
        let wait = SocketWait(socket, reads: reads, writes: writes, timeout: timeout)
        if !isCancellable { return await wait.run() }
        return await withTaskCancellationHandler {
            await wait.run()
        } onCancel: {
            wait.end(.cancelled)
        }
    }
}

/// One wait for a socket: it ends when all of its sources have been cancelled, after which the socket may be closed.
// `state` is guarded by its mutex.
private final class SocketWait: Sendable {
    // The sources are created and cancelled under the mutex.
    private struct State: @unchecked Sendable {
        var outcome: SocketReadiness.Outcome?
        var sources: [any DispatchSourceProtocol] = []
        var active = 0
        var continuation: CheckedContinuation<SocketReadiness.Outcome, Never>?
    }
    private let state = Mutex(State())
    private let socket: Int32
    private let reads: Bool
    private let writes: Bool
    private let timeout: Double?
    // Serial: it gets a thread although others may block those of the tasks.
    private static let queue = DispatchQueue(label: "PostgreSQLStore.sockets")

    init(_ socket: Int32, reads: Bool, writes: Bool, timeout: Double?) {
        (self.socket, self.reads, self.writes, self.timeout) = (socket, reads, writes, timeout)
    }

    func run() async -> SocketReadiness.Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> SocketReadiness.Outcome? in
                if let outcome = state.outcome { return outcome }
                state.continuation = continuation
                if reads { state.sources.append(DispatchSource.makeReadSource(fileDescriptor: socket, queue: Self.queue)) }
                if writes { state.sources.append(DispatchSource.makeWriteSource(fileDescriptor: socket, queue: Self.queue)) }
                for source in state.sources {
                    state.active += 1
                    source.setEventHandler { self.end(.ready) }
                    source.setCancelHandler { self.didCancelSource() }
                    source.activate()
                }
                if let timeout {
                    Self.queue.asyncAfter(deadline: .now() + timeout) { [weak self] in self?.end(.timedOut) }
                }
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Ends the wait; the first outcome counts.
    func end(_ outcome: SocketReadiness.Outcome) {
        state.withLock { state in
            if state.outcome != nil { return }
            state.outcome = outcome
            for source in state.sources { source.cancel() }
        }
    }

    private func didCancelSource() {
        let resumed = state.withLock { state -> (CheckedContinuation<SocketReadiness.Outcome, Never>, SocketReadiness.Outcome)? in
            state.active -= 1
            guard state.active == 0, let continuation = state.continuation, let outcome = state.outcome else { return nil }
            state.continuation = nil
            state.sources = []
            return (continuation, outcome)
        }
        if let (continuation, outcome) = resumed { continuation.resume(returning: outcome) }
    }
}
#endif
