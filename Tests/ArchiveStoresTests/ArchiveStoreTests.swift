import CoreData
import Foundation
import TestSupport
import Testing

@testable import ArchiveStores

/// What the XML store and the binary store have in common.
@Suite struct ArchiveStoreTests {
    private func save(_ kind: ArchiveKind, _ url: URL, titles: [String]) throws {
        try Library.open(kind, url).run { (context: NSManagedObjectContext) throws in
            for title in titles { context.add("Book", ["title": title]) }
            try context.save()
        }
    }

    private func titles(_ kind: ArchiveKind, _ url: URL) throws -> [String] {
        try Library.open(kind, url).run { (context: NSManagedObjectContext) throws in
            try context.all("Book", by: "title").compactMap { $0.value(forKey: "title") as? String }
        }
    }

    @Test(arguments: ArchiveKind.allCases) func objectsKeepTheirURIs(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        let uri = try Library.open(kind, url).run { (context: NSManagedObjectContext) throws in
            let shelf = context.add("Shelf", ["name": "a"])
            context.add("RareBook", ["title": "b", "shelf": shelf])
            try context.save()
            return shelf.objectID.uriRepresentation()
        }
        try Library.open(kind, url).run { (context: NSManagedObjectContext) throws in
            let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
            let shelf = try context.existingObject(with: id)
            let books = try #require(shelf.value(forKey: "books") as? Set<NSManagedObject>)
            expect(books.map(\.entity.name), equals: ["RareBook"])
            // A number is not given again.
            context.delete(shelf)
            try context.save()
        }
        try Library.open(kind, url).run { (context: NSManagedObjectContext) throws in
            #expect(try context.all("Book").isEmpty)
            let shelf = context.add("Shelf")
            try context.save()
            #expect(shelf.objectID.uriRepresentation() != uri)
        }
        expect(folder.names, equals: ["store"])
    }

    @Test(arguments: ArchiveKind.allCases) func whatOthersHaveSavedMeanwhileStays(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        try save(kind, url, titles: ["a", "b"])
        let context = try Library.open(kind, url)
        try context.run { (context: NSManagedObjectContext) throws in
            let books = try context.all("Book", by: "title")
            _ = books.map { $0.value(forKey: "title") }
            try Library.open(kind, url).run { (other: NSManagedObjectContext) throws in
                try other.all("Book", by: "title")[1].setValue("b2", forKey: "title")
                other.add("Book", ["title": "c"])
                try other.save()
            }
            // Another object: both edits are kept. New objects have numbers of their own.
            books[0].setValue("a1", forKey: "title")
            context.add("Book", ["title": "d"])
            try context.save()
            try expect(titles(kind, url), equals: ["a1", "b2", "c", "d"])
            // The same object: a conflict, which the merge policy resolves.
            books[1].setValue("b1", forKey: "title")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectMergeError)
            try expect(titles(kind, url), equals: ["a1", "b2", "c", "d"])
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            try expect(titles(kind, url), equals: ["a1", "b1", "c", "d"])
        }
    }

    @Test(arguments: ArchiveKind.allCases) func aFileThatIsGoneOrDamagedMeanwhileIsNotOverwritten(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        try save(kind, url, titles: ["a"])
        let whole = try Data(contentsOf: url)
        try Library.open(kind, url).run { (context: NSManagedObjectContext) throws in
            context.add("Book", ["title": "b"])
            try Data("nonsense".utf8).write(to: url)
            let damaged = #expect(throws: NSError.self) { try context.save() }
            expect(damaged?.code, equals: NSPersistentStoreSaveError)
            try expect(Data(contentsOf: url), equals: Data("nonsense".utf8))
            try FileManager.default.removeItem(at: url)
            let gone = #expect(throws: NSError.self) { try context.save() }
            expect(gone?.localizedDescription.contains("deleted or moved"), equals: true)
            #expect(folder.names.isEmpty)
            try whole.write(to: url)
            try context.save()
        }
        try expect(titles(kind, url), equals: ["a", "b"])
    }

    @Test(arguments: ArchiveKind.allCases) func aStoreOfAnotherVersionIsRefusedAndUnchanged(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        try save(kind, url, titles: ["a"])
        let before = try Data(contentsOf: url)
        let error = #expect(throws: NSError.self) { try Library.open(kind, url, Library.model(extra: true)) }
        expect(error?.code, equals: NSPersistentStoreIncompatibleVersionHashError)
        expect(error?.localizedDescription.contains("Book"), equals: true)
        try expect(Data(contentsOf: url), equals: before)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.rawValue, at: url)
        #expect(Library.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!Library.model(extra: true).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test(arguments: ArchiveKind.allCases) func metadataAreReadAndWrittenWithoutOpeningTheStore(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        try save(kind, url, titles: ["a", "b"])
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.rawValue, at: url)
        expect(metadata[NSStoreTypeKey] as? String, equals: kind.rawValue)
        metadata["note"] = "mine"
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: kind.rawValue, at: url)
        try expect(titles(kind, url), equals: ["a", "b"])
        try Library.open(kind, url).run { (context: NSManagedObjectContext) throws in
            expect(context.persistentStoreCoordinator?.persistentStores.first?.metadata["note"] as? String, equals: "mine")
            context.add("Book", ["title": "c"])
            try context.save()
        }
        try expect(
            NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.rawValue, at: url)["note"] as? String, equals: "mine")
    }

    @Test(arguments: ArchiveKind.allCases) func aReadOnlyStoreLeavesItsFileAlone(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        let missing = #expect(throws: NSError.self) {
            try Library.open(kind, url, options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
        }
        expect(missing?.code, equals: CocoaError.Code.fileReadNoSuchFile.rawValue)
        try save(kind, url, titles: ["a"])
        let before = try Data(contentsOf: url)
        try Library.open(kind, url, options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)]).run {
            (context: NSManagedObjectContext) throws in
            let book = try #require(try context.all("Book").first)
            book.setValue("b", forKey: "title")
            #expect(throws: NSError.self) { try context.save() }
        }
        try expect(Data(contentsOf: url), equals: before)
        let nowhere = #expect(throws: NSError.self) { try Library.open(kind, folder.file("none/store")) }
        expect(nowhere?.localizedDescription.contains("folder"), equals: true)
    }

    @Test(arguments: ArchiveKind.allCases) func storesMigrateToEachOtherAndToSQLite(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let context = try Library.open(kind, folder.file("a"))
        try context.run { (context: NSManagedObjectContext) throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let shelf = context.add("Shelf", ["name": "s"])
            context.add("RareBook", ["title": "t", "year": 1605, "words": ["x", "y"] as NSArray, "shelf": shelf])
            try context.save()
            for (type, name) in [(NSSQLiteStoreType, "b"), ("XML", "c"), ("Binary", "d"), (kind.rawValue, "e"), (kind.rawValue, "f")] {
                let store = try #require(coordinator.persistentStores.first)
                try coordinator.migratePersistentStore(store, to: folder.file(name), options: nil, withType: type)
                context.reset()
                let book = try #require(try context.all("RareBook").first)
                expect(book.value(forKey: "year") as? Int, equals: 1605)
                expect(book.value(forKey: "words") as? [String], equals: ["x", "y"])
                expect((book.value(forKey: "shelf") as? NSManagedObject)?.value(forKey: "name") as? String, equals: "s")
                expect(coordinator.persistentStores.map(\.type), equals: [type])
            }
        }
    }

    @Test(arguments: ArchiveKind.allCases) func storesAreReplacedAndDestroyed(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let (one, other) = (folder.file("one"), folder.file("other"))
        try save(kind, one, titles: ["a"])
        try save(kind, other, titles: ["b"])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.replacePersistentStore(at: one, withPersistentStoreFrom: other, ofType: kind.rawValue)
        try expect(titles(kind, one), equals: ["b"])
        try Data("nonsense".utf8).write(to: other)
        #expect(throws: NSError.self) {
            try coordinator.replacePersistentStore(at: one, withPersistentStoreFrom: other, ofType: kind.rawValue)
        }
        try expect(titles(kind, one), equals: ["b"])
        try coordinator.destroyPersistentStore(at: one, ofType: kind.rawValue)
        expect(folder.names, equals: ["other"])
        try coordinator.destroyPersistentStore(at: one, ofType: kind.rawValue)
    }

    @Test(arguments: ArchiveKind.allCases) func savesKeepPermissionsAndSymbolicLinks(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        try save(kind, folder.file("real"), titles: ["a"])
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file("real").path)
        try FileManager.default.createSymbolicLink(at: folder.file("link"), withDestinationURL: folder.file("real"))
        try save(kind, folder.file("link"), titles: ["b"])
        try expect(titles(kind, folder.file("real")), equals: ["a", "b"])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("real").path)
        expect((attributes[.posixPermissions] as? NSNumber)?.intValue, equals: 0o640)
        try expect(FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link").path), equals: folder.file("real").path)
    }

    @Test(arguments: ArchiveKind.allCases) func aSaveThatFailsLeavesStoreAndContextAsTheyWere(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let url = folder.file("store")
        try save(kind, url, titles: ["a"])
        try Library.open(kind, url).run { (context: NSManagedObjectContext) throws in
            let book = try #require(try context.all("Book").first)
            let before = try Data(contentsOf: url)
            book.setValue("b", forKey: "title")
            // A value that cannot be archived is noticed while the file is written.
            context.add("Book", ["title": "c", "words": NSObject()])
            #expect(throws: NSError.self) { try context.save() }
            #expect(context.hasChanges)
            try expect(Data(contentsOf: url), equals: before)
            expect(folder.names, equals: ["store"])
            let other = Library.context(try #require(context.persistentStoreCoordinator))
            let seen = try other.run { (other: NSManagedObjectContext) throws in
                try other.all("Book").compactMap { $0.value(forKey: "title") as? String }
            }
            expect(seen, equals: ["a"])
            for object in context.insertedObjects { context.delete(object) }
            try context.save()
        }
        try expect(titles(kind, url), equals: ["b"])
    }

    @Test(arguments: ArchiveKind.allCases) func aProcessThatEndsBetweenTwoSystemCallsLosesNeitherFile(_ kind: ArchiveKind) throws {
        let folder = try Folder()
        let url = folder.file(kind == .xml ? "store.xml" : "store.binary")
        var kills = 0
        for step in 1...40 {
            let before = FileManager.default.fileExists(atPath: url.path) ? try batches(kind, url) : 0
            let process = BuiltProgram.storeWriter("archive", url.path, "\(step)")
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let said = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let after = try batches(kind, url)
            if said.contains("saved") {
                expect(after, equals: before + 1)
                break
            }
            expect(process.terminationStatus, equals: 9, "step \(step): \(said)")
            kills += 1
            #expect(after == before || after == before + 1, "step \(step)")
        }
        // Opening, three or more parts of the file, syncing, closing, moving, syncing the folder.
        #expect(kills >= 7)
    }

    private func batches(_ kind: ArchiveKind, _ url: URL) throws -> Int {
        let batch = NSEntityDescription(name: "Batch")
        let (item, counter) = (NSEntityDescription(name: "Item"), NSEntityDescription(name: "Counter"))
        func number(_ name: String) -> NSAttributeDescription { NSAttributeDescription(name: name, type: .integer64) }
        let items = NSRelationshipDescription(name: "items", destination: item, toMany: true, deleteRule: .cascadeDeleteRule)
        let owner = NSRelationshipDescription(name: "batch", destination: batch)
        items.inverse(to: owner)
        batch.properties = [number("number"), number("size"), number("next"), items]
        item.properties = [number("value"), NSAttributeDescription(name: "text", type: .string), owner]
        counter.properties = [number("value")]
        let model = NSManagedObjectModel(entities: [batch, item, counter])
        return try Library.open(
            kind, url, model,
            options: [
                NSReadOnlyPersistentStoreOption: NSNumber(value: true), NSIgnorePersistentStoreVersioningOption: NSNumber(value: true),
            ]
        ).run { (context: NSManagedObjectContext) throws in
            let count = try context.all("Batch").count
            try expect(context.all("Item").count, equals: count * 200)
            return count
        }
    }
}
