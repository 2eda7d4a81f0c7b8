import CoreData
import Foundation
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph

/// SQLite stores of other versions that are opened.
struct SQLiteOpeningMigrationTests {
    private let shop: Workshop
    private var url: URL { shop.store }

    init() throws { shop = try Workshop() }

    /// Saves people in a new store.
    private func fill(_ model: NSManagedObjectModel, _ people: [[String: Any]]) throws {
        let coordinator = try model.opening(url, type: NSSQLiteStoreType)
        try Self.inserting(people, into: coordinator)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private static func inserting(_ people: [[String: Any]], into coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for values in people {
                NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValuesForKeys(values)
            }
            try context.save()
        }
    }

    private static func values(_ key: String, in coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
            return try context.fetch(request).map { $0.value(forKey: key) as? String ?? "nil" }
        }
    }

    @Test func rowsAndUUIDComeAlong() throws {
        try fill(People.model("name", "#age"), [["name": "Ada", "age": 36], ["name": "Grace"]])
        let uuid =
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)[NSStoreUUIDKey] as? String
        let coordinator = try People.model("fullName<name", "email").migrating(url, type: NSSQLiteStoreType)
        try expect(Self.values("fullName", in: coordinator), equals: ["Ada", "Grace"])
        expect(coordinator.persistentStores[0].identifier, equals: uuid)
        let again = try People.model("fullName<name", "email").migrating(url, type: NSSQLiteStoreType)
        try expect(Self.values("fullName", in: again), equals: ["Ada", "Grace"])
    }

    @Test func anOlderProgramLeavesEveryByteOfAStoreWithALogAsItIs() throws {
        try fill(People.model("name"), [["name": "Ada"]])
        let coordinator = try People.model("name", "email").migrating(url, type: NSSQLiteStoreType)
        try Self.inserting([["name": "Grace"]], into: coordinator)
        // The files of a process that was killed: the log has what was saved last.
        let copy = shop.url.appendingPathComponent("killed")
        try FileManager.default.copyItem(at: url.deletingLastPathComponent(), to: copy)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        try FileManager.default.removeItem(at: url.deletingLastPathComponent())
        try FileManager.default.moveItem(at: copy, to: url.deletingLastPathComponent())
        let before = try shop.bytes()
        #expect(before.keys.contains("people.store-wal"))
        let error = try #require(openingFailure { try People.model("name").migrating(url, type: NSSQLiteStoreType) })
        expect(error.code, equals: StoreNewerThanModelError)
        try expect(shop.bytes(), equals: before)
        let unwanted = try #require(openingFailure { try People.model("name").opening(url, type: NSSQLiteStoreType) })
        expect(unwanted.code, equals: NSPersistentStoreIncompatibleVersionHashError)
        try expect(shop.bytes(), equals: before)
        let newer = try People.model("name", "email").migrating(url, type: NSSQLiteStoreType)
        try expect(Self.values("name", in: newer), equals: ["Ada", "Grace"])
    }

    @Test func whereVersionsAreToBeIgnoredTheStoreIsOpenedAsItIsAndBecomesOfTheModelsVersionWithTheNextSave() throws {
        try fill(People.model("name", "#age"), [["name": "Ada", "age": 36]])
        func written() throws -> [String: Data]? {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)[NSStoreModelVersionHashesKey]
                as? [String: Data]
        }
        let (before, fewer) = (try written(), People.model("name"))
        let coordinator = try fewer.migrating(url, [NSIgnorePersistentStoreVersioningOption: true], type: NSSQLiteStoreType)
        try expect(Self.values("name", in: coordinator), equals: ["Ada"])
        try expect(written(), equals: before)
        try Self.inserting([["name": "Grace"]], into: coordinator)
        try expect(written(), equals: fewer.entityVersionHashesByName)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        // What the store keeps of its model is that model now, and it opens with it.
        try expect(NSManagedObjectModel(storeAt: url).entitiesByName["Person"]?.attributesByName.keys.sorted(), equals: ["name"])
        let again = try People.model("name").opening(url, type: NSSQLiteStoreType)
        try expect(Self.values("name", in: again), equals: ["Ada", "Grace"])
    }

    @Test func whereVersionsAreToBeIgnoredAStoreThatLacksWhatTheModelNeedsIsRefusedAndStaysAsItIs() throws {
        try fill(People.model("name"), [["name": "Ada"]])
        let before = try shop.bytes()
        for model in [People.model("name", "email"), People.model("name", entities: ["Note"])] {
            let error = try #require(
                openingFailure {
                    try model.migrating(url, [NSIgnorePersistentStoreVersioningOption: true], type: NSSQLiteStoreType)
                })
            expect(error.code, equals: NSPersistentStoreIncompatibleSchemaError)
            try expect(shop.bytes(), equals: before)
        }
    }

    @Test func handlersOfStagesEditTheObjectsOfBothVersions() throws {
        let (first, second) = (People.model("name"), People.model("name", "given", "family"))
        try fill(first, [["name": "Ada Lovelace"], ["name": "Grace Hopper"], ["name": ""]])
        func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
            NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
        func edit(_ manager: NSStagedMigrationManager, _ body: (NSManagedObjectContext, NSManagedObject) -> Void) throws {
            let context = try #require(manager.container).newBackgroundContext()
            try context.performAndWait {
                for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) { body(context, person) }
                try context.save()
            }
        }
        let stage = NSCustomMigrationStage(migratingFrom: reference(first), to: reference(second))
        stage.willMigrateHandler = { manager, _ in
            try edit(manager) { context, person in if person.value(forKey: "name") as? String == "" { context.delete(person) } }
        }
        stage.didMigrateHandler = { manager, _ in
            try edit(manager) { _, person in
                let names = (person.value(forKey: "name") as? String ?? "").split(separator: " ").map(String.init)
                person.setValue(names.first, forKey: "given")
                person.setValue(names.last, forKey: "family")
            }
        }
        let coordinator = try second.migrating(
            url, [NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager([stage])], type: NSSQLiteStoreType)
        try expect(Self.values("family", in: coordinator), equals: ["Hopper", "Lovelace"])
        #expect(coordinator.persistentStores[0].metadata[StoreOpening.unfinishedStageKey] == nil)
    }

    @Test func whatIsPutOffIsFinishedByTheCoordinator() throws {
        try fill(People.model("name", "#age"), [["name": "Ada", "age": 36]])
        let coordinator = try People.model("name", "email").migrating(
            url, [NSPersistentStoreDeferredLightweightMigrationOptionKey: true], type: NSSQLiteStoreType)
        #expect(try coordinator.hasDeferredLightweightMigration())
        try expect(Self.values("name", in: coordinator), equals: ["Ada"])
        var tasks = 0
        while try coordinator.hasDeferredLightweightMigration(), tasks < 100 {
            try coordinator.finishDeferredLightweightMigrationTask()
            tasks += 1
        }
        #expect(tasks > 0 && tasks < 100)
        try coordinator.finishDeferredLightweightMigration()
        try expect(Self.values("name", in: coordinator), equals: ["Ada"])
    }

    @Test func aPlanOfASQLiteStoreCountsItsRows() throws {
        try fill(People.model("name"), [["name": "Ada"], [:]])
        let description = NSPersistentStoreDescription(url: url)
        let before = try shop.bytes()
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: People.model("!name")).migrationPlan(for: description)
        expect(plan.rows, equals: ["Person": 2])
        expect(plan.forbiddenRowCount, equals: 1)
        #expect(plan.wouldFail)
        #expect(plan.description.contains("/Person/p2: Person.name: no value"))
        try expect(shop.bytes(), equals: before)
    }

    @Test func aChainOfARealBundleIsRun() throws {
        let bundle = try shop.bundle([
            People.model("name", "#age"), People.model("name", "#age", "note"), People.model("name", "note"),
            People.model("name", "note", "age"),
        ])
        try fill(try NSManagedObjectModel(reading: bundle, version: "People"), [["name": "Ada", "age": 36]])
        let coordinator = try NSManagedObjectModel(reading: bundle).migrating(url, type: NSSQLiteStoreType)
        try expect(Self.values("name", in: coordinator), equals: ["Ada"])
        try expect(Self.values("age", in: coordinator), equals: ["nil"])
    }
}
