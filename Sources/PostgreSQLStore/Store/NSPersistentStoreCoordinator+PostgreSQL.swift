#if PostgreSQL
public import Foundation
@_spi(Stores) public import ObjectGraph

/// The type of stores in PostgreSQL databases.
///
/// The type is known to coordinators once the program has called one of `addPostgreSQLStore`, `NSPersistentStoreDescription(postgreSQL:)` or
/// ``ObjectGraph/NSPersistentStoreCoordinator/registerPostgreSQLStores()``.
public let PostgreSQLStoreType = "PostgreSQL"

/// The type of stores for the tables of another program in a PostgreSQL database, see ``PostgreSQLStoreOptions/layout``.
public let ExistingPostgreSQLStoreType = "PostgreSQLExisting"

extension NSPersistentStore.StoreType {
    /// A store about the tables of another program in a PostgreSQL database.
    public static let existingPostgreSQL = NSPersistentStore.StoreType(rawValue: ExistingPostgreSQLStoreType)
    /// A store in a PostgreSQL database.
    public static let postgreSQL = NSPersistentStore.StoreType(rawValue: PostgreSQLStoreType)
}

extension NSPersistentStoreCoordinator {
    /// Makes ``PostgreSQLStoreType`` and ``ExistingPostgreSQLStoreType`` known to coordinators. Call it on any thread.
    public static func registerPostgreSQLStores() {
        registerStoreClass(PostgreSQLStore.self, forStoreType: PostgreSQLStoreType)
        registerStoreClass(MappedStore.self, forStoreType: ExistingPostgreSQLStoreType)
    }

    /// Adds a store in a PostgreSQL database, and creates its tables if there are none. With ``PostgreSQLStoreOptions/layout``, it adds a store for
    /// the tables of another program instead.
    ///
    /// ```swift
    /// try await coordinator.addPostgreSQLStore(at: "postgresql://shop@db.example.com/shop")
    /// ```
    ///
    /// It blocks no thread. Connections to other machines are encrypted, and the server's certificate is verified, unless the URL has another
    /// `sslmode`.
    ///
    /// - Parameters:
    ///   - url: The database, as libpq takes it.
    ///   - configuration: The configuration of the model that the store is limited to; nil for all entities.
    ///   - options: The settings of the store.
    ///   - isReadOnly: Whether the store rejects saves.
    /// - Returns: The store. Its `url` has no password and no parameters.
    /// - Throws: Code 134080 if the database cannot be reached or used; 134020 if its tables differ from the model, with every difference; 134100 if
    ///   they are of another version of the model. Call it on any queue.
    @discardableResult
    public func addPostgreSQLStore(
        at url: String, configurationName configuration: String? = nil, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions(),
        isReadOnly: Bool = false
    ) async throws -> NSPersistentStore {
        guard let url = ConnectionSettings.url(url) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "A PostgreSQL store cannot be opened.", reason: "Its URL is none.",
                next: "Write it as postgresql://user@host:port/database?parameter=value, with special characters as %XX.")
        }
        Self.registerPostgreSQLStores()
        let opening = try options.layout.opening(url, options, managedObjectModel, configuration, isReadOnly: isReadOnly)
        do {
            // It runs on threads that are never blocked: an opening holds a lock of the database, which openings in blocks wait for.
            let work = Task(executorPreference: BlockingCall.executor) { try await opening.open() }
            let opened = try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
            let preparation = DatabaseStore.Preparation(url, options, opened: opened)
            return try addPersistentStore(
                ofType: options.layout.storeType, configurationName: configuration, at: ConnectionSettings.redacted(url),
                options: [DatabaseStore.preparationOption: preparation, NSReadOnlyPersistentStoreOption: NSNumber(value: isReadOnly)])
        } catch {
            opening.pool.close()
            throw error
        }
    }
}

extension NSPersistentStoreDescription {
    /// Creates the description of a store in a PostgreSQL database, for a container. Its `url` has no password and no parameters.
    public convenience init(postgreSQL url: URL, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()) {
        NSPersistentStoreCoordinator.registerPostgreSQLStores()
        self.init(url: ConnectionSettings.redacted(url))
        type = options.layout.storeType
        setOption(DatabaseStore.Preparation(url, options), forKey: DatabaseStore.preparationOption)
    }
}
#endif
