public import Foundation

/// A store that reads and writes object by object: the base for stores over a web service, a database or a large file.
///
/// Override ``loadMetadata()``, ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``newValue(forRelationship:forObjectWith:with:)`` and, to save new objects, ``obtainPermanentIDs(for:)``. The framework calls them on
/// the queue of the context that asks, one request at a time unless it ``acceptsConcurrentRequests``. What a store answers is checked; an answer that breaks the contract is an
/// error (code 134070) that names the method and the mistake.
///
/// The framework keeps the nodes of objects that live in a context: a second context is answered without asking the store again.
/// ``NSManagedObjectContext/refresh(_:mergeChanges:)`` makes it ask again.
///
/// Source: [NSIncrementalStore](https://developer.apple.com/documentation/coredata/nsincrementalstore) and the
/// Incremental Store Programming Guide.
open class NSIncrementalStore: NSPersistentStore {
    let cache = RowCache()
    private let requestLock = NSRecursiveLock()

    /// Executes a request.
    ///
    /// - Parameters:
    ///   - request: an `NSFetchRequest<NSFetchRequestResult>`, an ``NSSaveChangesRequest``, or a batch request; throw for kinds that the store
    ///     does not serve.
    ///   - context: the context that asks. Its queue is the current one.
    /// - Returns: for a fetch, an array of what its `resultType` says: objects got by `context.object(with:)` (or their IDs), IDs,
    ///   dictionaries, or one `NSNumber` for a count (the number itself does too). For a save, an empty array. For a batch request, what its
    ///   `resultType` says: whether it was done, the IDs, or how many rows.
    /// - Throws: any error; it reaches the caller of fetch or save as it is.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw unsupported(request)
    }

    /// The values of an object whose fault fires.
    ///
    /// - Returns: a node for `objectID`.
    /// - Throws: any error; code 133000 (or 134070 with no row) says that there is no such object.
    open func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext) throws -> NSIncrementalStoreNode {
        throw CoreDataError.contract(
            self, "newValuesForObject(with:with:)", "It is not overridden, so no object of the store can be read.",
            next: "Override it and answer with a node.")
    }

    /// The objects of a relationship whose fault fires.
    ///
    /// - Returns: an array of IDs for a to-many relationship; an ID or `NSNull` for a to-one.
    /// - Throws: any error; code 133000 says that there is no such object, which leads nowhere then.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw CoreDataError.contract(
            self, "newValue(forRelationship:forObjectWith:with:)", "It is not overridden, so “\(relationship)” cannot be read.",
            next: "Override it and answer with IDs.")
    }

    /// The values of many objects, where the store can read them by one question. Not in Apple's API.
    ///
    /// Objects that came together, by a fetch or a relationship, are asked for together when the first of them is read: up to a thousand, or
    /// the request's ``NSFetchRequest/fetchBatchSize``. Override it wherever a question costs more than its answer.
    ///
    /// - Returns: a node for each object, in any order; one that is left out is asked for by itself when it is read. Nil, unless overridden: the
    ///   store reads one object at a time, by ``newValuesForObject(with:with:)``.
    /// - Throws: any error; it reaches the reader of the first object, and the question is repeated at the next read.
    open func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]? { nil }

    /// A relationship of many objects, where the store can read it by one question. Not in Apple's API.
    ///
    /// - Returns: for each object what ``newValue(forRelationship:forObjectWith:with:)`` answers: an array of IDs for a to-many relationship, an
    ///   ID or `NSNull` for a to-one. An object that is left out is asked for by itself. Nil, unless overridden: one at a time.
    /// - Throws: any error.
    open func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: Any]? { nil }

    /// A UUID for a new store at a place.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Permanent IDs for new objects, made by ``newObjectID(for:referenceObject:)``. Called before the save request.
    ///
    /// - Returns: one ID for each object, in the same order.
    /// - Throws: any error; nothing is saved then.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw CoreDataError.contract(
            self, "obtainPermanentIDs(for:)", "It is not overridden, so the store cannot take new objects.",
            next: "Override it and answer with an ID for each object.")
    }

    /// Called when objects of the store come to live in a context.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}
    /// Called when objects of the store no longer live in a context.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// The ID of the object that the store knows under a key.
    ///
    /// - Parameters:
    ///   - entity: the entity of the object.
    ///   - data: the key: text, a whole number or a UUID. Anything else stops the program with a message.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, referenceObject: data)
    }

    /// The key under which the store knows an object: a `String`, an `NSNumber` or a `UUID`.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { objectID.reference.object }

    /// The version of the node that an object's changes start from; nil for an object that is new or whose values were never read.
    ///
    /// For stores whose rows others write too: compare it, while saving, with the version that the row has now. Where they differ, throw
    /// code 133020 with an ``NSMergeConflict`` for each such object under ``NSPersistentStoreSaveConflictsErrorKey``; the context's merge
    /// policy settles it and the save is repeated. Call it on the context's queue. Not in Apple's API, which has no way to tell.
    public final func baseVersion(of object: NSManagedObject) -> UInt64? {
        object.snapshot.map { UInt64(clamping: $0.version) }
    }

    override func makeInterface() -> (any StoreInterface)? { IncrementalInterface(self) }

    // MARK: One request at a time

    /// Whether the store may be asked several things at once, by contexts of different queues. False unless overridden: one request waits for the
    /// other. Not in Apple's API.
    open var acceptsConcurrentRequests: Bool { false }

    /// Runs `body` when nothing else is asked of the store, unless it takes several requests at once. The store may use the context that asks it.
    final func serially<Result>(_ body: () throws -> Result) rethrows -> Result {
        if acceptsConcurrentRequests { return try body() }
        requestLock.lock()
        defer { requestLock.unlock() }
        return try body()
    }
}

extension NSManagedObjectID {
    /// The ID of the object that a store knows under a key.
    convenience init(entity: NSEntityDescription, token: StoreToken, referenceObject: Any) {
        guard let reference = Reference(referenceObject) else {
            preconditionFailure(
                "\(referenceObject) (\(Swift.type(of: referenceObject))) cannot be the reference object of an ID of “\(entity)”: "
                    + "use text, a whole number or a UUID.")
        }
        self.init(entity: entity, token: token, reference: reference)
    }
}
