public import Foundation
internal import Predicates

/// What an ``NSBatchDeleteRequest`` is to report.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether the rows were deleted.
    case resultTypeStatusOnly = 0
    /// The IDs of the deleted rows.
    case resultTypeObjectIDs = 1
    /// How many rows were deleted.
    case resultTypeCount = 2
}

/// Deletes all rows that a fetch finds, without making objects.
///
/// Relationships back to the deleted rows are set to nil, or lose them, whatever their delete rule says: nothing cascades and nothing is denied.
/// Where such a relationship may not be empty, the request fails. Validation does not run and contexts learn nothing: hand the IDs of the result to
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
///
/// The SQLite and in-memory stores serve the request; an ``NSIncrementalStore`` is handed it and may; other stores throw. All rows are deleted or none.
///
/// Source: [NSBatchDeleteRequest](https://developer.apple.com/documentation/coredata/nsbatchdeleterequest).
open class NSBatchDeleteRequest: NSPersistentStoreRequest, ExecutableBatchRequest {
    /// What is deleted. Its predicate, order, offset and limit count; its result type does not.
    open private(set) var fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    /// What the result is to say.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly
    /// What was given instead of a fetch.
    private var objectIDs: [NSManagedObjectID]?

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// Makes a request that deletes nothing: its fetch names no entity.
    public required init() {
        fetchRequest = NSFetchRequest()
        super.init()
    }

    /// Makes a request that deletes what a fetch finds.
    ///
    /// - Parameter fetch: The fetch. It is copied: changing it afterwards changes nothing.
    public init<ResultType>(fetchRequest fetch: NSFetchRequest<ResultType>) {
        fetchRequest = fetch.erased().copy() as! NSFetchRequest<any NSFetchRequestResult>
        super.init()
    }

    /// Makes a request that deletes objects by their IDs.
    ///
    /// - Parameter objects: The IDs, of one entity and those that inherit from it. Executing the request throws otherwise, and for IDs of objects that
    ///   were never saved.
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

    /// A request like this one.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSBatchDeleteRequest
        copy.fetchRequest = fetchRequest.copy() as! NSFetchRequest<any NSFetchRequestResult>
        copy.resultType = resultType
        copy.objectIDs = objectIDs
        return copy
    }

    // MARK: Execution

    var entity: NSEntityDescription? { fetchRequest.entity }

    /// What stores are to report.
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
            for store in try objectIDs.map({ try coordinator.store(of: $0) }) where !found.contains(where: { $0 === store }) {
                found.append(store)
            }
            stores = found
        }
        let entity = try coordinator.entity(fetchRequest.entity, named: fetchRequest.entityName ?? "", for: self)
        request.fetchRequest.entity = entity
        request.fetchRequest.predicate = try context.settled(fetchRequest.predicate)
        request.fetchRequest.resultType = .managedObjectIDResultType
        let affected = affectedStores ?? fetchRequest.affectedStores
        return BatchPlan(request: request, stores: try stores ?? coordinator.servingStores(for: entity, among: affected))
    }
}

/// What an ``NSBatchDeleteRequest`` has done.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// An `NSNumber` (whether it was done, or how many rows), or an array of ``NSManagedObjectID``, as the result type says.
    public let result: Any?
    /// What was asked for.
    public let resultType: NSBatchDeleteRequestResultType

    init(_ result: Any, _ resultType: NSBatchDeleteRequestResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
