internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    /// Starts tracking history if the store was opened with ``NSPersistentHistoryTrackingKey``, or if its file has a history already:
    /// readers of the history rely on its completeness.
    func openHistory(_ connection: SQLConnection, _ contents: SQLiteContents) throws {
        let isAsked = isOn(NSPersistentHistoryTrackingKey)
        if isAsked, !isReadOnly { try SQLHistory.makeTables(connection) }
        guard isAsked || contents.hasTable("ACHANGE"), try SQLHistory.hasTables(connection) else { return }
        let history = try SQLHistory(schema, connection)
        historyReader = history
        if isReadOnly { return }
        try history.install(schema, connection)
        historyNotes = history
    }

    /// Returns whether an option is set and not `false`.
    func isOn(_ option: String) -> Bool {
        switch options?[option] {
        case let flag as Bool: flag
        case let flag as NSNumber: flag.boolValue
        case is NSDictionary: true
        default: false
        }
    }

    /// Writes the changes recorded in the transaction. Call it within the transaction.
    func writeHistory(_ connection: SQLConnection, for caller: StoreCaller) throws {
        guard let history = historyNotes, history.count > 0 else { return }
        defer { history.forget() }
        let transaction = try nextHistoryKey(SQLHistory.transactionNumber, "TRANSACTION", "ATRANSACTION", 1, connection)
        let count = Int64(history.count)
        var next = try nextHistoryKey(SQLHistory.changeNumber, "CHANGE", "ACHANGE", count, connection) - count + 1
        try writeTransaction(transaction, history, connection, for: caller)
        var start = 0
        for insertion in history.insertions {
            try writeChanges(history.order[start..<insertion.position], &next, transaction, history, connection)
            try writeChanges(insertion, &next, transaction, connection)
            start = insertion.position
        }
        try writeChanges(history.order[start...], &next, transaction, history, connection)
    }

    /// Writes the changes of rows that were inserted together.
    private func writeChanges(
        _ insertion: SQLHistory.Insertion, _ next: inout Int64, _ transaction: Int64, _ connection: SQLConnection
    ) throws {
        func sql(_ count: Int) -> String {
            let tuples = (0..<count).map { "(?1 + \($0), \(SQLHistory.changeNumber), ?2, ?3, ?4 + \($0), ?5)" }
            return "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES "
                + tuples.joined(separator: ", ")
        }
        var key = insertion.keys.lowerBound
        for size in [100, 1] where insertion.keys.upperBound - key + 1 >= Int64(size) {
            try connection.with(sql(size)) { statement in
                statement.bind(Int64(NSPersistentHistoryChangeType.insert.rawValue), at: 2)
                statement.bind(insertion.entity.number, at: 3)
                statement.bind(transaction, at: 5)
                while insertion.keys.upperBound - key + 1 >= Int64(size) {
                    statement.bind(next, at: 1)
                    statement.bind(key, at: 4)
                    try statement.run()
                    next += Int64(size)
                    key += Int64(size)
                }
            }
        }
    }

    /// Writes the changes of rows that were recorded one by one.
    private func writeChanges(
        _ keys: ArraySlice<SQLHistory.Key>, _ next: inout Int64, _ transaction: Int64, _ history: SQLHistory, _ connection: SQLConnection
    ) throws {
        if keys.isEmpty { return }
        var places = ""
        var parameters = ""
        for place in 0..<history.tombstoneCount {
            places += ", ZTOMBSTONE\(place)"
            parameters += ", ?"
        }
        let sql =
            "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(places)) "
            + "VALUES (?, \(SQLHistory.changeNumber), ?, ?, ?, ?, ?\(parameters))"
        try connection.with(sql) { statement in
            for key in keys {
                guard let note = history.notes[key] else { continue }
                statement.bind(next, at: 1)
                next += 1
                statement.bind(Int64(note.type.rawValue), at: 2)
                statement.bind(note.entity.number, at: 3)
                statement.bind(key.key, at: 4)
                statement.bind(transaction, at: 5)
                if note.type == .update { statement.bind(Self.columns(note.updated), at: 6) } else { statement.bindNull(at: 6) }
                for place in 0..<history.tombstoneCount {
                    (note.type == .delete ? note.tombstone[place] ?? .null : .null).bind(to: statement.handle, at: place + 7)
                }
                try statement.run()
            }
        }
    }

    private func writeTransaction(
        _ number: Int64, _ history: SQLHistory, _ connection: SQLConnection, for caller: StoreCaller
    ) throws {
        let bundle = Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent
        let process = history.hasProcess ? "ZPROCESSIDTS, " : ""
        let sql =
            "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, \(process)ZTIMESTAMP) "
            + "VALUES (?, \(SQLHistory.transactionNumber), ?, ?, ?, \(history.hasProcess ? "?, " : "")?)"
        var texts = [caller.author, bundle, caller.name]
        if history.hasProcess { texts.append(ProcessInfo.processInfo.processName) }
        let keys = try texts.map { try historyText($0, connection) }
        try connection.with(sql) { statement in
            statement.bind(number, at: 1)
            for (offset, key) in keys.enumerated() {
                if let key { statement.bind(key, at: offset + 2) } else { statement.bindNull(at: offset + 2) }
            }
            statement.bind(Date().timeIntervalSinceReferenceDate, at: keys.count + 2)
            try statement.run()
        }
    }

    /// Returns a bit set of properties by index: the first is the lowest bit of the first byte.
    private static func columns(_ properties: PropertySet) -> Data {
        var bytes: [UInt8] = []
        for word in [properties.low] + properties.high { for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * byte))) } }
        while bytes.last == 0 { bytes.removeLast() }
        return Data(bytes)
    }

    /// Returns the key of a string, which is stored once.
    private func historyText(_ text: String?, _ connection: SQLConnection) throws -> Int64? {
        guard let text else { return nil }
        let known: Int64? = try connection.with("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?") { statement in
            statement.bind(text, at: 1)
            return try statement.step() ? statement.int64(0) : nil
        }
        if let known { return known }
        let key = try nextHistoryKey(SQLHistory.stringNumber, "TRANSACTIONSTRING", "ATRANSACTIONSTRING", 1, connection)
        try connection.with("INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, \(SQLHistory.stringNumber), ?)") { statement in
            statement.bind(key, at: 1)
            statement.bind(text, at: 2)
            try statement.run()
        }
        return key
    }

    /// Reserves keys of one of the history's tables, and returns the last.
    private func nextHistoryKey(
        _ number: Int64, _ name: String, _ table: String, _ count: Int64, _ connection: SQLConnection
    ) throws -> Int64 {
        try connection.with("UPDATE Z_PRIMARYKEY SET Z_MAX = ifnull(Z_MAX, 0) + ? WHERE Z_ENT = ?") { statement in
            statement.bind(count, at: 1)
            statement.bind(number, at: 2)
            try statement.run()
        }
        if connection.changes == 0 {
            // The counter is missing in the file: it is restored from the rows.
            try connection.execute(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) "
                    + "SELECT \(number), '\(name)', 0, ifnull(max(Z_PK), 0) + \(count) FROM \(table)")
        }
        return try connection.with("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?") { statement in
            statement.bind(number, at: 1)
            return try statement.step() ? statement.int64(0) : count
        }
    }
}
