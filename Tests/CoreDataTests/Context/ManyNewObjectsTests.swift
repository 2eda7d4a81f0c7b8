import CoreData
import Foundation
import Platform
import Predicates
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph

@Suite("Saving many new objects")
struct ManyNewObjectsTests {
    private static let count = 10_000

    /// The IDs of inserted objects that each save of a context has told.
    // `told` has its own lock.
    private final class Listener: Sendable {
        private let told = LockedBox<[Set<NSManagedObjectID>]>([])
        private nonisolated(unsafe) let token: any NSObjectProtocol

        init(_ context: NSManagedObjectContext) {
            token = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
            ) { [told] notification in
                let ids = notification.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>
                told.withLock { $0.append(ids ?? []) }
            }
        }

        deinit { NotificationCenter.default.removeObserver(token) }

        var ids: [Set<NSManagedObjectID>] { told.withLock { $0 } }
    }

    /// A context with new objects, over a store of its own.
    private func program() async throws -> (ServerStore, NSPersistentStoreCoordinator, NSManagedObjectContext, Listener) {
        let (store, coordinator) = try ServerStore.make()
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.retainsRegisteredObjects = true
        await context.perform { for number in 0..<Self.count { Tag(context: context).label = "\(number)" } }
        return (store, coordinator, context, Listener(context))
    }

    private func save(_ context: NSManagedObjectContext, awaits: Bool) async throws {
        if awaits { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
    }

    @Test("The IDs of all are told, and other contexts have their values without asking the store", arguments: [false, true])
    func saved(awaits: Bool) async throws {
        let (store, coordinator, context, listener) = try await program()
        try await save(context, awaits: awaits)
        let ids = await context.perform { Set(context.registeredObjects.map(\.objectID)) }
        expect(ids.count, equals: Self.count)
        #expect(ids.allSatisfy { !$0.isTemporaryID })
        // Not as sets in the expectation: a failure would show them all.
        let areTold = listener.ids == [ids]
        #expect(areTold)
        store.forgetQuestions()
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = coordinator
        let labels = await other.perform { Set(ids.compactMap { (other.object(with: $0) as? Tag)?.label }) }
        let areTheirs = labels == Set((0..<Self.count).map(String.init))
        #expect(areTheirs)
        expect(store.questions.count, equals: 0)
    }

    @Test("A save that fails tells nothing and leaves nothing in the cache; the next one saves them", arguments: [false, true])
    func failed(awaits: Bool) async throws {
        let (store, _, context, listener) = try await program()
        store.configure { $0.failure = CocoaError(.fileWriteOutOfSpace) }
        await #expect(throws: CocoaError.self) { try await save(context, awaits: awaits) }
        expect(listener.ids.count, equals: 0)
        #expect(await context.perform { context.insertedObjects.count } == Self.count)
        let cache = try #require(store.rowAccess as? CachedAccess).cache
        expect(cache.entries.withLock { $0.count { $0.1.content != nil } }, equals: 0)
        if !awaits { expect(cache.entries.withLock { $0.count }, equals: 0) }
        store.configure { $0.failure = nil }
        try await save(context, awaits: awaits)
        let ids = await context.perform { Set(context.registeredObjects.map(\.objectID)) }
        let areTold = listener.ids == [ids]
        #expect(areTold)
        let areSaved = Set(store.saves.last ?? []) == ids
        #expect(areSaved)
    }

    @Test("An entry made beforehand that went, came again or got a row meanwhile leaves each object its own row")
    func entriesThatChangeMeanwhile() throws {
        try withMusic { context in
            let ids = try ["A", "B", "C", "D"].map { try context.saveBand($0).objectID }
            let layout = try #require(ids[0].owningEntity.frozen?.layout)
            let cache = RowCache()
            func change(_ id: NSManagedObjectID) -> StoreChange {
                StoreChange(row: Row.blank(layout, objectID: id, version: 1), base: nil)
            }
            let changes = ids[..<3].map(change)
            let prepared = try #require(cache.prepare(changes))
            // The number of the first goes to another object, and the third is read.
            cache.entries.withLock { $0.remove(ids[0]) }
            let (other, read) = (Row.blank(layout, objectID: ids[3], version: 1), Row.blank(layout, objectID: ids[2], version: 1))
            _ = cache.setRow(other, of: ids[3])
            _ = cache.setRow(read, of: ids[2])
            let others = cache.fill(prepared)
            expect(others, equals: [0, 2])
            cache.didSave(others.map { changes[$0] }, areNew: true) { _ in false }
            #expect(cache.row(for: ids[3], maximumAge: -1) === other)
            for (id, change) in zip(ids, changes) { #expect(cache.row(for: id, maximumAge: -1) === change.row) }
            expect(cache.invariantViolations, equals: [])
        }
    }

    @Test(
        "Entries made for a save that fails go, unless another context has the object, or nobody was counted for a row that was read",
        arguments: [false, true])
    func entriesOfAFailedSave(countContext: Bool) throws {
        try withMusic { context in
            let ids = try ["A", "B", "C"].map { try context.saveBand($0).objectID }
            let layout = try #require(ids[0].owningEntity.frozen?.layout)
            let cache = RowCache()
            let changes = ids.map { StoreChange(row: Row.blank(layout, objectID: $0, version: 1), base: nil) }
            let prepared = try #require(cache.prepare(changes, retaining: countContext))
            cache.retain([ids[1]])
            _ = cache.setRow(Row.blank(layout, objectID: ids[2], version: 1), of: ids[2])
            cache.remove(prepared)
            // A row goes with the only context that was counted for it.
            expect(cache.entries.withLock { Set($0.map(\.0)) }, equals: (countContext ? [ids[1]] : [ids[1], ids[2]]))
            expect(cache.entries.withLock { $0[ids[1]]?.holders }, equals: 1)
        }
    }

    @Test("Work beside another is done once, by a thread of its own or by who wants the result")
    func sideWork() {
        let count = LockedBox(0)
        let works = (0..<1_000).map { number in
            SideWork {
                count.withLock { $0 += 1 }
                return number
            }
        }
        expect(works.map(\.value), equals: Array(0..<1_000))
        // And again.
        expect(works.map(\.value), equals: Array(0..<1_000))
        expect(count.withLock { $0 }, equals: 1_000)
    }
}
