public import Foundation

/// What an ``NSBatchUpdateRequest`` is to report.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether the rows were updated.
    case statusOnlyResultType = 0
    /// The IDs of the updated rows.
    case updatedObjectIDsResultType = 1
    /// How many rows were updated.
    case updatedObjectsCountResultType = 2
}

/// Updates attributes of all rows that a predicate matches, without making objects.
///
/// Validation does not run and contexts learn nothing: hand the IDs of the result to
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. A context that changes and saves one of the rows with its older values
/// meets a merge conflict.
///
/// The SQLite and in-memory stores serve the request; an ``NSIncrementalStore`` is handed it and may; other stores throw. All rows are updated or none.
///
/// Source: [NSBatchUpdateRequest](https://developer.apple.com/documentation/coredata/nsbatchupdaterequest).
open class NSBatchUpdateRequest: NSPersistentStoreRequest, ExecutableBatchRequest {
    /// The name of the entity.
    open var entityName: String { entity?.name ?? givenName ?? "" }
    /// The entity; nil until the request is executed when only its name was given.
    open internal(set) var entity: NSEntityDescription?
    /// The entity of a request that is being executed.
    final var knownEntity: NSEntityDescription { entity.known("the context has looked it up before the request went further") }
    private var givenName: String?
    /// Which rows are updated; nil for all.
    open var predicate: NSPredicate?
    /// Whether rows of entities that inherit from the entity are updated too.
    open var includesSubentities = true
    /// What the result is to say.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// The new values, by the names or descriptions of attributes: constants, `NSNull` for nil, or an `NSExpression` over the row as it was.
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    /// Makes a request without an entity, which cannot be executed.
    public required init() { super.init() }

    /// Makes a request for the rows of an entity.
    public convenience init(entityName: String) {
        self.init()
        givenName = entityName
    }

    /// Makes a request for the rows of an entity.
    public convenience init(entity: NSEntityDescription) {
        self.init()
        self.entity = entity
    }

    /// A request like this one.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSBatchUpdateRequest
        copy.entity = entity
        copy.givenName = givenName
        copy.predicate = predicate
        copy.includesSubentities = includesSubentities
        copy.resultType = resultType
        copy.propertiesToUpdate = propertiesToUpdate
        return copy
    }

    // MARK: Execution

    /// What stores are to report.
    @_spi(Stores) public var wanted: BatchOutcome.Kind {
        switch resultType {
        case .statusOnlyResultType: .status
        case .updatedObjectIDsResultType: .ids
        case .updatedObjectsCountResultType: .count
        }
    }

    func result(_ value: Any) -> NSPersistentStoreResult { NSBatchUpdateResult(value, resultType) }

    func plan(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchPlan {
        let request = copy() as! NSBatchUpdateRequest
        let entity = try coordinator.entity(entity, named: entityName, for: self)
        request.entity = entity
        request.predicate = try context.settled(predicate)
        guard !(propertiesToUpdate ?? [:]).isEmpty else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The batch update of “\(entity)” names nothing to update.", next: "Set propertiesToUpdate.")
        }
        return BatchPlan(request: request, stores: try coordinator.servingStores(for: entity, among: affectedStores))
    }
}

/// What an ``NSBatchUpdateRequest`` has done.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// An `NSNumber` (whether it was done, or how many rows), or an array of ``NSManagedObjectID``, as the result type says.
    public let result: Any?
    /// What was asked for.
    public let resultType: NSBatchUpdateRequestResultType

    init(_ result: Any, _ resultType: NSBatchUpdateRequestResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
