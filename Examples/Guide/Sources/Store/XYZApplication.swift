internal import CoreData

/// The part of an application in which the guide registers its store.
public enum XYZApplication {
    /// Makes the store known to coordinators; call it when the application has launched, before a store is added.
    public static func applicationDidFinishLaunching() {
        NSPersistentStoreCoordinator.registerStoreClass(XYZMyIncrementalStore.self, forStoreType: XYZMyIncrementalStore.storeType)
    }
}
