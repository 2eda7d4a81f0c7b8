public import Foundation

/// Asks a store to save what a context has inserted, updated and deleted.
///
/// The objects are those of the saving context: read them on its queue, which is where the store is called. Each set is nil where there
/// is nothing of its kind.
///
/// Source: [NSSaveChangesRequest](https://developer.apple.com/documentation/coredata/nssavechangesrequest).
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// The new objects. They have the permanent IDs that the store gave.
    public private(set) var insertedObjects: Set<NSManagedObject>?
    /// The changed objects.
    public private(set) var updatedObjects: Set<NSManagedObject>?
    /// The objects to delete.
    public private(set) var deletedObjects: Set<NSManagedObject>?
    /// Objects that have not changed but whose version is to be checked and counted up.
    public private(set) var lockedObjects: Set<NSManagedObject>?

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    /// Makes a request of the four sets.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    /// Makes an empty request.
    public required init() { super.init() }

    /// A request with the same objects.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSSaveChangesRequest
        copy.insertedObjects = insertedObjects
        copy.updatedObjects = updatedObjects
        copy.deletedObjects = deletedObjects
        copy.lockedObjects = lockedObjects
        return copy
    }
}
