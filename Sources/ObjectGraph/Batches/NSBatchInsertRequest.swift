public import Foundation

/// The kinds of result of an ``NSBatchInsertRequest``.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether the rows were inserted.
    case statusOnly = 0
    /// The IDs of the new rows.
    case objectIDs = 1
    /// The number of inserted rows.
    case count = 2
}

/// Inserts rows into a store without creating objects in a context.
///
/// Provide the values as dictionaries, or with a handler that fills one row at a time and returns true when there are no more; the row of
/// that last call is not inserted. Other attributes have their default values. Validation does not run, and contexts are not notified:
/// pass the IDs of the result to `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
///
/// The SQLite and in-memory stores support the request; an ``NSIncrementalStore`` receives it and may support it; other stores throw.
/// Either all rows are inserted or none. If there are more than some thousand rows, the SQLite store keeps the rows of a handler in a temporary file
/// until the handler has filled the last one: the handler runs outside of any transaction.
///
/// Source: [NSBatchInsertRequest](https://developer.apple.com/documentation/coredata/nsbatchinsertrequest).
open class NSBatchInsertRequest: NSPersistentStoreRequest, ExecutableBatchRequest {
    /// The name of the entity.
    open var entityName: String { entity?.name ?? givenName ?? "" }
    /// The entity; nil until the request is executed if it was created with a name.
    open package(set) var entity: NSEntityDescription?
    /// The entity of a request that is being executed.
    package final var knownEntity: NSEntityDescription { entity.known("the context has looked it up before the request went further") }
    private var givenName: String?
    /// The values of the rows, by attribute name. `NSNull` stands for nil.
    open var objectsToInsert: [[String: Any]]?
    /// Fills one row, and returns true when there are no more. Called on the context's queue.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Fills one row through an object without a context, and returns true when there are no more. Called on the context's queue.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// The kind of result.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly

    /// The type of the request.
    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    /// Creates a request without an entity, which cannot be executed.
    public required init() { super.init() }

    /// Creates a request with the values of all rows.
    public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.init()
        givenName = entityName
        objectsToInsert = dictionaries
    }

    /// Creates a request with the values of all rows.
    public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        self.init()
        self.entity = entity
        objectsToInsert = dictionaries
    }

    /// Creates a request with a handler that fills a dictionary for each row.
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init()
        givenName = entityName
        dictionaryHandler = handler
    }

    /// Creates a request with a handler that fills a dictionary for each row.
    public convenience init(entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init()
        self.entity = entity
        dictionaryHandler = handler
    }

    /// Creates a request with a handler that fills an object for each row.
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init()
        givenName = entityName
        managedObjectHandler = handler
    }

    /// Creates a request with a handler that fills an object for each row.
    public convenience init(entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init()
        self.entity = entity
        managedObjectHandler = handler
    }

    /// Returns a copy of the request, with the same handlers.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSBatchInsertRequest
        copy.entity = entity
        copy.givenName = givenName
        copy.objectsToInsert = objectsToInsert
        copy.dictionaryHandler = dictionaryHandler
        copy.managedObjectHandler = managedObjectHandler
        copy.resultType = resultType
        return copy
    }

    // MARK: Execution

    /// The kind of outcome that stores report.
    @_spi(Stores) public var wanted: BatchOutcome.Kind {
        switch resultType {
        case .statusOnly: .status
        case .objectIDs: .ids
        case .count: .count
        }
    }

    func result(_ value: Any) -> NSPersistentStoreResult { NSBatchInsertResult(value, resultType) }

    func plan(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchPlan {
        let request = copy() as! NSBatchInsertRequest
        let entity = try coordinator.entity(entity, named: entityName, for: self)
        request.entity = entity
        guard !entity.isAbstract else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "No rows of “\(entity)” can be inserted.", reason: "The entity is abstract.",
                next: "Insert rows of an entity that inherits from it.")
        }
        let stores = coordinator.stores(for: entity, among: affectedStores)
        guard let store = stores.first(where: { !$0.isReadOnly }) ?? stores.first else { throw coordinator.noStore(entity) }
        return BatchPlan(request: request, stores: [store])
    }
}

/// The result of an ``NSBatchInsertRequest``.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// An `NSNumber` (whether the request succeeded, or the number of rows), or an array of ``NSManagedObjectID``, according to the
    /// result type.
    public let result: Any?
    /// The kind of result.
    public let resultType: NSBatchInsertRequestResultType

    init(_ result: Any, _ resultType: NSBatchInsertRequestResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
