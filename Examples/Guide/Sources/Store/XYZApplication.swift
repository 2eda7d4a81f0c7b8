internal import CoreData

/// The part of an application in which the guide registers its store.
public enum XYZApplication {
    /// Registers the store; call it after the launch of the application, before a store is added.
    public static func applicationDidFinishLaunching() {
        NSPersistentStoreCoordinator.registerStoreClass(XYZMyIncrementalStore.self, forStoreType: XYZMyIncrementalStore.storeType)
    }
}
