#if PostgreSQL
internal import Foundation
internal import Logging
internal import ModelFiles
@_spi(Stores) public import ObjectGraph

extension PostgreSQLOpening {
    /// The metadata key of the store's former versions: a program with one of these versions is older than the store.
    private static let formerVersionsKey = "OpenCoreDataFormerVersions"

    /// Migrates the store to the version of the model. One program does it; the others wait, and then find it done.
    ///
    /// - Returns: The metadata of the store then.
    /// - Throws: Code 134130 if the store keeps no model, 134190 with the changes that cannot be inferred, 134100 for a program that is older than
    ///   the store, 134110 for rows that the model forbids, and for statements that the database refuses. Nothing is changed then.
    func migrate() async throws -> FoundMetadata {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(Self.patience)
        while true {
            do { return try await migrateOnce() } catch let error as ServerError where error.isLockTimeout {
                guard clock.now < end else {
                    throw CoreDataError.make(
                        NSMigrationError, "The store at \(pool.settings.place) cannot be migrated.",
                        reason: "Another program's transaction has kept a table for a minute. PostgreSQL says: \(error)",
                        next: "End that transaction (pg_stat_activity shows it), and open the store again.")
                }
                Log.store.debug("The migration at \(pool.settings.place) begins again: others have locked a table. \(error)")
                // Transactions that have queued behind this one go first.
                try await Pause.wait(.random(in: 0.1...0.5))
            }
        }
    }

    /// The seconds for which other programs' transactions are waited for.
    private static let patience = 60.0

    private func migrateOnce() async throws -> FoundMetadata {
        try await pool.with { connection in
            // The pool rolls back a failed transaction when the connection is returned.
            try await connection.run([Call("BEGIN"), Call("SELECT pg_advisory_xact_lock($1)", [.integer(Self.lockNumber)])])
            guard let found = try await readMetadata(connection) else { throw refused("Its metadata are gone.", next: nil) }
            // Another program may have done it meanwhile.
            if StoreModelHashes(try decode(found))?.areThose(of: entities) ?? false {
                try await connection.execute("COMMIT")
                return found
            }
            Log.store.notice("The store at \(pool.settings.place) is migrated.")
            // A statement that waits for an exclusive lock on a table makes all later ones wait behind it.
            try await connection.execute("SET LOCAL lock_timeout = '1s'")
            let migration = try migration(of: found)
            // A session that a proxy lends for a transaction cannot build an index concurrently.
            let (later, now) = connection.ownsSession ? (migration.indexes, []) : ([], migration.indexes.map(\.blocking))
            for statement in migration.statements + now + IndexBuilding.notes(of: later, kept: migration.keptIndexes) {
                do { try await connection.execute(statement) } catch let error as ServerError
                    where !error.isConnectionLost && !error.isLockTimeout
                {
                    throw failure(error, statement)
                }
            }
            let metadata = try Self.encode(try metadata(migrating: found))
            try await connection.run([
                Call(
                    "UPDATE \(PostgreSQLTables.metadata) SET metadata = $1, model = $2",
                    [.bytes(metadata), keptModel.map { .bytes($0) } ?? .null(PostgreSQLType.bytes)]), Call("COMMIT"),
            ])
            guard let now = try await readMetadata(connection) else { throw refused("Its metadata are gone.", next: nil) }
            return now
        }
    }

    /// Returns the statements that a migration would send to the database, without changing anything.
    func migrationStatements() async throws -> [String] {
        do {
            let found: FoundMetadata? = try await pool.with { connection in
                try await ServerCheck(pool.settings.place).check(connection)
                return try await readMetadata(connection)
            }
            guard let found else { return [] }
            if StoreModelHashes(try decode(found))?.areThose(of: entities) ?? false { return [] }
            let migration = try migration(of: found)
            return migration.statements + migration.indexes.map(\.statement)
        } catch let error as ServerError { throw ServerCheck(pool.settings.place).failure(error) }
    }

    private func migration(of found: FoundMetadata) throws -> LayoutMigration {
        let metadata = try decode(found)
        let former = metadata[Self.formerVersionsKey] as? [Data] ?? []
        if former.contains(Self.version(versionMetadata)) {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleVersionHashError, "The store at \(pool.settings.place) cannot be opened.",
                reason: "It was migrated from the version of this program to a newer one.", next: "Use a newer version of the program.")
        }
        guard let data = found.model else {
            throw CoreDataError.make(
                NSMigrationMissingSourceModelError, "The store at \(pool.settings.place) cannot be migrated.",
                reason: "It keeps no copy of the model that it was written with.", next: "Open it with the version of its model.")
        }
        let source = try Self.model(data, pool.settings.place)
        try source.freeze()
        let names = Set(StoreModelHashes(metadata)?.written.keys.map { $0 } ?? [])
        let mapping = try InferredMapping.infer(from: source, to: model)
        let before = LayoutMigration.Version(source, source.entities.filter { names.contains($0.name ?? "") })
        return try LayoutMigration(from: before, to: LayoutMigration.Version(model, entities), by: mapping, hasHistory: found.hasHistory)
    }

    private func metadata(migrating found: FoundMetadata) throws -> [String: Any] {
        let before = try decode(found)
        let former = (before[Self.formerVersionsKey] as? [Data] ?? []).filter { $0 != Self.version(versionMetadata) }
        return before.merging(versionMetadata) { $1 }.merging([Self.formerVersionsKey: former + [Self.version(before)]]) { $1 }
    }

    /// Returns a value that identifies a version.
    private static func version(_ metadata: [String: Any]) -> Data {
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        return hashes.sorted { $0.key < $1.key }.reduce(into: Data()) { $0 += Data($1.key.utf8) + $1.value }
    }

    private func failure(_ error: ServerError, _ statement: String) -> NSError {
        CoreDataError.make(
            NSMigrationError, "The store at \(pool.settings.place) cannot be migrated.",
            reason: "PostgreSQL says: \(error) The statement was: \(statement.prefix(400))",
            next: "Change the rows so that the new version of the model allows them, and open the store again.")
    }
}

extension NSPersistentStoreCoordinator {
    /// Returns the statements that would migrate a store in a PostgreSQL database to the version of the coordinator's model: those of one
    /// transaction, followed by indexes, each on its own. The list is empty for a store of that version. Nothing is changed.
    ///
    /// - Parameters:
    ///   - url: The database, as libpq takes it.
    ///   - configuration: The configuration of the model that the store is limited to; nil for all entities.
    ///   - options: The settings of the store.
    /// - Throws: Code 134190 with the changes that cannot be inferred; 134130 if the store keeps no model of itself; 134100 if it is newer. Call it
    ///   on any queue; it blocks no thread.
    public func statementsMigratingPostgreSQLStore(
        at url: String, configurationName configuration: String? = nil, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) async throws -> [String] {
        guard let url = ConnectionSettings.url(url) else {
            throw CoreDataError.make(NSPersistentStoreOpenError, "A PostgreSQL store cannot be opened.", reason: "Its URL is none.")
        }
        let opening = try PostgreSQLOpening(url, options, managedObjectModel, configuration, isReadOnly: true, migrates: false)
        defer { opening.pool.close() }
        return try await opening.migrationStatements()
    }
}

extension PostgreSQLOpening {
    /// Reads the model that a store keeps.
    static func model(_ data: Data, _ place: String) throws -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        try ModelFile.read(data, form: .compiled, file: place, into: model)
        return model
    }
}
#endif
