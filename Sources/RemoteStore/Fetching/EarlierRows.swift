@_spi(Stores) internal import ObjectGraph
internal import Platform

/// Rows that were returned without a request, with the time of their original request, until the cache has stored them: they must not hide newer values.
// Everything is in a `LockedBox`.
final class EarlierRows: Sendable {
    private struct Entry {
        /// The address of the row, which distinguishes it from other rows of the same object.
        let address: UInt
        let time: UInt64
        /// The number of callers that it was returned to.
        var count: Int
    }

    private let entries = LockedBox(IDTable<Entry>())
    /// The limit is larger than the result of one call. It prevents the accumulation of rows that are never stored because their caller was cancelled.
    private static let limit = 1_000_000

    var count: Int { entries.withLock { $0.count } }
    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    /// Notes rows that are about to be returned.
    func note(_ rows: some Sequence<Row>, askedAt time: UInt64) {
        entries.withLock { entries in
            if entries.count > Self.limit { entries.removeAll() }
            for row in rows {
                let address = UInt(bitPattern: row.slots)
                let id = row.knownObjectID
                if let known = entries[id], known.address == address {
                    entries[id]?.count += 1
                } else {
                    entries[id] = Entry(address: address, time: time, count: 1)
                }
            }
        }
    }

    /// Returns the time of a row's original request; nil for a row that arrived with the call.
    func take(_ row: Row) -> UInt64? {
        entries.withLock { entries in
            if entries.isEmpty { return nil }
            let id = row.knownObjectID
            guard let entry = entries[id], entry.address == UInt(bitPattern: row.slots) else { return nil }
            if entry.count > 1 { entries[id]?.count -= 1 } else { entries[id] = nil }
            return entry.time
        }
    }

    /// Forgets objects that no context has any more.
    func forget(_ ids: [NSManagedObjectID]) {
        entries.withLock { entries in if !entries.isEmpty { for id in ids { entries[id] = nil } } }
    }
}
