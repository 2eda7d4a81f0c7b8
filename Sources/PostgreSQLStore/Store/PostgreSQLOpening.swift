#if PostgreSQL
internal import Foundation
internal import Logging
internal import ModelFiles
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries
internal import PropertyLists

/// Opens or creates the tables of a store.
struct PostgreSQLOpening: DatabaseOpening {
    let model: NSManagedObjectModel
    let entities: [NSEntityDescription]
    let isReadOnly: Bool
    let options: PostgreSQLStoreOptions
    let pool: ConnectionPool
    /// Whether a store of another version of the model is migrated.
    let migrates: Bool

    /// The version of the layout and of the functions in the database.
    private static let layoutVersion: Int64 = 1
    /// Locks the creation of tables against other programs.
    static let lockNumber: Int64 = 0x434F_5245_4441_5441

    /// Opens the store, and creates it if the schema has none.
    ///
    /// - Throws: Code 134080 if the database cannot be reached or used, 134020 if its tables are not those of the model, 134100 if they are of
    ///   another version of it.
    func open() async throws -> OpenedDatabase {
        let layout = PostgreSQLLayout(entities: entities)
        let schema = layout.schema(of: model)
        let definition = LayoutDefinition(layout, schema)
        for entity in entities {
            for attribute in entity.attributesByName.values where attribute is NSDerivedAttributeDescription {
                throw refused("“\(attribute)” of “\(entity)” is derived, which this store does not compute.", next: "Remove the attribute.")
            }
        }
        do {
            let found: FoundMetadata = try await pool.with { connection in
                try await ServerCheck(pool.settings.place).check(connection)
                if let found = try await readMetadata(connection) { return found }
                if isReadOnly { throw refused("The schema “\(options.schema)” has no store, and it is to be read only.", next: nil) }
                try await create(connection, definition)
                guard let made = try await readMetadata(connection) else { throw refused("Its metadata are gone.", next: nil) }
                return made
            }
            var metadata = try decode(found)
            if migrates, !isReadOnly, let hashes = StoreModelHashes(metadata), !hashes.areThose(of: entities) {
                metadata = try decode(try await migrate())
            }
            if migrates, !isReadOnly { try await IndexBuilding(pool: pool, migrationLock: Self.lockNumber).run() }
            // Stores of another version have other tables, and the coordinator refuses them.
            if StoreModelHashes(metadata)?.areThose(of: entities) ?? false {
                let gone: [String] = try await pool.with { connection in try await missing(schema, connection) }
                if !gone.isEmpty {
                    throw CoreDataError.make(
                        NSPersistentStoreIncompatibleSchemaError, "The store at \(pool.settings.place) cannot be opened.",
                        reason: "The schema “\(options.schema)” lacks \(gone.joined(separator: ", ")).",
                        next: "Restore what is missing, or open another schema.")
                }
            }
            let begins = options.tracksHistory && !isReadOnly
            let keepsHistory = try await pool.with { connection in
                let exists = try await connection.query("SELECT \(HistoryTables.exist)").integer(0, 0) != 0
                if !exists, begins { try await HistoryTables.create(connection, lockNumber: Self.lockNumber) }
                return exists || begins
            }
            let look =
                options.postsRemoteChanges
                ? try await pool.with { try await RemoteChangeListener.Look($0, keepsHistory: keepsHistory) } : nil
            for index in definition.unmade {
                Log.store.notice("The store at \(pool.settings.place) has no index \(index). Fetches find the same, and may be slower.")
            }
            let channel = CommitAftermath.channel(of: metadata[NSStoreUUIDKey] as? String ?? "")
            return OpenedDatabase(
                pool: pool, schema: schema, mapping: nil, metadata: metadata, history: StoreHistory(isKept: keepsHistory),
                aftermath: CommitAftermath(pool, channel: channel), settings: try DatabaseSettings(options.databaseSettings),
                combinesSaves: options.combinesSaves, look: look)
        } catch let error as ServerError { throw ServerCheck(pool.settings.place).failure(error) }
    }

    func refused(_ reason: String, next: String?) -> NSError {
        ServerCheck(pool.settings.place).refused(reason, next: next)
    }

    /// Returns layout, UUID and metadata; nil if the schema has no store.
    func readMetadata(_ connection: Connection) async throws -> FoundMetadata? {
        let table = try await connection.query("SELECT to_regclass(\(sqlLiteral(PostgreSQLTables.metadata))) IS NULL")
        if table.integer(0, 0) != 0 { return nil }
        let result = try await connection.query(
            "SELECT layout, uuid, metadata, model, to_regclass(\(sqlLiteral(PostgreSQLTables.changes))) IS NOT NULL FROM \(PostgreSQLTables.metadata)"
        )
        guard result.rowCount == 1 else { throw refused("\(PostgreSQLTables.metadata) has no row.", next: "Restore the database.") }
        return FoundMetadata(
            layout: result.integer(0, 0), uuid: result.data(0, 1), list: result.data(0, 2),
            model: result.isNull(0, 3) ? nil : result.data(0, 3), hasHistory: result.integer(0, 4) != 0)
    }

    /// The row of the metadata.
    struct FoundMetadata: Sendable {
        let layout: Int64
        let uuid: Data
        let list: Data
        /// The model that the store was written with; nil if it keeps none.
        let model: Data?
        let hasHistory: Bool
    }

    func decode(_ found: FoundMetadata) throws -> [String: Any] {
        guard found.layout == Self.layoutVersion else {
            throw refused(
                "Its layout has the version \(found.layout); this program knows \(Self.layoutVersion).", next: "Use another version.")
        }
        guard let list = try? PropertyListValues.dictionary(found.list), found.uuid.count == 16 else {
            throw refused("Its metadata are damaged.", next: "Restore the database from a copy.")
        }
        var metadata = list
        metadata[NSStoreUUIDKey] = found.uuid.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }.uuidString
        metadata[NSStoreTypeKey] = PostgreSQLStoreType
        return metadata
    }

    /// Returns metadata in their written form, without the UUID.
    ///
    /// - Throws: Code 134030 for values that a property list cannot hold.
    static func encode(_ metadata: [String: Any]) throws -> Data {
        var list = metadata
        list[NSStoreUUIDKey] = nil
        list[NSStoreTypeKey] = nil
        list[StoreModelHashes.copyKey] = nil
        guard PropertyListSerialization.propertyList(list, isValidFor: .binary) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The metadata of the store cannot be written.", reason: "A property list cannot hold them.",
                next: "Use texts, numbers, dates, data, arrays and dictionaries only.")
        }
        return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }

    /// The metadata that identify the store's version of the model.
    var versionMetadata: [String: Any] {
        let hashes = Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } }, uniquingKeysWith: { first, _ in first })
        return [
            NSStoreModelVersionHashesKey: hashes, "NSStoreModelVersionHashesVersion": 3,
            NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.compactMap { $0.base as? String }.sorted(),
        ]
    }

    /// The model in the form that the store keeps; nil if it has no compiled form.
    var keptModel: Data? {
        let kept: Data? = (try? model.compiledModel()) ?? (try? model.compiledArchive())
        if kept == nil { Log.model.notice("The store at \(pool.settings.place) keeps no model of itself: the model has no compiled form.") }
        return kept
    }

    private func create(_ connection: Connection, _ definition: LayoutDefinition) async throws {
        let list = try Self.encode(versionMetadata)
        let kept = keptModel
        try await connection.run([Call("BEGIN"), Call("SELECT pg_advisory_xact_lock($1)", [.integer(Self.lockNumber)])])
        // Another program may have created it meanwhile.
        if try await readMetadata(connection) != nil { return try await connection.execute("COMMIT") }
        let schema = LayoutNames.identifier(options.schema)
        let known = try await connection.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [.verbatim(options.schema)])
        if known.rowCount == 0 { try await connection.execute("CREATE SCHEMA \(schema)") }
        for statement in definition.statements + ServerFunctions.definitions {
            do { try await connection.execute(statement) } catch let error as ServerError {
                throw refused("A table cannot be created. PostgreSQL says: \(error)", next: "The statement was: \(statement.prefix(400))")
            }
        }
        try await connection.run([
            Call(
                "INSERT INTO \(PostgreSQLTables.metadata) (layout, uuid, metadata, model) VALUES ($1, $2, $3, $4)",
                [
                    .integer(Self.layoutVersion), .uuid(UUID()), .bytes(list),
                    kept.map { .bytes($0) } ?? .null(PostgreSQLType.bytes),
                ]), Call("COMMIT"),
        ])
    }

    /// Returns the tables and columns that the database does not have.
    private func missing(_ schema: SQLSchema, _ connection: Connection) async throws -> [String] {
        let result = try await connection.query(
            "SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                + "JOIN pg_attribute a ON a.attrelid = c.oid WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 "
                + "AND NOT a.attisdropped", [.verbatim(options.schema)])
        var found: [String: Set<String>] = [:]
        for row in 0..<result.rowCount { found[result.text(row, 0), default: []].insert(result.text(row, 1)) }
        func missing(_ columns: [String], in table: SQLIdentifier) -> [String] {
            guard let known = found[table.name] else { return ["the table \(table.name)"] }
            return columns.filter { !known.contains($0) }.map { "the column \(table.name).\($0)" }
        }
        return schema.tables.flatMap { missing(["id", "entity", "version"] + $0.columns.map(\.name.name), in: $0.name) }
            + schema.joins.flatMap { missing(($0.columns + $0.orderColumns).map(\.name), in: $0.name) }
    }
}
#endif
