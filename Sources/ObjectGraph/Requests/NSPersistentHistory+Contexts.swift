public import Foundation

extension NSPersistentHistoryChange {
    /// Returns the entity description of changes, for a context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { HistoryEntities.change }
}

extension NSPersistentHistoryTransaction {
    /// Returns a notification like that of a saving context, for ``NSManagedObjectContext/mergeChanges(fromContextDidSave:)``.
    public func objectIDNotification() -> Notification {
        typealias Key = NSManagedObjectContext.NotificationKey
        func ids(_ type: NSPersistentHistoryChangeType) -> Set<NSManagedObjectID> {
            Set((record.changes ?? []).filter { $0.type == type }.map(\.objectID))
        }
        let info: [AnyHashable: Any] = [
            Key.insertedObjectIDs.rawValue: ids(.insert), Key.updatedObjectIDs.rawValue: ids(.update),
            Key.deletedObjectIDs.rawValue: ids(.delete),
        ]
        return Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, userInfo: info)
    }

    /// Returns the entity description of transactions, for a context.
    public class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? { HistoryEntities.transaction }
}
