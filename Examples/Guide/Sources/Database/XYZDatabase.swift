internal import ExampleSupport
public import Foundation

/// The backing data store of the guide: tables of rows with primary keys and versions, in memory.
///
/// There is one database for each URL, like a file: every store of the process at the URL uses it. It counts its calls, and fails on
/// demand. Use it on any thread.
public final class XYZDatabase: Sendable {
    /// A value in a column.
    public enum Value: Hashable, Sendable {
        /// A string.
        case text(String)
        /// An integer.
        case integer(Int64)
        /// A date.
        case date(Date)
        /// The primary key of a row of another table.
        case key(String)
        /// Primary keys of rows of another table, in order.
        case keys([String])
    }

    /// One row.
    public struct Row: Hashable, Sendable {
        /// The primary key of the row in its table.
        public var primaryKey: String
        /// The version: 1 for a new row, incremented by each write.
        public var version: UInt64
        /// The values by column; a missing column is null.
        public var columns: [String: Value]
    }

    /// The number of calls to the database, by kind.
    public struct Calls: Hashable, Sendable {
        /// Reads of a table's primary keys.
        public var primaryKeys: Int
        /// Reads of all rows of a table.
        public var tables: Int
        /// Reads of one row.
        public var rows: Int
        /// Writes.
        public var commits: Int

        /// Creates a count to compare with.
        public init(primaryKeys: Int = 0, tables: Int = 0, rows: Int = 0, commits: Int = 0) {
            self.primaryKeys = primaryKeys
            self.tables = tables
            self.rows = rows
            self.commits = commits
        }
    }

    private struct State {
        var tables: [String: Table] = [:]
        var calls = Calls()
        var lastKey = 0
        var failure: (any Error)?
    }

    struct Table {
        var order: [String] = []
        var rows: [String: Row] = [:]
    }

    private static let databases = Locked<[URL: XYZDatabase]>([:])
    private let state = Locked(State())

    /// The UUID of the database.
    public let identifier = UUID().uuidString

    private init() {}

    /// Returns the database at a URL, or a new one.
    public static func database(at url: URL) -> XYZDatabase {
        databases.withLock { databases in
            if let database = databases[url] { return database }
            let database = XYZDatabase()
            databases[url] = database
            return database
        }
    }

    /// The calls so far.
    public var calls: Calls { state.withLock { $0.calls } }

    /// Makes the next request fail.
    public func failNext(with error: any Error) { state.withLock { $0.failure = error } }

    /// Inserts a row directly, and returns its primary key.
    @discardableResult
    public func populate(_ table: String, _ columns: [String: Value]) -> String {
        state.withLock { state in
            state.lastKey += 1
            let key = "\(table)-\(state.lastKey)"
            state.tables[table, default: Table()].put(Row(primaryKey: key, version: 1, columns: columns))
            return key
        }
    }

    /// Returns a row without counting the call.
    public func peek(_ table: String, _ key: String) -> Row? { state.withLock { $0.tables[table]?.rows[key] } }

    // MARK: Calls from the store

    func primaryKeys(of table: String) throws -> [String] {
        try ask({ $0.primaryKeys += 1 }) { $0.tables[table]?.order ?? [] }
    }

    func rows(of table: String) throws -> [Row] {
        try ask({ $0.tables += 1 }) { state in
            guard let table = state.tables[table] else { return [] }
            return table.order.compactMap { table.rows[$0] }
        }
    }

    func row(_ key: String, of table: String) throws -> Row? {
        try ask({ $0.rows += 1 }) { $0.tables[table]?.rows[key] }
    }

    /// Returns an unused primary key.
    func newPrimaryKey(for table: String) throws -> String {
        try ask({ _ in }) { state in
            state.lastKey += 1
            return "\(table)-\(state.lastKey)"
        }
    }

    /// Writes all changes, or none.
    ///
    /// - Returns: The changes whose rows have another version than expected. Nothing is written then.
    /// - Throws: The error that the database was told to fail with.
    func commit(_ changes: [Change]) throws -> [StaleChange] {
        try ask({ $0.commits += 1 }) { state in
            let stale = changes.compactMap { change -> StaleChange? in
                let row = state.tables[change.table]?.rows[change.primaryKey]
                return row?.version == change.expectedVersion ? nil : StaleChange(change: change, row: row)
            }
            guard stale.isEmpty else { return stale }
            for change in changes { state.tables[change.table, default: Table()].apply(change) }
            return []
        }
    }

    private func ask<Answer: Sendable>(_ count: (inout Calls) -> Void, _ answer: (inout sending State) -> Answer) throws -> Answer {
        try state.withLock { state in
            count(&state.calls)
            if let failure = state.failure {
                state.failure = nil
                throw failure
            }
            return answer(&state)
        }
    }
}
