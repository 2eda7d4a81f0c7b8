public import Foundation
internal import Predicates

/// The kinds of result of an ``NSBatchDeleteRequest``.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether the rows were deleted.
    case resultTypeStatusOnly = 0
    /// The IDs of the deleted rows.
    case resultTypeObjectIDs = 1
    /// The number of deleted rows.
    case resultTypeCount = 2
}

/// Deletes all rows that match a fetch request, without loading objects.
///
/// Relationships to the deleted rows are nullified regardless of their delete rule: nothing cascades and nothing is denied. If such a relationship
/// must not be empty, the request fails. Validation does not run, and contexts are not notified: pass the IDs of the result to
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
///
/// The SQLite and in-memory stores support the request; an ``NSIncrementalStore`` receives it and may support it; other stores throw.
/// Either all rows are deleted or none.
///
/// Source: [NSBatchDeleteRequest](https://developer.apple.com/documentation/coredata/nsbatchdeleterequest).
open class NSBatchDeleteRequest: NSPersistentStoreRequest, ExecutableBatchRequest {
    /// The fetch request for the rows. Its predicate, order, offset and limit apply; its result type is ignored.
    open private(set) var fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    /// The kind of result.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly
    /// The IDs to delete, if they were given instead of a fetch request.
    private var objectIDs: [NSManagedObjectID]?

    /// The type of the request.
    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// Creates a request that deletes nothing: its fetch request has no entity.
    public required init() {
        fetchRequest = NSFetchRequest()
        super.init()
    }

    /// Creates a request that deletes the rows that match a fetch request.
    ///
    /// - Parameter fetch: The fetch request. It is copied: later changes to it have no effect.
    public init<ResultType>(fetchRequest fetch: NSFetchRequest<ResultType>) {
        fetchRequest = fetch.erased().copy() as! NSFetchRequest<any NSFetchRequestResult>
        super.init()
    }

    /// Creates a request that deletes objects by their IDs.
    ///
    /// - Parameter objects: The IDs, of one entity and its subentities. Executing the request throws otherwise, and for IDs of objects
    ///   that were never saved.
    public init(objectIDs objects: [NSManagedObjectID]) {
        fetchRequest = NSFetchRequest()
        let current = objects.map(\.current)
        objectIDs = current
        if let entity = current.first?.owningEntity {
            var shared: NSEntityDescription? = entity
            for id in current { while let above = shared, !id.owningEntity.isKindOf(entity: above) { shared = above.superentity } }
            fetchRequest.entity = shared
            let ids = current.map { PropertyValue.object(ObjectReference($0)) }
            fetchRequest.predicate = NSPredicate(tree: .compare(.evaluatedObject, .isIn, .constant(.array(ids))))
        }
        super.init()
    }

    /// Returns a copy of the request.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSBatchDeleteRequest
        copy.fetchRequest = fetchRequest.copy() as! NSFetchRequest<any NSFetchRequestResult>
        copy.resultType = resultType
        copy.objectIDs = objectIDs
        return copy
    }

    // MARK: Execution

    var entity: NSEntityDescription? { fetchRequest.entity }

    /// The kind of outcome that stores report.
    @_spi(Stores) public var wanted: BatchOutcome.Kind {
        switch resultType {
        case .resultTypeStatusOnly: .status
        case .resultTypeObjectIDs: .ids
        case .resultTypeCount: .count
        }
    }

    func result(_ value: Any) -> NSPersistentStoreResult { NSBatchDeleteResult(value, resultType) }

    func plan(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchPlan {
        let request = copy() as! NSBatchDeleteRequest
        var stores: [NSPersistentStore]?
        if let objectIDs {
            if objectIDs.isEmpty { return BatchPlan(request: request, stores: []) }
            guard fetchRequest.entity != nil else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "The batch delete cannot be executed.", reason: "Its IDs are of unrelated entities.",
                    next: "Make a request for each entity.")
            }
            var found: [NSPersistentStore] = []
            let named = try objectIDs.map { try coordinator.store(of: coordinator.ownID(of: $0) ?? $0) }
            for store in named where !found.contains(where: { $0 === store }) {
                found.append(store)
            }
            stores = found
        }
        let entity = try coordinator.entity(fetchRequest.entity, named: fetchRequest.entityName ?? "", for: self)
        request.fetchRequest.entity = entity
        request.fetchRequest.predicate = try context.resolvingContextValues(in: fetchRequest.predicate, of: entity)
        request.fetchRequest.resultType = .managedObjectIDResultType
        let affected = affectedStores ?? fetchRequest.affectedStores
        return BatchPlan(request: request, stores: try stores ?? coordinator.servingStores(for: entity, among: affected))
    }
}

/// The result of an ``NSBatchDeleteRequest``.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// An `NSNumber` (whether the request succeeded, or the number of rows), or an array of ``NSManagedObjectID``, according to the
    /// result type.
    public let result: Any?
    /// The kind of result.
    public let resultType: NSBatchDeleteRequestResultType

    init(_ result: Any, _ resultType: NSBatchDeleteRequestResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
