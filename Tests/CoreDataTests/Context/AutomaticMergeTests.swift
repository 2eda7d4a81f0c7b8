import CoreData
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph

/// Counts what contexts tell of merges, by the context's name.
private final class MergeCounter {
    private let counts = Guarded<[String: Int]>([:])
    private let token: any NSObjectProtocol

    init() {
        let counts = counts
        token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: nil, queue: nil
        ) { notification in
            guard let name = (notification.object as? NSManagedObjectContext)?.name else { return }
            counts.withValue { $0[name, default: 0] += 1 }
        }
    }

    deinit { NotificationCenter.default.removeObserver(token) }

    subscript(name: String) -> Int { counts.withValue { $0[name] ?? 0 } }
}

@Suite("Automatic merging") struct AutomaticMergeTests {
    private func listener(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = Music.context(coordinator)
        context.name = UUID().uuidString
        context.automaticallyMergesChangesFromParent = true
        return context
    }

    @Test("A context that nobody holds any more is told nothing of what was saved before it went")
    func unheld() async throws {
        let coordinator = try Music.coordinator()
        let saver = Music.context(coordinator)
        let counter = MergeCounter()
        let gate = DispatchSemaphore(value: 0)
        var context: NSManagedObjectContext? = listener(coordinator)
        let name = try #require(context?.name)
        weak let gone = context
        // The block alone keeps the context from here on.
        context.unsafelyUnwrapped.enqueue { gate.wait() }
        context = nil
        try saver.performAndWait { for number in 0..<3 { try saver.saveBand("\(number)") } }
        #expect(gone != nil)
        gate.signal()
        while gone != nil { await Task.yield() }
        expect(counter[name], equals: 0)
    }

    @Test("What comes while a context is busy is merged at once, and shows the same as one merge after the other")
    func busy() throws {
        let coordinator = try Music.coordinator()
        let saver = Music.context(coordinator)
        let context = listener(coordinator)
        context.retainsRegisteredObjects = true
        let name = try #require(context.name)
        let counter = MergeCounter()
        let (kept, lost) = try saver.performAndWait { (try saver.saveBand("a").objectID, try saver.saveBand("b").objectID) }
        context.performAndWait { for id in [kept, lost] { _ = context.object(with: id).value(forKey: "name") } }
        let before = counter[name]
        let gate = DispatchSemaphore(value: 0)
        context.enqueue { gate.wait() }
        let passing = try saver.performAndWait {
            saver.object(with: kept).setValue("a2", forKey: "name")
            let passing = try saver.saveBand("passing")
            saver.object(with: kept).setValue("a3", forKey: "name")
            saver.delete(saver.object(with: lost))
            try saver.save()
            saver.delete(passing)
            try saver.save()
            try saver.saveBand("new")
            return passing.objectID
        }
        gate.signal()
        context.performAndWait {
            expect(counter[name], equals: before + 1)
            expect(context.object(with: kept).value(forKey: "name") as? String, equals: "a3")
            #expect(context.registeredObject(for: lost) == nil)
            #expect(context.registeredObject(for: passing) == nil)
            expect(context.registeredObjects.compactMap { ($0 as? Band)?.name }.sorted(), equals: ["a3", "new"])
        }
    }

    @Test("Saves become one as far as none brings back what another has deleted")
    func coalescing() throws {
        let coordinator = try Music.coordinator()
        let context = Music.context(coordinator)
        let ids = try context.performAndWait { try (0..<6).map { try context.saveBand("\($0)").objectID } }
        func save(_ inserted: [Int], _ updated: [Int], _ deleted: [Int], isRemote: Bool = false) -> MergeableSave {
            MergeableSave(
                SavedIDs(inserted: inserted.map { ids[$0] }, updated: updated.map { ids[$0] }, deleted: deleted.map { ids[$0] }),
                isRemote: isRemote)
        }
        func merges(_ news: [MergeableSave]) -> [[[Int]]] {
            SavedIDs.coalesced(news).map { merge in
                [merge.saved.inserted, merge.saved.updated, merge.saved.deleted].map { $0.compactMap(ids.firstIndex(of:)) }
            }
        }
        expect(merges([save([0], [1], []), save([2], [0, 3], [1]), save([], [3], [2])]), equals: [[[0], [3], [1, 2]]])
        expect(
            merges([save([0], [], []), save([], [], [0]), save([0], [1], []), save([], [0], [])]),
            equals: [[[], [], [0]], [[0], [1], []]])
        expect(
            merges([save([0], [], []), save([1], [], [], isRemote: true), save([2], [], [])]),
            equals: [
                [[0], [], []], [[1], [], []], [[2], [], []],
            ])
    }
}
