import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Saves of so many objects that one statement writes several of them.
@Suite struct SQLiteManyRowsTests {
    private static let count = 257

    private static func names(_ context: NSManagedObjectContext) throws -> [String?] {
        try context.all(Tag.self, nil, by: "label").map(\.label)
    }
    private static func name(_ number: Int) -> String { String(format: "tag %05d", number) }

    /// A store with so many tags.
    private static func filled(_ pad: Scratchpad, _ count: Int = count) throws -> NSManagedObjectContext {
        let context = try pad.context(Music.model())
        try context.performAndWait {
            for number in 0..<count { Tag(context: context).label = name(number) }
            try context.save()
        }
        return context
    }

    @Test func manyChangesAreWrittenWhateverHasChangedInEach() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let band = try context.saveBand("Cluster", albums: (0..<Self.count).map(Self.name))
            let other = try context.saveBand("Harmonia")
            let albums = try context.all(Album.self, nil, by: "title")
            for (number, album) in albums.enumerated() {
                switch number {
                case ..<120: album.title = "long, new and other text of album \(number) \(String(repeating: "x", count: number))"
                case ..<240: album.band = other
                default: album.rating = Double(number)
                }
            }
            try context.save()
            expect(band.albums.count, equals: 137)
        }
        let second = try pad.context(Music.model())
        try second.performAndWait {
            let albums = try second.all(Album.self)
            expect(albums.filter { $0.title.hasPrefix("long, new") }.count, equals: 120)
            expect(albums.filter { $0.band?.name == "Harmonia" }.count, equals: 120)
            expect(Set(albums.compactMap(\.rating)), equals: Set((240..<Self.count).map(Double.init)))
            for number in 0..<120 {
                let text = "long, new and other text of album \(number) \(String(repeating: "x", count: number))"
                try expect(second.all(Album.self, "title == '\(text)'").count, equals: 1)
            }
        }
        try expect(pad.texts("SELECT DISTINCT Z_OPT FROM ZALBUM"), equals: [["2"]])
        try context.performAndWait {
            for album in try context.all(Album.self) { album.rating = nil }
            try context.save()
        }
        try expect(pad.texts("SELECT count(*), count(ZRATING) FROM ZALBUM"), equals: [["257", "0"]])
    }

    @Test func amongManyChangesThoseOfRowsThatOthersHaveChangedAreTheConflicts() throws {
        let pad = try Scratchpad()
        let first = try Self.filled(pad)
        let second = try pad.context(Music.model())
        let tags = try first.performAndWait { try first.all(Tag.self, nil, by: "label") }
        try second.performAndWait {
            let tags = try second.all(Tag.self, nil, by: "label")
            tags[137].label = "theirs"
            second.delete(tags[201])
            try second.save()
        }
        try first.performAndWait {
            for tag in tags { tag.label = (tag.label ?? "") + " changed" }
            let error = try #require(failure { try first.save() })
            expect(error.code, equals: NSManagedObjectMergeError)
            let conflicts = try #require(error.userInfo["conflictList"] as? [NSMergeConflict])
            expect(Set(conflicts.map(\.sourceObject)), equals: [tags[137], tags[201]])
            let changed = try #require(conflicts.first { $0.sourceObject === tags[137] })
            expect(changed.objectSnapshot?["label"] as? String, equals: Self.name(137))
            expect(changed.persistedSnapshot?["label"] as? String, equals: "theirs")
            #expect(conflicts.first { $0.sourceObject === tags[201] }?.persistedSnapshot == nil)
        }
        // Nothing was written, of the others neither.
        try expect(pad.texts("SELECT count(*) FROM ZTAG WHERE ZLABEL LIKE '% changed'"), equals: [["0"]])
        try first.performAndWait {
            first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try first.save()
        }
        try expect(pad.texts("SELECT count(*) FROM ZTAG WHERE ZLABEL LIKE '% changed'"), equals: [["257"]])
        try expect(pad.texts("SELECT Z_OPT FROM ZTAG WHERE ZLABEL LIKE 'tag 00137%'"), equals: [["3"]])
    }

    @Test func amongManyDeletionsThoseOfRowsThatOthersHaveChangedAreTheConflicts() throws {
        let pad = try Scratchpad()
        let first = try Self.filled(pad)
        let second = try pad.context(Music.model())
        let tags = try first.performAndWait {
            let tags = try first.all(Tag.self, nil, by: "label")
            // Versions are compared of what was read.
            expect(tags.map(\.label), equals: (0..<Self.count).map(Self.name))
            return tags
        }
        try second.performAndWait {
            try second.all(Tag.self, nil, by: "label")[137].label = "theirs"
            try second.save()
        }
        try first.performAndWait {
            for tag in tags { first.delete(tag) }
            let error = try #require(failure { try first.save() })
            let conflicts = try #require(error.userInfo["conflictList"] as? [NSMergeConflict])
            expect(conflicts.map(\.sourceObject), equals: [tags[137]])
        }
        try expect(pad.texts("SELECT count(*) FROM ZTAG"), equals: [["257"]])
        try first.performAndWait {
            first.mergePolicy = NSMergePolicy.overwrite
            try first.save()
        }
        try expect(pad.texts("SELECT count(*) FROM ZTAG"), equals: [["0"]])
    }

    @Test func deletionsLeaveWhatLiesBetweenThem() throws {
        let pad = try Scratchpad()
        let context = try Self.filled(pad)
        try context.performAndWait {
            for (number, tag) in try context.all(Tag.self, nil, by: "label").enumerated() {
                // A few alone, and long rows of neighbours; some were read in another version than others.
                if number % 10 == 3 { tag.label = Self.name(number) + "!" }
            }
            try context.save()
            for (number, tag) in try context.all(Tag.self, nil, by: "label").enumerated() where number > 150 || number % 3 == 0 {
                if number != 200 { context.delete(tag) }
            }
            try context.save()
            let left = (0..<Self.count).filter { $0 == 200 || !($0 > 150 || $0 % 3 == 0) }
            try expect(Self.names(context), equals: left.map { Self.name($0) + ($0 % 10 == 3 ? "!" : "") })
        }
    }

    @Test func notificationsTellOfEachOfMany() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            // Observers are called where the context posts.
            nonisolated(unsafe) var objects: [Set<NSManagedObject>] = []
            nonisolated(unsafe) var ids: [Set<NSManagedObjectID>] = []
            let token = NotificationCenter.default.addObserver(forName: nil, object: context, queue: nil) { note in
                for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                    if let set = note.userInfo?[key] as? Set<NSManagedObject> { objects.append(set) }
                    if let set = note.userInfo?[key + "_objectIDs"] as? Set<NSManagedObjectID>, !set.isEmpty { ids.append(set) }
                }
            }
            defer { NotificationCenter.default.removeObserver(token) }
            let tags = (0..<Self.count).map { number in
                let tag = Tag(context: context)
                tag.label = Self.name(number)
                return tag
            }
            try context.save()
            for tag in tags { tag.label = (tag.label ?? "") + "!" }
            try context.save()
            for tag in tags { context.delete(tag) }
            try context.save()
            // What has changed, and what was saved, for each of the three.
            expect(objects, equals: Array(repeating: Set(tags), count: 6))
            expect(ids, equals: Array(repeating: Set(tags.map(\.objectID)), count: 3))
            // A set is as any other: it can be asked and changed.
            var set = try #require(objects.first)
            #expect(tags.allSatisfy(set.contains))
            set.remove(tags[5])
            expect(set.count, equals: Self.count - 1)
            expect(objects[0].count, equals: Self.count)
        }
    }

    @Test func aDeletedObjectThatIsChangedTellsWhatItWas() throws {
        let pad = try Scratchpad()
        let context = try Self.filled(pad, 1)
        try context.performAndWait {
            let tag = try #require(try context.all(Tag.self).first)
            context.delete(tag)
            tag.label = "other"
            expect(tag.changedValuesForCurrentEvent()["label"] as? String, equals: Self.name(0))
        }
    }

    @Test func aLargeSaveGivesBackTheMemoryThatItTook() throws {
        let pad = try Scratchpad()
        // Albums have indexes.
        let context = try pad.context(Music.model())
        try context.performAndWait { _ = try context.saveBand("Cluster", albums: (0..<2500).map(Self.name)) }
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
        let fresh = try SQLiteFiles.connectForReading(pad.store, timeout: 5).texts("PRAGMA cache_size")
        try expect(store.writeLock.withLock { try store.database().texts("PRAGMA cache_size") }, equals: fresh)
    }
}
