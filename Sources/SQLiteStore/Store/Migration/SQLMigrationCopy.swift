internal import CSQLite
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import SQLQueries

/// Migrates a store into a copy beside it, batch by batch. The copy replaces the store once it is complete and synchronized.
///
/// The copy records its source and its progress: if the migration is killed, the next one continues where this one stopped.
struct SQLMigrationCopy {
    let completion: SQLMigrationCompletion
    let url: URL
    /// The fingerprint of the copy's source; a copy of another source is not continued.
    let fingerprint: String
    let timeout: TimeInterval
    let settings: [String]
    let work: SQLMigrationWork

    private var plan: SQLMigrationPlan { completion.plan }
    /// How many rows the first batch has. Later ones grow until one takes this time: each is synchronized, and a kill loses one.
    private static let firstBatch = 20_000
    private static let batchTime: TimeInterval = 0.2

    /// Returns the place of the copy of a store.
    static func place(of url: URL) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent)-migration")
    }

    /// Removes an unfinished copy.
    static func remove(of url: URL) {
        for file in SQLiteFileCopy.files(of: place(of: url)) where FileManager.default.fileExists(atPath: file.path) {
            do { try FileManager.default.removeItem(at: file) } catch {
                Log.store.notice("The unfinished copy \(file.path) stays: \(error.localizedDescription)")
            }
        }
    }

    func run() throws {
        let place = Self.place(of: url)
        let connection = try open(place)
        try work.interrupting(connection) { try fill(connection) }
        try work.checkCancellation()
        try connection.execute("PRAGMA main.journal_mode = DELETE")
        try FileCalls.synchronize(place)
        try SQLiteFileMove.rename(place, to: url)
        // The older version was unchanged meanwhile: the connection has held its lock.
        withExtendedLifetime(connection) {}
    }

    // MARK: Opening

    /// Opens the copy, an existing one or a new one, with the older version as the database `old`, which no other connection can use until this one
    /// is closed.
    private func open(_ place: URL) throws -> SQLConnection {
        if FileManager.default.fileExists(atPath: place.path) {
            do {
                let connection = try prepared(place)
                let found = try connection.texts("SELECT Z_VALUE FROM Z_MIGRATION WHERE Z_KEY = 'fingerprint'").first?.first
                if found == fingerprint { return connection }
            } catch let error as NSError {
                // An unreadable copy is made again; the store itself must not be in use.
                if error.code == NSPersistentStoreTimeoutError { throw error }
            }
            Self.remove(of: url)
        }
        let connection = try prepared(place)
        try connection.transaction {
            for table in plan.destination.tables { try connection.execute(table.definition) }
            for join in plan.destination.joins { try connection.execute(join.definition) }
            for table in SQLSchema.metadataTables { try connection.execute(table) }
            try connection.execute("CREATE TABLE Z_MIGRATION (Z_KEY VARCHAR PRIMARY KEY, Z_VALUE VARCHAR)")
            try record("fingerprint", fingerprint, connection)
        }
        return connection
    }

    private func prepared(_ place: URL) throws -> SQLConnection {
        let connection = try SQLiteFiles.connectForWriting(place, timeout: timeout, creates: true)
        for setting in settings { try connection.execute(setting) }
        // No other connection uses the copy, whose journal stays open.
        _ = try connection.texts("PRAGMA main.locking_mode = EXCLUSIVE")
        // New pages need no journal: a batch is written once.
        _ = try connection.texts("PRAGMA main.journal_mode = TRUNCATE")
        try connection.execute("PRAGMA main.synchronous = FULL; PRAGMA cache_size = -65536")
        try connection.with("ATTACH ? AS old") { statement in
            statement.bind(url.path, at: 1)
            try statement.run()
        }
        _ = try connection.texts("PRAGMA old.locking_mode = EXCLUSIVE")
        // Nothing is written to the older version. With a journal file of its own, each batch would need a third journal about both databases, and
        // syncs of all of them.
        _ = try connection.texts("PRAGMA old.journal_mode = MEMORY")
        try connection.execute("PRAGMA old.synchronous = EXTRA; BEGIN EXCLUSIVE; COMMIT")
        try SQLTriggerFunctions.register(on: connection)
        try SQLMigrationFunctions.register(on: connection, store: url)
        return connection
    }

    private func record(_ key: String, _ value: String, _ connection: SQLConnection) throws {
        try connection.with("INSERT OR REPLACE INTO main.Z_MIGRATION (Z_KEY, Z_VALUE) VALUES (?, ?)") { statement in
            statement.bind(key, at: 1)
            statement.bind(value, at: 2)
            try statement.run()
        }
    }

    // MARK: Rows

    private func fill(_ connection: SQLConnection) throws {
        var done: [String: String] = [:]
        for row in try connection.texts("SELECT Z_KEY, Z_VALUE FROM main.Z_MIGRATION") { done[row[0] ?? ""] = row[1] ?? "" }
        /// Does a step, unless an earlier process has.
        func step(_ name: String, _ body: () throws -> Void) throws {
            if done[name] != nil { return }
            try work.checkCancellation()
            try connection.transaction {
                try body()
                try record(name, "done", connection)
            }
        }
        for table in plan.tables {
            guard let source = table.source else { continue }
            try copy("rows of \(table.name.name)", connection, &done) { last in
                (rows(table, source), "SELECT max(Z_PK) FROM main.\(table.name)")
            }
        }
        for join in plan.joins {
            guard let source = join.source else { continue }
            let names = join.table.columns + join.table.orderColumns
            let pairs = zip(names, join.columns).filter { $0.1 != nil }
            let sql =
                "INSERT INTO main.\(join.table.name) (rowid, \(pairs.map(\.0.sql).joined(separator: ", "))) "
                + "SELECT rowid, \(pairs.compactMap { $0.1?.sql }.joined(separator: ", ")) FROM old.\(source) "
                + "WHERE rowid > ?1 ORDER BY rowid LIMIT ?2"
            try copy("rows of \(join.table.name.name)", connection, &done) { _ in (sql, "SELECT max(rowid) FROM main.\(join.table.name)") }
        }
        try copyOthers(connection, &done)
        for (index, pairs) in plan.pairs.enumerated() { try step("pairs \(index)") { try fill(pairs, connection) } }
        for (index, one) in completion.steps.enumerated() { try step("step \(index) \(one.name)") { try one.run(connection) } }
        for index in plan.destination.indexes { try step("index \(index.name.name)") { try completion.create(index, on: connection) } }
        try connection.transaction {
            try completion.createTriggers(on: connection)
            try completion.describe(connection)
            try connection.execute("DROP TABLE Z_MIGRATION")
        }
    }

    /// Copies rows in batches, each with the record of how far it went.
    private func copy(
        _ name: String, _ connection: SQLConnection, _ done: inout [String: String],
        _ statements: (Int64) -> (insert: String, last: String)
    ) throws {
        if done[name] == "done" { return }
        var last = done[name].flatMap(Int64.init) ?? Int64.min
        var size = Self.firstBatch
        while true {
            let start = DispatchTime.now().uptimeNanoseconds
            try work.checkCancellation()
            let count = try connection.transaction {
                let (insert, highest) = statements(last)
                let count = try connection.with(insert) { statement in
                    statement.bind(last, at: 1)
                    statement.bind(Int64(size), at: 2)
                    try statement.run()
                    return connection.changes
                }
                if count > 0 { last = try connection.with(highest) { try $0.step() ? $0.int64(0) : last } }
                try record(name, count < size ? "done" : "\(last)", connection)
                return count
            }
            work.didWrite(count)
            if count < size { return }
            if Double(DispatchTime.now().uptimeNanoseconds - start) < Self.batchTime / 2 * 1e9, size < 1_000_000 { size *= 2 }
        }
    }

    /// Returns the statement that copies the next rows of a table.
    private func rows(_ table: SQLMigrationPlan.Table, _ source: SQLIdentifier) -> String {
        let family = plan.source.entities.filter { $0.table == source }
        let isAlone = family.count == 1
        let number = isAlone ? "\(table.numbers[0])" : "Z_ENT"
        var (names, values) = (["Z_PK", "Z_ENT", "Z_OPT"], ["Z_PK", number, "Z_OPT"])
        for column in table.columns {
            let found = table.numbers.map { column.values[$0] }
            if found.allSatisfy({ $0 == nil }) { continue }
            names.append(column.name.sql)
            let sql = found.map { $0.map { $0.sql($0.column?.sql ?? "") } ?? "NULL" }
            if Set(sql).count == 1 {
                values.append(sql[0])
            } else {
                let cases = zip(table.numbers, sql).filter { $0.1 != "NULL" }.map { " WHEN \($0.0) THEN \($0.1)" }.joined()
                values.append("CASE Z_ENT\(cases) END")
            }
        }
        let kinds = isAlone ? "" : " AND Z_ENT IN (\(table.numbers.map(String.init).joined(separator: ", ")))"
        return "INSERT INTO main.\(table.name) (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
            + "FROM old.\(source) WHERE Z_PK > ?1\(kinds) ORDER BY Z_PK LIMIT ?2"
    }

    /// Writes the pairs of a relationship that has another kind of storage now.
    private func fill(_ pairs: SQLMigrationPlan.Pairs, _ connection: SQLConnection) throws {
        switch pairs.target {
        case .join(let table, let owner, let other, let orders):
            let columns = ([owner, other] + orders).map(\.sql).joined(separator: ", ")
            try connection.execute("INSERT OR IGNORE INTO main.\(table) (\(columns)) \(pairs.select("old"))")
        case .column(let column, let table):
            try connection.execute("CREATE TEMP TABLE CoreDataPairs (owner INTEGER PRIMARY KEY, other INTEGER)")
            try connection.execute("INSERT OR IGNORE INTO temp.CoreDataPairs \(pairs.select("old"))")
            try checkNoneIsLost(pairs, of: "\(table.name).\(column.name)", connection)
            try connection.execute(
                "UPDATE main.\(table) SET \(column) = (SELECT other FROM temp.CoreDataPairs WHERE owner = Z_PK) "
                    + "WHERE Z_PK IN (SELECT owner FROM temp.CoreDataPairs)")
            try connection.execute("DROP TABLE temp.CoreDataPairs")
        }
    }

    /// A column holds one object for each row: a relationship without an inverse cannot have an object in common for several owners.
    private func checkNoneIsLost(_ pairs: SQLMigrationPlan.Pairs, of place: String, _ connection: SQLConnection) throws {
        guard completion.rules.forbiddenRows == .fail, !pairs.isCopy else { return }
        let all = try connection.texts("SELECT (SELECT count(*) FROM (\(pairs.select("old")))) - (SELECT count(*) FROM temp.CoreDataPairs)")
        guard let count = all.first?.first.flatMap({ $0 }), count != "0" else { return }
        throw CoreDataError.make(
            NSMigrationError, "The store at \(url.path) cannot be migrated.",
            reason: "\(count) objects that several others refer to can only be of one of them in the new version (\(place)).",
            next: "Give the relationship an inverse, or choose to repair such rows.", info: [NSFilePathErrorKey: url.path])
    }

    // MARK: Contents outside of the model

    /// Copies the history and whatever else is in the file, with its indexes, views and triggers.
    private func copyOthers(_ connection: SQLConnection, _ done: inout [String: String]) throws {
        let contents = try connection.texts("SELECT type, name, tbl_name, sql FROM old.sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        let own = Set(
            (plan.source.tables.map(\.name.name) + plan.source.joins.map(\.name.name)
                + ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "sqlite_sequence"]).map { $0.lowercased() })
        let virtual = contents.filter { ($0[3] ?? "").uppercased().hasPrefix("CREATE VIRTUAL") }.map { ($0[1] ?? "").lowercased() }
        // Core Data's own are indexes of places, which are not copied.
        let foreign = virtual.filter { !$0.hasPrefix("z_") }
        if !foreign.isEmpty {
            throw CoreDataError.make(
                NSMigrationError, "The store at \(url.path) cannot be migrated.",
                reason: "It has virtual tables of its own, which cannot be copied: \(foreign.sorted().joined(separator: ", ")).",
                next: "Drop them before, and make them again afterwards.", info: [NSFilePathErrorKey: url.path])
        }
        func isOther(_ table: String) -> Bool {
            let table = table.lowercased()
            return !own.contains(table) && !table.hasPrefix("sqlite_") && !table.hasPrefix("z_dropped_") && !virtual.contains(table)
                && !virtual.contains { table.hasPrefix("\($0)_") }
        }
        let others = contents.filter { isOther($0[2] ?? "") && !($0[3] ?? "").contains("NSCoreData") }
        if done["others"] == nil {
            let taken = Set((plan.destination.tables.map(\.name.name) + plan.destination.joins.map(\.name.name)).map { $0.lowercased() })
            try connection.transaction {
                for row in others where row[0] == "table" {
                    if taken.contains((row[1] ?? "").lowercased()) {
                        throw CoreDataError.make(
                            NSMigrationError, "The store at \(url.path) cannot be migrated.",
                            reason: "It has a table \(row[1] ?? "") of its own, whose name an entity of the new version needs.",
                            next: "Rename the table or the entity.", info: [NSFilePathErrorKey: url.path])
                    }
                    try connection.execute(row[3] ?? "")
                }
                // The counters of the history.
                try connection.execute("INSERT INTO main.Z_PRIMARYKEY SELECT * FROM old.Z_PRIMARYKEY WHERE Z_ENT >= 16000")
                try record("others", "done", connection)
            }
        }
        for row in others where row[0] == "table" {
            let name = SQLIdentifier(row[1] ?? "")
            let columns = try connection.texts("SELECT name FROM pragma_table_info(\(sqlLiteral(name.name)), 'old')")
                .map { SQLIdentifier($0[0] ?? "").sql }
            if (row[3] ?? "").uppercased().contains("WITHOUT ROWID") {
                if done["rows of \(name.name)"] != nil { continue }
                try connection.transaction {
                    try connection.execute("INSERT INTO main.\(name) SELECT * FROM old.\(name)")
                    try record("rows of \(name.name)", "done", connection)
                }
                continue
            }
            let list = columns.joined(separator: ", ")
            let sql =
                "INSERT INTO main.\(name) (rowid, \(list)) SELECT rowid, \(list) FROM old.\(name) WHERE rowid > ?1 ORDER BY rowid LIMIT ?2"
            try copy("rows of \(name.name)", connection, &done) { _ in (sql, "SELECT max(rowid) FROM main.\(name)") }
        }
        guard done["others complete"] == nil else { return }
        try connection.transaction {
            for row in others where row[0] != "table" { try connection.execute(row[3] ?? "") }
            try record("others complete", "done", connection)
        }
    }
}
