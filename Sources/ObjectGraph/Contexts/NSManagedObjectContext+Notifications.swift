public import Foundation

/// The user-info key of the inserted objects in a context's notification: `Set<NSManagedObject>`.
public let NSInsertedObjectsKey = "inserted"
/// The user-info key of the updated objects.
public let NSUpdatedObjectsKey = "updated"
/// The user-info key of the deleted objects.
public let NSDeletedObjectsKey = "deleted"
/// The user-info key of the objects that were refreshed without changes of their own.
public let NSRefreshedObjectsKey = "refreshed"
/// The user-info key of the invalidated objects.
public let NSInvalidatedObjectsKey = "invalidated"
/// The user-info key of the IDs of all objects, invalidated by a reset: `[NSManagedObjectID]`.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The user-info key of the IDs of the inserted objects: `Set<NSManagedObjectID>`.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// The user-info key of the IDs of the updated objects.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// The user-info key of the IDs of the deleted objects.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// The user-info key of the IDs of the refreshed objects.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// The user-info key of the IDs of the invalidated objects.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// The user-info key of the context's query generation in a did-save notification: an ``NSQueryGenerationToken``.
public let NSManagedObjectContextQueryGenerationKey = "NSManagedObjectContextQueryGeneration"
/// The user-info key of the history token of a save, as on Apple's platforms, where the key has no public name.
let newHistoryTokenKey = "newChangeToken"

extension Notification.Name {
    /// Posted when objects of a context have changed.
    public static let NSManagedObjectContextObjectsDidChange = Notification.Name("NSObjectsChangedInManagingContextNotification")
    /// Posted when a context is about to save.
    public static let NSManagedObjectContextWillSave = Notification.Name("NSManagingContextWillSaveChangesNotification")
    /// Posted when a context has saved.
    public static let NSManagedObjectContextDidSave = Notification.Name("NSManagingContextDidSaveChangesNotification")
    /// Posted when a context has saved; the user info holds IDs, which may cross to other queues.
    public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name("_NSManagingContextDidSaveChangesObjectIDsNotification")
}

extension NSManagedObjectContext {
    /// Posted when objects of a context have changed. The objects in the user info belong to the context's queue.
    public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
    /// Posted when a context is about to save.
    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    /// Posted when a context has saved. The objects in the user info belong to the context's queue.
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    /// Posted when a context has saved; the user info holds sets of IDs.
    public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs

    /// The keys of a notification's user info.
    public enum NotificationKey: String, Sendable {
        /// The inserted objects.
        case insertedObjects = "inserted"
        /// The updated objects.
        case updatedObjects = "updated"
        /// The deleted objects.
        case deletedObjects = "deleted"
        /// The refreshed objects.
        case refreshedObjects = "refreshed"
        /// Whether every object was invalidated.
        case invalidatedAllObjects = "invalidatedAll"
        /// The invalidated objects.
        case invalidatedObjects = "invalidated"
        /// The IDs of the inserted objects.
        case insertedObjectIDs = "inserted_objectIDs"
        /// The IDs of the updated objects.
        case updatedObjectIDs = "updated_objectIDs"
        /// The IDs of the deleted objects.
        case deletedObjectIDs = "deleted_objectIDs"
        /// The IDs of the refreshed objects.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// The IDs of the invalidated objects.
        case invalidatedObjectIDs = "invalidated_objectIDs"
        /// The query generation of the context.
        case queryGeneration = "NSManagedObjectContextQueryGeneration"
    }

    /// Posts a notification of changed objects.
    func post(_ name: Notification.Name, _ changes: ObjectChanges = ObjectChanges()) {
        if let observation, name == Self.didChangeObjectsNotification { observation.didChange(changes) }
        let (generation, token) = name == Self.didSaveObjectsNotification ? statesAfterSave() : (nil, nil)
        let info = Self.objectInfo([
            changes.inserted.unlessEmpty, changes.updated.unlessEmpty, changes.deleted.unlessEmpty, changes.refreshed.unlessEmpty,
            changes.invalidatedAll.unlessEmpty, generation, token,
        ])
        NotificationCenter.postInTurn(name: name, object: self, userInfo: info)
    }

    private static let objectInfo = NotificationInfo([
        NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey, NSInvalidatedAllObjectsKey,
        NSManagedObjectContextQueryGenerationKey, newHistoryTokenKey,
    ])

    /// Returns the states of the stores for a did-save notification: the query generation, and the end of the history if a store tracks it. Stores
    /// over a network are not queried, since no save may wait for that.
    private func statesAfterSave() -> (generation: NSQueryGenerationToken?, token: NSPersistentHistoryToken?) {
        guard parent == nil, let persistentStoreCoordinator else { return (nil, nil) }
        let asked = persistentStoreCoordinator.persistentStores.filter { !($0.interface is any AsynchronousStore) }
        return (generation.current ?? .current, persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: asked))
    }

    /// Posts the IDs of saved objects in three sets, even if all are empty.
    func postSavedIDs(_ changes: ChangeSet) {
        let info = Self.savedIDInfo([changes.insertedIDs?.value ?? changes.inserted.idSet, changes.updated.idSet, changes.deleted.idSet])
        NotificationCenter.postInTurn(name: Self.didSaveObjectIDsNotification, object: self, userInfo: info)
    }

    private static let savedIDInfo = NotificationInfo([NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey])
}

extension Collection {
    fileprivate var unlessEmpty: Self? { isEmpty ? nil : self }
}
