import CoreData

/// The stores that random programs are run on.
enum GraphStore: CaseIterable {
    case inMemory
    case sqlite
    /// A file that each context opens for itself, as processes do.
    case sqliteFile

    /// So many contexts of one store.
    ///
    /// - Parameter directory: where a file may be put.
    func contexts(_ count: Int, in directory: URL, _ model: () -> NSManagedObjectModel) throws -> [NSManagedObjectContext] {
        guard self == .sqliteFile else {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
            try add(to: coordinator)
            return (0..<count).map { _ in Music.context(coordinator) }
        }
        return try (0..<count).map { _ in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: directory.appendingPathComponent("graph.sqlite"),
                options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
            return Music.context(coordinator)
        }
    }

    /// The stores that a single coordinator has.
    static let ofOneCoordinator: [GraphStore] = [.inMemory, .sqlite]

    /// Adds a store that is gone with the coordinator.
    func add(to coordinator: NSPersistentStoreCoordinator) throws {
        switch self {
        case .inMemory: try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        case .sqlite, .sqliteFile:
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
        }
    }
}
