internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
public import RemoteStore

extension ScriptedBackend {
    /// Answers a request according to the script.
    public func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        let behaviour = state.withLock { state in
            state.requests.append(request)
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
            return state.behaviour
        }(request)
        defer {
            state.withLock { $0.running -= 1 }
            letOvertakenGo()
        }
        switch behaviour {
        case .answer: return try made(request)
        case .delay(let time):
            try await Task.sleep(for: time)
            return try made(request)
        case .hold:
            await hold()
            return try made(request)
        case .holdAnswer:
            let answer = try made(request)
            await hold()
            return answer
        case .overtaken:
            let answer = try made(request)
            await letOthersPass()
            return answer
        case .fail(let error), .refuse(let error), .loseAnswer(let error), .loseRequest(let error): throw error
        case .half: return try made(request, isHalf: true)
        }
    }

    func hold() async {
        await withCheckedContinuation { continuation in state.withLock { $0.held.append(continuation) } }
    }

    /// Suspends until another request is answered, or no other request is in flight.
    private func letOthersPass() async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.overtaken.append(continuation) }
            releaseIfAlone()
        }
    }

    /// Resumes overtaken requests after a request was answered.
    private func letOvertakenGo() {
        let passed = state.withLock { state in
            defer { state.overtaken = [] }
            return state.overtaken
        }
        for continuation in passed { continuation.resume() }
    }

    private func releaseIfAlone() {
        let isAlone = state.withLock { $0.overtaken.count >= $0.running }
        if isAlone { letOvertakenGo() }
    }

    private func endpoint(_ request: BackendRequest) throws -> Endpoint {
        guard
            let endpoint = resources.first(where: { $0.entity == request.entity })?.endpoints.first(where: { $0.name == request.endpoint })
        else { throw ScriptMistake("There is no endpoint \(request.entity).\(request.endpoint).") }
        return endpoint
    }

    /// Returns the results of a cursor with their current values; nil for a request without a cursor.
    private func snapshot(_ request: BackendRequest) -> [ScriptedResource]? {
        let parts = request.page?.text.split(separator: "@") ?? []
        guard parts.count == 2, let number = Int(parts[1]) else { return nil }
        return state.withLock { state in
            guard number < state.cursors.count else { return nil }
            return state.cursors[number].map { known in
                state.records[known.entity]?[known.id].map { ScriptedResource(entity: known.entity, id: known.id, record: $0) } ?? known
            }
        }
    }

    /// Returns a cursor: it continues in the original results, including resources that were deleted since, as a service with snapshots does.
    private func cursor(_ start: Int, _ request: BackendRequest, _ found: [ScriptedResource]) -> String {
        if let known = request.page?.text.split(separator: "@").last { return "\(start)@\(known)" }
        return state.withLock { state in
            state.cursors.append(found)
            return "\(start)@\(state.cursors.count - 1)"
        }
    }

    private func made(_ request: BackendRequest, isHalf: Bool = false) throws -> BackendAnswer {
        let endpoint = try endpoint(request)
        let state = state.withLock { $0 }
        try ScriptedQuery.check(request, endpoint)
        guard let entity = entities[request.entity] else { throw ScriptMistake("There is no entity \(request.entity).") }
        let query = ScriptedQuery(state: state, entities: entities, toMany: toMany, endpoint: endpoint)
        let matching = try snapshot(request) ?? query.matching(request, entity)
        var answer = request.answer()
        if endpoint.counts { answer.total = matching.count }
        if request.wantsCount { return answer }
        if !request.groups.isEmpty {
            answer.total = matching.count
            answer.groups = try query.groups(request, matching)
            return answer
        }
        if !request.aggregates.isEmpty {
            answer.aggregates = try request.aggregates.map { try query.value(of: $0, matching) }
            return answer
        }
        var start = request.offset
        if let page = request.page { start = page.text.split(separator: "@").first.flatMap { Int($0) } ?? 0 }
        var rest = matching.dropFirst(start)
        // A limit counts from the offset, regardless of the page.
        if let limit = request.limit { rest = rest.prefix(max(0, request.offset + limit - start)) }
        var rows = Array(rest)
        if let size = endpoint.paging.size, rows.count > size {
            rows = Array(rows.prefix(size))
            answer.next = PageToken(endpoint.paging.stability == .cursors ? cursor(start + size, request, matching) : String(start + size))
        }
        if let limit = state.silentLimit, rows.count > limit {
            rows = Array(rows.prefix(limit))
            answer.next = nil
        }
        if isHalf {
            rows = Array(rows.prefix(rows.count / 2))
            answer.next = nil
        }
        try query.write(rows, request, into: &answer)
        return answer
    }
}

/// The error of a request that the backend has not declared, or of an invalid script.
struct ScriptMistake: LocalizedError, CustomStringConvertible {
    let description: String
    var errorDescription: String? { description }
    init(_ description: String) { self.description = description }
}
