internal import Predicates

/// Asks for the next page while a page is being read, for callers that want all of them: one page ahead, and no more.
// Everything that changes is in a `LockedBox`.
final class ReadAhead: Sendable {
    private struct State {
        /// The page that the caller waits for.
        var wanted: BackendRequest?
        /// The request for the next page, which was sent.
        var early: RequestRunner.Early?
        /// A page that told the next one before the caller has asked for it.
        var told: (request: BackendRequest, next: PageToken)?
        var isOver = false
    }

    private let runner: RequestRunner
    private let state = LockedBox(State())

    init(_ runner: RequestRunner) { self.runner = runner }

    /// Returns the answer to the request of a page.
    ///
    /// - Throws: The backend's error; `CancellationError`.
    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        let (early, next) = state.withLock { state in
            defer { state.early = nil }
            state.wanted = request
            return (state.early, state.told?.request == request ? state.told?.next : nil)
        }
        guard let early, early.page == request, early.isCurrent(runner) else {
            if let early { runner.giveUp(early) }
            return try await runner.answer(request) { [weak self] in self?.told($0, by: request) }
        }
        if let next { begin(next, after: request) }
        return try await runner.answer(of: early)
    }

    /// Gives up what was asked for and is not wanted.
    func end() {
        let early = state.withLock { state in
            state.isOver = true
            defer { state.early = nil }
            return state.early
        }
        if let early { runner.giveUp(early) }
    }

    private func told(_ next: PageToken, by request: BackendRequest) {
        let isWanted = state.withLock { state in
            if state.wanted == request { return true }
            state.told = (request, next)
            return false
        }
        if isWanted { begin(next, after: request) }
    }

    private func begin(_ next: PageToken, after request: BackendRequest) {
        var following = request
        following.page = next
        if following == request { return }
        let page = following
        let early = runner.begin(page) { [weak self] in self?.told($0, by: page) }
        let isWanted = state.withLock { state in
            guard !state.isOver, state.wanted == request, state.early == nil else { return false }
            state.early = early
            return true
        }
        if !isWanted { runner.giveUp(early) }
    }
}
