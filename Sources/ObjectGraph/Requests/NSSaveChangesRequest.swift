public import Foundation

/// Describes the changes of a context for a store to save.
///
/// The objects belong to the saving context: use them on its queue, on which the store is called. A set that would be empty is nil.
///
/// Source: [NSSaveChangesRequest](https://developer.apple.com/documentation/coredata/nssavechangesrequest).
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// The inserted objects, which have permanent IDs from the store.
    public private(set) var insertedObjects: Set<NSManagedObject>?
    /// The updated objects.
    public private(set) var updatedObjects: Set<NSManagedObject>?
    /// The deleted objects.
    public private(set) var deletedObjects: Set<NSManagedObject>?
    /// Unchanged objects whose version is checked and incremented.
    public private(set) var lockedObjects: Set<NSManagedObject>?

    /// The type of the request.
    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    /// Creates a request from the four sets.
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

    /// Creates an empty request.
    public required init() { super.init() }

    /// Returns a copy with the same objects.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSSaveChangesRequest
        copy.insertedObjects = insertedObjects
        copy.updatedObjects = updatedObjects
        copy.deletedObjects = deletedObjects
        copy.lockedObjects = lockedObjects
        return copy
    }
}
