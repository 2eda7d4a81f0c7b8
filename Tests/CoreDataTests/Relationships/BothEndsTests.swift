import CoreData
import Testing

/// Two contexts of one store that both show some saved nodes, by label.
private final class TwoContexts {
    let first: NSManagedObjectContext
    let second: NSManagedObjectContext
    private var posted: [Notification] = []
    private var token: (any NSObjectProtocol)?

    init(retains: Bool = true, saving make: (NSManagedObjectContext) -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ProgramModel.make())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        first = Music.context(coordinator)
        second = Music.context(coordinator)
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

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }

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
        return try context.performAndWait { try ProgramSide.read(context).0.nodes[label]?.links[relationship] ?? [] }
    }
}

extension NSManagedObjectContext {
    @discardableResult
    fileprivate func node(_ label: Int, _ values: [String: Any] = [:]) -> NSManagedObject { insert("Node", ["label": label].merging(values) { $1 }) }
}

@Suite("Both ends of a relationship agree") struct BothEndsTests {
    @Test("What others relate to an object that is deleted here is taken back when it is merged, friends of themselves too", arguments: [false, true])
    func friendsOfADeletedObject(_ retains: Bool) throws {
        let contexts = try TwoContexts(retains: retains) {
            $0.node(0)
            $0.node(1)
        }
        try contexts.perform(contexts.second) { contexts.second.delete($0[1]!) }
        try contexts.save { $0[1]!.setValue(Set([$0[0]!, $0[1]!]), forKey: "friends") }
        contexts.merge()
        let friends = try contexts.shown(0, "friends")
        #expect(friends == [])
    }

    @Test("An undo that brings an object back keeps what others have related to it since out at both ends")
    func returnAfterAMerge() throws {
        let contexts = try TwoContexts {
            $0.node(0)
            $0.node(1)
        }
        let manager = UndoManager()
        contexts.second.performAndWait { contexts.second.undoManager = manager }
        try contexts.perform(contexts.second) { contexts.second.delete($0[1]!) }
        try contexts.save { $0[1]!.setValue(Set([$0[0]!, $0[1]!]), forKey: "friends") }
        contexts.merge()
        contexts.second.performAndWait { contexts.second.undo() }
        let friends = try [0, 1].map { try contexts.shown($0, "friends") }
        #expect(friends == [[], [1]])
        try contexts.second.performAndWait { try contexts.second.save() }
        let stored = try [0, 1].map { try contexts.stored($0, "friends") }
        #expect(stored == [[], [1]])
    }
}
