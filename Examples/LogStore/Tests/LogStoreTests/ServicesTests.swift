import CoreData
import Foundation
import LogStore
import Testing

@Suite("The coordinator moves, replaces and destroys a store that it knows nothing of") struct ServicesTests {
    @Test("It becomes a SQLite store, a store in memory, and itself again, with everything in it")
    func migration() throws {
        let shelf = try Shelf()
        let coordinator = try shelf.open()
        try Shelf.add(["One", "Two", "Three"], to: "A", in: coordinator)
        try Shelf.add([], to: "B", in: coordinator)
        coordinator.persistentStores[0].metadata["colour"] = "green"
        let content = try Shelf.content(coordinator)
        let sqlite = shelf.folder.appendingPathComponent("Books.sqlite")
        let second = shelf.folder.appendingPathComponent("Second.log")
        let third = shelf.folder.appendingPathComponent("Third.log")
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: sqlite, withType: NSSQLiteStoreType)
        try #expect(Shelf.content(coordinator) == content)
        #expect(coordinator.persistentStores.map(\.type) == [NSSQLiteStoreType])
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: second, withType: NSInMemoryStoreType)
        try #expect(Shelf.content(coordinator) == content)
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: second, withType: LogStore.storeType)
        try #expect(Shelf.content(coordinator) == content)
        let uuid = coordinator.persistentStores[0].identifier
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: third, withType: LogStore.storeType)
        #expect(coordinator.persistentStores.map(\.url) == [third])
        #expect(coordinator.persistentStores[0].identifier == uuid)
        #expect(coordinator.persistentStores[0].metadata["colour"] as? String == "green")
        try #expect(Shelf.content(coordinator) == content)
        try Shelf.close(coordinator)
        for place in [second, third] {
            let again = try shelf.open(place)
            try #expect(Shelf.content(again) == content)
            try Shelf.close(again)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: shelf.folder.path)
        #expect(Set(files) == ["Books.log", "Books.sqlite", "Second.log", "Third.log"])
    }

    @Test("What cannot be moved stays where it is")
    func failedMigration() throws {
        let shelf = try Shelf()
        let coordinator = try shelf.open()
        try Shelf.add(["One"], to: "A", in: coordinator)
        let store = coordinator.persistentStores[0]
        let taken = shelf.folder.appendingPathComponent("taken")
        try Data([1]).write(to: taken)
        // Below a file there are no directories.
        let nowhere = taken.appendingPathComponent("folder")
        #expect(
            failure { try coordinator.migratePersistentStore(store, to: taken, withType: LogStore.storeType) }?.code
                == CocoaError.Code.fileWriteFileExists.rawValue)
        for type in [LogStore.storeType, NSSQLiteStoreType] {
            #expect(failure { try coordinator.migratePersistentStore(store, to: nowhere, withType: type) } != nil)
        }
        #expect(
            failure { try coordinator.migratePersistentStore(store, to: nowhere, withType: "Unknown") }?.code
                == NSPersistentStoreInvalidTypeError)
        #expect(coordinator.persistentStores == [store])
        try #expect(Shelf.content(coordinator) == ["A: One 3"])
        try #expect(Data(contentsOf: taken) == Data([1]))
    }

    @Test("A backup is put in the place of a store that is closed, and nothing that is open or damaged is touched")
    func replacing() throws {
        let shelf = try Shelf()
        let backup = shelf.folder.appendingPathComponent("Backup.log")
        var coordinator = try shelf.open()
        try Shelf.add(["One"], to: "A", in: coordinator)
        try Shelf.close(coordinator)
        let services = NSPersistentStoreCoordinator(managedObjectModel: Shelf.model())
        try services.replacePersistentStore(at: backup, withPersistentStoreFrom: shelf.file, ofType: LogStore.storeType)
        coordinator = try shelf.open()
        try Shelf.add(["Two"], to: "B", in: coordinator)
        for one in [coordinator, services] {
            #expect(
                failure { try one.replacePersistentStore(at: shelf.file, withPersistentStoreFrom: backup, ofType: LogStore.storeType) }
                    != nil)
        }
        // A coordinator that has it open would close it first.
        #expect(failure { try services.destroyPersistentStore(at: shelf.file, ofType: LogStore.storeType) } != nil)
        try #expect(Shelf.content(coordinator) == ["A: One 3", "B: Two 3"])
        try Shelf.close(coordinator)
        let junk = shelf.folder.appendingPathComponent("junk")
        try Data("junk, and nothing else".utf8).write(to: junk)
        #expect(
            failure { try services.replacePersistentStore(at: shelf.file, withPersistentStoreFrom: junk, ofType: LogStore.storeType) }
                != nil)
        try services.replacePersistentStore(at: shelf.file, withPersistentStoreFrom: backup, ofType: LogStore.storeType)
        coordinator = try shelf.open()
        try #expect(Shelf.content(coordinator) == ["A: One 3"])
        try Shelf.close(coordinator)
        try services.destroyPersistentStore(at: shelf.file, ofType: LogStore.storeType)
        try services.destroyPersistentStore(at: shelf.file, ofType: LogStore.storeType)
        #expect(!FileManager.default.fileExists(atPath: shelf.file.path))
    }
}
