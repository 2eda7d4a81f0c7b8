public import Foundation

/// The key of the store's place in a notification of a remote change: a `URL`.
public let NSPersistentStoreURLKey = "storeURL"
/// The key of the place where the history ends, in a notification of a remote change: an ``NSPersistentHistoryToken``; absent without a history.
public let NSPersistentHistoryTokenKey = "historyToken"

extension Notification.Name {
    /// Another coordinator or process has written to the file of a store; posted on a background queue, with the coordinator as its object.
    ///
    /// Stores tell of it that were opened with ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``. The user info has
    /// ``NSStoreUUIDKey``, ``NSPersistentStoreURLKey`` and ``NSPersistentHistoryTokenKey``. One notification may stand for several transactions.
    ///
    /// Source: [NSPersistentStoreRemoteChange](https://developer.apple.com/documentation/foundation/nsnotification/name/3180044-nspersistentstoreremotechange).
    public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}
