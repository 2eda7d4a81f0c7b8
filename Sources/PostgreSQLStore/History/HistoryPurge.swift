#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// How far a history was deleted.
struct HistoryPurge: Sendable {
    /// The greatest number in the history that was deleted; 0 for none.
    let number: Int64
    /// The cluster that ``xid`` is of.
    let system: Int64
    /// The greatest number in the server that was deleted.
    let xid: Int64
    /// The transactions with smaller numbers that were not deleted, because they were still running, or the deleting client had not seen them.
    let running: Set<Int64>

    /// Returns whether a transaction may have been deleted, by its number in the server.
    func mayContain(_ number: Int64) -> Bool { number <= xid && !running.contains(number) }

    /// Returns the extent of both deletions together.
    private func joined(_ other: HistoryPurge) -> HistoryPurge {
        if self.number == 0 || system != other.system {
            return HistoryPurge(
                number: max(number, other.number), system: other.system, xid: other.xid, running: other.running)
        }
        return HistoryPurge(
            number: max(number, other.number), system: system, xid: max(xid, other.xid),
            running: running.union(other.running).filter { !mayContain($0) && !other.mayContain($0) })
    }

    /// Deletes the transactions before a boundary, up to the commit. A transaction stays if it is still open, or if the token of the boundary has not
    /// seen it.
    ///
    /// - Parameter mark: The statement that writes the commit's own row, which tells whether the commit succeeded if its answer is lost.
    /// - Returns: The number of deleted transactions.
    static func delete(before boundary: HistoryQuery.Boundary, _ connection: Connection, mark: Call) async throws -> Int {
        var seen: SeenTransactions?
        let condition: HistoryReader.Condition
        switch boundary {
        case .beginning: return 0
        case .date(let date): condition = .init(sql: "t.at < $1", values: [.date(ColumnValues.bound(date))])
        case .transaction(let number): condition = .init(sql: "t.number < $1", values: [.integer(number)])
        case .position(let position):
            seen = position.detail.flatMap { SeenTransactions($0) }
            guard let seen else { return 0 }
            condition = .init(
                sql: "t.number < $5 AND (\(HistoryReader.contained))",
                values: HistoryReader.values(of: seen) + [.integer(position.number)])
        }
        let results = try await connection.run(
            [
                Call("BEGIN ISOLATION LEVEL REPEATABLE READ"), mark, Call(HistoryReader.Head.sql + " FOR UPDATE OF p"),
                Call(
                    "WITH gone AS (DELETE FROM \(HistoryTables.transactions) t WHERE \(condition.sql) RETURNING id, number, system, xid), "
                        + "rest AS (DELETE FROM \(HistoryTables.changes) c USING gone WHERE c.transaction = gone.id) "
                        + "SELECT count(*), coalesce(max(number), 0), coalesce(max(xid) FILTER (WHERE system = "
                        + "(SELECT system_identifier FROM pg_control_system())), 0) FROM gone", condition.values),
            ], isCancellable: false)
        let head = try HistoryReader.Head(results[2])
        let count = results[3].integer(0, 0)
        if count > 0 {
            var running = head.snapshot.running
            if let seen { running.formUnion(seen.unseen) }
            let xid = results[3].integer(0, 2)
            let purge = HistoryPurge(
                number: results[3].integer(0, 1), system: head.system, xid: xid, running: running.filter { $0 <= xid })
            let joined = head.purge.joined(purge)
            _ = try await connection.query(
                "UPDATE \(HistoryTables.purges) SET number = $1, system = $2, xid = $3, running = $4",
                [.integer(joined.number), .integer(joined.system), .integer(joined.xid), .keys(joined.running.sorted())],
                isCancellable: false)
        }
        return Int(count)
    }
}
#endif
