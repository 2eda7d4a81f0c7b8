// Options of stores, for NSPersistentStoreDescription.setOption(_:forKey:) and addPersistentStore(ofType:configurationName:at:options:).
//
// The in-memory store supports ``NSReadOnlyPersistentStoreOption`` only, like Apple's: it has no file to migrate, protect, lock or
// vacuum, and no history. A custom store receives its options in `options`, and documents those it supports.

/// The option to migrate a store of another model version when it is opened: an `NSNumber`.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// The option to infer a missing mapping model: an `NSNumber`.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// The option for the stages of a migration: an `NSStagedMigrationManager`.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// The option to leave the part of an inferred migration that can wait to `finishDeferredLightweightMigration()`: an `NSNumber`.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey = "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// The option to ignore the model version that the store was written with: an `NSNumber`.
///
/// The version hashes are not compared, and nothing is migrated. A SQLite store must have the tables and columns that the model needs; the next save
/// writes the hashes of the model, and the model itself, into it.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// The option for the number of seconds that a store waits for other users of its file: an `NSNumber`.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// The option for the pragmas of a SQLite store: a dictionary of strings by pragma name.
///
/// With `["synchronous": "FULL"]` a power failure loses no save that has returned; with `NORMAL`, the default, it may lose those since the last
/// checkpoint.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// The option to make a SQLite store gather statistics when it is opened: an `NSNumber`.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// The option to make a SQLite store release unused space when it is opened: an `NSNumber`.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// The option to track the history of saves: an `NSNumber`.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// The option to post notifications of writes by other processes: an `NSNumber`.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// The option for file protection on Apple's mobile platforms: the raw value of a `FileProtectionType`. It has no effect elsewhere.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// The option to destroy a store even if it is in use: an `NSNumber`.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"

/// The option for the handling of rows that the new version forbids in a migration: a ``ForbiddenRowsPolicy`` or its raw value. Not one of Apple's.
public let ForbiddenRowsPolicyOption = "ForbiddenRowsPolicyOption"
/// The option for a `Progress` that an automatic migration reports to and is cancelled by. Without it, the migration reports to the current
/// progress of the thread that opens the store. Not one of Apple's.
public let MigrationProgressOption = "MigrationProgressOption"

/// The handling of rows that the new version forbids in an automatic migration: rows without a value that becomes required, and rows that are equal
/// in values that become unique.
public enum ForbiddenRowsPolicy: String, Sendable {
    /// The migration fails, and names the rows. The store is as before.
    case fail
    /// A missing value becomes the neutral one of its type: 0, false, or the empty text. Of rows that must be unique, all but the first are deleted.
    case repair
    /// The rows stay unchanged, and fail validation when they are next saved.
    case keep
}
