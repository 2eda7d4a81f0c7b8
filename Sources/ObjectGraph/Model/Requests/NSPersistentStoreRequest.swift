public import Foundation

/// The types of request that a store executes.
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

/// A request of a context to its stores.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores of ``affectedStores``, which knows their type.
    package final var stores: [AnyObject]?
    /// The type of the request.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Creates a request.
    public required override init() { super.init() }

    /// Returns a copy of the request.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        copy.stores = stores
        return copy
    }
}

/// The result of a request, for requests without a simpler one.
open class NSPersistentStoreResult: NSObject {}
