import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

@Suite("A store that speaks in values")
struct ValueStoreTests {
    /// Saves so many albums, each with a rating, and empties the context.
    private func fill(_ context: NSManagedObjectContext, _ count: Int) throws {
        let band = Band(context: context)
        band.name = "Tidal"
        for number in 0..<count {
            let album = Album(context: context)
            album.title = "Album \(number)"
            album.year = Int16(number)
            album.rating = Double(number)
            album.band = band
        }
        try context.save()
        context.reset()
    }

    private func albums(_ context: NSManagedObjectContext) throws -> [Album] {
        try context.fetch(NSFetchRequest<Album>(entityName: "Album"))
    }

    @Test("Rows that come with a fetch fire the faults; a to-many relationship is asked for once for all")
    func aHandfulOfQuestions() throws {
        let (context, store) = try ValueStore.make()
        try context.performAndWait {
            try fill(context, 100)
            _ = store.takeCalls()
            let albums = try albums(context)
            expect(albums.map(\.year), equals: (0..<100).map { Int16($0) })
            #expect(albums.allSatisfy { $0.band?.name == "Tidal" })
            #expect(albums.allSatisfy { $0.tags.isEmpty })
            expect(store.takeCalls(), equals: ["fetch Album", "rows 1", "related Album.tags 100"])
        }
    }

    @Test("An unknown value is asked for when it is read, for all that came together; others are left unknown")
    func unknownValues() throws {
        let (context, store) = try ValueStore.make()
        try context.performAndWait {
            try fill(context, 50)
            store.state.withLock { $0.lazyProperties = ["rating", "year"] }
            _ = store.takeCalls()
            let albums = try albums(context)
            expect(albums.map(\.title).count, equals: 50)
            expect(store.takeCalls(), equals: ["fetch Album"])
            expect(albums.map(\.rating), equals: (0..<50).map { Double($0) })
            expect(store.takeCalls(), equals: ["values rating 50"])
            // By key, by a predicate over objects, and as what was committed.
            expect(albums[7].value(forKey: "year") as? Int, equals: 7)
            expect(store.takeCalls(), equals: ["values year 50"])
            try expect(albums.filter { try NSPredicate(format: "year > 40 AND rating > 40").matches($0) }.count, equals: 9)
            expect(albums[3].committedValues(forKeys: ["year"])["year"] as? Int, equals: 3)
            expect(store.takeCalls(), equals: [])
        }
    }

    @Test("An unknown value is neither nil nor a default, and not required to be there by a save of something else")
    func unknownIsNotNil() throws {
        let (context, store) = try ValueStore.make()
        try context.performAndWait {
            try fill(context, 3)
            store.state.withLock { $0.lazyProperties = ["title", "rating"] }
            let albums = try albums(context)
            albums[0].year = 1999
            expect(albums[0].changedValues().keys.sorted(), equals: ["year"])
            albums[1].rating = nil
            albums[2].title = "Other"
            _ = store.takeCalls()
            try context.save()
            expect(store.takeCalls(), equals: ["save nobody: +0 ~3 -0"])
            // What was set is known; what was not is asked for.
            #expect(albums[1].rating == nil)
            expect(albums[2].title, equals: "Other")
            expect(store.takeCalls(), equals: [])
        }
    }

    @Test("A value that is set before it was known stays, and what the store had is known once it is asked")
    func settingUnknown() throws {
        let (context, store) = try ValueStore.make()
        try context.performAndWait {
            try fill(context, 2)
            store.state.withLock { $0.lazyProperties = ["year", "rating"] }
            let albums = try albums(context)
            albums[1].year = 7
            albums[1].year = 8
            expect(albums[0].year, equals: 0)
            expect(albums[1].year, equals: 8)
            expect(albums[1].committedValues(forKeys: ["year"])["year"] as? Int, equals: 1)
            albums[1].rating = nil
            #expect(albums[1].rating == nil)
            context.rollback()
            expect(albums[1].year, equals: 1)
            expect(albums[1].rating, equals: 1)
        }
    }

    @Test("A child reads what its parent's store has not said through the parent")
    func unknownInChildren() throws {
        let (context, store) = try ValueStore.make()
        try context.performAndWait {
            try fill(context, 10)
            store.state.withLock { $0.lazyProperties = ["rating"] }
        }
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        try child.performAndWait {
            let albums = try albums(child)
            expect(albums.map(\.year).count, equals: 10)
            expect(albums.map(\.rating), equals: (0..<10).map { Double($0) })
        }
    }

    @Test("A save of which a part is refused leaves just that part dirty, and the next save sends just that")
    func partialSaves() throws {
        let (context, store) = try ValueStore.make()
        try context.performAndWait {
            store.state.withLock {
                $0.savesAtomically = false
                $0.refused = ["Band"]
            }
            let band = Band(context: context)
            band.name = "Refused"
            let album = Album(context: context)
            album.title = "Accepted"
            album.band = band
            nonisolated(unsafe) var saved: Set<NSManagedObject> = []
            let observer = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
            ) { note in saved = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? [] }
            defer { NotificationCenter.default.removeObserver(observer) }
            #expect {
                try context.save()
            } throws: { error in
                let error = error as NSError
                let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
                return error.code == NSPersistentStoreIncompleteSaveError && details.count == 1
                    && (error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject]) == [band]
            }
            expect(saved, equals: [album])
            #expect(!album.hasChanges && band.isInserted)
            expect(context.insertedObjects, equals: [band])
            // A later edit does not reach into what the store was given.
            band.name = "Better"
            store.state.withLock { $0.refused = [] }
            _ = store.takeCalls()
            try context.save()
            expect(store.takeCalls(), equals: ["save nobody: +1 ~0 -0"])
            #expect(!context.hasChanges)
            context.reset()
            try expect(albums(context).map { $0.band?.name }, equals: ["Better"])
        }
    }

    @Test("Typed options of a request reach the store, and the author of a save")
    func optionsAndAuthor() throws {
        enum LongestAge: StoreRequestOption { static let defaultValue = 60 }
        let (context, store) = try ValueStore.make()
        try context.performAndWait {
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.storeOptions[LongestAge.self] = 5
            request.predicate = NSPredicate(value: true)
            _ = try context.fetch(request)
            expect(store.state.withLock { $0.options[LongestAge.self] }, equals: 5)
            _ = try context.count(for: NSFetchRequest<Album>(entityName: "Album"))
            expect(store.state.withLock { $0.options[LongestAge.self] }, equals: 60)
            context.transactionAuthor = "importer"
            _ = Tag(context: context)
            _ = store.takeCalls()
            try context.save()
            expect(store.takeCalls(), equals: ["save importer: +1 ~0 -0"])
        }
    }

    @Test("A store that tracks history by the interface serves history requests: after a token, by author, and deletion")
    func history() throws {
        let (context, _) = try ValueStore.make()
        try context.performAndWait {
            for author in ["importer", "editor", "importer"] {
                context.transactionAuthor = author
                _ = Tag(context: context)
                try context.save()
            }
            func transactions(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
                let result = try context.execute(request) as? NSPersistentHistoryResult
                return try #require(result?.result as? [NSPersistentHistoryTransaction])
            }
            let all = try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?))
            expect(all.map(\.author), equals: ["importer", "editor", "importer"])
            try expect(transactions(.fetchHistory(after: all[0].token)).map(\.transactionNumber), equals: [2, 3])
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: "author == 'editor'")
            try expect(transactions(.fetchHistory(withFetch: fetch)).map(\.transactionNumber), equals: [2])
            let tags = try context.fetch(NSFetchRequest<Tag>(entityName: "Tag")).map(\.objectID)
            expect(Set(all.flatMap { $0.changes ?? [] }.map(\.changedObjectID)), equals: Set(tags))
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: all[2].token))
            try expect(transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?)).map(\.transactionNumber), equals: [3])
        }
    }
}
