// Options of stores, for NSPersistentStoreDescription.setOption(_:forKey:) and addPersistentStore(ofType:configurationName:at:options:).
//
// The in-memory store heeds ``NSReadOnlyPersistentStoreOption`` only, as Apple's does: it has no file that could be migrated, protected, locked or
// vacuumed, and no history. A store of your own finds what it was given in its `options`, and says itself what it heeds.

/// Whether a store that was written with another version of the model is migrated when it is opened: an `NSNumber`.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Whether a mapping model is inferred for that where there is none: an `NSNumber`.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Whether the version of the model that the store was written with is passed over: an `NSNumber`.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// For how many seconds a store waits for others that use its file: an `NSNumber`.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Pragmas of an SQLite store: a dictionary of texts by the names of the pragmas.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Whether an SQLite store gathers statistics when it is opened: an `NSNumber`.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Whether an SQLite store gives back unused space when it is opened: an `NSNumber`.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Whether a store keeps a history of what is saved: an `NSNumber`.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Whether a notification tells of what other processes write: an `NSNumber`.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// How a file is protected on Apple's mobile platforms: a `FileProtectionType`'s raw value. There is no such protection elsewhere.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Whether a store is destroyed even where it is in use: an `NSNumber`.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
