internal import CoreData

/// A store that keeps its objects in memory, and every save in a file of its own that only grows.
///
/// ```swift
/// LogStore.register()
/// try coordinator.addPersistentStore(ofType: LogStore.storeType, configurationName: nil, at: url)
/// ```
///
/// Any model will do. A save is in the file wholly or not at all, also when the program is killed; fetches and faults do not wait for it.
public enum LogStore {
    /// The type under which ``register()`` makes the store known.
    public static let storeType = "LogStore"
    /// The option that says whether a save waits until it is on the disk. True unless it says otherwise; without it the last saves may be lost when
    /// the machine stops, not when the program does.
    public static let synchronizesOption = "LogStoreSynchronizes"
    /// The option that says how many rows a file holds at least before it is written anew without those that others have replaced. 10,000 unless
    /// it says otherwise.
    public static let leastRowsToCompactOption = "LogStoreLeastRowsToCompact"

    /// Makes the store known to coordinators. May be called on any thread, and more than once.
    public static func register() { NSPersistentStoreCoordinator.registerStoreClass(LogBackedStore.self, forStoreType: storeType) }
}
