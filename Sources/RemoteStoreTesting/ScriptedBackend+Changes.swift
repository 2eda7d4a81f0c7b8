internal import Foundation
internal import ObjectGraph
internal import Platform
public import RemoteStore

extension ScriptedBackend {
    /// Whether there is a change feed: ``setChangeFeed(pages:)`` was called.
    public var hasChangeFeed: Bool { state.withLock { $0.log != nil } }

    /// Enables the change feed from now on.
    ///
    /// - Parameter size: The number of changes in one answer.
    public func setChangeFeed(pages size: Int = .max) {
        state.withLock { state in
            state.log = state.log ?? []
            state.changePage = max(1, size)
        }
    }

    /// Makes all previous tokens expire.
    public func expireChangeTokens() {
        state.withLock { state in
            state.log?.append(LoggedChange(entity: "", id: 0))
            state.firstToken = state.log?.count ?? 0
        }
    }

    /// Returns the changes since a token.
    public func changes(_ request: ChangesRequest) async throws -> BackendChanges {
        try state.withLock { $0 }.changes(request)
    }
}

extension ScriptedBackend.State {
    /// Returns the changes since a token.
    ///
    /// - Throws: ``ScriptMistake`` if there is no change feed; `ExpiredChangeToken`.
    func changes(_ request: ChangesRequest) throws -> BackendChanges {
        guard let log else { throw ScriptMistake("There is no change feed.") }
        guard let token = request.token else { return request.answer(ChangeToken(String(log.count))) }
        guard let start = Int(token.text), start >= firstToken, start <= log.count else { throw ExpiredChangeToken() }
        let end = min(log.count, start + min(changePage, log.count))
        var answer = request.answer(ChangeToken(String(end)))
        answer.hasMore = end < log.count
        var seen: Set<ResourceReference> = []
        var removals: [ResourceReference: Int64] = [:]
        for change in log[start...] {
            if let removal = change.removal { removals[ResourceReference(change.id, entity: change.entity)] = removal }
        }
        for change in log[start..<end] where !change.entity.isEmpty {
            let resource = ResourceReference(change.id, entity: change.entity)
            guard seen.insert(resource).inserted else { continue }
            let record = records[change.entity]?[change.id]
            if let record { try answer.add(change.id, entity: change.entity, version: mark(record.version), record.values) }
            // A resource that exists again was replaced, unless the feed names each resource once.
            if record == nil || tellsReplacements, let removal = removals[resource] {
                try answer.remove(change.id, entity: change.entity, version: mark(removal))
            }
        }
        return answer
    }
}
