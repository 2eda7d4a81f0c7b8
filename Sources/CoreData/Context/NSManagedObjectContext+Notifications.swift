public import Foundation

/// The key of the objects that were inserted, in the user info of a context's notification: `Set<NSManagedObject>`.
public let NSInsertedObjectsKey = "inserted"
/// The key of the objects that were updated.
public let NSUpdatedObjectsKey = "updated"
/// The key of the objects that were deleted.
public let NSDeletedObjectsKey = "deleted"
/// The key of the objects that were refreshed without being changed here.
public let NSRefreshedObjectsKey = "refreshed"
/// The key of the objects that have become invalid.
public let NSInvalidatedObjectsKey = "invalidated"
/// The key of the IDs of all objects of the context, which a reset has made invalid: `[NSManagedObjectID]`.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"

extension Notification.Name {
    /// A context's objects have changed.
    public static let NSManagedObjectContextObjectsDidChange = Notification.Name("NSObjectsChangedInManagingContextNotification")
    /// A context is about to save.
    public static let NSManagedObjectContextWillSave = Notification.Name("NSManagingContextWillSaveChangesNotification")
    /// A context has saved.
    public static let NSManagedObjectContextDidSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
    /// A context has saved; the notification carries IDs, which may cross to other queues.
    public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name("_NSManagingContextDidSaveChangesObjectIDsNotification")
}

extension NSManagedObjectContext {
    /// A context's objects have changed. The objects of the user info belong to the context's queue.
    public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
    /// A context is about to save.
    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    /// A context has saved. The objects of the user info belong to the context's queue.
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    /// A context has saved; the user info holds sets of IDs.
    public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs

    /// The keys of a notification's user info, in the spelling of current SDKs.
    public enum NotificationKey: String, Sendable {
        /// The objects that were inserted.
        case insertedObjects = "inserted"
        /// The objects that were updated.
        case updatedObjects = "updated"
        /// The objects that were deleted.
        case deletedObjects = "deleted"
        /// The objects that were refreshed.
        case refreshedObjects = "refreshed"
        /// Whether every object has become invalid.
        case invalidatedAllObjects = "invalidatedAll"
        /// The objects that were invalidated.
        case invalidatedObjects = "invalidated"
        /// The IDs of the objects that were inserted.
        case insertedObjectIDs = "inserted_objectIDs"
        /// The IDs of the objects that were updated.
        case updatedObjectIDs = "updated_objectIDs"
        /// The IDs of the objects that were deleted.
        case deletedObjectIDs = "deleted_objectIDs"
        /// The IDs of the objects that were refreshed.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// The IDs of the objects that were invalidated.
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }

    func post(_ name: Notification.Name, _ changes: ObjectChanges = ObjectChanges()) {
        if let observation, name == Self.didChangeObjectsNotification { observation.didChange(changes) }
        var info: [AnyHashable: Any] = [:]
        if !changes.inserted.isEmpty { info[NSInsertedObjectsKey] = changes.inserted }
        if !changes.updated.isEmpty { info[NSUpdatedObjectsKey] = changes.updated }
        if !changes.deleted.isEmpty { info[NSDeletedObjectsKey] = changes.deleted }
        if !changes.refreshed.isEmpty { info[NSRefreshedObjectsKey] = changes.refreshed }
        if !changes.invalidatedAll.isEmpty { info[NSInvalidatedAllObjectsKey] = changes.invalidatedAll }
        NotificationCenter.default.post(name: name, object: self, userInfo: info)
    }

    func postSavedIDs(_ changes: ChangeSet) {
        var info: [AnyHashable: Any] = [:]
        info[NotificationKey.insertedObjectIDs.rawValue] = changes.inserted.idSet
        info[NotificationKey.updatedObjectIDs.rawValue] = changes.updated.idSet
        info[NotificationKey.deletedObjectIDs.rawValue] = changes.deleted.idSet
        NotificationCenter.default.post(name: Self.didSaveObjectIDsNotification, object: self, userInfo: info)
    }
}
