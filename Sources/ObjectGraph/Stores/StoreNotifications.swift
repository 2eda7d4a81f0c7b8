public import Foundation

/// The user-info key of the added stores, in a `NSPersistentStoreCoordinatorStoresDidChange` notification.
public let NSAddedPersistentStoresKey = "added"

/// The user-info key of the removed stores.
public let NSRemovedPersistentStoresKey = "removed"

/// The user-info key of the stores whose UUID has changed.
public let NSUUIDChangedPersistentStoresKey = "changed"

extension Notification.Name {
    /// Posted when a coordinator has added or removed a store.
    public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name("_NSPersistentStoresChangedNotification")
    /// Declared for source compatibility and never posted here; on Apple's platforms, it announces changes of iCloud stores.
    public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name("NSPersistentStoreCoordinatorStoresWillChange")
    /// Posted when a coordinator is about to remove a store, which is the object of the notification.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
        "_NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

extension NSPersistentStoreCoordinator {
    func postStoresChange(_ key: String, _ store: NSPersistentStore) {
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [key: [store]])
    }
}
