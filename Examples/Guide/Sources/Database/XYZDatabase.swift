internal import ExampleSupport
public import Foundation

/// The backing data store of the guide: tables of rows with primary keys and versions, in memory.
///
/// There is one for each URL, as there would be one file: every store of the process that is opened at the URL works on it. It counts
/// what it is asked, and fails when it is told to. It may be used from any thread.
public final class XYZDatabase: Sendable {
    /// A value in a column.
    public enum Value: Hashable, Sendable {
        /// Text.
        case text(String)
        /// A whole number.
        case integer(Int64)
        /// A moment.
        case date(Date)
        /// The primary key of a row of another table.
        case key(String)
        /// Primary keys of rows of another table, in order.
        case keys([String])
    }

    /// One row.
    public struct Row: Hashable, Sendable {
        /// What the row is known by in its table.
        public var primaryKey: String
        /// 1 for a new row; counted up by each write.
        public var version: UInt64
        /// The values by column; a column that is not here is null.
        public var columns: [String: Value]
    }

    /// How often the database was asked for something.
    public struct Calls: Hashable, Sendable {
        /// For the primary keys of a table.
        public var primaryKeys: Int
        /// For all rows of a table.
        public var tables: Int
        /// For one row.
        public var rows: Int
        /// To write.
        public var commits: Int

        /// Makes a count to compare with.
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

    /// A UUID that the database has for as long as it exists.
    public let identifier = UUID().uuidString

    private init() {}

    /// The database at a URL; a new one where there is none yet.
    public static func database(at url: URL) -> XYZDatabase {
        databases.withLock { databases in
            if let database = databases[url] { return database }
            let database = XYZDatabase()
            databases[url] = database
            return database
        }
    }

    /// What was asked so far.
    public var calls: Calls { state.withLock { $0.calls } }

    /// Makes the next request fail.
    public func failNext(with error: any Error) { state.withLock { $0.failure = error } }

    /// Puts a row into a table by hand, and answers its primary key.
    @discardableResult
    public func populate(_ table: String, _ columns: [String: Value]) -> String {
        state.withLock { state in
            state.lastKey += 1
            let key = "\(table)-\(state.lastKey)"
            state.tables[table, default: Table()].put(Row(primaryKey: key, version: 1, columns: columns))
            return key
        }
    }

    /// A row as it is, without counting the look.
    public func peek(_ table: String, _ key: String) -> Row? { state.withLock { $0.tables[table]?.rows[key] } }

    // MARK: What the store asks

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

    /// A primary key that no row has had.
    func newPrimaryKey(for table: String) throws -> String {
        try ask({ _ in }) { state in
            state.lastKey += 1
            return "\(table)-\(state.lastKey)"
        }
    }

    /// Writes all changes, or none.
    ///
    /// - Returns: the changes that found another version of their row than they expected. Nothing is written then.
    /// - Throws: the error that the database was told to fail with.
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
