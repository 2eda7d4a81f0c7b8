import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import SQLQueries
@testable import SQLiteStore

/// Large values lie in files beside the store, and go with the rows that name them.
@Suite struct ExternalFileTests {
    private static func model() -> NSManagedObjectModel {
        let photo = NSEntityDescription(name: "Photo", properties: [NSAttributeDescription(name: "title", type: .string)])
        for name in ["image", "preview"] {
            let data = NSAttributeDescription(name: name, type: .binaryData)
            data.allowsExternalBinaryDataStorage = true
            photo.properties.append(data)
        }
        return NSManagedObjectModel(entities: [photo])
    }

    private static func large(_ byte: UInt8) -> Data { Data(repeating: byte, count: SQLExternalFiles.threshold + 1) }

    private static func folder(_ pad: Scratchpad, _ store: String = "store") -> URL {
        pad.url.appendingPathComponent(".\(store)_SUPPORT/_EXTERNAL_DATA")
    }

    private static func files(_ pad: Scratchpad, _ store: String = "store") -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder(pad, store).path)) ?? [])
    }

    /// The names that the rows hold.
    private static func names(_ pad: Scratchpad) throws -> Set<String> {
        let rows = try pad.texts(
            "SELECT substr(CAST(ZIMAGE AS TEXT), 2, 36) FROM ZPHOTO WHERE substr(ZIMAGE, 1, 1) = x'02' AND length(ZIMAGE) = 38 "
                + "UNION ALL SELECT substr(CAST(ZPREVIEW AS TEXT), 2, 36) FROM ZPHOTO WHERE substr(ZPREVIEW, 1, 1) = x'02'")
        return Set(rows.compactMap { $0[0] })
    }

    @Test func aLargeValueLiesInAFileAndASmallOneInTheRow() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            _ = context.insert("Photo", ["title": "large", "image": Self.large(7), "preview": Data([1, 2])])
            _ = context.insert("Photo", ["title": "limit", "image": Data(repeating: 3, count: SQLExternalFiles.threshold)])
            try context.save()
        }
        let names = try Self.names(pad)
        #expect(names.count == 1 && Self.files(pad) == names)
        #expect(names.allSatisfy { UUID(uuidString: $0) != nil })
        try expect(Data(contentsOf: Self.folder(pad).appendingPathComponent(names.first!)), equals: Self.large(7))
        try expect(pad.texts("SELECT hex(ZPREVIEW) FROM ZPHOTO WHERE ZTITLE = 'large'"), equals: [["010102"]])
        try expect(pad.texts("SELECT hex(substr(ZIMAGE, -1)) FROM ZPHOTO WHERE ZTITLE = 'large'"), equals: [["00"]])
        let again = try pad.context(Self.model())
        try again.performAndWait {
            let values = try again.all("Photo").map { $0.value(forKey: "image") as? Data }
            expect(Set(values), equals: [Self.large(7), Data(repeating: 3, count: SQLExternalFiles.threshold)])
        }
    }

    @Test func whatIsReplacedOrDeletedTakesItsFileAlong() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let photos = (0..<4).map { context.insert("Photo", ["image": Self.large(UInt8($0)), "preview": Self.large(100)]) }
            try context.save()
            expect(Self.files(pad).count, equals: 8)
            photos[0].setValue(Self.large(50), forKey: "image")
            photos[1].setValue(Data([1]), forKey: "image")
            photos[2].setValue(nil, forKey: "image")
            photos[3].setValue("kept", forKey: "title")
            try context.save()
            expect(Self.files(pad).count, equals: 6)
            try expect(Self.files(pad), equals: Self.names(pad))
            context.delete(photos[0])
            context.delete(photos[3])
            try context.save()
            expect(Self.files(pad).count, equals: 2)
            try expect(Self.files(pad), equals: Self.names(pad))
        }
    }

    @Test func batchRequestsLeaveNoFileWithoutARowAndNoRowWithoutAFile() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let rows: [[String: Any]] = (0..<5).map { ["title": "\($0)", "image": Self.large(UInt8($0)), "preview": Self.large(9)] }
            try context.execute(NSBatchInsertRequest(entityName: "Photo", objects: rows))
            expect(Self.files(pad).count, equals: 10)
            let update = NSBatchUpdateRequest(entityName: "Photo")
            update.propertiesToUpdate = ["image": Self.large(20)]
            update.predicate = NSPredicate(format: "title < '2'")
            try context.execute(update)
            expect(Self.files(pad).count, equals: 10)
            update.propertiesToUpdate = ["preview": NSNull()]
            try context.execute(update)
            expect(Self.files(pad).count, equals: 8)
            try expect(Self.files(pad), equals: Self.names(pad))
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Photo")))
            #expect(Self.files(pad).isEmpty)
        }
    }

    @Test func aSaveThatFailsLeavesTheFilesAsTheyWere() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let (one, two) = (context.insert("Photo", ["image": Self.large(1)]), context.insert("Photo", ["image": Self.large(2)]))
            try context.save()
            let before = Self.files(pad)
            let key = two.objectID.uriRepresentation().lastPathComponent.dropFirst()
            try pad.execute("UPDATE ZPHOTO SET Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key)")
            one.setValue(Self.large(3), forKey: "image")
            two.setValue(Self.large(4), forKey: "image")
            expect(failure { try context.save() }?.code, equals: NSManagedObjectMergeError)
            expect(Self.files(pad), equals: before)
            try expect(Self.names(pad), equals: before)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            try expect(Self.files(pad), equals: Self.names(pad))
            #expect(Self.files(pad).isDisjoint(with: before))
        }
    }

    @Test func aFileThatCannotBeMadeFailsTheSaveAndNamesThePlace() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try Data().write(to: pad.url.appendingPathComponent(".store_SUPPORT"))
        try context.performAndWait {
            _ = context.insert("Photo", ["image": Self.large(1)])
            let error = try #require(failure { try context.save() })
            #expect(error.localizedDescription.contains(".store_SUPPORT"))
            try expect(pad.texts("SELECT count(*) FROM ZPHOTO"), equals: [["0"]])
            try FileManager.default.removeItem(at: pad.url.appendingPathComponent(".store_SUPPORT"))
            try context.save()
            expect(Self.files(pad).count, equals: 1)
        }
    }

    @Test func aValueWhoseFileIsGoneIsNilAndStaysNamedInTheRow() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            _ = context.insert("Photo", ["title": "a", "image": Self.large(1)])
            try context.save()
            try FileManager.default.removeItem(at: Self.folder(pad))
        }
        let again = try pad.context(Self.model())
        try again.performAndWait {
            let photo = try #require(try again.all("Photo").first)
            #expect(photo.value(forKey: "image") == nil)
            photo.setValue("b", forKey: "title")
            try again.save()
            try expect(Self.names(pad).count, equals: 1)
            again.delete(photo)
            try again.save()
        }
    }

    @Test func filesThatACrashLeftGoWithTheNextManualVacuum() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        try context.performAndWait {
            _ = context.insert("Photo", ["image": Self.large(1)])
            try context.save()
        }
        let kept = Self.files(pad)
        for name in ["old", "new"] { try Self.large(2).write(to: Self.folder(pad).appendingPathComponent(name)) }
        let past: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: -7200)]
        for name in kept.union(["old"]) {
            try FileManager.default.setAttributes(past, ofItemAtPath: Self.folder(pad).appendingPathComponent(name).path)
        }
        _ = try pad.context(Self.model())
        expect(Self.files(pad), equals: kept.union(["old", "new"]))
        _ = try pad.context(Self.model(), options: [NSSQLiteManualVacuumOption: true])
        // The new one may belong to a save of another process.
        expect(Self.files(pad), equals: kept.union(["new"]))
    }

    @Test func storesThatAreMigratedReplacedAndDestroyedTakeTheirFilesAlong() throws {
        let pad = try Scratchpad()
        let other = pad.url.appendingPathComponent("other.sqlite")
        let coordinator = try pad.coordinator(Self.model())
        let context = Music.context(coordinator)
        try context.performAndWait {
            _ = context.insert("Photo", ["image": Self.large(1)])
            try context.save()
        }
        let files = Self.files(pad)
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: other, type: .sqlite)
        expect(Self.files(pad, "other"), equals: files)
        try context.performAndWait {
            try expect(context.all("Photo").first?.value(forKey: "image") as? Data, equals: Self.large(1))
            try context.all("Photo").first?.setValue(Self.large(2), forKey: "image")
            try context.save()
        }
        let replaced = Self.files(pad, "other")
        #expect(replaced.isDisjoint(with: files) && replaced.count == 1)
        try coordinator.remove(coordinator.persistentStores[0])
        try coordinator.replacePersistentStore(at: pad.store, withPersistentStoreFrom: other, type: .sqlite)
        expect(Self.files(pad), equals: replaced)
        try coordinator.destroyPersistentStore(at: other, type: .sqlite)
        #expect(Self.files(pad, "other").isEmpty)
        let again = try pad.context(Self.model())
        let image = try again.performAndWait { try again.all("Photo").first?.value(forKey: "image") as? Data }
        expect(image, equals: Self.large(2))
    }
}
