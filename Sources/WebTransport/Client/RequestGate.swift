internal import Platform

/// Limits the number of simultaneous requests to a host. Further requests wait in a queue.
final class RequestGate: Sendable {
    private struct Host {
        var running = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private struct State {
        var hosts: [String: Host] = [:]
        var nextID = 0
        /// The requests that were cancelled before they were queued.
        var cancelled: Set<Int> = []

        /// Takes a place for a request to a host, if one is free. While requests wait, none is: a request that leaves passes its place to the next one.
        mutating func takePlace(_ host: String, _ limit: Int) -> Bool {
            guard hosts[host, default: Host()].running < limit else { return false }
            hosts[host, default: Host()].running += 1
            return true
        }
    }

    private let limit: Int?
    private let state = LockedBox(State())

    init(limit: Int?) { self.limit = limit.map { max(1, $0) } }

    /// Waits for a place. A call of ``leave(_:)`` must follow.
    func enter(_ host: String) async throws {
        guard let limit else { return }
        try Task.checkCancellation()
        if state.withLock({ $0.takePlace(host, limit) }) { return }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        defer { _ = state.withLock { $0.cancelled.remove(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.contains(id) { return .failure(CancellationError()) }
                    if state.takePlace(host, limit) { return .success(()) }
                    state.hosts[host, default: Host()].waiting.append((id, continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
                guard let place = state.hosts[host]?.waiting.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.hosts[host]?.waiting.remove(at: place).continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Releases a place to the next request.
    func leave(_ host: String) {
        guard limit != nil else { return }
        let next: CheckedContinuation<Void, any Error>? = state.withLock { state in
            guard var entry = state.hosts[host] else { return nil }
            defer { state.hosts[host] = entry.running == 0 ? nil : entry }
            guard entry.waiting.isEmpty else { return entry.waiting.removeFirst().continuation }
            entry.running -= 1
            return nil
        }
        next?.resume()
    }
}
