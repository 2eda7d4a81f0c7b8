@_spi(Stores) internal import ObjectGraph

/// A cached store as coordinators see it, which speak to stores by an interface that programs do not see.
// Unchecked: see `CachedStore`.
final class CoordinatedCachedStore: CachedStore, @unchecked Sendable {}

extension CoordinatedCachedStore: AsynchronousStore {
    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        // Without changing threads where nothing is waited for.
        if let answer = try answerAtOnce(query, for: caller) { return answer }
        return try BlockingCall.wait(for: "a fetch of “\(query.entity)”") { try await self.fetch(query, for: caller) }
    }

    /// Saves into the file, which waits for nobody.
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome { try save(now: changes) }
}

extension CoordinatedCachedStore: RowCacheObserver {}

extension CoordinatedCachedStore: PartlyReadStore {}
