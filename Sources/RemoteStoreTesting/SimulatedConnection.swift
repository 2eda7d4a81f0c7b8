public import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
public import RemoteStore

/// A ``SimulatedServer`` from the view of one of its clients.
public final class SimulatedConnection: Backend {
    /// The name of the client.
    public let client: String
    private let server: SimulatedServer

    init(_ server: SimulatedServer, _ client: String) {
        self.server = server
        self.client = client
    }

    /// The location of the server, which is the same for all clients.
    public var location: URL { server.location }
    /// The capabilities of the server.
    public var resources: [Resource] { server.resources }
    /// Whether the server has a change feed.
    public var hasChangeFeed: Bool { server.options.hasChangeFeed }

    /// Answers a request, if both messages are delivered.
    public func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        try await exchange(isSave: false, "\(request)") { try self.server.answer(request) }
    }

    /// Returns the changes, if both messages are delivered.
    public func changes(_ request: ChangesRequest) async throws -> BackendChanges {
        try await exchange(isSave: false, "changes since \(request.token?.text ?? "now")") { try self.server.changes(request) }
    }

    /// Applies changes, if both messages are delivered.
    public func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        let text = changes.map { change in
            let values = change.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
            return "\(change.kind) \(change.entity) \(change.id.map(\.description) ?? "new") \(values)"
        }.joined(separator: "; ")
        do {
            return try await exchange(isSave: true, text) { self.server.save(changes, self.client) }
        } catch let error as SimulatedNetwork.Busy {
            return Dictionary(changes.map { ($0.key, BackendOutcome.refused(error)) }, uniquingKeysWith: { first, _ in first })
        }
    }

    private func exchange<Answer: Sendable>(
        isSave: Bool, _ text: String, _ answer: @Sendable () throws -> Answer
    ) async throws -> Answer {
        let network = server.network
        // UUIDs differ from run to run.
        let text = text.replacingOccurrences(
            of: "[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", with: "UUID", options: .regularExpression)
        guard network.isConnected(client) else { throw SimulatedNetwork.notConnected }
        func lost() -> any Error {
            isSave ? UnknownOutcome(SimulatedNetwork.connectionLost) : SimulatedNetwork.connectionLost
        }
        let arrival = await network.send(from: client, isAnswer: false, isSave: isSave, text)
        if arrival == .lost { throw lost() }
        if arrival == .refused {
            if await network.send(from: client, isAnswer: true, isSave: isSave, "busy: \(text)") == .lost { throw lost() }
            throw SimulatedNetwork.busy
        }
        let made = Result { try answer() }
        if arrival == .doubled { _ = try? answer() }
        if await network.send(from: client, isAnswer: true, isSave: isSave, text) == .lost { throw lost() }
        return try made.get()
    }
}

// MARK: The server's side

extension SimulatedServer {
    func answer(_ request: BackendRequest) throws -> BackendAnswer {
        guard let entity = entities[request.entity],
            let endpoint = resources.first(where: { $0.entity == request.entity })?.endpoints.first(where: { $0.name == request.endpoint })
        else { throw ScriptMistake("There is no endpoint \(request.entity).\(request.endpoint).") }
        try ScriptedQuery.check(request, endpoint)
        let time = clock.uptime
        let (mayBeStale, mayBeCapped) = (options.mayBeStale(request), options.mayBeCapped(request))
        let (state, isCapped) = contents.withLock { contents in
            let isStale = mayBeStale && contents.options.staleReads > 0 && contents.random.chance(contents.options.staleReads)
            let isCapped = mayBeCapped && contents.options.cappedAnswers > 0 && contents.random.chance(contents.options.cappedAnswers)
            return (isStale ? contents.replica(at: time) : contents.state, isCapped)
        }
        let query = ScriptedQuery(state: state, entities: entities, toMany: toMany, endpoint: endpoint)
        var found = try query.matching(request, entity)
        var answer = request.answer()
        if isCapped { found = Array(found.prefix(found.count / 2)) }
        if endpoint.counts, !isCapped { answer.total = found.count }
        if request.wantsCount {
            answer.total = found.count
            return answer
        }
        if !request.groups.isEmpty {
            answer.total = found.count
            answer.groups = try query.groups(request, found)
            return answer
        }
        if !request.aggregates.isEmpty {
            answer.aggregates = try request.aggregates.map { try query.value(of: $0, found) }
            return answer
        }
        let start = request.page.flatMap { Int($0.text) } ?? request.offset
        var rows = Array(found.dropFirst(start))
        // A limit counts from the offset, regardless of the page.
        if let limit = request.limit { rows = Array(rows.prefix(max(0, request.offset + limit - start))) }
        if let size = endpoint.paging.size, rows.count > size {
            rows = Array(rows.prefix(size))
            answer.next = PageToken(String(start + size))
        }
        try query.write(rows, request, into: &answer)
        return answer
    }

    func changes(_ request: ChangesRequest) throws -> BackendChanges {
        guard options.hasChangeFeed else { throw ScriptMistake("There is no change feed.") }
        return try contents.withLock { $0.state }.changes(request)
    }

    /// Applies changes. A change whose idempotency key is known is applied once.
    func save(_ changes: [BackendChange], _ client: String) -> [BackendChange.Key: BackendOutcome] {
        let time = clock.uptime
        let refusal = options.refusal
        let refusals = Dictionary(changes.map { ($0.key, refusal($0)) }, uniquingKeysWith: { first, _ in first })
        return contents.withLock { contents in
            contents.keepPast(time)
            contents.saveCalls += 1
            let before = (contents.state, contents.applied)
            var outcomes: [BackendChange.Key: BackendOutcome] = [:]
            var isWhole = true
            let saving = resources.first { $0.entity == changes.first?.entity }?.saving
            for change in changes {
                let outcome = contents.outcome(of: change, refusals[change.key] ?? nil, client, saving?.isIdempotent ?? false)
                outcomes[change.key] = outcome
                if case .saved = outcome {} else { isWhole = false }
            }
            if saving?.isAtomic == true, !isWhole {
                (contents.state, contents.applied) = before
                for (key, outcome) in outcomes {
                    if case .saved = outcome { outcomes[key] = .refused(ScriptMistake("Another change of the call was refused.")) }
                }
            }
            if changes.count > 1, contents.options.missingOutcomes > 0, contents.random.chance(contents.options.missingOutcomes) {
                for change in changes where contents.random.chance(0.5) { outcomes[change.key] = nil }
            }
            return outcomes
        }
    }
}

extension SimulatedServer.Contents {
    fileprivate mutating func outcome(
        of change: BackendChange, _ refusal: (any Error)?, _ client: String, _ isIdempotent: Bool
    ) -> BackendOutcome {
        if isIdempotent, let known = state.answeredKeys[change.idempotencyKey] { return known }
        if let refusal { return .refused(refusal) }
        let outcome = state.apply(change)
        if case .saved(let assigned, _, _) = outcome, change.kind == .insert, let id = change.id ?? assigned {
            // Values that were not given are null, and not unknown.
            state.records[change.entity]?[id]?.values.merge(nulls[change.entity] ?? [:]) { known, _ in known }
        }
        guard case .saved(let assigned, _, _) = outcome else { return outcome }
        state.answeredKeys[change.idempotencyKey] = outcome
        if let id = change.id ?? assigned {
            applied.append(.init(change: change, client: client, id: id, revision: state.clock, call: saveCalls))
        }
        return outcome
    }
}
