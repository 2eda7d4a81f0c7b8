internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import SQLQueries

/// Opens or creates the file of a store, and determines its schema.
package struct SQLiteOpening {
    private let store: SQLiteStore

    init(_ store: SQLiteStore) { self.store = store }

    /// Opens the file.
    ///
    /// - Returns: The connection, and the contents and the metadata of the file.
    func open() throws -> (connection: SQLConnection, contents: SQLiteContents, metadata: [String: Any]) {
        guard let url = store.url, url.isFileURL else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "A SQLite store cannot be opened at \(store.url?.absoluteString ?? "no URL").",
                reason: "Its place must be a file.", next: "Give a file URL; file:///dev/null makes a store in memory.")
        }
        let options = try SQLiteOptions(store.options)
        if let attribute = options.preparation?.encrypts == true ? firstExternal : nil {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The store at \(url.path) cannot be opened.",
                reason: "Large values of “\(attribute)” would be in files beside it, which are not encrypted.",
                next: "Clear allowsExternalBinaryDataStorage of the attribute.", info: [NSFilePathErrorKey: url.path])
        }
        SQLPreparations.set(options.preparation, for: url)
        if store.isReadOnly {
            let connection = try SQLiteFiles.connectForReading(url, timeout: options.timeout, keepsFiles: options.keepsFiles)
            let contents = try SQLiteContents(connection)
            return (connection, contents, try metadata(of: connection, contents))
        }
        // A refused file with a log is left unchanged.
        if let look = SQLiteFiles.connectForLooking(url) {
            let contents = try SQLiteContents(look)
            if contents.hasTable("Z_METADATA") { _ = try metadata(of: look, contents) }
        }
        let connection = try SQLiteFiles.connectForWriting(url, timeout: options.timeout, creates: true)
        var contents = try SQLiteContents(connection)
        if contents.parts.isEmpty {
            try create(connection, options)
            contents = try SQLiteContents(connection)
        }
        return (connection, contents, try metadata(of: connection, contents))
    }

    /// Prepares a connection for writing, once the file is known to match the model: a rejected file is not changed.
    ///
    /// - Returns: The journal mode; nil if the options may set another.
    func prepareWriting(_ connection: SQLConnection, _ options: SQLiteOptions) throws -> String? {
        var mode: String?
        if !options.pragmas.contains(where: { $0.name == "journal_mode" }) {
            // Readers and a writer do not block each other in this mode. If the disk does not support it, the previous mode stays.
            mode = try connection.texts("PRAGMA journal_mode = WAL", .opening).first?.first ?? nil
            // A file that was not in this mode before gets its log with a first read, which must not wait: the open store is used even if its file is
            // removed.
            if mode == "wal", access(connection.path + "-wal", F_OK) != 0 {
                _ = try connection.texts("SELECT 1 FROM sqlite_master LIMIT 1", .opening)
            }
        }
        try connection.execute("PRAGMA synchronous = NORMAL", .opening)
        for pragma in options.pragmas { _ = try connection.texts(pragma.sql, .opening) }
        if options.analyzes { try connection.execute("ANALYZE") }
        if options.vacuums { try connection.execute("VACUUM") }
        return options.pragmas.isEmpty ? mode : nil
    }

    private func metadata(of connection: SQLConnection, _ contents: SQLiteContents) throws -> [String: Any] {
        var metadata = try SQLiteMetadata.read(from: connection, isStore: contents.hasTable("Z_METADATA"))
        if let copy = try check(metadata, connection) { metadata[StoreModelHashes.copyKey] = copy }
        return metadata
    }

    /// An attribute whose values may be in external files.
    private var firstExternal: NSAttributeDescription? {
        entities.lazy.flatMap(\.attributesByName.values).first(where: \.allowsExternalBinaryDataStorage)
    }

    private var entities: [NSEntityDescription] {
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else { return [] }
        let isWhole = store.configurationName == NSPersistentStore.defaultConfiguration
        return model.entities(forConfigurationName: isWhole ? nil : store.configurationName) ?? []
    }

    // MARK: Creating a store

    private func create(_ connection: SQLConnection, _ options: SQLiteOptions) throws {
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else { return }
        // These pragmas take effect before the first table is created.
        for pragma in options.pragmas where ["page_size", "auto_vacuum", "encoding"].contains(pragma.name) {
            _ = try connection.texts(pragma.sql, .opening)
        }
        if !options.pragmas.contains(where: { $0.name == "auto_vacuum" }) { try connection.execute("PRAGMA auto_vacuum = 2", .opening) }
        let schema = SQLSchema(model: model, entities: entities)
        for index in schema.unmadeIndexes {
            Log.store.notice("The store at \(connection.path) has no index \(index). Fetches find the same, and may be slower.")
        }
        try connection.transaction {
            // Another process may have created it while this one waited.
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

    // MARK: The schema

    /// Determines the schema of the file, and the plans of plain fetches that are known for it.
    ///
    /// - Throws: Code 134020 when it lacks tables or columns of the model.
    func schema(
        of model: NSManagedObjectModel, in connection: SQLConnection, _ contents: SQLiteContents
    ) throws -> (SQLSchema, SQLPlainPlans) {
        let numbers = try numbers(in: connection)
        let place = "SQLite \(store.configurationName)"
        if let known = model.workedOut.withLock({ $0[place] }) as? SQLiteKnownLayout, known.isLayout(of: contents, numbers) {
            let schema = SQLSchema(model: model, entities: known.entities, tables: known.tables, joins: known.joins)
            return (schema, known.plainPlans)
        }
        let tables = try Self.tables(in: connection)
        let schema = SQLSchema(model: model, entities: entities, numbers: Self.dictionary(numbers), fileTables: tables)
        let missing = Self.missing(schema, in: tables)
        if !missing.isEmpty { throw lacks(missing, connection) }
        let plainPlans = SQLPlainPlans()
        let known = SQLiteKnownLayout(schema, plainPlans, of: contents, numbers)
        model.workedOut.withLock { $0[place] = known }
        return (schema, plainPlans)
    }

    /// Returns the entity names and numbers of the file.
    private func numbers(in connection: SQLConnection) throws -> [[String?]] {
        // The history has its own entities, which may have the names of the model's.
        try connection.texts("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT < 16000", .opening)
    }

    private static func dictionary(_ rows: [[String?]]) -> [String: Int64] {
        Dictionary(
            rows.compactMap { row in row[0].flatMap { name in row[1].flatMap(Int64.init).map { (name, $0) } } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the columns of the file's tables.
    static func tables(in connection: SQLConnection) throws -> [String: [String]] {
        var tables: [String: [String]] = [:]
        let rows = try connection.texts(
            "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name LIKE 'Z%' "
                // Listing the columns of a virtual table requires its module.
                + "AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY m.name, c.cid", .opening)
        for row in rows { tables[row[0] ?? "", default: []].append(row[1] ?? "") }
        return tables
    }

    /// Returns whether the file has all parts of a schema.
    func isWhole(_ schema: SQLSchema, in connection: SQLConnection) throws -> Bool {
        try Self.missing(schema, in: Self.tables(in: connection)).isEmpty
    }

    /// Returns the parts of a schema that the file does not have.
    static func missing(_ schema: SQLSchema, in fileTables: [String: [String]]) -> [String] {
        let tables = fileTables.mapValues { Set($0.map { $0.lowercased() }) }
        func missing(_ columns: [String], in table: SQLIdentifier) -> [String] {
            guard let found = tables[table.name] else { return ["the table \(table.name)"] }
            return columns.filter { !found.contains($0.lowercased()) }.map { "the column \(table.name).\($0)" }
        }
        return schema.tables.flatMap { missing(["Z_PK", "Z_ENT", "Z_OPT"] + $0.columns.map(\.name.name), in: $0.name) }
            + schema.joins.flatMap { missing(($0.columns + $0.orderColumns).map(\.name), in: $0.name) }
    }

    // MARK: Versions

    /// Whether the option to ignore versions is set.
    private var ignoresVersions: Bool {
        let option = store.options?[NSIgnorePersistentStoreVersioningOption]
        return (option as? NSNumber)?.boolValue ?? (option as? Bool) ?? false
    }

    /// Compares the versions of the model and the file, unless the option to ignore versions is set.
    ///
    /// - Returns: This framework's hashes of the model in the file, if they were compared.
    /// - Throws: Code 134100 with the entities that differ.
    private func check(_ metadata: [String: Any], _ connection: SQLConnection) throws -> [String: Data]? {
        guard let hashes = StoreModelHashes(metadata) else { return nil }
        let entities = entities
        var differing = hashes.differing(from: entities)
        if differing.isEmpty { return nil }
        var facts: [String: Data]?
        if Set(hashes.written.keys) == Set(entities.compactMap(\.name)) {
            // Apple's hash algorithm is not public: the model in the file decides.
            let known = try SQLiteModelCache.hashes(in: connection)
            facts = known
            if !known.isEmpty {
                differing = hashes.knowing(copy: known).differing(from: entities)
            } else if try hasAllColumns(connection) {
                differing = []
            }
        }
        if differing.isEmpty { return facts }
        if ignoresVersions {
            try checkParts(connection)
            return nil
        }
        throw CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError,
            "The model is not the one that the store at \(connection.path) was written with.",
            reason: "These entities differ: \(differing.joined(separator: ", ")).",
            next: "Open it with the model it was written with, or migrate it.",
            info: [NSAffectedStoresErrorKey: [store], "metadata": metadata, "NSDifferingEntities": differing])
    }

    /// Checks that a file has the parts that the model needs, if versions are ignored.
    ///
    /// - Throws: Code 134020 if it lacks entities, tables or columns of the model.
    private func checkParts(_ connection: SQLConnection) throws {
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else { return }
        let (known, tables) = (Self.dictionary(try numbers(in: connection)), try Self.tables(in: connection))
        let unknown = entities.compactMap(\.name).filter { known[$0] == nil }.sorted()
        let schema = SQLSchema(model: model, entities: entities, numbers: known, fileTables: tables)
        let missing = unknown.map { "the entity \($0)" } + Self.missing(schema, in: tables)
        if !missing.isEmpty { throw lacks(missing, connection) }
    }

    private func lacks(_ parts: [String], _ connection: SQLConnection) -> NSError {
        CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError, "The store at \(connection.path) cannot be used.",
            reason: "It lacks \(parts.joined(separator: ", ")).", next: "Open it with the model it was written with, or migrate it.",
            info: [NSAffectedStoresErrorKey: [store]])
    }

    /// Returns the metadata that a store has once it is open: those of the file, with the hashes of the model if versions are ignored. The next save
    /// writes them, as on Apple's platforms.
    func metadataOfOpenStore(_ metadata: [String: Any]) -> [String: Any] {
        guard ignoresVersions, let model = store.persistentStoreCoordinator?.managedObjectModel,
            !(StoreModelHashes(metadata)?.areThose(of: entities) ?? false)
        else { return metadata }
        var metadata = metadata
        let made = SQLiteMetadata.make(for: entities, of: model)
        for key in SQLiteMetadata.versionKeys { metadata[key] = made[key] }
        return metadata
    }

    /// Returns whether a file without a model has columns for all properties of the model.
    private func hasAllColumns(_ connection: SQLConnection) throws -> Bool {
        guard let model = store.persistentStoreCoordinator?.managedObjectModel else { return false }
        let tables = try Self.tables(in: connection)
        let schema = try SQLSchema(
            model: model, entities: entities, numbers: Self.dictionary(numbers(in: connection)), fileTables: tables)
        return Self.missing(schema, in: tables).isEmpty
    }
}
