public import Foundation

/// The user-info key of the store's URL in a remote change notification.
public let NSPersistentStoreURLKey = "storeURL"
/// The user-info key of the end of the history in a remote change notification: an ``NSPersistentHistoryToken``; absent without history
/// tracking.
public let NSPersistentHistoryTokenKey = "historyToken"

extension Notification.Name {
    /// Posted on a background queue when the file of a store was written to, by this coordinator, another one or another process; its
    /// object is the coordinator.
    ///
    /// Stores opened with ``NSPersistentStoreRemoteChangeNotificationPostOptionKey`` post it. The user info contains ``NSStoreUUIDKey``,
    /// ``NSPersistentStoreURLKey`` and ``NSPersistentHistoryTokenKey``. One notification may stand for several transactions.
    ///
    /// Source: [NSPersistentStoreRemoteChange](https://developer.apple.com/documentation/foundation/nsnotification/name/3180044-nspersistentstoreremotechange).
    public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}
