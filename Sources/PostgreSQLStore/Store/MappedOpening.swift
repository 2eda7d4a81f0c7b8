#if PostgreSQL
internal import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Opens the tables of another program for a model.
struct MappedOpening: DatabaseOpening {
    let model: NSManagedObjectModel
    let entities: [NSEntityDescription]
    let isReadOnly: Bool
    let options: PostgreSQLStoreOptions
    let pool: ConnectionPool

    /// The facts that were read from a database.
    private struct Found: Sendable {
        let catalogue: Catalogue
        let uuid: UUID
        let missingFunctions: MissingFunctions?
    }

    /// Compares the model with the catalogue.
    ///
    /// - Throws: Code 134080 if the database cannot be reached or used, 134020 with every difference between model and catalogue.
    func open() async throws -> OpenedDatabase {
        do {
            let found: Found = try await pool.with { connection in
                try await ServerCheck(pool.settings.place).check(connection)
                guard let catalogue = try await CatalogueReader(connection: connection, schema: options.schema).read() else {
                    throw refused("The database has no schema “\(options.schema)”.", next: "Name another in the store's options.")
                }
                return Found(
                    catalogue: catalogue, uuid: try await uuid(connection), missingFunctions: try await provideFunctions(connection))
            }
            let builder = MappingBuilder<PostgreSQLTableDialect>(model, entities, found.catalogue)
            guard builder.differences.isEmpty else { throw incompatible(builder.differences) }
            let mapping = builder.mapping(PostgreSQLLayout.identity)
            for notice in mapping.notices { Log.store.notice("The store at \(pool.settings.place): \(notice)") }
            return OpenedDatabase(
                pool: pool, schema: mapping.schema, mapping: mapping, missingFunctions: found.missingFunctions,
                metadata: metadata(found.uuid, mapping),
                history: StoreHistory(isKept: false), aftermath: CommitAftermath(pool, channel: ""),
                settings: try DatabaseSettings(options.databaseSettings), look: nil)
        } catch let error as ServerError { throw ServerCheck(pool.settings.place).failure(error) }
    }

    /// Returns the metadata of the store. The tables themselves show whether the model fits, not stored hashes.
    private func metadata(_ uuid: UUID, _ mapping: Mapping) -> [String: Any] {
        [
            NSStoreTypeKey: ExistingPostgreSQLStoreType, NSStoreUUIDKey: uuid.uuidString,
            NSStoreModelVersionHashesKey: Dictionary(
                mapping.schema.entities.compactMap { entity in entity.entity.name.map { ($0, entity.entity.versionHash) } },
                uniquingKeysWith: { first, _ in first }), "NSStoreModelVersionHashesVersion": 3,
        ]
    }

    private func refused(_ reason: String, next: String?) -> NSError { ServerCheck(pool.settings.place).refused(reason, next: next) }

    private func incompatible(_ differences: [MappingDifference]) -> NSError {
        let list = differences.map(\.description).joined(separator: "; ")
        return CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError, "The store at \(pool.settings.place) cannot be opened.",
            reason: "The model differs from the tables of the schema “\(options.schema)” in \(differences.count) places: \(list).",
            next: "Change the model or its user info, or draft a new one with NSManagedObjectModel(describing:options:).")
    }

    /// Returns the UUID of the store: the same for each program that opens this schema of this database.
    private func uuid(_ connection: Connection) async throws -> UUID {
        func named(_ parts: String, from source: String) async throws -> UUID {
            let result = try await connection.query(
                "SELECT encode(substring(sha256(convert_to(\(parts), 'UTF8')) FROM 1 FOR 16), 'hex')::uuid \(source)",
                [.verbatim(options.schema)])
            return result.bytes(0, 0).loadUnaligned(as: UUID.self)
        }
        do {
            return try await named("system_identifier::text || '/' || current_database() || '/' || $1", from: "FROM pg_control_system()")
        } catch let error as ServerError where error.code == "42501" {
            return try await named("current_database() || '/' || $1", from: "")
        }
    }

    /// Creates the functions of predicates in a schema of their own, unless they exist.
    ///
    /// - Returns: The reason why the database does not have them; nil if it does.
    private func provideFunctions(_ connection: Connection) async throws -> MissingFunctions? {
        func version() async throws -> String? {
            let result = try await connection.query(
                "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace "
                    + "WHERE nspname = $1 AND has_schema_privilege(oid, 'USAGE')", [.text(ServerFunctions.schema)])
            return result.rowCount > 0 ? result.text(0, 0) : nil
        }
        if try await version() == ServerFunctions.version { return nil }
        if try await connection.query("SELECT pg_is_in_recovery()").integer(0, 0) != 0 { return .standby }
        if isReadOnly { return .readOnly }
        do {
            try await connection.run([Call("BEGIN"), Call("SELECT pg_advisory_xact_lock($1)", [.integer(PostgreSQLOpening.lockNumber)])])
            if try await version() != ServerFunctions.version {
                let schema = LayoutNames.identifier(ServerFunctions.schema)
                try await connection.execute(
                    "CREATE SCHEMA IF NOT EXISTS \(schema); GRANT USAGE ON SCHEMA \(schema) TO PUBLIC; SET LOCAL search_path = \(schema)")
                for statement in ServerFunctions.definitions { try await connection.execute(statement) }
                try await connection.execute("COMMENT ON SCHEMA \(schema) IS \(Self.literal(ServerFunctions.version))")
            }
            try await connection.execute("COMMIT")
            return nil
        } catch let error as ServerError where !error.isConnectionLost {
            try await connection.execute("ROLLBACK")
            Log.store.notice(
                "The functions of predicates cannot be created at \(pool.settings.place): \(error). Clauses that need them are refused.")
            return .refused("\(error)")
        }
    }

    private static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
}
#endif
