public import Foundation

/// The kinds of request that a store is asked to execute.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// An ``NSFetchRequest``.
    case fetchRequestType = 1
    /// An ``NSSaveChangesRequest``.
    case saveRequestType = 2
    /// An ``NSBatchInsertRequest``.
    case batchInsertRequestType = 5
    /// An ``NSBatchUpdateRequest``.
    case batchUpdateRequestType = 6
    /// An ``NSBatchDeleteRequest``.
    case batchDeleteRequestType = 7
}

/// What a context asks of its stores.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores to ask; nil for all that hold the entity.
    open var affectedStores: [NSPersistentStore]?
    /// The kind of request.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Makes a request.
    public required override init() { super.init() }

    /// A request like this one.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        copy.affectedStores = affectedStores
        return copy
    }
}

/// What executing a request gives that has no simpler result.
open class NSPersistentStoreResult: NSObject {}
