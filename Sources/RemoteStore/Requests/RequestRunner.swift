internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Sends requests to a backend: equal requests in flight are combined, and the number of concurrent calls is limited.
// The mutable state is in `LockedBox`es.
final class RequestRunner: Sendable {
    static let log = Logger(label: "coredata.remote")

    /// A request in flight.
    fileprivate final class Flight: Sendable {
        let task: Task<BackendAnswer, any Error>
        init(_ task: Task<BackendAnswer, any Error>) { self.task = task }
    }

    /// The identity of requests that share an answer.
    fileprivate struct FlightKey: Hashable, Sendable {
        let request: BackendRequest
        let news: UInt64
    }

    private struct State {
        var flights: [FlightKey: (flight: Flight, waiting: Int)] = [:]
        /// The number of times that new values were received.
        var news: UInt64 = 0
        var running = 0
        var queue: [CheckedContinuation<Void, Never>] = []
        var epoch: UInt64 = 0
        /// The causes of unreadable values that were logged: properties of entities.
        var knownCauses: Set<String> = []
        /// Whether the last read was refused because of its credentials.
        var lacksCredentials = false

        /// Counts one more call, if another one may run. No call may overtake waiting ones: a call that ends passes its place to the next one.
        mutating func takePlace(_ limit: Int) -> Bool {
            guard running < limit else { return false }
            running += 1
            return true
        }
    }

    let backend: any Backend
    /// A closure that is called when a read is answered after others were refused because of their credentials.
    let credentialsReturned = LockedBox<(@Sendable () -> Void)?>(nil)
    private let limit: Int
    /// A closure that is called once for each answer, before it is shared, with the time of the request.
    private let receive: @Sendable (BackendAnswer, AskTime) -> Void
    private let now: @Sendable () -> Duration
    private let state = LockedBox(State())

    init(
        _ backend: any Backend, limit: Int, receive: @escaping @Sendable (BackendAnswer, AskTime) -> Void,
        now: @escaping @Sendable () -> Duration
    ) {
        self.backend = backend
        self.limit = limit
        self.receive = receive
        self.now = now
    }

    /// Begins a new epoch: earlier requests may miss the latest save, and are not shared with later ones.
    func beginEpoch() { state.withLock { $0.epoch &+= 1 } }

    /// Notes that new values were received: earlier requests may be stale, and are not shared with later ones.
    func noteNews() { state.withLock { $0.news &+= 1 } }

    /// The current epoch.
    var epoch: UInt64 { state.withLock { $0.epoch } }

    // MARK: Reads

    /// Returns the answer to a request. The request is cancelled when all tasks that wait for it are.
    ///
    /// - Throws: The backend's error; `CancellationError`.
    ///
    /// - Parameter tellNext: A closure that receives the token of the next page as soon as the backend knows it, unless an equal request is in flight.
    func answer(
        _ request: BackendRequest, tellingNext tellNext: (@Sendable (PageToken) -> Void)? = nil
    ) async throws -> BackendAnswer {
        try Task.checkCancellation()
        return try await answer(of: begin(request, tellingNext: tellNext))
    }

    /// A request that was sent, possibly before its answer is needed.
    struct Early: Sendable {
        /// The request of the caller.
        let page: BackendRequest
        fileprivate let sent: FlightKey
        fileprivate let flight: Flight

        /// Whether nothing was saved since.
        func isCurrent(_ runner: RequestRunner) -> Bool { sent.request.epoch == runner.epoch }
    }

    /// Sends a request, unless an equal one is in flight. The caller must await or abandon its answer.
    ///
    /// - Parameter startsHere: Whether the current thread sends it, without waking another one. This is for backends that never block a thread.
    func begin(
        _ request: BackendRequest, startsHere: Bool = false, tellingNext tellNext: (@Sendable (PageToken) -> Void)? = nil
    ) -> Early {
        let key = state.withLock { state in
            var sent = request
            sent.epoch = state.epoch
            return FlightKey(request: sent, news: state.news)
        }
        return Early(page: request, sent: key, flight: join(key, startsHere, tellNext))
    }

    /// Returns the answer to a request that was sent.
    func answer(of early: Early) async throws -> BackendAnswer {
        try await withTaskCancellationHandler {
            defer { leave(early.flight, early.sent) }
            return try await early.flight.task.value
        } onCancel: {
            leave(early.flight, early.sent)
        }
    }

    /// Notes that the answer to a request is not needed.
    func giveUp(_ early: Early) { leave(early.flight, early.sent) }

    private func join(_ key: FlightKey, _ startsHere: Bool, _ tellNext: (@Sendable (PageToken) -> Void)?) -> Flight {
        // The shared threads are not used: all of them may be blocked by properties that wait for this answer.
        let starting = startsHere ? BlockingCall.startingExecutor() : nil
        let (flight, isNew) = state.withLock { state in
            if let known = state.flights[key] {
                state.flights[key]?.waiting += 1
                return (known.flight, false)
            }
            let flight = Flight(
                Task(executorPreference: starting ?? BlockingCall.executor) { [self] in
                    let result: Result<BackendAnswer, any Error>
                    let teller = tellNext.map { PageTeller(on: starting, asking: $0) }
                    do { result = .success(try await perform(key.request, teller)) } catch { result = .failure(error) }
                    finish(key)
                    return try result.get()
                })
            state.flights[key] = (flight, 1)
            return (flight, true)
        }
        if isNew { starting?.run() }
        return flight
    }

    /// Notes that one of the callers gives up or has its answer.
    private func leave(_ flight: Flight, _ key: FlightKey) {
        let isAbandoned = state.withLock { state in
            guard let known = state.flights[key], known.flight === flight else { return false }
            guard known.waiting > 1 else {
                state.flights[key] = nil
                return true
            }
            state.flights[key]?.waiting -= 1
            return false
        }
        if isAbandoned { flight.task.cancel() }
    }

    private func finish(_ key: FlightKey) { state.withLock { $0.flights[key] = nil } }

    private func perform(_ request: BackendRequest, _ teller: PageTeller?) async throws -> BackendAnswer {
        try await limited {
            try Task.checkCancellation()
            Self.log.debug("\(request)")
            let time = AskTime(self.now())
            let answer = try await self.noting {
                if let teller, let backend = self.backend as? any EarlyPagingBackend {
                    try await backend.answer(request, tellingNext: teller)
                } else {
                    try await self.backend.answer(request)
                }
            }
            try answer.refuseUnreadable(request)
            self.receive(answer, time)
            self.log(answer.unreadable, of: request)
            return answer
        }
    }

    /// Logs unreadable values: a line for each cause, regardless of the number of resources. Further ones of a known cause are logged at the level `debug`.
    private func log(_ notes: [any Error], of request: BackendRequest) {
        if notes.isEmpty { return }
        var causes: [(text: String, first: any Error, count: Int)] = []
        var places: [String: Int] = [:]
        for note in notes {
            let resource = note as? UnreadableResource
            let what = resource.map { "\($0.entity)\($0.property.map { ".\($0)" } ?? "")" } ?? "\(request.entity): \(type(of: note))"
            if let place = places[what] {
                causes[place].count += 1
            } else {
                places[what] = causes.count
                causes.append((what, note, 1))
            }
        }
        for cause in causes {
            let isNew = state.withLock { $0.knownCauses.insert(cause.text).inserted }
            Self.log.log(
                level: isNew ? .error : .debug,
                "\(request): \(cause.count) cannot be read. The first of them: \(cause.first)")
        }
    }

    /// Makes a call to the backend.
    ///
    /// - Throws: The error of the backend, in the form for programs.
    private func telling<Answer>(_ ask: () async throws -> Answer) async throws -> Answer {
        do { return try await ask() } catch { throw RemoteStoreError.told(error) }
    }

    /// Makes a call to the backend, and notes whether it accepts the credentials.
    ///
    /// - Throws: The error of the backend; code 134598 (``CredentialsExpiredError``) if it does not.
    private func noting<Answer>(_ ask: () async throws -> Answer) async throws -> Answer {
        let answer: Answer
        do { answer = try await telling(ask) } catch {
            if Prospect(error).needsCredentials { state.withLock { $0.lacksCredentials = true } }
            throw error
        }
        let hasReturned = state.withLock { state in
            defer { state.lacksCredentials = false }
            return state.lacksCredentials
        }
        if hasReturned { credentialsReturned.withLock { $0 }?() }
        return answer
    }

    // MARK: Saves

    /// Sends changes. The call is not cancelled with the task.
    func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        try await Task(executorPreference: BlockingCall.executor) { [self] in
            try await limited {
                if let first = changes.first { Self.log.debug("\(first.kind) \(changes.count) of \(first.entity)") }
                return try await self.telling { try await self.backend.save(changes) }
            }
        }.value
    }

    /// Makes a bulk call. It is not cancelled with the task.
    func execute(_ request: BulkRequest) async throws -> BulkAnswer {
        try await Task(executorPreference: BlockingCall.executor) { [self] in
            try await limited {
                Self.log.debug("\(request.kind) all: \(request.target)")
                return try await self.telling { try await self.backend.execute(request) }
            }
        }.value
    }

    /// Requests changes from the change feed.
    func changes(_ request: ChangesRequest) async throws -> BackendChanges {
        try await Task(executorPreference: BlockingCall.executor) { [self] in
            try await limited {
                Self.log.debug("changes since \(request.token?.text ?? "now")")
                return try await self.noting { try await self.backend.changes(request) }
            }
        }.value
    }

    // MARK: The limit

    /// Runs `body` as one of the limited number of concurrent calls.
    func limited<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        await begin()
        defer { end() }
        return try await body()
    }

    private func begin() async {
        if state.withLock({ $0.takePlace(limit) }) { return }
        await withCheckedContinuation { continuation in
            let mayBegin = state.withLock { state in
                if state.takePlace(limit) { return true }
                state.queue.append(continuation)
                return false
            }
            if mayBegin { continuation.resume() }
        }
    }

    private func end() {
        // The next call takes over the place.
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.queue.isEmpty {
                state.running -= 1
                return nil
            }
            return state.queue.removeFirst()
        }
        next?.resume()
    }
}
