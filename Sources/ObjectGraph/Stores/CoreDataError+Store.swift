internal import Foundation

extension CoreDataError {
    /// Creates the error for a store that violates the contract of a method.
    static func contract(_ store: NSPersistentStore, _ method: String, _ reason: String, next: String) -> NSError {
        make(
            NSPersistentStoreOperationError, "\(Swift.type(of: store)).\(method) does not answer as a store must.", reason: reason,
            next: next, info: [NSAffectedStoresErrorKey: [store]])
    }
}
