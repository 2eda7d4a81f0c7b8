internal import Foundation
internal import ObjectGraph
internal import Platform
internal import Predicates
public import RemoteStore

extension ScriptedBackend {
    /// Saves changes according to the script. A change with a known idempotency key gets its previous outcome.
    public func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        let (script, principal) = state.withLock { state in
            state.saves.append(changes)
            return (state.saveBehaviour, state.principal)
        }
        guard changes.allSatisfy({ $0.principal == nil || $0.principal == principal }) else { throw URLError(.userAuthenticationRequired) }
        let behaviour = script(changes)
        switch behaviour {
        case .answer, .holdAnswer, .overtaken: return apply(changes)
        case .delay(let time):
            try await Task.sleep(for: time)
            return apply(changes)
        case .hold:
            await hold()
            return apply(changes)
        case .fail(let error): throw error
        case .refuse(let error):
            return Dictionary(changes.map { ($0.key, BackendOutcome.refused(error)) }, uniquingKeysWith: { first, _ in first })
        case .loseAnswer(let error):
            _ = apply(changes)
            throw UnknownOutcome(error)
        case .loseRequest(let error): throw UnknownOutcome(error)
        case .half: return apply(Array(changes.prefix(changes.count / 2)))
        }
    }

    private func saving(_ entity: String?) -> Resource.Saving? { resources.first { $0.entity == entity }?.saving }

    private func apply(_ changes: [BackendChange]) -> [BackendChange.Key: BackendOutcome] {
        let outcome = state.withLock { $0.outcome }
        var outcomes: [BackendChange.Key: BackendOutcome] = [:]
        let saving = saving(changes.first?.entity)
        let (isAtomic, isIdempotent) = (saving?.isAtomic ?? false, saving?.isIdempotent ?? false)
        // This is not a dictionary of optionals: in release builds of Swift 6.3, its values are not nil where they should be.
        var scripted: [BackendChange.Key: BackendOutcome] = [:]
        for change in changes { if let told = outcome(change) { scripted[change.key] = told } }
        let told = scripted
        return state.withLock { state in
            // It is kept only if it may be needed, because the first change then copies it.
            let before = isAtomic ? state : nil
            for change in changes {
                if isIdempotent, let known = state.answeredKeys[change.idempotencyKey] {
                    outcomes[change.key] = known
                } else if let told = told[change.key] {
                    outcomes[change.key] = told
                } else {
                    let made = state.apply(change)
                    outcomes[change.key] = made
                    if case .saved = made { state.answeredKeys[change.idempotencyKey] = made }
                }
            }
            let isWhole = outcomes.values.allSatisfy { if case .saved = $0 { true } else { false } }
            if let before, !isWhole {
                state = before
                for (key, outcome) in outcomes {
                    if case .saved = outcome { outcomes[key] = .refused(ScriptMistake("Another change of the call was refused.")) }
                }
            }
            return outcomes
        }
    }

    // MARK: Bulk calls

    /// Changes or removes all matches of a declared call, according to the script for saves.
    public func execute(_ request: BulkRequest) async throws -> BulkAnswer {
        let script = state.withLock { state in
            state.bulkRequests.append(request)
            return state.saveBehaviour
        }
        switch script([]) {
        case .answer, .holdAnswer, .overtaken, .half: return try apply(request)
        case .delay(let time):
            try await Task.sleep(for: time)
            return try apply(request)
        case .hold:
            await hold()
            return try apply(request)
        case .fail(let error), .refuse(let error): throw error
        case .loseAnswer(let error):
            _ = try apply(request)
            throw UnknownOutcome(error)
        case .loseRequest(let error): throw UnknownOutcome(error)
        }
    }

    private func apply(_ request: BulkRequest) throws -> BulkAnswer {
        let bulk = saving(request.entity)?.bulk
        guard let endpoint = request.kind == .update ? bulk?.update : bulk?.delete, endpoint.name == request.target.endpoint,
            let entity = entities[request.entity]
        else { throw ScriptMistake("There is no bulk call \(request.entity).\(request.target.endpoint).") }
        try ScriptedQuery.check(request.target, endpoint)
        let query = ScriptedQuery(state: state.withLock { $0 }, entities: entities, toMany: toMany, endpoint: endpoint)
        var found = try query.matching(request.target, entity).dropFirst(request.target.offset)
        if let limit = request.target.limit { found = found.prefix(limit) }
        state.withLock { state in
            for resource in found {
                if request.kind == .delete {
                    state.remove(resource.entity, resource.id)
                } else {
                    state.change(resource.entity, resource.id, request.values)
                }
            }
        }
        guard let results = bulk?.results, !results.isEmpty else { return BulkAnswer() }
        if !results.contains(.identifiers) { return BulkAnswer(count: found.count) }
        return BulkAnswer(resources: found.map { ResourceReference($0.id, entity: $0.entity) })
    }
}

extension ScriptedBackend.State {
    /// Applies a change, and returns its outcome.
    mutating func apply(_ change: BackendChange) -> BackendOutcome {
        guard change.kind != .insert else {
            if let id = change.id, records[change.entity]?[id] != nil {
                return .refused(ScriptMistake("\(change.entity) \(id) is there already."))
            }
            let id = change.id ?? newID(change.entity)
            var values = change.values
            for (name, list) in change.lists { values[name] = .many(list.members ?? list.added) }
            put(change.entity, id, values)
            return .saved(id: change.id == nil ? id : nil, version: mark(clock))
        }
        guard let id = change.id, var record = records[change.entity]?[id] else { return .conflict(current: nil) }
        if let version = change.version, version != mark(record.version) {
            return .conflict(current: record.values, version: mark(record.version))
        }
        if change.kind == .delete {
            remove(change.entity, id)
            return .saved()
        }
        record.values.merge(change.values) { _, new in new }
        for (name, list) in change.lists {
            var members: [ResourceReference] = []
            if case .many(let known)? = record.values[name] { members = known }
            members = list.members ?? members.filter { !list.removed.contains($0) } + list.added.filter { !members.contains($0) }
            record.values[name] = .many(members)
        }
        put(change.entity, id, record.values)
        return .saved(version: mark(clock))
    }
}
