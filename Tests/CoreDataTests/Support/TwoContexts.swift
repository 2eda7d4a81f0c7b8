import CoreData
import RandomPrograms

/// Two contexts of one store that both show some saved nodes, by label.
final class TwoContexts {
    let first: NSManagedObjectContext
    let second: NSManagedObjectContext
    private var posted: [Notification] = []
    private var token: (any NSObjectProtocol)?
    private let discard: () -> Void

    /// - Parameter make: inserts what the first context saves.
    init(retains: Bool = true, _ store: ProgramStore = .inMemory, saving make: (NSManagedObjectContext) -> Void) throws {
        let coordinators = try store.coordinators(ProgramModel.make())
        first = Music.context(coordinators[0])
        second = Music.context(coordinators[1])
        discard = { store.discard(coordinators) }
        for context in [first, second] { context.retainsRegisteredObjects = retains }
        nonisolated(unsafe) unowned let contexts = self
        token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: first, queue: nil
        ) { contexts.posted.append($0) }
        try first.performAndWait {
            make(first)
            try first.save()
        }
        posted = []
        try second.performAndWait { _ = try ProgramSide.read(second) }
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
        discard()
    }

    /// Does something in a context with its objects by label.
    func perform(_ context: NSManagedObjectContext, _ body: ([Int: NSManagedObject]) throws -> Void) throws {
        try context.performAndWait { try body(try ProgramSide.read(context).1) }
    }

    /// The first does something and saves it.
    func save(_ body: ([Int: NSManagedObject]) throws -> Void) throws {
        try perform(first) {
            try body($0)
            try first.save()
        }
    }

    /// The second merges what the first has saved.
    func merge() {
        second.performAndWait { for note in posted { second.mergeChanges(fromContextDidSave: note) } }
        posted = []
    }

    /// What a relationship of the second leads to.
    func shown(_ label: Int, _ relationship: String) throws -> [Int] {
        try second.performAndWait { try ProgramSide.read(second).0.nodes[label]?.links[relationship] ?? [] }
    }

    /// What a relationship leads to in the store.
    func stored(_ label: Int, _ relationship: String) throws -> [Int] {
        let context = Music.context(first.persistentStoreCoordinator!)
        context.stalenessInterval = 0
        return try context.performAndWait { try ProgramSide.read(context).0.nodes[label]?.links[relationship] ?? [] }
    }
}
