import CoreData

/// The stores that random programs are run on.
enum GraphStore: CaseIterable {
    case inMemory
    case sqlite

    /// Adds a store that is gone with the coordinator.
    func add(to coordinator: NSPersistentStoreCoordinator) throws {
        switch self {
        case .inMemory: try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        case .sqlite:
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
        }
    }
}
