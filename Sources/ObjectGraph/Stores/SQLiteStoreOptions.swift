internal import Foundation

// What names the SQLite store and what it is asked for. The store itself is in a module above: descriptions of stores and what others say of
// them need no more than this.

/// The type of SQLite stores, with Core Data's own layout.
public let NSSQLiteStoreType = "SQLite"

extension NSPersistentStore.StoreType {
    /// The SQLite store.
    public static let sqlite = NSPersistentStore.StoreType(rawValue: NSSQLiteStoreType)
}

/// The option for the number of connections, beside the writing one, with which a SQLite store reads concurrently: an `NSNumber`, at least
/// 1. The default is the number of processors, between 2 and 8.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"

/// The option for the memory, in bytes, of cached rows that no context uses any more: an `NSNumber`. The default is 32 megabytes.
public let SQLiteRowCacheLimitOption = "SQLiteRowCacheLimitOption"

/// What a SQLite store does where it is told nothing else.
package enum SQLiteStoreDefaults {
    /// How many seconds it waits for others that use its file.
    package static let timeout: TimeInterval = 240
}
