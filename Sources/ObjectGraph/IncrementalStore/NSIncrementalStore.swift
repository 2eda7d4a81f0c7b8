public import Foundation
internal import Platform

/// A store that reads and writes individual objects: the base class of stores for web services, databases or large files.
///
/// Override ``NSPersistentStore/loadMetadata()``, ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``newValue(forRelationship:forObjectWith:with:)`` and, to save new objects, ``obtainPermanentIDs(for:)``. The framework calls them on
/// the queue of the requesting context, one request at a time unless the store ``acceptsConcurrentRequests``. Answers are validated; one
/// that violates the contract is an error (code 134070) that names the method and the problem.
///
/// The framework caches the nodes of registered objects: a second context does not query the store again.
/// ``NSManagedObjectContext/refresh(_:mergeChanges:)`` does.
///
/// Source: [NSIncrementalStore](https://developer.apple.com/documentation/coredata/nsincrementalstore) and the Incremental Store
/// Programming Guide.
open class NSIncrementalStore: NSPersistentStore {
    let cache = RowCache()
    /// Serializes the requests.
    // It is not a `LockedBox`: it guards the program's own store, and is recursive, because the store may use the requesting context.
    private let requestLock = NSRecursiveLock()
    /// The registrations to report to the store once no request is running.
    private let registrations = LockedBox<[Registration]>([])
    /// Whether they are being reported. Guarded by `requestLock`.
    private var isBeingTold = false

    private struct Registration {
        let ids: [NSManagedObjectID]
        let isRegistered: Bool
    }

    /// Executes a request.
    ///
    /// - Parameters:
    ///   - request: An `NSFetchRequest<NSFetchRequestResult>`, an ``NSSaveChangesRequest``, or a batch request; throw for types that the
    ///     store does not support.
    ///   - context: The requesting context, whose queue is the current one.
    /// - Returns: For a fetch, an array according to its `resultType`: objects from `context.object(with:)` (or their IDs), IDs,
    ///   dictionaries, or one `NSNumber` for a count (or the number itself). For a save, an empty array. For a batch request, the value
    ///   of its `resultType`: whether it succeeded, the IDs, or the number of rows.
    /// - Throws: Any error; the caller of the fetch or save receives it unchanged.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw unsupported(request)
    }

    /// Returns the values of an object whose fault fires.
    ///
    /// - Returns: A node for `objectID`.
    /// - Throws: Any error; code 133000 (or 134070 with no row) means that the object does not exist.
    open func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
        throw CoreDataError.contract(
            self, "newValuesForObject(with:with:)", "It is not overridden, so no object of the store can be read.",
            next: "Override it and answer with a node.")
    }

    /// Returns the objects of a relationship whose fault fires.
    ///
    /// - Returns: An array of IDs for a to-many relationship; an ID or `NSNull` for a to-one relationship.
    /// - Throws: Any error; code 133000 means that the object does not exist, and its relationship is then empty.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw CoreDataError.contract(
            self, "newValue(forRelationship:forObjectWith:with:)", "It is not overridden, so “\(relationship)” cannot be read.",
            next: "Override it and answer with IDs.")
    }

    /// Returns the values of many objects, for stores that can read them by one query. Not in Apple's API.
    ///
    /// The objects of one fetch or relationship are loaded together when the first of them is read: up to a thousand, or the request's
    /// ``NSFetchRequest/fetchBatchSize``. Override it wherever a query costs more than its result.
    ///
    /// - Returns: A node for each object, in any order; an omitted object is loaded separately when it is read. The default
    ///   implementation returns nil: the store reads one object at a time with ``newValuesForObject(with:with:)``.
    /// - Throws: Any error; the reader of the first object receives it, and the next read queries again.
    open func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]? { nil }

    /// Returns a relationship of many objects, for stores that can read it by one query. Not in Apple's API.
    ///
    /// - Returns: For each object the value of ``newValue(forRelationship:forObjectWith:with:)``: an array of IDs for a to-many
    ///   relationship, an ID or `NSNull` for a to-one relationship. An omitted object is loaded separately. The default implementation
    ///   returns nil: one object at a time.
    /// - Throws: Any error.
    open func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: Any]? { nil }

    /// Returns a UUID for a new store at a URL.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Returns permanent IDs for new objects, created with ``newObjectID(for:referenceObject:)``. Called before the save request.
    ///
    /// - Returns: One ID for each object, in the same order.
    /// - Throws: Any error; nothing is saved then.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw CoreDataError.contract(
            self, "obtainPermanentIDs(for:)", "It is not overridden, so the store cannot take new objects.",
            next: "Override it and answer with an ID for each object.")
    }

    /// Called when objects of the store are registered with a context, before the context's next request.
    ///
    /// Unless the store ``acceptsConcurrentRequests``, no request is running on another thread; a call that becomes due meanwhile is made after the
    /// request.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}
    /// Called when objects of the store are no longer registered with a context, in the same way, on any thread: a context may be
    /// deallocated anywhere.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Returns the object ID for a reference object.
    ///
    /// - Parameters:
    ///   - entity: The entity of the object.
    ///   - data: The reference object: a string, an integer or a UUID. Another value stops the program with a message.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, referenceObject: data)
    }

    /// Returns the reference object of an ID: a `String`, an `NSNumber` or a `UUID`.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { objectID.reference.object }

    /// Returns the version of the node that an object's changes are based on; nil for a new object and for one whose values were never
    /// loaded.
    ///
    /// For stores whose rows others write, too: compare it during a save with the current version of the row. If they differ, throw code 133020 with
    /// an ``NSMergeConflict`` for each such object under ``NSPersistentStoreSaveConflictsErrorKey``; the context's merge policy resolves it, and the
    /// save is retried. Call it on the context's queue. Not in Apple's API, which does not provide the version.
    public final func baseVersion(of object: NSManagedObject) -> UInt64? {
        object.snapshot.map { UInt64(clamping: $0.version) }
    }

    override func makeInterface() -> (any StoreInterface)? { IncrementalInterface(self) }

    // MARK: One request at a time

    /// Whether the store accepts concurrent requests from contexts on different queues. The default is false: requests wait for each
    /// other. Not in Apple's API.
    open var acceptsConcurrentRequests: Bool { false }

    /// Runs `body` exclusively, unless the store accepts concurrent requests. The store may use the requesting context.
    final func serially<Result>(_ body: () throws -> Result) rethrows -> Result {
        if acceptsConcurrentRequests { return try body() }
        requestLock.lock()
        defer {
            requestLock.unlock()
            tellOfRegistrations()
        }
        deliverRegistrations()
        return try body()
    }

    /// Notifies the store of registered or released objects: at once, or after the request that is running on another thread. Does not wait for that
    /// request, because the caller may be a deinitializer.
    final func tell(ofRegistered ids: [NSManagedObjectID], isRegistered: Bool) {
        let registration = Registration(ids: ids, isRegistered: isRegistered)
        if acceptsConcurrentRequests { return deliver(registration) }
        registrations.withLock { $0.append(registration) }
        tellOfRegistrations()
    }

    /// Reports the waiting registrations, unless a request is running on another thread, which does it at its end.
    private func tellOfRegistrations() {
        while registrations.withLock({ !$0.isEmpty }), requestLock.try() {
            let isNested = isBeingTold
            deliverRegistrations()
            requestLock.unlock()
            if isNested { return }
        }
    }

    /// Reports the waiting registrations to the store, in order. Call it under `requestLock`; a reentrant call does nothing.
    private func deliverRegistrations() {
        if isBeingTold { return }
        isBeingTold = true
        defer { isBeingTold = false }
        while let next = registrations.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { deliver(next) }
    }

    private func deliver(_ registration: Registration) {
        if registration.isRegistered {
            managedObjectContextDidRegisterObjects(with: registration.ids)
        } else {
            managedObjectContextDidUnregisterObjects(with: registration.ids)
        }
    }
}
