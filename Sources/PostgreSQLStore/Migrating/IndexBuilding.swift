#if PostgreSQL
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Builds the indexes that a migration has left to be built, one at a time, while other clients read and write (`CREATE INDEX CONCURRENTLY`).
///
/// The migration lists them in a table, which exists until all are built: if a program stops, the next one that opens the store continues.
struct IndexBuilding: Sendable {
    let pool: ConnectionPool
    /// The number of the advisory lock of migrations.
    let migrationLock: Int64
    /// For how long an index is waited for by each attempt, while transactions are open that have begun before.
    private static let lockTimeout = "60s"
    private static let attemptLimit = 3
    private static let table = PostgreSQLTables.indexes

    /// Returns the statements by which a migration records indexes.
    ///
    /// - Parameter kept: The names of the indexes that the migration does not touch, which an earlier one may have left.
    static func notes(of indexes: [LayoutMigration.Index], kept: [SQLIdentifier]) -> [String] {
        let names = kept.map { sqlLiteral($0.name) }.joined(separator: ", ")
        let condition = names.isEmpty ? "" : " WHERE name NOT IN (\(names))"
        let deletion =
            "DO $coredata$ BEGIN IF to_regclass(\(sqlLiteral(table))) IS NOT NULL THEN DELETE FROM \(table)\(condition); END IF; END $coredata$"
        if indexes.isEmpty { return [deletion] }
        return [deletion, "CREATE TABLE IF NOT EXISTS \(table) (name text PRIMARY KEY, statement text NOT NULL)"]
            + indexes.map { "INSERT INTO \(table) VALUES (\(sqlLiteral($0.name.name)), \(sqlLiteral($0.statement)))" }
    }

    /// Builds the remaining indexes. An index that cannot be built is logged, and left for the next time: fetches find the same results without it.
    ///
    /// - Throws: `CancellationError`.
    func run() async throws {
        var attempt = 0
        while true {
            attempt += 1
            do {
                // A separate connection: session locks remain with a connection that is returned to the pool.
                let connection = try await pool.open()
                return try await build(connection)
            } catch let error as ServerError {
                guard attempt < Self.attemptLimit, error.isConnectionLost || error.isLockTimeout else {
                    Log.store.notice("Indexes of the store at \(pool.settings.place) are not built yet; the next opening goes on. \(error)")
                    return
                }
                Log.store.debug("Building the indexes of the store at \(pool.settings.place) begins again. \(error)")
            }
        }
    }

    private func build(_ connection: Connection) async throws {
        // A session that a proxy lends for a transaction keeps no lock.
        guard connection.ownsSession, try await hasNotes(connection) else { return }
        guard try await lock(connection) else { return }
        // Indexes of large tables take longer than any fetch may.
        try await connection.execute("SET lock_timeout = '\(Self.lockTimeout)'; SET statement_timeout = 0")
        while let index = try await next(connection) {
            Log.store.notice("The index \(index.name) of the store at \(pool.settings.place) is built.")
            if index.isInvalid { try await connection.execute("DROP INDEX CONCURRENTLY IF EXISTS \(LayoutNames.identifier(index.name))") }
            if !index.isBuilt { try await connection.execute(index.statement) }
            _ = try await connection.query("DELETE FROM \(Self.table) WHERE name = $1", [.text(index.name)])
        }
        try await connection.run([
            Call("BEGIN"), Call("SELECT pg_advisory_xact_lock($1)", [.integer(migrationLock)]),
        ])
        // Another program may have migrated the store further meanwhile.
        if try await hasNotes(connection), try await next(connection) == nil { try await connection.execute("DROP TABLE \(Self.table)") }
        try await connection.execute("COMMIT")
    }

    /// Returns whether this program, and no other, builds the indexes.
    ///
    /// No statement waits for the lock: it would block the builder, which waits for all transactions with an older snapshot of the table.
    private func lock(_ connection: Connection) async throws -> Bool {
        // A session that was ended keeps its locks a little longer.
        for pause in [0, 0.05, 0.1, 0.3, 0.5, 1] {
            try await Pause.wait(pause)
            // Each store has a lock of its own, because it is held for a long time.
            let found = try await connection.query(
                "SELECT pg_try_advisory_lock(hashtextextended(current_schema(), $1))", [.integer(migrationLock)])
            if found.integer(0, 0) != 0 { return true }
        }
        return false
    }

    private func hasNotes(_ connection: Connection) async throws -> Bool {
        try await connection.query("SELECT to_regclass(\(sqlLiteral(Self.table))) IS NOT NULL").integer(0, 0) != 0
    }

    /// An index that a migration has left.
    private struct Noted {
        let name: String
        let statement: String
        /// Whether it is there, and complete.
        let isBuilt: Bool
        /// Whether it is there, and was not completed.
        let isInvalid: Bool
    }

    private func next(_ connection: Connection) async throws -> Noted? {
        let result = try await connection.query(
            "SELECT n.name, n.statement, coalesce(i.indisvalid, false), coalesce(NOT i.indisvalid, false) FROM \(Self.table) n "
                + "LEFT JOIN pg_index i ON i.indexrelid = to_regclass(quote_ident(n.name)) ORDER BY n.name LIMIT 1")
        guard result.rowCount > 0 else { return nil }
        return Noted(
            name: result.text(0, 0), statement: result.text(0, 1), isBuilt: result.integer(0, 2) != 0, isInvalid: result.integer(0, 3) != 0
        )
    }
}
#endif
