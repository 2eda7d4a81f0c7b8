public import Foundation

/// What an ``NSBatchInsertRequest`` is to report.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether the rows were inserted.
    case statusOnly = 0
    /// The IDs of the new rows.
    case objectIDs = 1
    /// How many rows were inserted.
    case count = 2
}

/// Inserts rows into a store without making objects.
///
/// Give the values as dictionaries, or a handler that fills in one row at a time and returns true when there are no more; what it is handed in
/// that last call is not inserted. Attributes that are not given have their default values. Validation does not run and contexts learn nothing:
/// hand the IDs of the result to `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
///
/// The SQLite and in-memory stores serve the request; an ``NSIncrementalStore`` is handed it and may; other stores throw. All rows are inserted or none.
///
/// Source: [NSBatchInsertRequest](https://developer.apple.com/documentation/coredata/nsbatchinsertrequest).
open class NSBatchInsertRequest: NSPersistentStoreRequest, ExecutableBatchRequest {
    /// The name of the entity.
    open var entityName: String { entity?.name ?? givenName ?? "" }
    /// The entity; nil until the request is executed when only its name was given.
    open internal(set) var entity: NSEntityDescription?
    /// The entity of a request that is being executed.
    final var knownEntity: NSEntityDescription { entity.known("the context has looked it up before the request went further") }
    private var givenName: String?
    /// The values of the rows, by the names of attributes. `NSNull` stands for nil.
    open var objectsToInsert: [[String: Any]]?
    /// Fills in one row; true when there are no more. Called on the context's queue.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    /// Fills in one row by an object that belongs to no context; true when there are no more. Called on the context's queue.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?
    /// What the result is to say.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    /// Makes a request without an entity, which cannot be executed.
    public required init() { super.init() }

    /// Makes a request with the values of all rows.
    public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.init()
        givenName = entityName
        objectsToInsert = dictionaries
    }

    /// Makes a request with the values of all rows.
    public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        self.init()
        self.entity = entity
        objectsToInsert = dictionaries
    }

    /// Makes a request with a handler that fills in a dictionary for each row.
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init()
        givenName = entityName
        dictionaryHandler = handler
    }

    /// Makes a request with a handler that fills in a dictionary for each row.
    public convenience init(entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init()
        self.entity = entity
        dictionaryHandler = handler
    }

    /// Makes a request with a handler that fills in an object for each row.
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init()
        givenName = entityName
        managedObjectHandler = handler
    }

    /// Makes a request with a handler that fills in an object for each row.
    public convenience init(entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init()
        self.entity = entity
        managedObjectHandler = handler
    }

    /// A request like this one, with the same handlers.
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

    /// What stores are to report.
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

/// What an ``NSBatchInsertRequest`` has done.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// An `NSNumber` (whether it was done, or how many rows), or an array of ``NSManagedObjectID``, as the result type says.
    public let result: Any?
    /// What was asked for.
    public let resultType: NSBatchInsertRequestResultType

    init(_ result: Any, _ resultType: NSBatchInsertRequestResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
