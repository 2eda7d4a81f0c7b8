internal import CSQLite
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Logs queries, enabled by Apple's launch argument `-com.apple.CoreData.SQLDebug 1` or the environment variable `COREDATA_SQL_DEBUG=1`.
///
/// Level 1 logs each statement with its duration, and the number of rows of fetches; level 2 also the number of bound values, and with
/// `COREDATA_SQL_DEBUG_VALUES=1` the values themselves, which may be private; level 3 also SQLite's query plan. From level 1, a full scan
/// of a large table is logged as a warning.
struct SQLQueryLog {
    /// The level; 0 disables logging.
    static let level: Int = {
        let arguments = CommandLine.arguments
        var setting = ProcessInfo.processInfo.environment["COREDATA_SQL_DEBUG"]
        if let index = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug"), index + 1 < arguments.count {
            setting = arguments[index + 1]
        }
        return setting.flatMap { Int($0) } ?? (["yes", "true"].contains(setting?.lowercased()) ? 1 : 0)
    }()
    /// Whether values may be logged.
    static let showsValues: Bool = ["1", "yes", "true"].contains(
        ProcessInfo.processInfo.environment["COREDATA_SQL_DEBUG_VALUES"]?.lowercased() ?? "")
    /// The number of rows from which a table is large.
    static let largeTable: Int64 = 10_000

    var level = Self.level
    var showsValues = Self.showsValues
    var logger = Log.sql

    /// A running query.
    struct Run {
        let query: SQLQuery
        let connection: SQLConnection
        let start: DispatchTime
    }

    /// Logs and records the statements of a connection other than fetches: those of saves, faults, and the store itself.
    static func trace(_ connection: SQLConnection) {
        if level == 0, !SQLRecording.isEnabled { return }
        sqlite3_trace_v2(
            connection.handle, UInt32(SQLITE_TRACE_PROFILE),
            { _, _, statement, nanoseconds in
                let recording = SQLRecording.current
                guard SQLQueryLog.level > 0 || recording != nil, let statement, let text = sqlite3_sql(OpaquePointer(statement)) else {
                    return 0
                }
                let sql = String(cString: text)
                // Fetches are logged with more information.
                if sql.contains(" t0"), sql.hasPrefix("SELECT") || sql.hasPrefix("EXPLAIN") { return 0 }
                let time = nanoseconds?.loadUnaligned(as: Int64.self) ?? 0
                recording?.add(sql, seconds: Double(time) / 1e9)
                guard SQLQueryLog.level > 0 else { return 0 }
                Log.sql.debug("\(sql) (\(Double(time) / 1e9) s)")
                return 0
            }, nil)
    }

    func begin(_ query: SQLQuery, _ connection: SQLConnection) -> Run? {
        level > 0 || (SQLRecording.isEnabled && SQLRecording.current != nil)
            ? Run(query: query, connection: connection, start: .now()) : nil
    }

    func end(_ run: Run?, rows: Int) {
        guard let run else { return }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds &- run.start.uptimeNanoseconds) / 1e9
        let plan = run.query.plan
        if let recording = SQLRecording.current {
            let values = plan.bindings.map { binding in (try? run.query.values.value(of: binding)).map(\.shown) ?? "?" }
            recording.add(plan.sql, values: values, rows: rows, seconds: seconds)
        }
        guard level > 0 else { return }
        var message = "\(plan.sql) (\(rows) rows in \(seconds) s)"
        if level >= 2 {
            let values = plan.bindings.map { binding in showsValues ? (try? run.query.values.value(of: binding)).map(\.shown) ?? "?" : "?" }
            message += showsValues ? " values: [\(values.joined(separator: ", "))]" : " with \(values.count) values"
        }
        logger.debug("\(message)")
        explain(run)
    }

    /// Logs SQLite's query plan.
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
        // The first step is about the fetched table, unless only an index is read.
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
    /// Whether the query has no condition, so that reading all rows is intended.
    fileprivate var readsAllOnPurpose: Bool { !sql.contains(" WHERE ") }
}

extension SQLValue {
    /// The value as text.
    var shown: String {
        switch self {
        case .null: "nil"
        case .boolean(let flag): flag ? "1" : "0"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .decimal(let number), .exactDecimal(let number): "\(number)"
        case .text(let text): "“\(text)”"
        case .date(let date): "\(date.timeIntervalSinceReferenceDate)"
        case .uuid(let uuid): "\(uuid)"
        case .unlimited: "-1"
        case .blob(let data): "\(data.count) bytes"
        case .list(let values): "(\(values.count) values)"
        }
    }
}
