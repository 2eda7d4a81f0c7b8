import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Contexts that hold on to a state of the store.
@Suite struct QueryGenerationTests {
    private static func names(_ context: NSManagedObjectContext) throws -> [String] {
        try context.all(Band.self, nil, by: "name").map(\.name)
    }

    @Test func aPinnedContextReadsWhatWasThereWhenItFirstRead() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let (writer, pinned) = (Music.context(coordinator), Music.context(coordinator))
        let bands = try writer.performAndWait { try ["a", "b"].map { try writer.saveBand($0, albums: ["1 of \($0)"]) } }
        try pinned.performAndWait {
            try pinned.setQueryGenerationFrom(.current)
            #expect(pinned.queryGenerationToken === NSQueryGenerationToken.current)
            try expect(Self.names(pinned), equals: ["a", "b"])
            #expect(pinned.queryGenerationToken !== NSQueryGenerationToken.current)
        }
        try writer.performAndWait {
            bands[0].name = "A"
            bands[0].albums.first?.title = "changed"
            writer.delete(bands[1])
            try writer.saveBand("c", albums: ["1 of c"])
        }
        try pinned.performAndWait {
            pinned.refreshAllObjects()
            // Fetches, counts, faults and relationships alike.
            try expect(Self.names(pinned), equals: ["a", "b"])
            try expect(pinned.count(for: NSFetchRequest<Band>(entityName: "Band")), equals: 2)
            #expect(try pinned.all(Band.self, "name == 'A' OR name == 'c'").isEmpty)
            let shown = try pinned.all(Band.self, nil, by: "name")
            expect(shown.map { $0.albums.map(\.title) }, equals: [["1 of a"], ["1 of b"]])
            try pinned.setQueryGenerationFrom(.current)
            pinned.refreshAllObjects()
            try expect(Self.names(pinned), equals: ["A", "c"])
            try writer.performAndWait { _ = try writer.saveBand("d") }
            try expect(Self.names(pinned), equals: ["A", "c"])
            try pinned.setQueryGenerationFrom(nil)
            #expect(pinned.queryGenerationToken == nil)
            try expect(Self.names(pinned), equals: ["A", "c", "d"])
        }
    }

    @Test func contextsShareAGenerationAndSavingMergingAndResettingLeaveIt() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let (writer, first, second) = (Music.context(coordinator), Music.context(coordinator), Music.context(coordinator))
        try writer.performAndWait { _ = try writer.saveBand("a") }
        let token = try first.performAndWait {
            try first.setQueryGenerationFrom(.current)
            try expect(Self.names(first), equals: ["a"])
            return try #require(first.queryGenerationToken)
        }
        try writer.performAndWait { _ = try writer.saveBand("b") }
        try second.performAndWait {
            try second.setQueryGenerationFrom(token)
            try expect(Self.names(second), equals: ["a"])
            second.reset()
            try expect(Self.names(second), equals: ["a", "b"])
            #expect(second.queryGenerationToken != nil)
        }
        try first.performAndWait {
            try expect(Self.names(first), equals: ["a"])
            _ = try first.saveBand("c")
            try expect(Self.names(first), equals: ["a", "b", "c"])
        }
        let other = Music.context(try pad.coordinator(Music.model()))
        other.performAndWait { expect(failure { try other.setQueryGenerationFrom(token) }?.code, equals: NSCoreDataError) }
    }

    @Test func whatWasChangedSinceIsAConflictOfAPinnedContext() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let (writer, pinned) = (Music.context(coordinator), Music.context(coordinator))
        let band = try writer.performAndWait { try writer.saveBand("a") }
        let shown = try pinned.performAndWait {
            try pinned.setQueryGenerationFrom(.current)
            return try #require(try pinned.all(Band.self).first)
        }
        try writer.performAndWait {
            band.name = "b"
            try writer.save()
        }
        try pinned.performAndWait {
            shown.name = "c"
            expect(failure { try pinned.save() }?.code, equals: NSManagedObjectMergeError)
            pinned.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try pinned.save()
        }
        try expect(pad.texts("SELECT ZNAME FROM ZBAND"), equals: [["c"]])
    }

    @Test func aLongPinHindersNoWriterAndGoesWithItsContext() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model(), options: [NSPersistentStoreTimeoutOption: 1])
        let writer = Music.context(coordinator)
        try writer.performAndWait { _ = try writer.saveBand("0") }
        try {
            let pinned = Music.context(coordinator)
            try pinned.performAndWait {
                try pinned.setQueryGenerationFrom(.current)
                try expect(Self.names(pinned), equals: ["0"])
            }
            try writer.performAndWait { for number in 1...300 { _ = try writer.saveBand("\(number)", albums: ["x", "y"]) } }
            let names = try pinned.performAndWait { try Self.names(pinned) }
            expect(names, equals: ["0"])
        }()
        // Nobody reads the old state any more: the log can be emptied.
        let store = try #require(coordinator.persistentStores.first as? SQLiteStore)
        let rest = try store.writeLock.withLock { try store.database().texts("PRAGMA wal_checkpoint(TRUNCATE)") }
        expect(rest, equals: [["0", "0", "0"]])
    }

    @Test func aFileWithoutALogIsReadAsItIs() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model(), options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        let (writer, context) = (Music.context(coordinator), Music.context(coordinator))
        try writer.performAndWait { _ = try writer.saveBand("a") }
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            try expect(Self.names(context), equals: ["a"])
            #expect(context.queryGenerationToken == nil)
            try writer.performAndWait { _ = try writer.saveBand("b") }
            try expect(Self.names(context), equals: ["a", "b"])
        }
    }

    @Test func aPinnedContextFollowsRelationshipsOfManyObjectsInItsOwnStateOnly() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let (writer, reader, pinned) = (Music.context(coordinator), Music.context(coordinator), Music.context(coordinator))
        func fetchWithTags(_ context: NSManagedObjectContext) throws -> [Album] {
            let request = NSFetchRequest<Album>()
            request.relationshipKeyPathsForPrefetching = ["tags"]
            return try context.fetch(request)
        }
        let band = try writer.performAndWait { try writer.saveBand("a", albums: ["1", "2", "3"]) }
        try pinned.performAndWait {
            pinned.retainsRegisteredObjects = true
            try pinned.setQueryGenerationFrom(.current)
            try expect(Self.names(pinned), equals: ["a"])
        }
        let tag = try writer.performAndWait {
            let tag = Tag(context: writer)
            for album in band.albums { album.tags = [tag] }
            try writer.save()
            return tag.objectID
        }
        // The present state of the relationships is at hand.
        let isTagged = try reader.performAndWait { try fetchWithTags(reader).allSatisfy { $0.tags.count == 1 } }
        #expect(isTagged)
        try pinned.performAndWait {
            let albums = try fetchWithTags(pinned)
            #expect(pinned.registeredObject(for: tag) == nil)
            #expect(albums.count == 3 && albums.allSatisfy { $0.tags.isEmpty })
        }
    }
}
