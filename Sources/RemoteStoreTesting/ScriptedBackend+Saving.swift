internal import Foundation
internal import ObjectGraph
internal import Predicates
public import RemoteStore

extension ScriptedBackend {
    /// Saves changes as the script wants it. A change whose idempotency key has come before gets the outcome that it had.
    public func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        let behaviour = state.withLock { state in
            state.saves.append(changes)
            return state.saveBehaviour
        }(changes)
        switch behaviour {
        case .answer, .holdAnswer: return apply(changes)
        case .delay(let time):
            try await Task.sleep(for: time)
            return apply(changes)
        case .hold:
            await hold()
            return apply(changes)
        case .fail(let error): throw error
        case .loseAnswer(let error):
            _ = apply(changes)
            throw UnknownOutcome(error)
        case .half: return apply(Array(changes.prefix(changes.count / 2)))
        }
    }

    private func apply(_ changes: [BackendChange]) -> [BackendChange.Key: BackendOutcome] {
        let outcome = state.withLock { $0.outcome }
        var outcomes: [BackendChange.Key: BackendOutcome] = [:]
        let isAtomic = resources.first { $0.entity == changes.first?.entity }?.saving?.isAtomic ?? false
        let scripted = Dictionary(uniqueKeysWithValues: changes.map { ($0.key, outcome($0)) })
        return state.withLock { state in
            let before = state
            for change in changes {
                if let known = state.answeredKeys[change.idempotencyKey] {
                    outcomes[change.key] = known
                } else if let scripted = scripted[change.key] ?? nil {
                    outcomes[change.key] = scripted
                } else {
                    let made = Self.apply(change, to: &state)
                    outcomes[change.key] = made
                    if case .saved = made { state.answeredKeys[change.idempotencyKey] = made }
                }
            }
            let isWhole = outcomes.values.allSatisfy { if case .saved = $0 { true } else { false } }
            if isAtomic, !isWhole {
                state = before
                for (key, outcome) in outcomes {
                    if case .saved = outcome { outcomes[key] = .refused(ScriptMistake("Another change of the call was refused.")) }
                }
            }
            return outcomes
        }
    }

    private static func apply(_ change: BackendChange, to state: inout State) -> BackendOutcome {
        state.clock += 1
        func mark(_ number: Int64) -> ResourceVersion? {
            switch state.versions {
            case .none: nil
            case .numbers: .number(number)
            case .tags: .tag("v\(number)")
            }
        }
        guard change.kind != .insert else {
            if let id = change.id, state.records[change.entity]?[id] != nil {
                return .refused(ScriptMistake("\(change.entity) \(id) is there already."))
            }
            if change.id == nil { state.lastID += 1 }
            let id = change.id ?? .integer(state.lastID)
            var values = change.values
            for (name, list) in change.lists { values[name] = .many(list.members ?? list.added) }
            state.order[change.entity, default: []].append(id)
            state.records[change.entity, default: [:]][id] = Record(values: values, version: state.clock)
            return .saved(id: change.id == nil ? id : nil, version: mark(state.clock))
        }
        guard let id = change.id, var record = state.records[change.entity]?[id] else { return .conflict(current: nil) }
        if let version = change.version, version != mark(record.version) {
            return .conflict(current: record.values, version: mark(record.version))
        }
        if change.kind == .delete {
            state.records[change.entity]?[id] = nil
            state.order[change.entity]?.removeAll { $0 == id }
            return .saved()
        }
        record.values.merge(change.values) { _, new in new }
        for (name, list) in change.lists {
            var members: [ResourceReference] = []
            if case .many(let known)? = record.values[name] { members = known }
            members = list.members ?? members.filter { !list.removed.contains($0) } + list.added.filter { !members.contains($0) }
            record.values[name] = .many(members)
        }
        record.version = state.clock
        state.records[change.entity]?[id] = record
        return .saved(version: mark(state.clock))
    }
}
