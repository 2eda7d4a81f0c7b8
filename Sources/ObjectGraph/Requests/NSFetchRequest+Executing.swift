internal import Foundation

extension NSFetchRequest {
    /// Executes the request in the context whose queue the caller is on.
    ///
    /// - Throws: The errors of ``NSManagedObjectContext/fetch(_:)``, and code 134060 outside a context's queue.
    public func execute() throws -> [ResultType] {
        guard let context = ContextQueue.current?.context else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetch request cannot be executed here.", reason: "The caller is on no context's queue.",
                next: "Call execute() in a perform block, or use context.fetch(_:).")
        }
        return try context.fetch(self)
    }
}
