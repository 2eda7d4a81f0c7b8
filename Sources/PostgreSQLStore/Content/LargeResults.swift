#if PostgreSQL
internal import Platform
internal import Predicates

/// The numbers of rows that queries have found, of those that were many: the same query will mostly find many again, and is read in parts.
// `counts` is guarded by its lock.
final class LargeResults: Sendable {
    private let counts = LockedBox<[String: Int]>([:])
    /// Below this number of rows nothing is gained by parts.
    private static let threshold = 5000
    /// The number of queries that are remembered.
    private static let limit = 200

    /// About how many rows a query will find; 0 where that is not known to be many.
    func expectedCount(of sql: String) -> Int { counts.withLock { $0[sql] ?? 0 } }

    func note(_ count: Int, of sql: String) {
        counts.withLock { counts in
            if count < Self.threshold {
                if !counts.isEmpty { counts[sql] = nil }
                return
            }
            if counts[sql] == nil, counts.count >= Self.limit { counts.removeAll() }
            counts[sql] = count
        }
    }
}
#endif
