import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Opening stores with a model with which one was opened before: what was worked out then serves again where the file is alike.
@Suite struct ReopeningTests {
    private static func model() -> NSManagedObjectModel {
        let note = NSEntityDescription(
            name: "Note",
            properties: [NSAttributeDescription(name: "text", type: .string), NSAttributeDescription(name: "size", type: .integer64)])
        let plan = NSEntityDescription(name: "Plan", properties: [NSAttributeDescription(name: "title", type: .string)])
        return NSManagedObjectModel(entities: [note, plan])
    }

    private static func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test func aFileThatHasLostAColumnIsRefusedByTheModelThatOpenedItBefore() throws {
        let pad = try Scratchpad()
        let model = Self.model()
        try Self.close(try pad.coordinator(model))
        try Self.close(try pad.coordinator(model))
        try pad.execute("ALTER TABLE ZNOTE RENAME COLUMN ZSIZE TO ZLENGTH")
        let error = try #require(failure { _ = try pad.coordinator(model) })
        expect(error.code, equals: NSPersistentStoreIncompatibleSchemaError)
        #expect(error.localizedFailureReason?.contains("ZSIZE") ?? false)
    }

    @Test func filesWithOtherEntityNumbersAreReadByTheirOwn() throws {
        let pad = try Scratchpad()
        let model = Self.model()
        let other = pad.url.appendingPathComponent("other.sqlite")
        for place in [pad.store, other] {
            let context = Music.context(try pad.coordinator(model, at: place))
            try context.performAndWait {
                _ = context.insert("Note", ["text": "a note"])
                _ = context.insert("Plan", ["title": "a plan"])
                try context.save()
            }
            try Self.close(try #require(context.persistentStoreCoordinator))
        }
        // As an earlier version of the model, with further entities, has numbered them.
        let connection = try SQLiteFiles.connectForWriting(other, timeout: 5, creates: false)
        try connection.execute(
            """
            UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 10; UPDATE ZNOTE SET Z_ENT = Z_ENT + 10; UPDATE ZPLAN SET Z_ENT = Z_ENT + 10
            """)
        for place in [other, pad.store, other] {
            let coordinator = try pad.coordinator(model, at: place)
            let context = Music.context(coordinator)
            try context.performAndWait {
                let note = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
                expect(note.value(forKey: "text") as? String, equals: "a note")
                _ = context.insert("Plan", ["title": "another"])
                try context.save()
            }
            try Self.close(coordinator)
        }
        try expect(pad.texts("SELECT DISTINCT Z_ENT FROM ZPLAN", in: other), equals: [["12"]])
        try expect(pad.texts("SELECT DISTINCT Z_ENT FROM ZPLAN"), equals: [["2"]])
    }

    @Test func metadataThatOthersHaveWrittenAreReadAnew() throws {
        let pad = try Scratchpad()
        let model = Self.model()
        try Self.close(try pad.coordinator(model))
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: pad.store)
        for round in 1...2 {
            metadata["round"] = round
            try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: pad.store)
            let coordinator = try pad.coordinator(model)
            expect(coordinator.persistentStores.first?.metadata?["round"] as? Int, equals: round)
            try Self.close(coordinator)
        }
    }

    @Test func theModelIsReleasedWithItsLastStore() throws {
        let pad = try Scratchpad()
        weak var gone: NSManagedObjectModel?
        try {
            let model = Self.model()
            gone = model
            try Self.close(try pad.coordinator(model))
        }()
        #expect(gone == nil)
    }
}
