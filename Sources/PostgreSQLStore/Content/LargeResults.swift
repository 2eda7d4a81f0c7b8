#if PostgreSQL
internal import Platform
internal import Predicates

/// The row counts of queries that found many rows. The same query probably finds many again, so it is read in parts.
// `counts` is guarded by its lock.
final class LargeResults: Sendable {
    private let counts = LockedBox<[String: Int]>([:])
    /// The number of rows below which reading in parts gains nothing.
    private static let threshold = 5000
    /// The number of queries that are remembered.
    private static let limit = 200

    /// Returns the approximate number of rows that a query will find; 0 if it is not known to be large.
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
