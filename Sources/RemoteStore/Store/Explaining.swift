internal import Foundation
@_spi(Stores) public import ObjectGraph

extension NSFetchRequest {
    /// Returns the plan by which the remote store of a context would answer this request now, without sending a request.
    ///
    /// ```swift
    /// print(try request.explain(in: context))
    /// ```
    ///
    /// Call it on the context's queue.
    ///
    /// - Returns: The plan of the first remote store that has the entity.
    /// - Throws: The errors of a fetch that are known beforehand, such as code 134091 for a predicate that no endpoint can answer; code 134060 if no remote
    ///   store has the entity.
    public func explain(in context: NSManagedObjectContext) throws -> FetchPlan {
        let query = try context.storeQuery(for: self)
        for store in context.persistentStoreCoordinator?.stores(answering: query) ?? [] {
            guard let store = store as? BackendStore else { continue }
            return try store.reader.plan(query, for: StoreCaller(stalenessInterval: context.stalenessInterval))
        }
        throw CoreDataError.make(
            NSCoreDataError, "The fetch of “\(query.entity)” has no plan.", reason: "No remote store has the entity.",
            next: "Add one by addRemoteStore(_:).")
    }
}
