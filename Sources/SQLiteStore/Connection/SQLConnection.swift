internal import CSQLite
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// A connection to a database file, with its prepared statements.
///
/// SQLite does not synchronize it: one thread at a time uses it, the one that has its reader.
final class SQLConnection {
    let handle: OpaquePointer
    let path: String
    private var statements: [String: SQLStatement] = [:]
    /// The number of cached statements, beyond which unused ones are finalized.
    private static let limit = 400

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - file: A path or, with `SQLITE_OPEN_URI`, a URI.
    ///   - flags: SQLite's flags.
    ///   - path: The path for messages.
    ///   - timeout: The number of seconds to wait for locks of other connections.
    init(_ file: String, flags: Int32, path: String, timeout: TimeInterval) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(file, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            let error = SQLError.make(handle, code, .opening, path: path)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        self.path = path
        sqlite3_extended_result_codes(handle, 1)
        // The deinit of a class whose properties are all set cleans up, even if this throws.
        try SQLPreparations.prepare(handle, path: path)
        // Bounded: within two billions.
        sqlite3_busy_timeout(handle, Int32(clamping: Int((timeout * 1000).rounded(.up).clamped(to: 0...2e9))))
    }

    /// Whether other connections use the same file; false for a copy and for an immutable file.
    var isOfSharedFile = false
    /// Called when the connection is closed; nil for no callback.
    var didClose: (@Sendable () -> Void)?
    /// The stand-ins for collations that SQLite does not have; nil if there are none.
    var unknownCollations: SQLUnknownCollations?

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
        unknownCollations = nil
        didClose?()
    }

    // MARK: Statements

    /// Calls `body` with a prepared statement, which is cached by its text.
    func with<Value>(_ sql: String, _ body: (SQLStatement) throws -> Value) throws -> Value {
        let statement = try statement(sql)
        statement.begin()
        defer { statement.finish() }
        guard unknownCollations != nil else { return try body(statement) }
        let result = Result { try body(statement) }
        try checkCollations(sql)
        return try result.get()
    }

    /// Returns a prepared statement that is not in use. The caller calls `begin` and `finish`.
    func statement(_ sql: String) throws -> SQLStatement {
        if let known = statements[sql] {
            if !known.isInUse { return known }
            return try SQLStatement(sql, connection: self, isKept: false)
        }
        if statements.count >= Self.limit { statements = statements.filter { $0.value.isInUse } }
        let statement = try SQLStatement(sql, connection: self, isKept: true)
        statements[sql] = statement
        return statement
    }

    /// Runs statements without results.
    func execute(_ sql: String, _ action: SQLError.Action = .writing) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw SQLError.make(handle, code, action, path: path, sql: sql) }
    }

    /// Runs a statement once and returns its rows, as columns of strings; nil for NULL.
    func texts(_ sql: String, _ action: SQLError.Action = .reading) throws -> [[String?]] {
        let statement = try SQLStatement(sql, connection: self, isKept: false)
        var rows: [[String?]] = []
        let count = Int(sqlite3_column_count(statement.handle))
        while try statement.step(action) { rows.append((0..<count).map { statement.isNull($0) ? nil : statement.text($0) }) }
        try checkCollations(sql)
        return rows
    }

    /// The number of rows changed by the last statement.
    var changes: Int { Int(sqlite3_changes64(handle)) }

    // MARK: Memory

    /// Runs `body` with a page cache of at least a number of kilobytes, for writes in random order, such as to indexes: with SQLite's
    /// default of two megabytes, the same pages would be read and written repeatedly. The memory is released afterwards.
    func withCache<Result>(_ kilobytes: Int, _ body: () throws -> Result) throws -> Result {
        let size = try with("PRAGMA cache_size") { try $0.step() ? $0.int64(0) : 0 }
        // Pages have four kilobytes unless the file was created otherwise.
        if size == 0 || max(-size, size * 4) >= Int64(kilobytes) { return try body() }
        try execute("PRAGMA cache_size = -\(kilobytes)")
        defer {
            do { try execute("PRAGMA cache_size = \(size)") } catch { Log.store.error("The size of a cache could not be set: \(error)") }
        }
        return try body()
    }

    // MARK: Transactions

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Whether a statement is being stepped, which keeps the state of the database at its beginning.
    var isReading: Bool {
        var statement = sqlite3_next_stmt(handle, nil)
        while let one = statement {
            if sqlite3_stmt_busy(one) != 0 { return true }
            statement = sqlite3_next_stmt(handle, one)
        }
        return false
    }

    /// Runs `body` in a transaction.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try with("BEGIN IMMEDIATE") { try $0.run() }
        do {
            let result = try body()
            try with("COMMIT") { try $0.run() }
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs `body` in a read transaction.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        if isInTransaction { return try body() }
        try with("BEGIN") { try $0.run(.reading) }
        do {
            let result = try body()
            try endReading()
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Ends a read transaction. Rolls it back if it cannot be committed, so that the connection does not keep reading an old state.
    ///
    /// - Throws: SQLite's error if the transaction is still open.
    func endReading() throws {
        do { try with("COMMIT") { try $0.run(.reading) } } catch {
            rollBack()
            if isInTransaction { throw error }
        }
    }

    private func rollBack() {
        // SQLite may have rolled back already.
        guard isInTransaction else { return }
        do { try with("ROLLBACK") { try $0.run() } } catch {
            Log.store.error("A transaction could not be rolled back: \(error)")
        }
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}
