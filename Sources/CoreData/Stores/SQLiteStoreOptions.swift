internal import Foundation

// What names the SQLite store and what it is asked for. The store itself stands in a module above: descriptions of stores and what others say of
// them need no more than this.

/// The type of the store that keeps objects in a SQLite database, in Core Data's own layout.
public let NSSQLiteStoreType = "SQLite"

extension NSPersistentStore.StoreType {
    /// The store that keeps objects in a SQLite database.
    public static let sqlite = NSPersistentStore.StoreType(rawValue: NSSQLiteStoreType)
}

/// How many bytes of rows that no context shows any more a SQLite store keeps in memory, so that they need not be read again: an `NSNumber`. It is
/// 32 megabytes where nothing else is said.
public let SQLiteRowCacheLimitOption = "SQLiteRowCacheLimitOption"

/// What a SQLite store does where it is told nothing else.
enum SQLiteStoreDefaults {
    /// How many seconds it waits for others that use its file.
    static let timeout: TimeInterval = 240
}
