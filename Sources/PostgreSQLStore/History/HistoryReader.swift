#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Reads the history of a store.
struct HistoryReader: Sendable {
    let schema: SQLSchema
    let token: StoreToken
    let storeID: String
    let place: String

    /// A condition on transactions (`t`), with its parameters.
    struct Condition {
        var sql: String
        var values: [BinaryValue] = []
    }

    /// The state of the server that is read with the history.
    struct Head {
        let snapshot: ServerSnapshot
        let system: Int64
        /// Whether the server follows another one, and may lag behind it.
        let isReplica: Bool
        let purge: HistoryPurge

        static let sql =
            "SELECT pg_current_snapshot()::text, s.system_identifier, pg_is_in_recovery(), p.number, p.system, p.xid, "
            + "array_to_string(p.running, ',') FROM pg_control_system() s, \(HistoryTables.purges) p"

        /// - Throws: ``ServerError`` if the tables of the history are damaged.
        init(_ result: QueryResult) throws {
            guard result.rowCount == 1, let snapshot = ServerSnapshot(result.text(0, 0)) else {
                throw ServerError(code: "", message: "\(HistoryTables.purges) has no row.", isConnectionLost: false)
            }
            self.snapshot = snapshot
            system = result.integer(0, 1)
            isReplica = result.integer(0, 2) != 0
            purge = HistoryPurge(
                number: result.integer(0, 3), system: result.integer(0, 4), xid: result.integer(0, 5),
                running: Set(result.text(0, 6).split(separator: ",").compactMap { Int64($0) }))
        }
    }

    // MARK: The end

    /// Returns the end of the history.
    static func end(_ connection: Connection) async throws -> HistoryPosition {
        let results = try await inSnapshot(
            connection, [Call("SELECT coalesce(max(number), 0) FROM \(HistoryTables.transactions)"), newest(Condition(sql: "true"))])
        var seen = Self.seen(results.head, results.rest[1])
        seen.last = max(results.rest[0].integer(0, 0), results.head.purge.number)
        seen.otherSystems = .max
        return HistoryPosition(number: seen.last, detail: seen.text)
    }

    /// The statement that finds the transaction with the greatest number in the server among some.
    private static func newest(_ condition: Condition) -> Call {
        Call(
            "SELECT t.number, t.id, t.xid FROM \(HistoryTables.transactions) t WHERE t.system = (SELECT system_identifier FROM pg_control_system()) "
                + "AND \(condition.sql) ORDER BY t.xid DESC LIMIT 1", condition.values)
    }

    /// Returns the transactions of the server itself that are seen, up to the newest one.
    private static func seen(_ head: Head, _ newest: QueryResult) -> SeenTransactions {
        var seen = SeenTransactions(system: head.system)
        seen.end = head.purge.system == head.system && head.purge.number > 0 ? head.purge.xid + 1 : 0
        if newest.rowCount > 0 {
            seen.end = max(seen.end, newest.integer(0, 2) + 1)
            seen.witness = (newest.integer(0, 0), newest.uuid(0, 1))
            seen.otherSystems = .max
        }
        seen.unseen = head.snapshot.running.filter { $0 < seen.end }
        return seen
    }

    /// Runs statements that see one snapshot.
    private static func inSnapshot(_ connection: Connection, _ calls: [Call]) async throws -> (head: Head, rest: [QueryResult]) {
        let results = try await connection.run(
            [Call("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), Call(Head.sql)] + calls + [Call("COMMIT")])
        return (try Head(results[1]), Array(results[2..<results.count - 1]))
    }

    // MARK: Transactions

    /// Returns the transactions after a boundary, in the order of their numbers.
    ///
    /// - Throws: Code 134301 if some of them were deleted, or if the database differs from that of the boundary, or is in an earlier state of it.
    func transactions(_ query: HistoryQuery, _ connection: Connection) async throws -> [HistoryRecord] {
        let (condition, known) = try self.condition(after: query.boundary)
        // The transactions that the boundary itself excludes are seen.
        let before: Condition? = known == nil ? Condition(sql: "NOT (\(condition.sql))", values: condition.values) : nil
        var calls = [
            Call(
                "SELECT t.number, t.id, t.system, t.xid, t.at, t.author, t.context, t.bundle, t.process "
                    + "FROM \(HistoryTables.transactions) t WHERE \(condition.sql) ORDER BY t.number", condition.values)
        ]
        if let known {
            calls.append(Self.find(known))
        } else if let before {
            calls.append(Self.newest(before))
            calls.append(
                Call("SELECT coalesce(max(t.number), 0) FROM \(HistoryTables.transactions) t WHERE \(before.sql)", before.values))
        }
        if query.includesChanges {
            calls.append(
                Call(
                    "SELECT c.transaction, c.number, c.kind, c.entity, c.object, array_to_string(c.properties, ','), c.tombstone::text "
                        + "FROM \(HistoryTables.changes) c JOIN \(HistoryTables.transactions) t ON t.id = c.transaction "
                        + "WHERE \(condition.sql) ORDER BY c.number", condition.values))
        }
        let results = try await Self.inSnapshot(connection, calls)
        let found = results.rest[0]
        let entries = (0..<found.rowCount).map { row in
            SeenTransactions.Entry(
                number: found.integer(row, 0), system: found.integer(row, 2), xid: found.integer(row, 3), id: found.uuid(row, 1))
        }
        var start: SeenTransactions
        if let known {
            try await check(known, results.head, witness: results.rest[1], Set(entries.map(\.xid)), connection)
            start = known
        } else {
            start = Self.seen(results.head, results.rest[1])
            start.last = results.rest[2].integer(0, 0)
            if case .transaction(let number) = query.boundary, results.head.purge.number > number { throw expired(Self.deleted) }
        }
        let changes = query.includesChanges ? try self.changes(results.rest[results.rest.count - 1]) : nil
        return zip(entries.indices, start.following(entries, in: results.head.snapshot)).map { row, seen in
            func text(_ column: Int) -> String? { found.isNull(row, column) ? nil : found.text(row, column) }
            return HistoryRecord(
                number: entries[row].number, storeID: storeID,
                timestamp: Date(timeIntervalSinceReferenceDate: ColumnValues.seconds(found.integer(row, 4))), author: text(5),
                contextName: text(6), bundleID: text(7), processID: text(8), changes: changes.map { $0[entries[row].id] ?? [] },
                position: HistoryPosition(number: entries[row].number, detail: seen.text))
        }
    }

    /// Returns the condition for the transactions after a boundary, and the transactions that its token has seen, if it has one.
    private func condition(after boundary: HistoryQuery.Boundary) throws -> (Condition, SeenTransactions?) {
        switch boundary {
        case .beginning: return (Condition(sql: "true"), nil)
        case .date(let date): return (Condition(sql: "t.at > $1", values: [.date(ColumnValues.bound(date))]), nil)
        case .transaction(let number): return (Condition(sql: "t.number > $1", values: [.integer(number)]), nil)
        case .position(let position):
            guard let seen = position.detail.flatMap({ SeenTransactions($0) }) else {
                throw expired("The token is of another store, or of another version of it.")
            }
            return (Condition(sql: "NOT (\(Self.contained))", values: Self.values(of: seen)), seen)
        }
    }

    /// The condition of the transactions that are seen, with four parameters.
    static let contained =
        "t.system = $1 AND t.xid < $2 AND t.xid <> ALL($3) OR t.system <> $1 AND t.number <= $4"

    static func values(of seen: SeenTransactions) -> [BinaryValue] {
        [.integer(seen.system), .integer(seen.end), .keys(seen.unseen.sorted()), .integer(seen.otherSystems)]
    }

    // MARK: Expiry

    private static func find(_ seen: SeenTransactions) -> Call {
        Call("SELECT id FROM \(HistoryTables.transactions) WHERE number = $1", [.integer(seen.witness?.number ?? 0)])
    }

    /// Throws if the history does not continue the one that a token has seen.
    private func check(
        _ seen: SeenTransactions, _ head: Head, witness: QueryResult, _ found: Set<Int64>, _ connection: Connection
    ) async throws {
        guard seen.system == head.system else {
            throw expired("The database was restored into another server since the token was taken, or is another one.")
        }
        if !head.isReplica, seen.end > head.snapshot.end { throw expired(Self.restored) }
        if let mark = seen.witness, witness.rowCount == 0 || witness.uuid(0, 0) != mark.id {
            let isDeleted = witness.rowCount == 0 && head.purge.number >= mark.number
            if !isDeleted, !head.isReplica || witness.rowCount > 0 { throw expired(Self.restored) }
        }
        guard head.purge.number > 0, head.purge.system == head.system else { return }
        if head.purge.number > seen.last { throw expired(Self.deleted) }
        // A transaction that was running when the token was taken may have been committed, and deleted, since.
        let doubtful = seen.unseen.filter { head.purge.mayContain($0) && head.snapshot.hasEnded($0) && !found.contains($0) }
        if doubtful.isEmpty { return }
        let committed = try await connection.query(
            "SELECT 1 FROM unnest($1) AS x WHERE pg_xact_status(x::text::xid8) IS DISTINCT FROM 'aborted' LIMIT 1",
            [.keys(doubtful.sorted())])
        if committed.rowCount > 0 { throw expired(Self.deleted) }
    }

    private static let restored =
        "The database is in an earlier state than that of the token: it was restored, or another server took over that lacked the last transactions."
    private static let deleted = "What came after it was deleted."

    private func expired(_ reason: String) -> NSError {
        CoreDataError.make(
            NSPersistentHistoryTokenExpiredError, "The history of \(place) cannot be read from the token on.", reason: reason,
            next: "Fetch the objects again, and the history from currentPersistentHistoryToken(fromStores:) on.")
    }

    // MARK: Changes

    /// Returns the changes by their transaction, without those of entities that the model does not have.
    private func changes(_ result: QueryResult) throws -> [UUID: [HistoryRecord.Change]] {
        var changes: [UUID: [HistoryRecord.Change]] = [:]
        for row in 0..<result.rowCount {
            guard let entity = schema.entity(numbered: result.integer(row, 3)),
                let type = NSPersistentHistoryChangeType(rawValue: Int(result.integer(row, 2)))
            else { continue }
            var updated: Set<NSPropertyDescription>?
            if type == .update {
                let names = result.isNull(row, 5) ? [] : result.text(row, 5).split(separator: ",").map(String.init)
                updated = Set(names.compactMap { entity.entity.frozenParts.byName[$0] })
            }
            changes[result.uuid(row, 0), default: []].append(
                HistoryRecord.Change(
                    number: result.integer(row, 1),
                    objectID: NSManagedObjectID(entity: entity.entity, token: token, reference: .integer(result.integer(row, 4))),
                    type: type, updatedProperties: updated,
                    tombstone: result.isNull(row, 6) ? nil : try StoreHistory.values(result.text(row, 6), of: entity)))
        }
        return changes
    }
}

extension QueryResult {
    func uuid(_ row: Int, _ column: Int) -> UUID {
        let bytes = bytes(row, column)
        return bytes.count == 16 ? bytes.loadUnaligned(as: UUID.self) : UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
}
#endif
