import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import SQLQueries
@testable import SQLiteStore

/// How stores are opened, made and refused.
@Suite struct SQLiteOpeningTests {
    private static func notes(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
        let note = NSEntityDescription(name: "Note", properties: [NSAttributeDescription(name: "text", type: .string)])
        change(note)
        return NSManagedObjectModel(entities: [note])
    }

    @Test func aNewStoreHasTheMetadataOfCoreData() throws {
        let pad = try Scratchpad()
        let model = Self.notes()
        let coordinator = try pad.coordinator(model)
        let store = try #require(coordinator.persistentStores.first)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: pad.store)
        expect(metadata[NSStoreUUIDKey] as? String, equals: store.identifier)
        expect(metadata[NSStoreTypeKey] as? String, equals: "SQLite")
        expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data], equals: model.entityVersionHashesByName)
        expect(metadata["NSStoreModelVersionHashesDigest"] as? String, equals: model.versionHashesDigest)
        expect(metadata["NSStoreModelVersionChecksumKey"] as? String, equals: model.versionChecksum)
        expect(metadata["_NSAutoVacuumLevel"] as? String, equals: "2")
        try expect(pad.texts("PRAGMA journal_mode"), equals: [["wal"]])
        try expect(pad.texts("PRAGMA auto_vacuum"), equals: [["2"]])
        try expect(pad.texts("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY"), equals: [["1", "Note", "0", "0"]])
    }

    @Test func aStoreKeepsItsIdentityAndObjectsTheirURIs() throws {
        let pad = try Scratchpad()
        let uri = try {
            let context = try pad.context(Self.notes())
            return try context.performAndWait {
                let note = context.insert("Note", ["text": "a"])
                try context.save()
                return note.objectID.uriRepresentation()
            }
        }()
        let coordinator = try pad.coordinator(Self.notes())
        let uuid = try #require(coordinator.persistentStores[0].identifier)
        expect(uri.absoluteString, equals: "x-coredata://\(uuid)/Note/p1")
        let context = Music.context(coordinator)
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        try context.performAndWait {
            let note = try context.existingObject(with: id)
            expect(note.value(forKey: "text") as? String, equals: "a")
        }
    }

    @Test func aModelOfAnotherVersionIsRefusedWithTheEntitiesThatDiffer() throws {
        let pad = try Scratchpad()
        _ = try pad.coordinator(Music.model())
        let model = Music.model()
        model.entitiesByName["Tag"]?.properties.append(NSAttributeDescription(name: "color", type: .string))
        let error = try #require(failure { _ = try pad.coordinator(model) })
        expect(error.code, equals: NSPersistentStoreIncompatibleVersionHashError)
        expect(error.userInfo["NSDifferingEntities"] as? [String], equals: ["Tag"])
        #expect(error.localizedDescription.contains("Tag"))
    }

    @Test func aFileThatIsNoDatabaseAndADatabaseThatIsNoStoreAreRefused() throws {
        let pad = try Scratchpad()
        try Data("This is a text, and a long one at that.".utf8).write(to: pad.store)
        let text = try #require(failure { _ = try pad.coordinator(Self.notes()) })
        expect(text.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
        expect(text.userInfo[NSSQLiteErrorDomain] as? Int, equals: 26)
        try expect(Data(contentsOf: pad.store), equals: Data("This is a text, and a long one at that.".utf8))
        try FileManager.default.removeItem(at: pad.store)
        try pad.execute("CREATE TABLE other (a)")
        let other = try #require(failure { _ = try pad.coordinator(Self.notes()) })
        expect(other.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(other.localizedDescription.contains("Z_METADATA"))
    }

    @Test func whereNothingCanBeReadOrMadeOpeningFails() throws {
        let pad = try Scratchpad()
        try Data().write(to: pad.url.appendingPathComponent("file"))
        let nowhere = pad.url.appendingPathComponent("file/directory/store.sqlite")
        let made = try #require(failure { _ = try pad.coordinator(Self.notes(), at: nowhere) })
        expect(made.code, equals: CocoaError.Code.fileReadNoSuchFile.rawValue)
        #expect(made.userInfo[NSUnderlyingErrorKey] is NSError)
        let read = try #require(failure { _ = try pad.coordinator(Self.notes(), options: [NSReadOnlyPersistentStoreOption: true]) })
        expect(read.code, equals: CocoaError.Code.fileReadNoSuchFile.rawValue)
        #expect(!FileManager.default.fileExists(atPath: pad.store.path))
        let web = try #require(failure { _ = try pad.coordinator(Self.notes(), at: URL(string: "https://example.org/store")!) })
        expect(web.code, equals: NSPersistentStoreOpenError)
    }

    @Test("A store in directories that do not exist makes them, unless it is only to be read") func missingDirectories() throws {
        let pad = try Scratchpad()
        let place = pad.url.appendingPathComponent("not/there/yet/store.sqlite")
        let read = try #require(
            failure { _ = try pad.coordinator(Self.notes(), options: [NSReadOnlyPersistentStoreOption: true], at: place) })
        expect(read.code, equals: CocoaError.Code.fileReadNoSuchFile.rawValue)
        #expect(!FileManager.default.fileExists(atPath: place.deletingLastPathComponent().path))
        let context = Music.context(try pad.coordinator(Self.notes(), at: place))
        try context.performAndWait {
            _ = context.insert("Note", ["text": "a"])
            try context.save()
        }
        #expect(FileManager.default.fileExists(atPath: place.path))
    }

    @Test func devNullIsAStoreInMemory() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Self.notes(), at: URL(fileURLWithPath: "/dev/null"))
        let context = Music.context(coordinator)
        try context.performAndWait {
            _ = context.insert("Note", ["text": "a"])
            try context.save()
            context.reset()
            try expect(context.all("Note").map { $0.value(forKey: "text") as? String }, equals: ["a"])
        }
    }

    @Test func metadataAreSetByTheCoordinatorAtTheNextSaveAndByTheClassAtOnce() throws {
        let pad = try Scratchpad()
        try {
            let coordinator = try pad.coordinator(Self.notes())
            let context = Music.context(coordinator)
            let store = coordinator.persistentStores[0]
            var metadata = coordinator.metadata(for: store)
            metadata["owner"] = "Ada"
            coordinator.setMetadata(metadata, for: store)
            try context.performAndWait {
                _ = context.insert("Note")
                try context.save()
            }
        }()
        let type = NSSQLiteStoreType
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: pad.store)
        expect(metadata["owner"] as? String, equals: "Ada")
        metadata["owner"] = "Grace"
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: type, at: pad.store)
        let again = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: pad.store)
        expect(again["owner"] as? String, equals: "Grace")
        expect(again[NSStoreUUIDKey] as? String, equals: metadata[NSStoreUUIDKey] as? String)
        try expect(pad.coordinator(Self.notes()).persistentStores[0].metadata["owner"] as? String, equals: "Grace")
    }

    @Test func metadataThatNoPropertyListHoldsFailTheSaveAndNothingIsSaved() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Self.notes())
        let context = Music.context(coordinator)
        coordinator.persistentStores[0].metadata["bad"] = NSObject()
        try context.performAndWait {
            _ = context.insert("Note")
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSPersistentStoreSaveError)
        }
        try expect(pad.texts("SELECT count(*) FROM ZNOTE"), equals: [["0"]])
    }

    @Test func pragmasAreSetAndWhatIsNoneIsRefused() throws {
        let pad = try Scratchpad()
        let options: [AnyHashable: Any] = [
            NSSQLitePragmasOption: ["journal_mode": "DELETE", "synchronous": "OFF"], NSSQLiteAnalyzeOption: true,
            NSSQLiteManualVacuumOption: true,
        ]
        let coordinator = try pad.coordinator(Self.notes(), options: options)
        let store = try #require(coordinator.persistentStores.first as? SQLiteStore)
        try expect(store.database().texts("PRAGMA journal_mode"), equals: [["delete"]])
        try expect(store.database().texts("PRAGMA synchronous"), equals: [["0"]])
        for pragma in [["synchronous": "OFF; DROP TABLE ZNOTE"], ["a = 1; --": "1"], ["": "1"], ["synchronous": ""]] {
            let other = try Scratchpad()
            let error = try #require(failure { _ = try other.coordinator(Self.notes(), options: [NSSQLitePragmasOption: pragma]) })
            expect(error.code, equals: NSPersistentStoreOpenError)
        }
    }

    @Test func whatAFileHasBesidesTheModelStays() throws {
        let pad = try Scratchpad()
        _ = try pad.coordinator(Self.notes())
        try pad.execute(
            "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY); INSERT INTO ACHANGE VALUES (7); ALTER TABLE ZNOTE ADD COLUMN ZEXTRA;"
                + "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 7); UPDATE Z_MODELCACHE SET Z_CONTENT = NULL;")
        let context = try pad.context(Self.notes())
        try context.performAndWait {
            _ = context.insert("Note", ["text": "a"])
            try context.save()
        }
        try expect(pad.texts("SELECT * FROM ACHANGE"), equals: [["7"]])
        try expect(pad.texts("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001"), equals: [["7"]])
        try expect(pad.texts("SELECT ZTEXT, ZEXTRA FROM ZNOTE"), equals: [["a", nil]])
        // That of the store, and the one that was put beside it.
        try expect(pad.texts("SELECT count(*) FROM Z_MODELCACHE"), equals: [["1"]])
    }

    @Test func numbersThatAFileGivesToEntitiesAreTheOnesInUse() throws {
        let pad = try Scratchpad()
        _ = try pad.coordinator(Self.notes())
        try pad.execute("UPDATE Z_PRIMARYKEY SET Z_ENT = 9")
        let context = try pad.context(Self.notes())
        try context.performAndWait {
            _ = context.insert("Note")
            try context.save()
        }
        try expect(pad.texts("SELECT Z_ENT FROM ZNOTE"), equals: [["9"]])
        try expect(pad.texts("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY"), equals: [["9", "1"]])
    }

    @Test func keysThatAFileHasBeyondItsOwnCountAreNotGivenAgain() throws {
        let pad = try Scratchpad()
        _ = try pad.coordinator(Self.notes())
        try pad.execute("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (41, 1, 1, 'old'); DELETE FROM Z_PRIMARYKEY")
        let context = try pad.context(Self.notes())
        try context.performAndWait {
            _ = context.insert("Note", ["text": "new"])
            try context.save()
        }
        try expect(pad.texts("SELECT Z_PK, ZTEXT FROM ZNOTE ORDER BY 1"), equals: [["41", "old"], ["42", "new"]])
        try expect(pad.texts("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 1"), equals: [["42"]])
    }

    @Test func aStoreWithoutTablesOfTheModelIsRefused() throws {
        let pad = try Scratchpad()
        _ = try pad.coordinator(Self.notes())
        try pad.execute("ALTER TABLE ZNOTE RENAME COLUMN ZTEXT TO ZOTHER")
        let error = try #require(failure { _ = try pad.coordinator(Self.notes()) })
        expect(error.code, equals: NSPersistentStoreIncompatibleSchemaError)
        #expect(error.localizedDescription.contains("ZNOTE.ZTEXT"))
    }

    @Test func aStoreOfAConfigurationHoldsItsEntitiesAlone() throws {
        let pad = try Scratchpad()
        let model = Music.model()
        let tag = try #require(model.entitiesByName["Tag"])
        for relationship in tag.declaredProperties.compactMap({ $0 as? NSRelationshipDescription }) {
            relationship.inverseRelationship = nil
        }
        tag.properties = [NSAttributeDescription(name: "label", type: .string)]
        for entity in model.entities {
            entity.properties = entity.declaredProperties.filter { ($0 as? NSRelationshipDescription)?.destinationEntity !== tag }
        }
        model.setEntities([tag], forConfigurationName: "Tags")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "Tags", at: pad.store)
        let tables = try pad.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'Z\\_%' ESCAPE '\\'")
        expect(tables, equals: [["ZTAG"]])
    }

    @Test func aStoreIsMadeWithoutIndexesOfWhichNothingIsKnown() throws {
        let model = Self.notes()
        let note = try #require(model.entitiesByName["Note"])
        let text = try #require(note.propertiesByName["text"])
        let plain = NSFetchIndexDescription(
            name: "plain", elements: [NSFetchIndexElementDescription(property: text, collationType: .binary)])
        let partial = NSFetchIndexDescription(
            name: "partial", elements: [NSFetchIndexElementDescription(property: text, collationType: .binary)])
        partial.partialIndexPredicate = NSPredicate(format: "text != nil")
        let tree = NSFetchIndexDescription(name: "tree", elements: [NSFetchIndexElementDescription(property: text, collationType: .rTree)])
        let lowered = NSExpressionDescription()
        lowered.name = "lowered"
        lowered.expression = NSExpression(format: "lowercase:(text)")
        let computed = NSFetchIndexDescription(
            name: "computed", elements: [NSFetchIndexElementDescription(property: lowered, collationType: .binary)])
        note.indexes = [plain, partial, tree, computed]
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(model)
        let store = try #require(coordinator.persistentStores.first as? SQLiteStore)
        let names = try pad.texts("SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'Z_Note_%'").map { $0[0] ?? "" }
        #expect(names.contains("Z_Note_plain"))
        #expect(names.allSatisfy { !$0.contains("partial") && !$0.contains("tree") && !$0.contains("computed") })
        // The log names these.
        expect(store.schema.unmadeIndexes.count, equals: 3)
        #expect(["partial", "tree", "computed"].allSatisfy { name in store.schema.unmadeIndexes.contains { $0.contains("“\(name)”") } })
    }
}
