internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
public import RemoteStore

extension ScriptedBackend {
    /// Answers a request as the script wants it.
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
        case .fail(let error), .loseAnswer(let error), .loseRequest(let error): throw error
        case .half: return try made(request, isHalf: true)
        }
    }

    func hold() async {
        await withCheckedContinuation { continuation in state.withLock { $0.held.append(continuation) } }
    }

    /// Suspends until another request is answered, or nobody else is left.
    private func letOthersPass() async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.overtaken.append(continuation) }
            releaseIfAlone()
        }
    }

    /// Called when a request has its answer.
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

    private func made(_ request: BackendRequest, isHalf: Bool = false) throws -> BackendAnswer {
        let endpoint = try endpoint(request)
        let state = state.withLock { $0 }
        try ScriptedQuery.check(request, endpoint)
        guard let entity = entities[request.entity] else { throw ScriptMistake("There is no entity \(request.entity).") }
        let query = ScriptedQuery(state: state, entities: entities, toMany: toMany, endpoint: endpoint)
        let matching = try query.matching(request, entity)
        var answer = request.answer()
        if endpoint.counts { answer.total = matching.count }
        if request.wantsCount { return answer }
        if !request.aggregates.isEmpty {
            answer.aggregates = try request.aggregates.map { try query.value(of: $0, matching) }
            return answer
        }
        var start = request.offset
        if let page = request.page { start = Int(page.text) ?? 0 }
        var rest = matching.dropFirst(start)
        // A limit counts from the offset, whatever page is asked for.
        if let limit = request.limit { rest = rest.prefix(max(0, request.offset + limit - start)) }
        var rows = Array(rest)
        if let size = endpoint.paging.size, rows.count > size {
            rows = Array(rows.prefix(size))
            answer.next = PageToken(String(start + size))
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

/// A request that the backend has not declared, or a script that makes no sense.
struct ScriptMistake: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
