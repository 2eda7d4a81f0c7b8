import CSQLite
import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

@Suite("Transactions that cannot be committed") struct FailedCommitTests {
    private func names(_ pad: Scratchpad) throws -> [String] {
        try pad.texts("SELECT ZNAME FROM ZBAND ORDER BY ZNAME").compactMap { $0[0] }
    }

    @Test(
        "A save whose COMMIT fails fails, changes nothing, and the next one saves all of it, metadata too",
        arguments: [SQLITE_FULL, SQLITE_IOERR | 3 << 8]) func save(_ code: Int32) throws
    {
        let pad = try Scratchpad()
        let disk = WatchedDisk(pad.url)
        defer { disk.forget() }
        let coordinator = try pad.coordinator(Music.model())
        let store = coordinator.persistentStores[0]
        let context = Music.context(coordinator)
        try context.performAndWait {
            let band = try context.saveBand("Can")
            band.name = "Neu!"
            var metadata = coordinator.metadata(for: store)
            metadata["mood"] = "blue"
            coordinator.setMetadata(metadata, for: store)
            disk.failWrites(code)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: (code == SQLITE_FULL ? CocoaError.Code.fileWriteOutOfSpace.rawValue : NSSQLiteError), "\(error)")
            #expect(context.hasChanges && band.hasChanges && band.name == "Neu!")
            disk.failWrites(0)
            try expect(names(pad), equals: ["Can"])
            try context.save()
            #expect(!context.hasChanges)
            try expect(names(pad), equals: ["Neu!"])
        }
        let known = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: pad.store)
        expect(known["mood"] as? String, equals: "blue")
    }

    @Test("A save that cannot commit beside a reader, in a file without a log, is a timeout; the next one saves all of it")
    func busy() throws {
        let pad = try Scratchpad()
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 0]
        let coordinator = try pad.coordinator(Music.model(), options: options)
        let store = coordinator.persistentStores[0]
        let context = Music.context(coordinator)
        try context.performAndWait {
            let band = try context.saveBand("Can")
            let reader = try SQLiteFiles.connectForReading(pad.store, timeout: 0)
            try reader.execute("BEGIN")
            _ = try reader.texts("SELECT * FROM ZBAND")
            band.name = "Neu!"
            var metadata = coordinator.metadata(for: store)
            metadata["mood"] = "blue"
            coordinator.setMetadata(metadata, for: store)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSPersistentStoreTimeoutError, "\(error)")
            #expect(band.hasChanges)
            try reader.execute("COMMIT")
            try context.save()
            try expect(names(pad), equals: ["Neu!"])
        }
        let known = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: pad.store)
        expect(known["mood"] as? String, equals: "blue")
    }

    @Test("Keys beyond their counter are met by it again after a transaction that was not committed")
    func counters() throws {
        let pad = try Scratchpad()
        try pad.context(Music.model()).performAndWaitSaving("Can")
        try pad.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 0")
        let disk = WatchedDisk(pad.url)
        defer { disk.forget() }
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let band = Band(context: context)
            band.name = "Neu!"
            disk.failWrites(SQLITE_FULL)
            #expect(failure { try context.save() } != nil)
            disk.failWrites(0)
            try context.save()
        }
        try expect(names(pad), equals: ["Can", "Neu!"])
    }

    @Test("A read transaction that cannot be committed is rolled back")
    func reading() throws {
        let pad = try Scratchpad()
        try pad.context(Music.model()).performAndWaitSaving("Can")
        let connection = try SQLiteFiles.connectForReading(pad.store, timeout: 5)
        // Refuses to prepare any COMMIT.
        sqlite3_set_authorizer(
            connection.handle,
            { _, action, operation, _, _, _ in
                guard action == SQLITE_TRANSACTION, let operation else { return SQLITE_OK }
                return String(cString: operation) == "COMMIT" ? SQLITE_DENY : SQLITE_OK
            }, nil)
        let count = try connection.reading { try connection.texts("SELECT count(*) FROM ZBAND") }
        expect(count, equals: [["1"]])
        #expect(!connection.isInTransaction)
    }

    @Test("A function that SQLite does not take fails the opening, with its name")
    func functions() throws {
        let pad = try Scratchpad()
        try pad.context(Music.model()).performAndWaitSaving("Can")
        let name = "NSCoreData" + String(repeating: "x", count: 300)
        try pad.execute("CREATE TRIGGER long AFTER INSERT ON ZBAND BEGIN SELECT \(name)(1); END")
        let error = try #require(failure { _ = try pad.context(Music.model()) })
        expect(error.code, equals: NSPersistentStoreOpenError)
        #expect(error.localizedDescription.lowercased().contains(name.lowercased()))
    }
}

extension NSManagedObjectContext {
    /// Saves a band, on the context's queue.
    fileprivate func performAndWaitSaving(_ name: String) throws { try performAndWait { _ = try saveBand(name) } }
}
