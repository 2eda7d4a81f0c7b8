import CoreData
import Foundation
import Platform
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph
@testable import Predicates

/// Migrations in stages.
struct StagedMigrationTests {
    private let shop: Workshop
    private var url: URL { shop.store }

    private let first = People.model("name", "#age")
    private let second = People.model("name")
    private let third = People.model("name", "age")
    private let fourth = People.model("name", "age", "email")

    init() throws { shop = try Workshop() }

    private func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private func lightweight(_ models: NSManagedObjectModel...) -> NSLightweightMigrationStage {
        NSLightweightMigrationStage(models.map(\.versionChecksum))
    }

    /// A custom stage that notes the calls of its handlers in `notes`.
    private func custom(_ from: NSManagedObjectModel, _ to: NSManagedObjectModel, _ notes: LockedBox<[String]>) -> NSCustomMigrationStage {
        let stage = NSCustomMigrationStage(migratingFrom: reference(from), to: reference(to))
        func note(_ word: String, _ manager: NSStagedMigrationManager, _ stage: NSCustomMigrationStage) {
            let container = manager.container
            let model = container.map { PaperStore.line($0.managedObjectModel) } ?? "none"
            let stores = container?.persistentStoreCoordinator.persistentStores.count ?? 0
            notes.withLock { $0.append("\(word) \(model) \(stores) \(manager.currentStage === stage)") }
        }
        stage.willMigrateHandler = { note("will", $0, $1) }
        stage.didMigrateHandler = { note("did", $0, $1) }
        return stage
    }

    private func migrating(_ model: NSManagedObjectModel, _ stages: NSMigrationStage...) throws {
        let manager = NSStagedMigrationManager(stages)
        try model.migrating(url, [NSPersistentStoreStagedMigrationManagerOptionKey: manager])
        #expect(manager.currentStage == nil && manager.container == nil)
    }

    @Test func theHandlersOfACustomStageSeeTheStoreBeforeAndAfterIt() throws {
        try first.opening(url)
        let notes = LockedBox<[String]>([])
        try migrating(second, custom(first, second, notes))
        expect(notes.withLock { $0 }, equals: ["will Person(age,name) 1 true", "did Person(name) 1 true"])
        try expect(PaperStore.migrations(of: url), equals: ["Person(age,name) -> Person(name)"])
        try migrating(second, custom(first, second, notes))
        expect(notes.withLock { $0.count }, equals: 2)
    }

    @Test func aStoreBeginsWithTheStageOfItsVersion() throws {
        try second.opening(url)
        let notes = LockedBox<[String]>([])
        try migrating(fourth, custom(first, second, notes), custom(second, third, notes), lightweight(fourth))
        expect(notes.withLock { $0 }, equals: ["will Person(name) 1 true", "did Person(age,name) 1 true"])
        try expect(
            PaperStore.migrations(of: url), equals: ["Person(name) -> Person(age,name)", "Person(age,name) -> Person(age,email,name)"])
    }

    @Test func lightweightStagesTakeEachVersionThatTheProgramHas() throws {
        let bundle = try shop.bundle([first, second, third])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        try migrating(try NSManagedObjectModel(reading: bundle), lightweight(first, second), lightweight(third))
        try expect(PaperStore.migrations(of: url), equals: ["Person(age,name) -> Person(name)", "Person(name) -> Person(age,name)"])
    }

    @Test func aHandlerThatFailsIsCalledAgainAndOneThatHasReturnedIsNot() throws {
        struct Interruption: Error {}
        try first.opening(url)
        let notes = LockedBox<[String]>([])
        let failing = custom(first, second, notes)
        failing.didMigrateHandler = { _, _ in throw Interruption() }
        #expect(throws: Interruption.self) { try migrating(third, failing, custom(second, third, notes)) }
        expect(notes.withLock { $0 }, equals: ["will Person(age,name) 1 true"])
        // The store is of the second version, and its stage has not ended.
        let refusal = try #require(openingFailure { try second.opening(url) })
        expect(refusal.code, equals: NSPersistentStoreIncompatibleVersionHashError)
        expect(openingFailure { try second.migrating(url) }?.code, equals: NSPersistentStoreIncompatibleVersionHashError)
        try migrating(third, custom(first, second, notes), custom(second, third, notes))
        expect(
            notes.withLock { $0 },
            equals: [
                "will Person(age,name) 1 true", "did Person(name) 1 true", "will Person(name) 1 true", "did Person(age,name) 1 true",
            ])
        try third.opening(url)
    }

    @Test func aStageWhoseMigrationWasInterruptedDoesNotCallItsFirstHandlerAgain() throws {
        struct Interruption: Error {}
        try first.opening(url)
        let notes = LockedBox<[String]>([])
        PaperStore.willMigrate.withLock { $0[url.path] = { _ in throw Interruption() } }
        #expect(throws: Interruption.self) { try migrating(second, custom(first, second, notes)) }
        PaperStore.willMigrate.withLock { $0[url.path] = nil }
        try migrating(second, custom(first, second, notes))
        expect(notes.withLock { $0 }, equals: ["will Person(age,name) 1 true", "did Person(name) 1 true"])
    }

    @Test func aStoreOfAnUnknownVersionGoesByItsOwnModelToTheNearestVersionIfNothingIsLost() throws {
        // An edited first version that lacks an attribute of it.
        try People.model("name", entities: ["Pet"]).opening(url)
        let (old, new) = (People.model("name", "#age", entities: ["Pet"]), People.model("email", entities: ["Pet"]))
        let notes = LockedBox<[String]>([])
        try migrating(new, custom(old, new, notes))
        try expect(PaperStore.migrations(of: url).first, equals: "Person(name) Pet(note) -> Person(age,name) Pet(note)")
        expect(notes.withLock { $0.count }, equals: 2)
    }

    @Test func otherwiseTheErrorNamesTheNearestVersionAndTheEntitiesThatDiffer() throws {
        try People.model("name", "phone", entities: ["Pet"]).opening(url)
        let before = try shop.bytes()
        let (old, new) = (People.model("name", "#age", entities: ["Pet"]), People.model("email", entities: ["Toy"]))
        let error = try #require(openingFailure { try migrating(new, custom(old, new, LockedBox([]))) })
        expect(error.code, equals: NSManagedObjectModelReferenceNotFoundError)
        #expect(error.localizedDescription.contains("Cannot use staged migration with an unknown model version"))
        #expect(error.localizedDescription.contains(old.versionChecksum))
        #expect(error.localizedDescription.contains("Person.phone is only here"))
        expect(error.userInfo["NSDifferingEntities"] as? [String], equals: ["Person"])
        try expect(shop.bytes(), equals: before)
    }

    @Test func aStoreThatIsAheadOfTheCoordinatorIsNotMigratedBackwards() throws {
        try third.opening(url)
        let before = try shop.bytes()
        let stages = [custom(first, second, LockedBox([])), custom(second, third, LockedBox([]))]
        let error = try #require(openingFailure { try migrating(second, stages[0], stages[1]) })
        expect(error.code, equals: NSStagedMigrationBackwardMigrationError)
        try expect(shop.bytes(), equals: before)
    }

    @Test func stagesThatCannotRunAreErrors() throws {
        try first.opening(url)
        let before = try shop.bytes()
        // The coordinator's version is none of the stages'.
        expect(
            openingFailure { try migrating(fourth, lightweight(first, second)) }?.code, equals: NSManagedObjectModelReferenceNotFoundError)
        // A stage would be skipped, for nobody knows its versions.
        let unknown = NSLightweightMigrationStage(["nobody's"])
        unknown.label = "lost"
        let skipped = try #require(openingFailure { try migrating(second, lightweight(first), unknown, lightweight(second)) })
        expect(skipped.code, equals: NSManagedObjectModelReferenceNotFoundError)
        #expect(skipped.localizedDescription.contains("“lost” would be skipped"))
        // A version is in two places.
        let twice = openingFailure {
            try migrating(second, lightweight(first), custom(second, third, LockedBox([])), lightweight(second))
        }
        expect(twice?.code, equals: NSMigrationError)
        // The option is something else.
        let other = openingFailure { try second.migrating(url, [NSPersistentStoreStagedMigrationManagerOptionKey: "stages"]) }
        expect(other?.code, equals: NSMigrationError)
        try expect(shop.bytes(), equals: before)
    }

    @Test func aStoreWithoutVersionHashesCannotBeMigratedInStages() throws {
        try first.opening(url)
        var metadata = try PaperStore.metadataForPersistentStore(with: url)
        metadata[StoreOpening.unfinishedStageKey] = ["a", "b"]
        metadata[NSStoreModelVersionHashesKey] = nil
        try PaperStore.setMetadata(metadata, forPersistentStoreAt: url)
        let error = openingFailure { try migrating(second, lightweight(first, second)) }
        expect(error?.code, equals: NSStagedMigrationFrameworkVersionMismatchError)
    }

    @Test func referencesFindVersionsByNameFileAndHashes() throws {
        let bundle = try shop.bundle([first, second])
        func line(_ reference: NSManagedObjectModelReference) -> String { PaperStore.line(reference.resolvedModel) }
        expect(line(NSManagedObjectModelReference(fileURL: bundle, versionChecksum: first.versionChecksum)), equals: "Person(age,name)")
        expect(line(NSManagedObjectModelReference(fileURL: bundle, versionChecksum: second.versionChecksum)), equals: "Person(name)")
        let single = bundle.appendingPathComponent("People.xcdatamodel")
        expect(line(NSManagedObjectModelReference(fileURL: single, versionChecksum: "of Apple's tools")), equals: "Person(age,name)")
        let folder = try #require(Bundle(path: shop.url.path))
        expect(
            line(NSManagedObjectModelReference(name: "People", in: folder, versionChecksum: second.versionChecksum)), equals: "Person(name)"
        )
        expect(
            line(NSManagedObjectModelReference(name: "People 2", in: folder, versionChecksum: "of Apple's tools")), equals: "Person(name)")
        expect(
            line(
                NSManagedObjectModelReference(
                    entityVersionHashes: first.entityVersionHashesByName, in: folder, versionChecksum: first.versionChecksum)),
            equals: "Person(age,name)")
        expect(line(NSManagedObjectModelReference(name: "Nobody", in: folder, versionChecksum: "?")), equals: "")
        let stage = NSCustomMigrationStage(
            migratingFrom: NSManagedObjectModelReference(fileURL: bundle, versionChecksum: "?"), to: reference(second))
        try first.opening(url)
        let error = try #require(openingFailure { try migrating(second, stage) })
        expect(error.code, equals: NSManagedObjectModelReferenceNotFoundError)
        #expect(error.localizedDescription.contains("“People 2” (\(second.versionChecksum))"))
    }
}
