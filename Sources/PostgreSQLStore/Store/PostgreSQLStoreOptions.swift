#if PostgreSQL
public import Foundation

/// The settings of a PostgreSQL store.
///
/// ```swift
/// var options = PostgreSQLStoreOptions()
/// options.schema = "shop"
/// options.password = { try await vault.password(of: "shop") }
/// ```
public struct PostgreSQLStoreOptions: Sendable {
    /// The layout of a store's tables.
    public enum Layout: Sendable {
        /// The store's own: they are created for the model.
        case own
        /// Another program's tables: the user info of the model names its tables and columns. No table is created or changed.
        case existing
    }

    /// The schema of the database that has the tables. It is created with the store's own. The default is `public`.
    public var schema = "public"
    /// The layout of the store's tables. The default is the store's own.
    public var layout = Layout.own
    /// The maximum number of connections. The default is 8.
    public var connectionLimit = 8
    /// The maximum number of seconds that a request waits for a free connection, for a server that restarts, and for another server of a cluster to
    /// take over. The default is 30.
    public var connectionTimeout: TimeInterval = 30
    /// The maximum number of seconds that a statement may take on the server; nil, the default, for the server's own limit.
    public var statementTimeout: TimeInterval?
    /// Whether the store keeps a history of its changes, as with `NSPersistentHistoryTrackingKey`. A store that has a history always keeps it:
    /// readers rely on its completeness. The default is false.
    public var tracksHistory = false
    /// Whether `NSPersistentStoreRemoteChange` is posted for the saves of all programs, as with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`. The store needs one more connection for it. The default is false.
    public var postsRemoteChanges = false
    /// Whether objects are read from replicas: the hosts of the URL other than the primary. A replica answers if it has everything that this store
    /// has written and read before, otherwise the primary does. A replica may lack later saves of other clients. A context whose `stalenessInterval`
    /// is 0 reads from the primary. The chosen replica has a connection pool of its own, of the same size. The default is false.
    public var readsFromReplicas = false
    /// Returns the password for a new connection. The default is nil: the password comes from the URL, a service file or a password file. It is
    /// called on any thread, for each connection. Its result is never logged and appears in no error.
    public var password: (@Sendable () async throws -> String)?

    /// The settings that each transaction of the store makes on the server (`SET LOCAL`), by the names of the settings, for policies of row-level
    /// security: `["app.tenant": "blue"]`. The default is empty. See ``ObjectGraph/NSPersistentStoreCoordinator/coordinator(databaseSettings:)`` for
    /// settings of single contexts.
    public var databaseSettings: [String: String] = [:]

    /// Whether saves may share transactions if they arrive faster than the server answers: saves that change attributes of one object each, without
    /// uniqueness constraints, history and settings. Each of them succeeds or fails independently. Switch it off if triggers of the database
    /// distinguish saves by their transactions. The default is true.
    public var combinesSaves = true

    /// Whether a store of another version of the model is migrated when it is opened, like
    /// `NSPersistentStoreDescription.shouldMigrateStoreAutomatically` for a container. The default is false. Stop all programs that have the store
    /// open with the older version first.
    public var migratesAutomatically = false

    /// Creates the default settings.
    public init() {}
}
#endif
