#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Opens a database for a store.
protocol DatabaseOpening: Sendable {
    var pool: ConnectionPool { get }
    /// Connects, and compares the tables with the model.
    ///
    /// - Throws: Code 134080 if the database cannot be reached or used, 134020 if its tables are not those of the model.
    func open() async throws -> OpenedDatabase
}

extension PostgreSQLStoreOptions.Layout {
    /// Returns the operation that opens a store.
    ///
    /// - Throws: Code 134080 for a URL that libpq does not understand.
    func opening(
        _ url: URL, _ options: PostgreSQLStoreOptions, _ model: NSManagedObjectModel, _ configuration: String?, isReadOnly: Bool,
        migrates: Bool = false
    ) throws -> any DatabaseOpening {
        switch self {
        case .own:
            try PostgreSQLOpening(url, options, model, configuration, isReadOnly: isReadOnly, migrates: migrates)
        case .existing: try MappedOpening(url, options, model, configuration, isReadOnly: isReadOnly)
        }
    }

    /// The type of stores.
    var storeType: String {
        switch self {
        case .own: PostgreSQLStoreType
        case .existing: ExistingPostgreSQLStoreType
        }
    }
}

extension ConnectionPool {
    /// Creates connections to the tables of a layout.
    ///
    /// - Throws: Code 134080 for a URL that libpq does not understand.
    convenience init(_ url: URL, _ options: PostgreSQLStoreOptions, _ layout: PostgreSQLStoreOptions.Layout) throws {
        let furtherSchema: String? = if case .existing = layout { ServerFunctions.schema } else { nil }
        self.init(
            try ConnectionSettings(
                url, schema: options.schema, furtherSchema: furtherSchema, statementTimeout: options.statementTimeout,
                password: options.password), limit: options.connectionLimit, timeout: options.connectionTimeout,
            readsFromReplicas: options.readsFromReplicas)
    }
}

extension NSManagedObjectModel {
    /// Returns the entities of a configuration, of a model that cannot be changed any more.
    func frozenEntities(of configuration: String?) throws -> [NSEntityDescription] {
        try freeze()
        let isWhole = configuration == nil || configuration == NSPersistentStore.defaultConfiguration
        return entities(forConfigurationName: isWhole ? nil : configuration) ?? []
    }
}

extension PostgreSQLOpening {
    init(
        _ url: URL, _ options: PostgreSQLStoreOptions, _ model: NSManagedObjectModel, _ configuration: String?, isReadOnly: Bool,
        migrates: Bool
    ) throws {
        self.init(
            model: model, entities: try model.frozenEntities(of: configuration), isReadOnly: isReadOnly, options: options,
            pool: try ConnectionPool(url, options, .own), migrates: migrates || options.migratesAutomatically)
    }
}

extension MappedOpening {
    init(
        _ url: URL, _ options: PostgreSQLStoreOptions, _ model: NSManagedObjectModel, _ configuration: String?, isReadOnly: Bool
    ) throws {
        self.init(
            model: model, entities: try model.frozenEntities(of: configuration), isReadOnly: isReadOnly, options: options,
            pool: try ConnectionPool(url, options, .existing))
    }
}
#endif
