internal import Foundation
@_spi(Stores) public import ObjectGraph

extension NSPersistentStoreCoordinator {
    /// Returns the steps in which opening a store would migrate it to the version of the coordinator's model, without changing anything. Not in
    /// Apple's API.
    ///
    /// The options of the description apply as they do when the store is opened. Rows and forbidden rows are those of the first step, because the
    /// store is not yet in the state in which the other steps begin.
    ///
    /// - Parameter description: The store.
    /// - Returns: The plan; it has no steps for a store that can be opened as it is, that does not exist, or that has no file.
    /// - Throws: The error with which opening the store would fail, except for forbidden rows, which the plan lists: 134100, 134130, 134140,
    ///   134190, 134504, 134506, ``StoreNewerThanModelError``; the errors of reading.
    public func migrationPlan(for description: NSPersistentStoreDescription) throws -> MigrationPlan {
        guard let storeClass = Self.registeredStoreTypes[description.type] else {
            throw CoreDataError.make(
                NSPersistentStoreInvalidTypeError, "There is no store class for the type “\(description.type)”.",
                next: "Call registerStoreClass(_:forStoreType:) first.")
        }
        let opening = StoreOpening(
            coordinator: self, storeClass: storeClass, type: description.type, configuration: description.configuration,
            url: description.url,
            options: description.options)
        return try MigrationPlanner(opening).plan()
    }
}
