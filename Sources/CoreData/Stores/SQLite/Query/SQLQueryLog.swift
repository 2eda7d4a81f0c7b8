internal import CSQLite
internal import Foundation
internal import Logging

/// What is said about queries: Apple's launch argument `-com.apple.CoreData.SQLDebug 1`, or the environment variable `COREDATA_SQL_DEBUG=1`.
///
/// Level 1 logs each statement, how long it took and how many rows it gave; level 2 how many values are bound too, and with
/// `COREDATA_SQL_DEBUG_VALUES=1` the values themselves, which may be private; level 3 how SQLite goes about it. From level 1 on, a scan of a
/// whole table that has many rows is a warning.
struct SQLQueryLog {
    /// The level; 0 for silence.
    static let level: Int = {
        let arguments = CommandLine.arguments
        var setting = ProcessInfo.processInfo.environment["COREDATA_SQL_DEBUG"]
        if let index = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug"), index + 1 < arguments.count {
            setting = arguments[index + 1]
        }
        return setting.flatMap { Int($0) } ?? (["yes", "true"].contains(setting?.lowercased()) ? 1 : 0)
    }()
    /// Whether values may be shown.
    static let showsValues: Bool = ["1", "yes", "true"].contains(
        ProcessInfo.processInfo.environment["COREDATA_SQL_DEBUG_VALUES"]?.lowercased() ?? "")
    /// A table with so many rows is large.
    static let largeTable: Int64 = 10_000

    var level = Self.level
    var showsValues = Self.showsValues
    var logger = Log.sql

    /// A query under way.
    struct Run {
        let query: SQLiteQuery
        let connection: SQLConnection
        let start: DispatchTime
    }

    func begin(_ query: SQLiteQuery, _ connection: SQLConnection) -> Run? {
        level > 0 ? Run(query: query, connection: connection, start: .now()) : nil
    }

    func end(_ run: Run?, rows: Int) {
        guard let run else { return }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds &- run.start.uptimeNanoseconds) / 1e9
        let plan = run.query.plan
        var message = "\(plan.sql) (\(rows) rows in \(seconds) s)"
        if level >= 2 {
            let values = plan.bindings.map { binding in showsValues ? (try? run.query.values.value(of: binding)).map(\.shown) ?? "?" : "?" }
            message += showsValues ? " values: [\(values.joined(separator: ", "))]" : " with \(values.count) values"
        }
        logger.debug("\(message)")
        explain(run)
    }

    /// How SQLite finds the rows.
    private func explain(_ run: Run) {
        let steps: [String]
        do {
            let statement = try SQLStatement("EXPLAIN QUERY PLAN " + run.query.plan.sql, connection: run.connection, isKept: false)
            try run.query.bind(to: statement.handle)
            var found: [String] = []
            while try statement.step() { found.append(statement.text(3)) }
            steps = found
        } catch {
            return logger.error("A query could not be explained: \(error)")
        }
        if level >= 3 { for step in steps { logger.debug("EXPLAIN QUERY PLAN: \(step)") } }
        let entity = run.query.plan.entity
        // The first step is about the fetched table, unless nothing but an index is read.
        guard let first = steps.first, first.hasPrefix("SCAN"), !first.contains("INDEX"), !run.query.plan.readsAllOnPurpose else { return }
        do {
            let rows = try run.connection.with("SELECT MAX(Z_PK) FROM \(entity.table)") { try $0.step() ? $0.int64(0) : 0 }
            guard rows >= Self.largeTable else { return }
            logger.warning(
                "A fetch of “\(entity.entity)” reads all rows of \(entity.table.name), about \(rows). Add a fetch index for what it filters by. \(run.query.plan.sql)"
            )
        } catch {
            logger.error("The rows of \(entity.table.name) could not be counted: \(error)")
        }
    }
}

extension SQLFetchPlan {
    /// Whether no condition could keep SQLite from reading everything.
    fileprivate var readsAllOnPurpose: Bool { !sql.contains(" WHERE ") }
}

extension SQLValue {
    fileprivate var shown: String {
        switch self {
        case .null: "nil"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "“\(text)”"
        case .blob(let data): "\(data.count) bytes"
        case .list(let values): "(\(values.count) values)"
        }
    }
}
