@_spi(Stores) internal import ObjectGraph

/// The form of a cached store for coordinators, with an interface that is hidden from programs.
// Unchecked: see `CachedStore`.
final class CoordinatedCachedStore: CachedStore, @unchecked Sendable {}

extension CoordinatedCachedStore: AsynchronousStore {
    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        // An immediate answer avoids a thread switch.
        if let answer = try answerAtOnce(query, for: caller) { return answer }
        return try BlockingCall.wait(for: "a fetch of “\(query.entity)”") { try await self.fetch(query, for: caller) }
    }

    /// Saves into the file, without waiting for the backend.
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome { try save(now: changes) }
}

extension CoordinatedCachedStore: RowCacheObserver {}

extension CoordinatedCachedStore: PartlyReadStore {}
