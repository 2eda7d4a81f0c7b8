package import CoreData

/// A kind of store that random programs are run on.
package struct ProgramStore: Sendable, CustomStringConvertible {
    /// What the programs are called that run on it.
    package let name: String
    /// Whether one store is emptied for each program: to open one would take longer than the program.
    let isKept: Bool
    /// Whether the store loads and saves asynchronously and asks ``ServerGate`` before it answers.
    let asksGate: Bool
    private let open: @Sendable (NSManagedObjectModel) throws -> [NSPersistentStoreCoordinator]
    private let remove: @Sendable (URL) -> Void

    /// A kind of store whose contexts share a coordinator.
    ///
    /// - Parameters:
    ///   - make: Makes an empty store of a model, and its coordinator.
    ///   - isKept: Whether one store is emptied for each program.
    ///   - asksGate: Whether the store loads and saves asynchronously and asks ``ServerGate`` before it answers.
    package init(
        name: String, isKept: Bool = false, asksGate: Bool = false,
        make: @escaping @Sendable (NSManagedObjectModel) throws -> NSPersistentStoreCoordinator
    ) {
        self.name = name
        self.isKept = isKept
        self.asksGate = asksGate
        open = { model in
            let coordinator = try make(model)
            return [coordinator, coordinator, coordinator]
        }
        remove = { _ in }
    }

    /// A kind of store that each context opens with a coordinator of its own, as processes do.
    ///
    /// - Parameters:
    ///   - open: Makes an empty store of a model, and the coordinators of two contexts and of one that looks what is stored.
    ///   - remove: Removes what they have left at the URL of the store, once none of them has it any more.
    package init(
        name: String, open: @escaping @Sendable (NSManagedObjectModel) throws -> [NSPersistentStoreCoordinator],
        remove: @escaping @Sendable (URL) -> Void = { _ in }
    ) {
        self.name = name
        isKept = true
        asksGate = false
        self.open = open
        self.remove = remove
    }

    package var description: String { name }

    /// Models for three coordinators, each of which has its own, as in three processes.
    package static func models(like model: NSManagedObjectModel) -> [NSManagedObjectModel] {
        [model] + (0..<2).compactMap { _ in model.copy() as? NSManagedObjectModel }
    }

    /// The coordinators of two contexts and of one that looks what is stored, over an empty store.
    package func coordinators(_ model: NSManagedObjectModel) throws -> [NSPersistentStoreCoordinator] { try open(model) }

    /// Takes the store from coordinators, and removes what they have left.
    package func discard(_ coordinators: [NSPersistentStoreCoordinator]) {
        let urls = Set(coordinators.flatMap(\.persistentStores).compactMap(\.url))
        for coordinator in coordinators {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
        }
        for url in urls { remove(url) }
    }

    /// Empties a store.
    static func clear(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Node")))
        }
    }
}
