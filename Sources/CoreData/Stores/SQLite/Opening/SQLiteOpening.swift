internal import Foundation
internal import Logging

/// Opens the file of a store, or makes it, and finds out what lies where in it.
struct SQLiteOpening {
    private let store: SQLiteStore

    init(_ store: SQLiteStore) { self.store = store }

    /// Opens the file.
    ///
    /// - Returns: the connection and what the file says of itself.
    func open() throws -> (connection: SQLConnection, metadata: [String: Any]) {
        guard let url = store.url, url.isFileURL else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "A SQLite store cannot be opened at \(store.url?.absoluteString ?? "no place").",
                reason: "Its place must be a file.", next: "Give a file URL; file:///dev/null makes a store in memory.")
        }
        let options = try SQLiteOptions(store.options)
        if store.isReadOnly {
            let connection = try SQLiteFiles.connectForReading(url, timeout: options.timeout)
            return (connection, try metadata(of: connection))
        }
        let connection = try SQLiteFiles.connectForWriting(url, timeout: options.timeout, creates: true)
        if try connection.texts("SELECT name FROM sqlite_master LIMIT 1", .opening).isEmpty { try create(connection, options) }
        return (connection, try metadata(of: connection))
    }

    /// Prepares a connection that writes, once the file is known to be what the model wants: one that is refused stays as it was.
    func prepareWriting(_ connection: SQLConnection) throws {
        let options = try SQLiteOptions(store.options)
        if !options.pragmas.contains(where: { $0.name == "journal_mode" }) {
            // Readers and a writer do not wait for each other in this mode. Where the disk cannot do it, the old one stays.
            _ = try connection.texts("PRAGMA journal_mode = WAL", .opening)
        }
        try connection.execute("PRAGMA synchronous = NORMAL", .opening)
        for pragma in options.pragmas { _ = try connection.texts(pragma.sql, .opening) }
        if options.analyzes { try connection.execute("ANALYZE") }
        if options.vacuums { try connection.execute("VACUUM") }
    }

    private func metadata(of connection: SQLConnection) throws -> [String: Any] {
        let metadata = try SQLiteMetadata.read(from: connection)
        try check(metadata, connection)
        return metadata
    }

    private var entities: [NSEntityDescription] {
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else { return [] }
        let isWhole = store.configurationName == NSPersistentStore.defaultConfiguration
        return model.entities(forConfigurationName: isWhole ? nil : store.configurationName) ?? []
    }

    // MARK: Making a store

    private func create(_ connection: SQLConnection, _ options: SQLiteOptions) throws {
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else { return }
        // These two are settled before the first table is there.
        for pragma in options.pragmas where ["page_size", "auto_vacuum", "encoding"].contains(pragma.name) {
            _ = try connection.texts(pragma.sql, .opening)
        }
        if !options.pragmas.contains(where: { $0.name == "auto_vacuum" }) { try connection.execute("PRAGMA auto_vacuum = 2", .opening) }
        let schema = SQLSchema(model: model, entities: entities)
        for index in schema.unmadeIndexes {
            Log.store.notice("The store at \(connection.path) has no index \(index). Fetches find the same, and may be slower.")
        }
        try connection.transaction {
            // Another may have made it while this one waited.
            guard try connection.texts("SELECT name FROM sqlite_master LIMIT 1", .opening).isEmpty else { return }
            for statement in schema.definition { try connection.execute(statement) }
            for entity in schema.entities {
                try connection.with("INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)") { statement in
                    statement.bind(entity.number, at: 1)
                    statement.bind(entity.entity.name ?? "", at: 2)
                    statement.bind(entity.entity.superentity.flatMap { schema.entity($0)?.number } ?? 0, at: 3)
                    try statement.run()
                }
            }
            try SQLiteMetadata.write(SQLiteMetadata.make(for: entities, of: model), to: connection)
            try SQLiteModelCache.write(model, to: connection)
        }
    }

    // MARK: What lies where

    /// What lies where in the file.
    ///
    /// - Throws: code 134020 when it lacks tables or columns of the model.
    func schema(of model: NSManagedObjectModel, in connection: SQLConnection) throws -> SQLSchema {
        let schema = try SQLSchema(model: model, entities: entities, numbers: numbers(in: connection), fileTables: tables(in: connection))
        let missing = try missing(schema, in: connection)
        guard missing.isEmpty else {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "The store at \(connection.path) cannot be used.",
                reason: "It lacks \(missing.joined(separator: ", ")).", next: "Open it with the model it was written with, or migrate it.",
                info: [NSAffectedStoresErrorKey: [store]])
        }
        return schema
    }

    /// The numbers of entities, as the file has them.
    private func numbers(in connection: SQLConnection) throws -> [String: Int64] {
        // The history has entities of its own, which may be called as one of the model.
        let rows = try connection.texts("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT < 16000", .opening)
        return Dictionary(
            rows.compactMap { row in row[0].flatMap { name in row[1].flatMap(Int64.init).map { (name, $0) } } },
            uniquingKeysWith: { first, _ in first })
    }

    /// The columns of the tables of the file.
    private func tables(in connection: SQLConnection) throws -> [String: [String]] {
        var tables: [String: [String]] = [:]
        let rows = try connection.texts(
            "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name LIKE 'Z%' "
                // Asking for the columns of a table that a module keeps needs the module.
                + "AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY m.name, c.cid", .opening)
        for row in rows { tables[row[0] ?? "", default: []].append(row[1] ?? "") }
        return tables
    }

    /// What of a layout the file does not have.
    private func missing(_ schema: SQLSchema, in connection: SQLConnection) throws -> [String] {
        let tables = try tables(in: connection).mapValues { Set($0.map { $0.lowercased() }) }
        func missing(_ columns: [String], in table: SQLIdentifier) -> [String] {
            guard let found = tables[table.name] else { return ["the table \(table.name)"] }
            return columns.filter { !found.contains($0.lowercased()) }.map { "the column \(table.name).\($0)" }
        }
        return schema.tables.flatMap { missing(["Z_PK", "Z_ENT", "Z_OPT"] + $0.columns.map(\.name.name), in: $0.name) }
            + schema.joins.flatMap { missing(($0.columns + $0.orderColumns).map(\.name), in: $0.name) }
    }

    // MARK: Versions

    /// Compares the version of the model with that of the file.
    ///
    /// - Throws: code 134100 with the entities that differ.
    private func check(_ metadata: [String: Any], _ connection: SQLConnection) throws {
        guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return }
        let own = Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { first, _ in first })
        var differing = Set(hashes.keys).symmetricDifference(own.keys)
        let changed = own.filter { name, entity in hashes[name].map { $0 != entity.versionHash } ?? false }
        if differing.isEmpty, changed.isEmpty { return }
        if differing.isEmpty {
            // How Apple hashes entities is not public: what the file itself says of its model decides.
            if let known = try SQLiteModelCache.model(in: connection) {
                let facts = Dictionary(
                    known.entities.compactMap { entity in entity.name.map { ($0, entity.ownVersionHash) } },
                    uniquingKeysWith: { first, _ in first })
                differing.formUnion(changed.filter { facts[$0.key] != $0.value.ownVersionHash }.keys)
            } else if try !hasAllColumns(connection) {
                differing.formUnion(changed.keys)
            }
        }
        if differing.isEmpty { return }
        let names = differing.sorted().joined(separator: ", ")
        throw CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError,
            "The model is not the one that the store at \(connection.path) was written with.",
            reason: "These entities differ: \(names).", next: "Open it with the model it was written with, or migrate it.",
            info: [NSAffectedStoresErrorKey: [store], "metadata": metadata, "NSDifferingEntities": differing.sorted()])
    }

    /// Whether a file that says nothing of its model has a place for everything that the model has.
    private func hasAllColumns(_ connection: SQLConnection) throws -> Bool {
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else { return false }
        let schema = try SQLSchema(model: model, entities: entities, numbers: numbers(in: connection), fileTables: tables(in: connection))
        return try missing(schema, in: connection).isEmpty
    }
}
