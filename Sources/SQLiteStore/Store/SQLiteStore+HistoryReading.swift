internal import CSQLite
internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    /// Returns the number of the last transaction; nil without a history.
    package func lastHistoryNumber() throws -> Int64? {
        guard historyReader != nil else { return nil }
        return try reading { try lastHistoryNumber($0.database()) }
    }

    /// Returns the end of the history with the mark of its last transaction; nil without a history.
    package func lastHistoryPosition() throws -> HistoryPosition? {
        guard historyReader != nil else { return nil }
        return try reading { reader in
            let connection = reader.database()
            return try connection.reading {
                let number = try lastHistoryNumber(connection)
                return HistoryPosition(number: number, detail: try mark(of: number, connection))
            }
        }
    }

    /// Returns the mark of a transaction; nil if it was deleted.
    private func mark(of number: Int64, _ connection: SQLConnection) throws -> String? {
        try connection.with("SELECT ZTIMESTAMP FROM ATRANSACTION WHERE Z_PK = ?") { statement in
            SQLValue.integer(number).bind(to: statement.handle, at: 1)
            return try statement.step() ? mark(of: statement.double(0)) : nil
        }
    }

    /// Returns a mark that distinguishes a transaction from another one with its number. A file that returns to an earlier state, for example when a
    /// backup is restored, assigns the numbers again.
    private func mark(of time: Double) -> String { String(time.bitPattern, radix: 16) }

    private func lastHistoryNumber(_ connection: SQLConnection) throws -> Int64 {
        let sql =
            "SELECT max(ifnull((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(SQLHistory.transactionNumber)), 0), "
            + "ifnull((SELECT max(Z_PK) FROM ATRANSACTION), 0))"
        return try connection.with(sql) { try $0.step() ? $0.int64(0) : 0 }
    }

    /// Returns the transactions after a boundary.
    package func history(_ query: HistoryQuery) throws -> [HistoryRecord] {
        guard let history = historyReader else { throw untracked }
        return try reading { reader in
            let connection = reader.database()
            return try connection.reading {
                let condition = try condition(after: query.boundary, connection)
                let changes = query.includesChanges ? try readChanges(condition, history, reader) : [:]
                return try readTransactions(condition, history, connection).map { record in
                    query.includesChanges ? record.with(changes[record.number] ?? []) : record
                }
            }
        }
    }

    /// Deletes the transactions before a boundary, and returns their number.
    package func deleteHistory(before boundary: HistoryQuery.Boundary) throws -> Int {
        guard historyReader != nil else { throw untracked }
        let limit: HistoryCondition
        switch boundary {
        case .beginning: return 0
        case .date(let date): limit = HistoryCondition(sql: "ZTIMESTAMP < ?", value: .real(date.timeIntervalSinceReferenceDate))
        case .transaction(let number): limit = HistoryCondition(sql: "Z_PK < ?", value: .integer(number))
        case .position(let position): return try deleteHistory(before: .transaction(position.number))
        }
        return try writeLock.withLock { try remove(limit, database()) }
    }

    private var untracked: NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "The history of \(url?.path ?? "a store") cannot be read.",
            reason: "The store does not track its history.", next: "Open it with NSPersistentHistoryTrackingKey.")
    }

    private func remove(_ limit: HistoryCondition, _ connection: SQLConnection) throws -> Int {
        try connection.transaction {
            try connection.with("DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION WHERE \(limit.sql))") {
                statement in
                limit.value.bind(to: statement.handle, at: 1)
                try statement.run()
            }
            return try connection.with("DELETE FROM ATRANSACTION WHERE \(limit.sql)") { statement in
                limit.value.bind(to: statement.handle, at: 1)
                try statement.run()
                return connection.changes
            }
        }
    }

    /// The condition for the selected transactions, with one parameter.
    private struct HistoryCondition {
        let sql: String
        let value: SQLValue
    }

    private func condition(after boundary: HistoryQuery.Boundary, _ connection: SQLConnection) throws -> HistoryCondition {
        switch boundary {
        case .beginning: return HistoryCondition(sql: "Z_PK > ?", value: .integer(0))
        case .date(let date): return HistoryCondition(sql: "ZTIMESTAMP > ?", value: .real(date.timeIntervalSinceReferenceDate))
        case .position(let position):
            if let found = try mark(of: position.number, connection), found != position.detail {
                throw expired(
                    position.number, connection,
                    "It is not the transaction of the token: the store was replaced by an earlier state of itself, and has gone on since.")
            }
            return try condition(after: .transaction(position.number), connection)
        case .transaction(let number):
            let last = try lastHistoryNumber(connection)
            let first = try connection.with("SELECT min(Z_PK) FROM ATRANSACTION") { statement in
                try statement.step() && !statement.isNull(0) ? statement.int64(0) : last + 1
            }
            guard number <= last, first <= number + 1 else {
                throw expired(
                    number, connection,
                    number > last
                        ? "The store has had \(last) transactions only: it is not the one that the token was taken from, or an older copy of it."
                        : "What came after it was deleted; the history begins with \(first).")
            }
            return HistoryCondition(sql: "Z_PK > ?", value: .integer(number))
        }
    }

    private func expired(_ number: Int64, _ connection: SQLConnection, _ reason: String) -> NSError {
        CoreDataError.make(
            NSPersistentHistoryTokenExpiredError, "The history cannot be read from transaction \(number) of \(connection.path) on.",
            reason: reason,
            next: "Fetch the objects again, and the history from currentPersistentHistoryToken(fromStores:) on.",
            info: [NSAffectedStoresErrorKey: [self]])
    }

    private func readTransactions(
        _ condition: HistoryCondition, _ history: SQLHistory, _ connection: SQLConnection
    ) throws -> [HistoryRecord] {
        func text(_ key: String) -> String { "(SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = \(key))" }
        let process = history.hasProcess ? text("ZPROCESSIDTS") : "NULL"
        let sql =
            "SELECT Z_PK, ZTIMESTAMP, \(text("ZAUTHORTS")), \(text("ZCONTEXTNAMETS")), \(text("ZBUNDLEIDTS")), \(process) "
            + "FROM ATRANSACTION WHERE \(condition.sql) ORDER BY Z_PK"
        return try connection.with(sql) { statement in
            condition.value.bind(to: statement.handle, at: 1)
            func text(_ column: Int) -> String? { statement.isNull(column) ? nil : statement.text(column) }
            var records: [HistoryRecord] = []
            while try statement.step() {
                records.append(
                    HistoryRecord(
                        number: statement.int64(0), storeID: identifier,
                        timestamp: Date(timeIntervalSinceReferenceDate: statement.double(1)),
                        author: text(2), contextName: text(3), bundleID: text(4), processID: text(5), changes: nil,
                        position: HistoryPosition(number: statement.int64(0), detail: mark(of: statement.double(1)))))
            }
            return records
        }
    }

    /// Reads the changes of transactions, by transaction number, without those of entities that the model does not have.
    private func readChanges(
        _ condition: HistoryCondition, _ history: SQLHistory, _ reader: SQLReader
    ) throws -> [Int64: [HistoryRecord.Change]] {
        let connection = reader.connection
        // A read-only store may lack columns for attributes preserved since.
        let known = Set(try connection.texts("SELECT name FROM pragma_table_info('ACHANGE')").compactMap { $0[0] })
        let places = (0..<history.tombstoneCount).map { known.contains("ZTOMBSTONE\($0)") ? ", ZTOMBSTONE\($0)" : ", NULL" }.joined()
        let sql =
            "SELECT Z_PK, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS\(places) FROM ACHANGE "
            + "WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION WHERE \(condition.sql)) ORDER BY Z_PK"
        return try connection.with(sql) { statement in
            condition.value.bind(to: statement.handle, at: 1)
            var changes: [Int64: [HistoryRecord.Change]] = [:]
            while try statement.step() {
                guard let entity = schema.entity(numbered: statement.int64(3)),
                    let type = NSPersistentHistoryChangeType(rawValue: Int(statement.int64(2)))
                else { continue }
                changes[statement.int64(1), default: []].append(
                    HistoryRecord.Change(
                        number: statement.int64(0), objectID: reader.values.id(statement.int64(4), of: entity.entity), type: type,
                        updatedProperties: type == .update ? Self.properties(statement.data(5), entity.entity) : nil,
                        tombstone: type == .delete ? try tombstone(statement, entity, history, reader.values) : nil))
            }
            return changes
        }
    }

    static func properties(_ bits: Data, _ entity: NSEntityDescription) -> Set<NSPropertyDescription> {
        var properties: Set<NSPropertyDescription> = []
        for (index, property) in entity.frozenParts.properties.enumerated() where index / 8 < bits.count {
            if bits[bits.startIndex + index / 8] & (1 << (index % 8)) != 0 { properties.insert(property) }
        }
        return properties
    }

    private func tombstone(_ statement: SQLStatement, _ entity: SQLEntity, _ history: SQLHistory, _ values: SQLValues) throws
        -> [AnyHashable: Any]?
    {
        guard let preserved = history.preserved[entity.number] else { return nil }
        let layout = entity.entity.frozenParts.layout
        let row = Row.blank(layout)
        var found: [AnyHashable: Any] = [:]
        for (attribute, storage, place) in preserved where !statement.isNull(6 + place) {
            let slot = layout.slots[attribute.slotIndex]
            row.store(try values.read(statement.handle, Int32(6 + place), storage, attribute), in: slot)
            if let value = row.any(at: slot, of: attribute) { found[attribute.name] = value }
        }
        return found.isEmpty ? nil : found
    }
}
