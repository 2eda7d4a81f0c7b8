public import Foundation

// The names of the SQLite store and its options. The store itself is in a module above: descriptions of stores need no more than this.

/// The type of SQLite stores, with Core Data's own layout.
public let NSSQLiteStoreType = "SQLite"

extension NSPersistentStore.StoreType {
    /// The SQLite store.
    public static let sqlite = NSPersistentStore.StoreType(rawValue: NSSQLiteStoreType)
}

/// The option for the number of connections with which a SQLite store reads concurrently, in addition to the writing one: an `NSNumber`, at least 1.
/// The default is the number of processors, between 2 and 8.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"

/// The option for the memory, in bytes, of cached rows that no context uses any more: an `NSNumber`. The default is 32 megabytes.
public let SQLiteRowCacheLimitOption = "SQLiteRowCacheLimitOption"

/// The defaults of a SQLite store.
package enum SQLiteStoreDefaults {
    /// How many seconds it waits for others that use its file.
    package static let timeout: TimeInterval = 240
}

/// The option for the preparation of each connection of a SQLite store before any other use: a ``SQLiteConnectionPreparation``.
public let SQLiteConnectionPreparationOption = "SQLiteConnectionPreparationOption"

/// The preparation of each connection to the file of a SQLite store before any other use, for example to give the key to a SQLite library that
/// encrypts.
///
/// ```swift
/// let preparation = SQLiteConnectionPreparation { connection in
///     guard sqlite3_key(connection, key, Int32(key.count)) == SQLITE_OK else { throw KeyError() }
/// }
/// try coordinator.addPersistentStore(
///     ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [SQLiteConnectionPreparationOption: preparation])
/// ```
///
/// The encrypting library takes the place of the system's `libsqlite3`: the framework contains none of its own. Copies that migrations make beside
/// the file are prepared like the file.
public final class SQLiteConnectionPreparation: NSObject, Sendable {
    /// Whether the file is encrypted: then the store has no external files, which would not be.
    public let encrypts: Bool
    /// Prepares a connection, a `sqlite3 *`. Called on any thread.
    public let prepare: @Sendable (OpaquePointer) throws -> Void

    /// Creates a preparation.
    ///
    /// - Parameters:
    ///   - encrypts: Whether the file is encrypted: opening it with a model whose attributes allow external storage is then an error.
    ///   - prepare: Prepares a connection, a `sqlite3 *`. An error that it throws is that of opening the file.
    public init(encrypts: Bool = true, prepare: @escaping @Sendable (OpaquePointer) throws -> Void) {
        self.encrypts = encrypts
        self.prepare = prepare
    }
}
