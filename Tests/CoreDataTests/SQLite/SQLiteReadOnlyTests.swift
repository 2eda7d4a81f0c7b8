import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// A store that is opened for reading is left as it is.
@Suite struct SQLiteReadOnlyTests {
    private func make(_ pad: Scratchpad) throws {
        let context = try pad.context(Music.model())
        try context.performAndWait { _ = try context.saveBand("Neu!", albums: ["Neu! 2", "Neu! 75"]) }
    }

    private func files(_ pad: Scratchpad) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: pad.url.path)
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: pad.url.appendingPathComponent($0))) })
    }

    private func readAll(_ pad: Scratchpad) throws -> Set<String> {
        let context = try pad.context(Music.model(), options: [NSReadOnlyPersistentStoreOption: true])
        return try context.performAndWait {
            let bands = try context.all(Band.self)
            return Set(bands.flatMap { band in band.albums.map { "\(band.name): \($0.title)" } })
        }
    }

    @Test func readingChangesNoFile() throws {
        let pad = try Scratchpad()
        try make(pad)
        let before = try files(pad)
        try expect(readAll(pad), equals: ["Neu!: Neu! 2", "Neu!: Neu! 75"])
        try expect(files(pad), equals: before)
    }

    /// What a program leaves beside a store that is ended while it has the store open.
    @Test(arguments: [["-wal"], ["-shm"], ["-wal", "-shm"], ["-journal"]], [false, true])
    func readingWhatAnEndedProgramLeftChangesNoByte(left: [String], hasTwoReaders: Bool) throws {
        let pad = try Scratchpad()
        try make(pad)
        let copy = try Scratchpad()
        let isUndone = left == ["-journal"]
        let options: [AnyHashable: Any] = isUndone ? [NSSQLitePragmasOption: ["journal_mode": "DELETE", "cache_size": "1"]] : [:]
        let writer = try pad.context(Music.model(), options: options)
        try writer.performAndWait {
            if left == ["-wal"] || left == ["-wal", "-shm"] { _ = try writer.saveBand("Harmonia", albums: ["Deluxe"]) }
        }
        var ending: SQLConnection?
        if isUndone {
            // A transaction that has written a part to the file.
            let connection = try SQLiteFiles.connectForWriting(pad.store, timeout: 5, creates: false)
            try connection.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE", .opening)
            try connection.execute("UPDATE ZBAND SET ZNAME = 'Lost'; CREATE TABLE filler (x)", .opening)
            for _ in 0..<200 { try connection.execute("INSERT INTO filler VALUES (zeroblob(3000))", .opening) }
            ending = connection
        }
        for ending in [""] + left {
            try FileManager.default.copyItem(atPath: pad.store.path + ending, toPath: copy.store.path + ending)
        }
        withExtendedLifetime((writer, ending)) {}
        let before = try files(copy)
        for file in left { #expect(before["store.sqlite" + file]?.isEmpty == false, "\(before.mapValues(\.count))") }
        let albums: Set =
            left.contains("-wal") ? ["Neu!: Neu! 2", "Neu!: Neu! 75", "Harmonia: Deluxe"] : ["Neu!: Neu! 2", "Neu!: Neu! 75"]
        let other = hasTwoReaders ? try copy.context(Music.model(), options: [NSReadOnlyPersistentStoreOption: true]) : nil
        try expect(readAll(copy), equals: albums)
        try other?.performAndWait { try expect(#require(other).all(Band.self).count, equals: left.contains("-wal") ? 2 : 1) }
        if let coordinator = other?.persistentStoreCoordinator { try coordinator.remove(coordinator.persistentStores[0]) }
        let after = try files(copy)
        expect(after.keys.sorted(), equals: before.keys.sorted())
        for (name, bytes) in before { #expect(after[name] == bytes, "\(name)") }
        // The files are still those of the store.
        let next = try copy.context(Music.model())
        try next.performAndWait { try expect(next.all(Album.self).count, equals: albums.count) }
    }

    @Test func savingIsRefused() throws {
        let pad = try Scratchpad()
        try make(pad)
        let context = try pad.context(Music.model(), options: [NSReadOnlyPersistentStoreOption: true])
        try context.performAndWait {
            let band = try #require(try context.all(Band.self).first)
            band.name = "La Düsseldorf"
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSPersistentStoreSaveError)
        }
        try expect(pad.texts("SELECT ZNAME FROM ZBAND"), equals: [["Neu!"]])
    }

    @Test func whatOnlyTheLogHoldsIsReadAndTheLogStays() throws {
        let pad = try Scratchpad()
        try make(pad)
        // A writer that still has the file open keeps what it has written in the log.
        let writer = try pad.context(Music.model())
        try writer.performAndWait { _ = try writer.saveBand("Harmonia", albums: ["Deluxe"]) }
        let copy = try Scratchpad()
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: pad.store.path + ending, toPath: copy.store.path + ending)
        }
        let before = try files(copy)
        expect(before["store.sqlite-wal"]?.isEmpty, equals: false)
        try expect(readAll(copy), equals: ["Neu!: Neu! 2", "Neu!: Neu! 75", "Harmonia: Deluxe"])
        let after = try files(copy)
        expect(after["store.sqlite"], equals: before["store.sqlite"])
        expect(after["store.sqlite-wal"], equals: before["store.sqlite-wal"])
        withExtendedLifetime(writer) {}
    }

    @Test("What is no file beside a store is an error, and is not waited for", arguments: ["-wal", "-shm", "-journal"], [true, false])
    func specialFilesBeside(ending: String, isReadOnly: Bool) throws {
        let pad = try Scratchpad()
        try make(pad)
        let before = try Data(contentsOf: pad.store)
        expect(mkfifo(pad.store.path + ending, 0o600), equals: 0)
        for isFolder in [false, true] {
            if isFolder {
                unlink(pad.store.path + ending)
                expect(mkdir(pad.store.path + ending, 0o700), equals: 0)
            }
            let error = failure { _ = try pad.context(Music.model(), options: [NSReadOnlyPersistentStoreOption: isReadOnly]) }
            expect(error?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
            #expect(error?.localizedDescription.contains("store.sqlite\(ending)") ?? false, "\(String(describing: error))")
        }
        try expect(Data(contentsOf: pad.store), equals: before)
    }

    @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType], [true, false])
    func aPipeIsAnErrorAndIsNotWaitedFor(type: String, isReadOnly: Bool) throws {
        let pad = try Scratchpad()
        expect(mkfifo(pad.store.path, 0o600), equals: 0)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        #expect(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: pad.store, options: [NSReadOnlyPersistentStoreOption: isReadOnly])
        }
        #expect(throws: NSError.self) { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: pad.store) }
    }
}
