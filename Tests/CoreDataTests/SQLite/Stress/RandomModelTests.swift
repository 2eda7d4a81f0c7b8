import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Stores of models of every kind, filled at random, closed and opened, edited, closed and opened: what was there is there.
///
/// `COREDATA_TEST_ROUNDS` says how many random models are tried, `COREDATA_TEST_SEED` with which seed the first is made.
@Suite struct RandomModelTests {
    private static let seed = TestSeed.current(for: "RandomModelTests")

    @Test func whatIsSavedWithAnyModelIsThereWhenItIsOpenedAgain() throws {
        for round in TestRounds(seconds: 5, atLeast: 4) {
            let seed = Self.seed &+ UInt64(round)
            try Self.run("COREDATA_TEST_SEED=\(seed)", seed: seed) { RandomSchema.model(seed: seed) }
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil))
    func whatIsSavedWithModelsOfOthersIsThereWhenItIsOpenedAgain() throws {
        let root = URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "").appendingPathComponent("models")
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        let models = paths.filter { $0.hasSuffix(".xcdatamodel") || $0.hasSuffix(".mom") }.sorted()
        for path in models {
            try Self.run(path, seed: Self.seed, objects: 4, rounds: 1) {
                try Self.relaxed(NSManagedObjectModel(reading: root.appendingPathComponent(path)))
            }
        }
        print("Stores of \(models.count) models were filled, edited and opened again.")
        #expect(models.count > 150)
    }

    /// The model without what keeps random values from being saved.
    private static func relaxed(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
        for entity in model.entities {
            entity.managedObjectClassName = "NSManagedObject"
            for property in entity.declaredProperties {
                if !(property is NSFetchedPropertyDescription) { property.isOptional = true }
                property.setValidationPredicates([], withValidationWarnings: [])
                if let attribute = property as? NSAttributeDescription, let name = attribute.valueTransformerName,
                    ValueTransformer(forName: NSValueTransformerName(name)) == nil
                {
                    attribute.valueTransformerName = nil
                }
                guard let relationship = property as? NSRelationshipDescription else { continue }
                relationship.minCount = 0
                if relationship.isToMany { relationship.maxCount = 0 }
                if [.denyDeleteRule, .noActionDeleteRule].contains(relationship.deleteRule) {
                    relationship.deleteRule = .nullifyDeleteRule
                }
            }
        }
        return model
    }

    private static func run(_ name: String, seed: UInt64, objects: Int = 6, rounds: Int = 2, _ model: () throws -> NSManagedObjectModel)
        throws
    {
        if try model().entities.isEmpty { return }
        let pad = try Scratchpad()
        var expected: [String: [String: String]] = [:]
        func compare(_ what: String, _ found: [String: [String: String]]) {
            guard found != expected else { return }
            let places = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }.sorted()
            let values = (expected[places[0]] ?? [:]).filter { found[places[0]]?[$0.key] != $0.value }
            Issue.record(
                "\(name), \(what): \(places.count) objects differ, \(places[0]) in \(values), found \(found[places[0]] ?? [:])")
        }
        func work(_ what: String, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> [NSManagedObject]) throws {
            let context = try pad.context(model)
            try context.performAndWait {
                let objects = try body(context)
                expected = NSManagedObject.snapshot(objects)
                try context.save()
                compare(what, NSManagedObject.snapshot(objects))
                try check("\(name), \(what)", context)
            }
        }
        func look(_ what: String, _ model: NSManagedObjectModel) throws {
            for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
            let context = try pad.context(model)
            try context.performAndWait { compare(what, NSManagedObject.snapshot(try all(context))) }
        }
        do {
            try work("filled", model()) { context in
                var graph = RandomGraph(context, seed: seed, start: 0)
                let objects = graph.insert(objects)
                try context.obtainPermanentIDs(for: objects)
                return objects
            }
            try look("opened", model())
            try look("opened with its own model", NSManagedObjectModel(storeAt: pad.store))
            for round in 1...rounds {
                try work("edited", model()) { context in
                    var graph = RandomGraph(context, seed: seed &+ UInt64(round), start: round * 10_000)
                    return graph.edit(try all(context))
                }
                try look("edited and opened", model())
            }
        } catch { Issue.record("\(name): \(error)") }
    }

    private static func all(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let entities = context.persistentStoreCoordinator!.managedObjectModel.entities
        return try entities.flatMap { entity in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
            request.includesSubentities = false
            return try context.fetch(request)
        }
    }

    /// Looks for references to rows that are not there, and asks SQLite whether the file is whole.
    private static func check(_ name: String, _ context: NSManagedObjectContext) throws {
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
        let connection = try store.database()
        try expect(connection.texts("PRAGMA integrity_check"), equals: [["ok"]], "\(name)")
        func none(_ sql: String) throws { try expect(connection.texts("SELECT count(*) FROM " + sql), equals: [["0"]], "\(name): \(sql)") }
        for entity in store.schema.entities {
            for (index, property) in entity.properties.enumerated() {
                guard let relationship = entity.entity.frozen!.properties[index] as? NSRelationshipDescription,
                    let other = relationship.destinationEntity.flatMap(store.schema.entity)
                else { continue }
                switch property {
                case .toOne(let key) where relationship.mutualInverse != nil:
                    try none("\(entity.table) WHERE \(key.column) IS NOT NULL AND \(key.column) NOT IN (SELECT Z_PK FROM \(other.table))")
                    if let number = key.entityColumn {
                        try none("\(entity.table) a JOIN \(other.table) b ON b.Z_PK = a.\(key.column) WHERE a.\(number) IS NOT b.Z_ENT")
                    }
                case .toMany(.join(let join)):
                    try none("\(join.table) WHERE \(join.own) NOT IN (SELECT Z_PK FROM \(entity.table))")
                    try none("\(join.table) WHERE \(join.other) NOT IN (SELECT Z_PK FROM \(other.table))")
                default: continue
                }
            }
        }
    }
}
