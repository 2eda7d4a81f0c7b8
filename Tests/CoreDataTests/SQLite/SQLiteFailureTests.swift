import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Disks that are full, files that are damaged, limits that are reached.
@Suite struct SQLiteFailureTests {
    @Test func aFullDiskFailsTheSaveAndLeavesTheFileAsItWas() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let band = try context.saveBand("Can")
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
            let pages = try #require(try store.database().texts("PRAGMA page_count")[0][0].flatMap(Int.init))
            // No more pages than there are: what SQLite says then is what it says of a full disk.
            _ = try store.database().texts("PRAGMA max_page_count = \(pages)")
            band.name = String(repeating: "Can", count: 100_000)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: CocoaError.Code.fileWriteOutOfSpace.rawValue)
            expect(error.userInfo[NSSQLiteErrorDomain] as? Int, equals: 13)
            #expect(band.hasChanges)
            _ = try store.database().texts("PRAGMA max_page_count = 1000000")
            try context.save()
        }
        try expect(pad.texts("SELECT length(ZNAME), Z_OPT FROM ZBAND"), equals: [["300000", "2"]])
    }

    @Test func aDamagedFileFailsTheFetchWithSQLitesCode() throws {
        let pad = try Scratchpad()
        try {
            let context = try pad.context(Music.model(), options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
            try context.performAndWait {
                for number in 0..<2000 { _ = context.insert("Tag", ["label": "tag \(number)"]) }
                try context.save()
            }
        }()
        let page = try #require(try pad.texts("SELECT rootpage FROM sqlite_master WHERE name = 'ZTAG'")[0][0].flatMap(Int.init))
        let file = try FileHandle(forUpdating: pad.store)
        try file.seek(toOffset: UInt64((page - 1) * 4096))
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let error = try #require(failure { _ = try context.all(Tag.self) })
            expect(error.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
            expect(error.userInfo[NSSQLiteErrorDomain] as? Int, equals: 11)
            expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.domain, equals: NSSQLiteErrorDomain)
        }
    }

    @Test func aStoreThatWasRemovedSaysSo() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let context = Music.context(coordinator)
        try context.performAndWait {
            let band = try context.saveBand("Can")
            let store = coordinator.persistentStores[0]
            try coordinator.remove(store)
            #expect(failure { _ = try context.all(Band.self) } != nil)
            context.refresh(band, mergeChanges: false)
            #expect(failure { try band.fulfillFault() } != nil)
            expect(failure { _ = try (store as? SQLiteStore)?.database() }?.code, equals: NSPersistentStoreOperationError)
        }
        #expect(!FileManager.default.fileExists(atPath: pad.store.path + "-wal"))
    }

    @Test func aRelationshipToAnObjectOfAnotherStoreFailsTheSave() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let other = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: pad.url.appendingPathComponent("other.sqlite"))
        let context = Music.context(coordinator)
        try context.performAndWait {
            let band = Band(context: context)
            band.name = "Can"
            let album = Album(context: context)
            context.assign(album, to: other)
            album.band = band
            let error = try #require(failure { try context.save() })
            #expect(String(describing: error).contains("another store"))
        }
        try expect(pad.texts("SELECT count(*) FROM ZALBUM", in: pad.url.appendingPathComponent("other.sqlite")), equals: [["0"]])
    }

    @Test func moreObjectsThanAStatementHasParametersAreDeletedReadAndFollowed() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let album = Album(context: context)
            album.tracks = NSOrderedSet(array: (0..<3500).map { context.insert("Track", ["seconds": $0]) })
            try context.save()
            context.reset()
            let again = try #require(try context.all(Album.self).first)
            let tracks = again.tracks?.array.compactMap { $0 as? NSManagedObject } ?? []
            expect(tracks.map { $0.value(forKey: "seconds") as? Int }, equals: (0..<3500).map { $0 })
            for track in tracks.dropLast() { context.delete(track) }
            try context.save()
            try expect(pad.texts("SELECT ZSECONDS FROM ZTRACK"), equals: [["3499"]])
        }
    }

    @Test func placesLeaveRoomAndAreMadeAnewWhenItIsUsedUp() {
        expect(SQLOrderPositions.places([nil, nil, nil]), equals: [2048, 3072, 4096])
        expect(SQLOrderPositions.places([2048, nil, 3072]), equals: [2048, 2560, 3072])
        expect(SQLOrderPositions.places([nil, 2048]), equals: [1024, 2048])
        expect(SQLOrderPositions.places([5, nil, 6]), equals: [2048, 3072, 4096])
        expect(SQLOrderPositions.places([Int64.max, nil]), equals: [2048, 3072])
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let known = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                Bool.random(using: &generator) ? Int64.random(in: -40...40, using: &generator) : nil
            }
            let places = SQLOrderPositions.places(known)
            expect(places.count, equals: known.count)
            #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "\(known) became \(places)")
        }
    }
}
