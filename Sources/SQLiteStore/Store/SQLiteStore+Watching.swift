internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

extension SQLiteStore {
    /// Starts watching the file if the store was opened with ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``.
    func watchFile() {
        guard isOn(NSPersistentStoreRemoteChangeNotificationPostOptionKey), let url, !SQLiteFiles.isInMemory(url) else { return }
        // The other thread receives the token only, which does not retain the store.
        let token = token
        do {
            let made = try SQLFileWatcher(url) { (token.store as? SQLiteStore)?.checkForExternalChanges() }
            writeLock.withLock { watcher = made }
        } catch {
            Log.store.error("Changes of others are seen when the store is next used: \(error)")
        }
        checkForExternalChanges()
    }

    /// Checks whether others have written.
    private func checkForExternalChanges() {
        writeLock.withLock {
            guard persistentStoreCoordinator != nil, watcher != nil else { return }
            do { try detectExternalChanges() } catch { Log.store.error("It cannot be seen whether others have written: \(error)") }
        }
    }

    /// Posts the remote change notification, on a background queue.
    func postRemoteChange() {
        guard isOn(NSPersistentStoreRemoteChangeNotificationPostOptionKey), let coordinator = persistentStoreCoordinator else { return }
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: identifier ?? ""]
        if let url { info[NSPersistentStoreURLKey] = url }
        do {
            if let position = try lastHistoryPosition() {
                info[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken([identifier: position])
            }
        } catch {
            Log.store.error("The end of the history cannot be read: \(error)")
        }
        let notification = Transfer(Notification(name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: info))
        DispatchQueue.global().async { NotificationCenter.default.post(notification.value) }
    }
}
