public import Foundation

/// The kinds of result of an ``NSBatchUpdateRequest``.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether the rows were updated.
    case statusOnlyResultType = 0
    /// The IDs of the updated rows.
    case updatedObjectIDsResultType = 1
    /// The number of updated rows.
    case updatedObjectsCountResultType = 2
}

/// Updates attributes of all rows that match a predicate, without loading objects.
///
/// Validation does not run, and contexts are not notified: pass the IDs of the result to
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. A context that saves changes to one of the rows, based on its older values,
/// gets a merge conflict.
///
/// The SQLite and in-memory stores support the request; an ``NSIncrementalStore`` receives it and may support it; other stores throw.
/// Either all rows are updated or none.
///
/// Source: [NSBatchUpdateRequest](https://developer.apple.com/documentation/coredata/nsbatchupdaterequest).
open class NSBatchUpdateRequest: NSPersistentStoreRequest, ExecutableBatchRequest {
    /// The name of the entity.
    open var entityName: String { entity?.name ?? givenName ?? "" }
    /// The entity; nil until the request is executed if it was created with a name.
    open package(set) var entity: NSEntityDescription?
    /// The entity of a request that is being executed.
    package final var knownEntity: NSEntityDescription { entity.known("the context has looked it up before the request went further") }
    private var givenName: String?
    /// The predicate for the rows; nil for all.
    open var predicate: NSPredicate?
    /// Whether rows of subentities are updated too.
    open var includesSubentities = true
    /// The kind of result.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType
    /// The new values, by attribute name or description: constants, `NSNull` for nil, or an `NSExpression` over the current row.
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// The type of the request.
    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    /// Creates a request without an entity, which cannot be executed.
    public required init() { super.init() }

    /// Creates a request for the rows of an entity.
    public convenience init(entityName: String) {
        self.init()
        givenName = entityName
    }

    /// Creates a request for the rows of an entity.
    public convenience init(entity: NSEntityDescription) {
        self.init()
        self.entity = entity
    }

    /// Returns a copy of the request.
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

    /// The kind of outcome that stores report.
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
        request.predicate = try context.resolvingContextValues(in: predicate, of: entity)
        guard !(propertiesToUpdate ?? [:]).isEmpty else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The batch update of “\(entity)” names nothing to update.", next: "Set propertiesToUpdate.")
        }
        return BatchPlan(request: request, stores: try coordinator.servingStores(for: entity, among: affectedStores))
    }
}

/// The result of an ``NSBatchUpdateRequest``.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// An `NSNumber` (whether the request succeeded, or the number of rows), or an array of ``NSManagedObjectID``, according to the
    /// result type.
    public let result: Any?
    /// The kind of result.
    public let resultType: NSBatchUpdateRequestResultType

    init(_ result: Any, _ resultType: NSBatchUpdateRequestResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
