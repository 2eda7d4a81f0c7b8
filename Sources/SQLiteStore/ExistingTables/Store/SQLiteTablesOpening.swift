internal import CSQLite
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Opens a file with the tables of another program, for reading.
struct SQLiteTablesOpening {
    let url: URL
    var timeout = SQLiteStoreDefaults.timeout
    var keepsFiles = false

    /// The column names by which statements refer to the key, entity and version of every row.
    static let identity = SQLIdentityColumns(
        key: TableNames.identifier("id"), entity: TableNames.identifier("entity"), version: TableNames.identifier("version"))

    /// Opens a connection.
    ///
    /// - Throws: Code 260 if there is no file, 134080 for a library that is too old, and SQLite's errors.
    func connect() throws -> SQLConnection {
        guard sqlite3_libversion_number() >= 3_037_000 else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The tables in \(url.path) cannot be opened.",
                reason: "The SQLite of the system is \(String(cString: sqlite3_libversion())).", next: "Install 3.37 or later.")
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), !isDirectory.boolValue else {
            throw CoreDataError.make(
                CocoaError.Code.fileReadNoSuchFile.rawValue, "The tables in \(url.path) cannot be opened.",
                reason: isDirectory.boolValue ? "It is a directory." : "There is no such file, and no tables are made for a model.",
                next: "Check the URL.", info: [NSFilePathErrorKey: url.path])
        }
        let connection = try SQLiteFiles.connectForReading(url, timeout: timeout, keepsFiles: keepsFiles)
        connection.standInForUnknownCollations()
        return connection
    }

    /// Compares a model with the tables.
    ///
    /// - Throws: Code 134020 with every difference.
    func open(_ model: NSManagedObjectModel, _ entities: [NSEntityDescription]) throws -> (SQLConnection, SQLiteTables.Mapped) {
        let connection = try connect()
        let wanted = Set(entities.map { ($0.userInfo?[MappingKey.table] as? String ?? TableNames.words($0.name ?? "")).lowercased() })
        let catalogue = try SQLiteCatalogueReader(connection, wanted: wanted).read()
        let builder = MappingBuilder(model, entities, catalogue)
        guard builder.differences.isEmpty else { throw incompatible(builder.differences) }
        return (connection, builder.mapping(Self.identity))
    }

    private func incompatible(_ differences: [MappingDifference]) -> NSError {
        let list = differences.map(\.description).joined(separator: "; ")
        return CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError, "The tables in \(url.path) cannot be opened.",
            reason: "The model differs from them in \(differences.count) places: \(list).",
            next: "Change the model or its user info, or draft a new one with NSManagedObjectModel(describing:).",
            info: [NSFilePathErrorKey: url.path])
    }

    /// Drafts the entities of all tables and views.
    func draft() throws -> DraftedEntities<SQLiteTableDialect> { DraftedEntities(try SQLiteCatalogueReader(try connect()).read()) }
}
