internal import Foundation

/// A batch request that contexts and coordinators execute.
protocol ExecutableBatchRequest: BatchRequest {
    /// Returns the request with context-only values replaced, and the stores that execute it.
    func plan(in context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) throws -> BatchPlan
    /// Returns the public result for an outcome.
    func result(_ value: Any) -> NSPersistentStoreResult
}

/// A validated batch request, and the stores that execute it.
struct BatchPlan {
    let request: any BatchRequest
    let stores: [NSPersistentStore]
}

extension NSManagedObjectContext {
    /// Executes a batch request with the coordinator of the root context. Call it on this context's queue.
    func executeBatch(_ request: any ExecutableBatchRequest) throws -> NSPersistentStoreResult {
        guard let coordinator = persistentStoreCoordinator else {
            throw CoreDataError.make(
                NSCoreDataError, "The \(Swift.type(of: request)) cannot be executed.",
                reason: "The context has no persistent store coordinator.", next: "Set persistentStoreCoordinator or parent first.")
        }
        return try coordinator.executeBatch(request, in: self)
    }

    /// The caller of the root context's saves. Call it on this context's queue.
    fileprivate var callerOfRoot: StoreCaller {
        guard let parent else { return caller }
        return parent.performForChild { parent.callerOfRoot }
    }
}

extension NSPersistentStoreCoordinator {
    /// Executes a batch request in each store that it affects.
    func executeBatch(_ request: any ExecutableBatchRequest, in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let plan = try request.plan(in: context, self)
        for store in plan.stores { try checkWritable(store) }
        // A child's request bears the author of the root, as its saves do.
        let caller = context.callerOfRoot
        var outcomes: [BatchOutcome] = []
        for store in plan.stores {
            do {
                guard let batches = store.interface as? any BatchStore else { throw store.unsupported(request) }
                outcomes.append(try batches.executeBatch(plan.request, for: caller))
            } catch  where !outcomes.isEmpty {
                throw CoreDataError.make(
                    NSPersistentStoreIncompleteSaveError, "Some stores executed the \(Swift.type(of: request)) and others did not.",
                    reason: "\(outcomes.count) of \(plan.stores.count) stores had been changed before one failed.",
                    next: "Fix the cause and execute the request again with affectedStores.", cause: error,
                    info: [NSAffectedStoresErrorKey: [store]])
            }
        }
        return request.result(BatchOutcome.combined(outcomes, as: request.wanted))
    }

    /// Returns the entity of a batch request in the coordinator's model.
    func entity(_ entity: NSEntityDescription?, named name: String, for request: any ExecutableBatchRequest) throws -> NSEntityDescription {
        if let found = managedObjectModel.entitiesByName[entity?.name ?? name] { return found }
        throw CoreDataError.make(
            NSCoreDataError, "The \(Swift.type(of: request)) cannot be executed.",
            reason: name.isEmpty ? "It names no entity." : "There is no entity “\(name)” in the model.",
            next: "Make it for one of: \(managedObjectModel.entitiesByName.keys.sorted().joined(separator: ", ")).")
    }

    /// Returns the stores that hold an entity; throws if there are none.
    func servingStores(for entity: NSEntityDescription, among affected: [NSPersistentStore]?) throws -> [NSPersistentStore] {
        let stores = stores(for: entity, among: affected)
        if stores.isEmpty { throw noStore(entity) }
        return stores
    }
}
