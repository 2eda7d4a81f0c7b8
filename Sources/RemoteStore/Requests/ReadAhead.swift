internal import Platform
internal import Predicates

/// Prefetches the next pages while a page is read, for callers that need all of them: two pages ahead, and no more.
///
/// With a single page, the backend would wait until the caller has stored the previous page: the prefetched page has already reported the next one, but it is
/// not requested.
// The mutable state is in a `LockedBox`.
final class ReadAhead: Sendable {
    /// The number of pages that are requested before the caller needs them.
    static let depth = 2

    private struct State {
        /// The page that the caller waits for.
        var wanted: BackendRequest?
        /// The requests in flight for the following pages, in order.
        var early: [RequestRunner.Early] = []
        /// The token of the next page that the last of these pages has reported, until it is requested.
        var told: (request: BackendRequest, next: PageToken)?
        var isOver = false

        /// The last requested page.
        var last: BackendRequest? { early.last?.page ?? wanted }

        /// Removes and returns the next page, if it is known and not too far ahead.
        mutating func takeNext() -> (request: BackendRequest, next: PageToken)? {
            guard !isOver, early.count < ReadAhead.depth, let told, told.request == last else { return nil }
            self.told = nil
            return told
        }
    }

    private let runner: RequestRunner
    private let state = LockedBox(State())

    init(_ runner: RequestRunner) { self.runner = runner }

    /// Returns the answer to the request of a page.
    ///
    /// - Throws: The backend's error; `CancellationError`.
    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        let (early, unwanted, next) = state.withLock { state in
            state.wanted = request
            guard let first = state.early.first, first.page == request, first.isCurrent(runner) else {
                // The caller continues elsewhere, or something was saved.
                defer { state.early = [] }
                state.told = nil
                return (RequestRunner.Early?.none, state.early, state.takeNext())
            }
            state.early.removeFirst()
            return (first, [], state.takeNext())
        }
        for early in unwanted { runner.giveUp(early) }
        guard let early else { return try await runner.answer(request) { [weak self] in self?.told($0, by: request) } }
        if let next { begin(next) }
        return try await runner.answer(of: early)
    }

    /// Cancels requests whose answers are not needed.
    func end() {
        let unwanted = state.withLock { state in
            state.isOver = true
            defer { state.early = [] }
            return state.early
        }
        for early in unwanted { runner.giveUp(early) }
    }

    private func told(_ next: PageToken, by request: BackendRequest) {
        let next = state.withLock { state in
            state.told = (request, next)
            return state.takeNext()
        }
        if let next { begin(next) }
    }

    private func begin(_ next: (request: BackendRequest, next: PageToken)) {
        var next = next
        while true {
            let request = next.request
            var page = request
            page.page = next.next
            if page == request { return }
            let early = runner.begin(page, startsHere: true) { [weak self, page] in self?.told($0, by: page) }
            let (isWanted, further) = state.withLock { state in
                guard !state.isOver, state.last == request, state.early.count < Self.depth else {
                    return (false, (request: BackendRequest, next: PageToken)?.none)
                }
                state.early.append(early)
                // The answer may already have reported the next page.
                return (true, state.takeNext())
            }
            if !isWanted { runner.giveUp(early) }
            guard let further else { return }
            next = further
        }
    }
}
