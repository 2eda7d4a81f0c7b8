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
    /// Whose tables a store is about.
    public enum Layout: Sendable {
        /// The store's own: they are created for the model.
        case own
        /// Those of another program: the model says by its user info which tables and columns it is about. No table is created or changed.
        case existing
    }

    /// The schema of the database that has the tables. It is created with the store's own. The default is `public`.
    public var schema = "public"
    /// Whose tables the store is about. The default is the store's own.
    public var layout = Layout.own
    /// The maximum number of connections. The default is 8.
    public var connectionLimit = 8
    /// The maximum number of seconds that a request waits for a free connection, for a server that restarts, and for another server of a cluster to
    /// take over. The default is 30.
    public var connectionTimeout: TimeInterval = 30
    /// The maximum number of seconds that a statement may take on the server; nil, the default, for the server's own limit.
    public var statementTimeout: TimeInterval?
    /// Whether the store keeps a history of its changes, as with `NSPersistentHistoryTrackingKey`. One that has a history keeps it in any case:
    /// readers rely on its being complete. The default is false.
    public var tracksHistory = false
    /// Whether `NSPersistentStoreRemoteChange` is posted for the saves of all programs, as with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`. The store needs one more connection for it. The default is false.
    public var postsRemoteChanges = false
    /// Whether objects are read from replicas: the hosts of the URL apart from the primary. A replica answers where it has everything that this
    /// store has written and read before, else the primary; it need not have what others have saved since. A context whose `stalenessInterval`
    /// is 0 reads from the primary. As many connections again are for the replica that the store has chosen. The default is false.
    public var readsFromReplicas = false
    /// Returns the password for a new connection; nil, the default, to take that of the URL, of a service file or of a password file. Called on
    /// any thread, for each connection. What it returns is never logged and in no error.
    public var password: (@Sendable () async throws -> String)?

    /// What each transaction of the store sets on the server (`SET LOCAL`), by the names of the settings, for policies of row-level security:
    /// `["app.tenant": "blue"]`. Empty by default. See ``ObjectGraph/NSPersistentStoreCoordinator/coordinator(databaseSettings:)`` for settings of
    /// single contexts.
    public var databaseSettings: [String: String] = [:]

    /// Whether saves may share transactions where they come faster than the server answers: those that change attributes of one object each, without
    /// uniqueness constraints, history and settings. Each of them fails or succeeds by itself, whatever becomes of the others. Switch it off where
    /// triggers of the database tell saves apart by their transactions. The default is true.
    public var combinesSaves = true

    /// Whether a store of another version of the model is migrated when it is opened, as
    /// `NSPersistentStoreDescription.shouldMigrateStoreAutomatically` says for a container. The default is false. Whoever has the store open with the
    /// older version must be stopped before.
    public var migratesAutomatically = false

    /// Creates the default settings.
    public init() {}
}
#endif
