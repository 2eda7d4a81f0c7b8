import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Files that are not stores any more, or may not be written: errors that name the file and what to do, and that change nothing.
@Suite struct DamagedFileTests {
    /// What opening a file says, whose bytes are the same afterwards.
    private static func error(
        opening file: URL, options: [AnyHashable: Any]? = nil, _ location: SourceLocation = #_sourceLocation
    ) throws -> NSError {
        let before = try Data(contentsOf: file)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        let error = try #require(
            failure {
                let store = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
                // A file may open that cannot be read.
                let context = Music.context(coordinator)
                defer { try? coordinator.remove(store) }
                try context.performAndWait { _ = try context.all(Band.self).map(\.albums.count) }
            }, sourceLocation: location)
        #expect(error.localizedDescription.contains(file.path), "\(error)", sourceLocation: location)
        #expect(error.localizedRecoverySuggestion != nil, "\(error)", sourceLocation: location)
        try expect(Data(contentsOf: file), equals: before, sourceLocation: location)
        return error
    }

    /// The bytes of a store with some rows.
    private static func bytes(_ pad: Scratchpad) throws -> Data {
        let place = pad.url.appendingPathComponent("whole.sqlite")
        try {
            let coordinator = try pad.coordinator(Music.model(), options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]], at: place)
            let context = Music.context(coordinator)
            try context.performAndWait { for number in 0..<50 { _ = try context.saveBand("band \(number)", albums: ["a", "b"]) } }
        }()
        return try Data(contentsOf: place)
    }

    @Test func textAndEncryptedBytesAreNoDatabase() throws {
        let pad = try Scratchpad()
        try Data("name,year\nCan,1968\n".utf8).write(to: pad.store)
        try expect(Self.error(opening: pad.store).code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
        // An encrypted database has random bytes where SQLite expects its own name.
        var generator = SeededGenerator(seed: 3)
        try Data((0..<16384).map { _ in UInt8.random(in: 0...255, using: &generator) }).write(to: pad.store)
        try expect(Self.error(opening: pad.store).code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
    }

    @Test func aTruncatedStoreIsDamaged() throws {
        let pad = try Scratchpad()
        let whole = try Self.bytes(pad)
        for length in [whole.count / 2, 4096, 1000] {
            try whole.prefix(length).write(to: pad.store)
            try expect(
                Self.error(opening: pad.store, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]).code,
                equals: CocoaError.Code.fileReadCorruptFile.rawValue, "\(length) bytes")
        }
    }

    @Test func aFileWithoutBytesBecomesAStoreAndIsNoneForReading() throws {
        let pad = try Scratchpad()
        try Data().write(to: pad.store)
        let error = try Self.error(opening: pad.store, options: [NSReadOnlyPersistentStoreOption: true])
        expect(error.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
        let context = try pad.context(Music.model())
        try context.performAndWait { _ = try context.saveBand("Can") }
        try expect(pad.texts("SELECT ZNAME FROM ZBAND"), equals: [["Can"]])
    }

    @Test func bytesThatChangeAtRandomAreErrorsAndNeverEndTheProgram() throws {
        let pad = try Scratchpad()
        let whole = try Self.bytes(pad)
        let seed = TestSeed.current(for: "bytesThatChangeAtRandomAreErrorsAndNeverEndTheProgram")
        var generator = SeededGenerator(seed: seed)
        var failures = 0
        var count = 0
        for round in TestRounds(seconds: 0.7, atLeast: 10) {
            count += 1
            var bytes = whole
            let start = Int.random(in: 0..<bytes.count - 64, using: &generator)
            for offset in start..<start + 64 { bytes[offset] = UInt8.random(in: 0...255, using: &generator) }
            try bytes.write(to: pad.store)
            let error = failure {
                let coordinator = try pad.coordinator(Music.model(), options: [NSReadOnlyPersistentStoreOption: true])
                let context = Music.context(coordinator)
                try context.performAndWait { _ = try context.all(Band.self).map { $0.albums.map(\.title) } }
                try context.performAndWait { try context.throwPendingFaultError() }
            }
            if let error {
                failures += 1
                #expect(!error.localizedDescription.isEmpty, "COREDATA_TEST_SEED=\(seed), round \(round)")
            }
        }
        // Most of a file is rows; its first page alone is a twentieth.
        print("\(failures) of \(count) damaged files were refused")
    }

    @Test(.enabled(if: geteuid() != 0, "The superuser may write anywhere"))
    func aDirectoryAndAFileThatMayNotBeWrittenAreNamed() throws {
        let pad = try Scratchpad()
        let whole = try Self.bytes(pad)
        try whole.write(to: pad.store)
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: pad.store.path)
        try expect(Self.error(opening: pad.store).code, equals: CocoaError.Code.fileWriteNoPermission.rawValue)
        try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: pad.url.path)
        let new = pad.url.appendingPathComponent("new.sqlite")
        let error = try #require(failure { _ = try pad.coordinator(Music.model(), at: new) })
        #expect(error.localizedDescription.contains(new.path))
        #expect(error.localizedRecoverySuggestion != nil)
    }

    @Test func aFullDiskFailsABatchACopyAndALargeSaveAndLosesNothing() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: HistoryTests.tracked)
        try context.performAndWait {
            _ = try context.saveBand("Can")
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
            let pages = try #require(try store.database().texts("PRAGMA page_count")[0][0].flatMap(Int.init))
            _ = try store.database().texts("PRAGMA max_page_count = \(pages)")
            let rows = (0..<5000).map { ["label": "tag \($0)"] }
            let batch = failure { try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: rows)) }
            expect(batch?.code, equals: CocoaError.Code.fileWriteOutOfSpace.rawValue)
            for number in 0..<2000 { _ = context.insert("Tag", ["label": "tag \(number)"]) }
            expect(failure { try context.save() }?.code, equals: CocoaError.Code.fileWriteOutOfSpace.rawValue)
            expect(context.insertedObjects.count, equals: 2000)
            _ = try store.database().texts("PRAGMA max_page_count = 1000000")
            try context.save()
            // What failed is in no history.
            try expect(HistoryTests.all(context).map { $0.changes?.count }, equals: [1, 2000])
        }
        try expect(pad.texts("SELECT count(*) FROM ZTAG"), equals: [["2000"]])
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]])
    }

    @Test func whoWaitsTooLongForOthersIsToldSo() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model(), options: [NSPersistentStoreTimeoutOption: 0.05])
        try context.performAndWait { _ = try context.saveBand("Can") }
        let other = try SQLiteFiles.connectForWriting(pad.store, timeout: 1, creates: false)
        try other.execute("BEGIN IMMEDIATE")
        try context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Band")
            update.propertiesToUpdate = ["name": "Neu!"]
            expect(failure { try context.execute(update) }?.code, equals: NSPersistentStoreTimeoutError)
            try other.execute("ROLLBACK")
            try context.execute(update)
        }
        try expect(pad.texts("SELECT ZNAME FROM ZBAND"), equals: [["Neu!"]])
    }
}
