internal import Foundation

/// A request that changes the rows of stores without objects.
@_spi(Stores) public protocol BatchRequest: NSPersistentStoreRequest {
    /// What stores are to report.
    var wanted: BatchOutcome.Kind { get }
}

/// A batch request as contexts and coordinators execute it.
protocol ExecutableBatchRequest: BatchRequest {
    /// The request with everything that only a context knows put in, and the stores that are to execute it.
    func plan(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchPlan
    /// The result as the caller gets it.
    func result(_ value: Any) -> NSPersistentStoreResult
}

/// A batch request that has been checked, and the stores to execute it.
struct BatchPlan {
    let request: any BatchRequest
    let stores: [NSPersistentStore]
}

/// What a store reports of a batch request.
@_spi(Stores) public enum BatchOutcome: Sendable {
    /// What is reported.
    public enum Kind: Sendable {
        /// Whether it was done.
        case status
        /// The IDs of the rows.
        case ids
        /// How many rows.
        case count
    }

    /// Whether it was done.
    case status(Bool)
    /// The IDs of the rows that were changed.
    case ids([NSManagedObjectID])
    /// How many rows were changed.
    case count(Int)

    /// What a store reports that knows which rows it changed.
    public init(_ ids: [NSManagedObjectID], as kind: Kind) {
        switch kind {
        case .status: self = .status(true)
        case .ids: self = .ids(ids)
        case .count: self = .count(ids.count)
        }
    }

    /// What several stores report together, as the public result.
    static func combined(_ outcomes: [BatchOutcome], as kind: Kind) -> Any {
        var ids: [NSManagedObjectID] = []
        var count = 0
        var status = true
        for outcome in outcomes {
            switch outcome {
            case .status(let isDone): status = status && isDone
            case .ids(let more): ids += more
            case .count(let more): count += more
            }
        }
        switch kind {
        case .status: return NSNumber(value: status)
        case .ids: return ids
        case .count: return NSNumber(value: count)
        }
    }
}

extension NSManagedObjectContext {
    /// Executes a batch request by the coordinator at the root of the contexts. On this context's queue.
    func executeBatch(_ request: any ExecutableBatchRequest) throws -> NSPersistentStoreResult {
        try throwPendingFaultError()
        guard let coordinator = persistentStoreCoordinator else {
            throw CoreDataError.make(
                NSCoreDataError, "The \(Swift.type(of: request)) cannot be executed.",
                reason: "The context has no persistent store coordinator.", next: "Set persistentStoreCoordinator or parent first.")
        }
        return try coordinator.executeBatch(request, in: self)
    }
}

extension NSPersistentStoreCoordinator {
    /// Executes a batch request in each store that it concerns.
    func executeBatch(_ request: any ExecutableBatchRequest, in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let plan = try request.plan(in: context, self)
        for store in plan.stores { try refuseIfReadOnly(store) }
        var outcomes: [BatchOutcome] = []
        for store in plan.stores {
            do {
                guard let batches = store.interface as? any BatchStore else { throw store.unsupported(request) }
                outcomes.append(try batches.executeBatch(plan.request, for: context.caller))
            } catch  where !outcomes.isEmpty {
                throw CoreDataError.make(
                    NSPersistentStoreIncompleteSaveError, "Some stores executed the \(Swift.type(of: request)) and others did not.",
                    reason: "\(outcomes.count) of \(plan.stores.count) stores had been changed before one failed.",
                    next: "Mend the cause and execute the request again with affectedStores.", cause: error,
                    info: [NSAffectedStoresErrorKey: [store]])
            }
        }
        return request.result(BatchOutcome.combined(outcomes, as: request.wanted))
    }

    /// The entity of a batch request, in the coordinator's model.
    func entity(_ entity: NSEntityDescription?, named name: String, for request: any ExecutableBatchRequest) throws -> NSEntityDescription {
        if let found = managedObjectModel.entitiesByName[entity?.name ?? name] { return found }
        throw CoreDataError.make(
            NSCoreDataError, "The \(Swift.type(of: request)) cannot be executed.",
            reason: name.isEmpty ? "It names no entity." : "There is no entity “\(name)” in the model.",
            next: "Make it for one of: \(managedObjectModel.entitiesByName.keys.sorted().joined(separator: ", ")).")
    }

    /// The stores that hold an entity; there must be one.
    func servingStores(for entity: NSEntityDescription, among affected: [NSPersistentStore]?) throws -> [NSPersistentStore] {
        let stores = stores(for: entity, among: affected)
        if stores.isEmpty { throw noStore(entity) }
        return stores
    }
}
