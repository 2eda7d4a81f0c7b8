internal import Foundation
internal import Synchronization

extension NSPersistentStoreCoordinator {
    /// Executes a fetch, save or batch request for `context`, without the pending changes of the context. Call it on the context's queue.
    ///
    /// - Returns: An array of objects, IDs or dictionaries, or of one number for a count; an empty array for a save; the result of a
    ///   batch request.
    /// - Throws: The store's error.
    public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            try saveWhole(
                ChangeSet(
                    inserted: Array(save.insertedObjects ?? []), updated: Array(save.updatedObjects ?? []),
                    deleted: Array(save.deletedObjects ?? []), locked: Array(save.lockedObjects ?? [])), in: context)
            return [Any]()
        }
        if let batch = request as? any ExecutableBatchRequest { return try executeBatch(batch, in: context) }
        if let history = request as? NSPersistentHistoryChangeRequest { return try executeHistory(history, in: context) }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult> else {
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError, "The coordinator cannot execute \(Swift.type(of: request)).",
                next: "Use context.execute(_:) or context.fetch(_:).")
        }
        fetch.entity = fetch.entity ?? fetch.entityName.flatMap { managedObjectModel.entitiesByName[$0] }
        guard let entity = fetch.entity else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch request names no entity.", next: "Make it with entityName: or set its entity.")
        }
        switch try self.fetch(StoreQuery(fetch, of: entity), for: context) {
        case .rows(let rows): return context.materialize(rows)
        case .ids(let ids): return ids
        case .objects(let objects): return objects.objects
        case .dictionaries(let dictionaries): return dictionaries.elements
        case .count(let count): return [NSNumber(value: count)]
        }
    }
}
