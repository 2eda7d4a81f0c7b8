internal import CoreData

/// A store that keeps its objects in memory and appends every save to a file.
///
/// ```swift
/// LogStore.register()
/// try coordinator.addPersistentStore(ofType: LogStore.storeType, configurationName: nil, at: url)
/// ```
///
/// It supports any model. A save is in the file completely or not at all, even if the program is killed; fetches and faults do not wait
/// for saves.
public enum LogStore {
    /// The type that ``register()`` registers the store under.
    public static let storeType = "LogStore"
    /// The option for whether a save waits until it is on the disk. The default is true; with false, the last saves may be lost when the
    /// machine stops, but not when the program does.
    public static let synchronizesOption = "LogStoreSynchronizes"
    /// The option for the minimum number of rows in a file before it is rewritten without replaced rows. The default is 10,000.
    public static let leastRowsToCompactOption = "LogStoreLeastRowsToCompact"

    /// Registers the store. Call it on any thread, any number of times.
    public static func register() { NSPersistentStoreCoordinator.registerStoreClass(LogBackedStore.self, forStoreType: storeType) }
}
