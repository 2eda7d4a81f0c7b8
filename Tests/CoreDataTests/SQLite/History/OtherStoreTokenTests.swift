import CoreData
import Foundation
import TestSupport
import Testing

/// A store is replaced by another one, and the tokens of its history are still there.
@Suite("A history token of a store that is not there") struct OtherStoreTokenTests {
    private static let code = 134501

    /// Fills a store, and returns the token of its history.
    @discardableResult
    private func fill(_ place: URL, _ labels: [String], tracked: Bool = true) throws -> NSPersistentHistoryToken? {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: place, options: tracked ? HistoryTests.tracked : nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            for label in labels {
                _ = context.insert("Tag", ["label": label])
                try context.save()
            }
        }
        let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
        try coordinator.remove(store)
        return token
    }

    private func open(_ places: URL...) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        for place in places {
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: place, options: HistoryTests.tracked)
        }
        return Music.context(coordinator)
    }

    private func replace(_ place: URL, by other: URL) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: Music.model()).replacePersistentStore(
            at: place, destinationOptions: nil, withPersistentStoreFrom: other, sourceOptions: nil, ofType: NSSQLiteStoreType)
    }

    @Test("is an error that names both stores, whatever is asked", arguments: [true, false])
    func replaced(isTracked: Bool) throws {
        let pad = try Scratchpad()
        let (live, backup) = (pad.url.appendingPathComponent("live.sqlite"), pad.url.appendingPathComponent("backup.sqlite"))
        let token = try #require(try fill(live, ["a", "b", "c"]))
        try fill(backup, ["d", "e", "f", "g"], tracked: isTracked)
        let names = try [live, backup].map { place in
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: place)
            return try #require(metadata[NSStoreUUIDKey] as? String)
        }
        try replace(live, by: backup)
        let context = try open(live)
        try context.performAndWait {
            for type in [
                NSPersistentHistoryResultType.statusOnly, .objectIDs, .count, .transactionsOnly, .changesOnly, .transactionsAndChanges,
            ] {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                request.resultType = type
                let error = failure { try context.execute(request) }
                #expect(error?.code == Self.code)
                for name in names { #expect(error?.localizedDescription.contains(name) ?? false) }
            }
            let deletion = NSPersistentHistoryChangeRequest.deleteHistory(before: token)
            #expect(failure { try context.execute(deletion) }?.code == Self.code)
            // What the error advises works.
            let now = try #require(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
            _ = context.insert("Tag", ["label": "z"])
            try context.save()
            try expect(HistoryTests.transactions(.fetchHistory(after: now), context).count, equals: 1)
        }
    }

    @Test("is an error where another of its stores is there, and where it is asked of that one alone it is not")
    func oneOfTwo() throws {
        let pad = try Scratchpad()
        let (first, second) = (pad.url.appendingPathComponent("1.sqlite"), pad.url.appendingPathComponent("2.sqlite"))
        try fill(first, ["a", "b"])
        try fill(second, ["c"])
        let token = try #require(open(first, second).persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil))
        let both = try open(first, second)
        try both.performAndWait {
            #expect(try HistoryTests.transactions(.fetchHistory(after: token), both).isEmpty)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            request.affectedStores = [try #require(both.persistentStoreCoordinator?.persistentStores[1])]
            #expect(try HistoryTests.transactions(request, both).isEmpty)
        }
        let other = pad.url.appendingPathComponent("3.sqlite")
        try fill(other, ["x"])
        try replace(second, by: other)
        let context = try open(first, second)
        context.performAndWait {
            #expect(failure { _ = try HistoryTests.transactions(.fetchHistory(after: token), context) }?.code == Self.code)
        }
    }

    @Test("does not hide the history of a store that was added later")
    func addedLater() throws {
        let pad = try Scratchpad()
        let (first, second) = (pad.url.appendingPathComponent("1.sqlite"), pad.url.appendingPathComponent("2.sqlite"))
        let token = try #require(try fill(first, ["a", "b"]))
        try fill(second, ["c"])
        let context = try open(first, second)
        try context.performAndWait {
            try expect(HistoryTests.transactions(.fetchHistory(after: token), context).count, equals: 1)
        }
    }

    @Test("is that of an earlier state of the same store, which has gone on since", arguments: [1, 2, 5])
    func earlierState(saves: Int) throws {
        let pad = try Scratchpad()
        let (live, backup) = (pad.url.appendingPathComponent("live.sqlite"), pad.url.appendingPathComponent("backup.sqlite"))
        try fill(live, ["a", "b"])
        try replace(backup, by: live)
        let token = try #require(try fill(live, ["c", "d"]))
        try replace(live, by: backup)
        // The numbers of the token's transactions are given again.
        try fill(live, (0..<saves).map { "after \($0)" })
        let context = try open(live)
        context.performAndWait {
            let error = failure { _ = try HistoryTests.transactions(.fetchHistory(after: token), context) }
            expect(error?.code, equals: NSPersistentHistoryTokenExpiredError)
        }
    }
}
