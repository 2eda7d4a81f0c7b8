import CoreData
import Foundation
import Platform
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph
@testable import Predicates

/// Stores of older versions that are opened.
struct AutomaticMigrationTests {
    private let shop: Workshop
    private var url: URL { shop.store }

    init() throws { shop = try Workshop() }

    @Test func aDescriptionMigratesByDefaultAndTheStoreIsThenOpenedAsItIs() throws {
        try People.model("name").opening(url)
        let newer = People.model("name", "email")
        for _ in 0..<2 {
            let container = NSPersistentContainer(name: "People", managedObjectModel: newer)
            let description = NSPersistentStoreDescription(url: url)
            description.type = PaperStore.type
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            expect(container.persistentStoreCoordinator.persistentStores.count, equals: 1)
        }
        try expect(PaperStore.migrations(of: url), equals: ["Person(name) -> Person(email,name)"])
        try expect(shop.bytes().count, equals: 1)
    }

    @Test func withoutTheOptionAStoreOfAnotherVersionIsRefusedAndStaysAsItIs() throws {
        try People.model("name").opening(url)
        let before = try shop.bytes()
        let error = try #require(openingFailure { try People.model("name", "email").opening(url) })
        expect(error.code, equals: NSPersistentStoreIncompatibleVersionHashError)
        expect(error.userInfo["NSDifferingEntities"] as? [String], equals: ["Person"])
        try expect(shop.bytes(), equals: before)
    }

    @Test func whereVersionsAreToBeIgnoredTheStoreIsOpenedAsItIs() throws {
        try People.model("name").opening(url)
        try People.model("name", "email").migrating(url, [NSIgnorePersistentStoreVersioningOption: true])
        #expect(try PaperStore.migrations(of: url).isEmpty)
    }

    @Test func withoutInferenceTheMissingMappingModelIsTheError() throws {
        try People.model("name").opening(url)
        let before = try shop.bytes()
        let error = try #require(
            openingFailure { try People.model("name", "email").migrating(url, [NSInferMappingModelAutomaticallyOption: false]) })
        expect(error.code, equals: NSMigrationMissingMappingModelError)
        try expect(shop.bytes(), equals: before)
    }

    @Test func whatCannotBeInferredIsNamed() throws {
        try People.model("name", "#age").opening(url)
        let before = try shop.bytes()
        let error = try #require(openingFailure { try People.model("name", "!email").migrating(url) })
        expect(error.code, equals: NSInferredMappingModelError)
        #expect(error.localizedDescription.contains("Person.email"))
        try expect(shop.bytes(), equals: before)
    }

    @Test func aReadOnlyStoreIsNotMigratedAndTheErrorSaysSo() throws {
        try People.model("name").opening(url)
        let before = try shop.bytes()
        let error = try #require(
            openingFailure { try People.model("name", "email").migrating(url, [NSReadOnlyPersistentStoreOption: true]) })
        expect(error.code, equals: NSMigrationError)
        #expect(error.localizedDescription.contains("read-only"))
        try expect(shop.bytes(), equals: before)
    }

    @Test func ofManyThatOpenAnOldStoreAtOnceOneMigratesItAndAllOpenIt() throws {
        try People.model("name").opening(url)
        let failures = LockedBox<[NSError]>([])
        let url = url
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            if let error = openingFailure({ try People.model("name", "email").migrating(url) }) { failures.withLock { $0.append(error) } }
        }
        #expect(failures.withLock { $0 }.isEmpty)
        try expect(PaperStore.migrations(of: url).count, equals: 1)
        try expect(shop.bytes().count, equals: 1)
    }

    @Test func aMigrationThatFailsLeavesTheStoreToTheNextAttempt() throws {
        struct Interruption: Error {}
        try People.model("name").opening(url)
        let before = try shop.bytes()
        PaperStore.willMigrate.withLock { $0[url.path] = { _ in throw Interruption() } }
        expect(openingFailure { try People.model("name", "email").migrating(url) } is Interruption?, equals: false)
        try expect(shop.bytes(), equals: before)
        PaperStore.willMigrate.withLock { $0[url.path] = nil }
        try People.model("name", "email").migrating(url)
        try expect(PaperStore.migrations(of: url).count, equals: 1)
    }

    @Test func theCurrentProgressIsToldAndTheOneOfTheDescriptionCancels() throws {
        try People.model("name").opening(url)
        let parent = Progress(totalUnitCount: 1)
        parent.becomeCurrent(withPendingUnitCount: 1)
        try People.model("name", "email").migrating(url)
        parent.resignCurrent()
        expect(parent.fractionCompleted, equals: 1)

        let description = NSPersistentStoreDescription(url: url)
        description.type = PaperStore.type
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        description.migrationProgress = progress
        var failure: NSError?
        NSPersistentStoreCoordinator(managedObjectModel: People.model("name", "email", "phone"))
            .addPersistentStore(with: description) { failure = $1 as NSError? }
        expect(failure?.code, equals: NSMigrationCancelledError)
        try expect(PaperStore.migrations(of: url).count, equals: 1)
    }

    @Test func theRulesOfTheOptionsReachTheStore() throws {
        try People.model("name").opening(url)
        let description = NSPersistentStoreDescription(url: url)
        description.type = PaperStore.type
        description.forbiddenRowsPolicy = .repair
        description.setOption(NSNumber(value: true), forKey: NSPersistentStoreDeferredLightweightMigrationOptionKey)
        expect(description.forbiddenRowsPolicy, equals: .repair)
        var failure: (any Error)?
        NSPersistentStoreCoordinator(managedObjectModel: People.model("!name")).addPersistentStore(with: description) { failure = $1 }
        #expect(failure == nil)
        try expect(PaperStore.settings(of: url), equals: ["repair true"])
    }

    @Test func aStoreOfAConfigurationIsMigratedWithItsEntities() throws {
        func model(_ attributes: [String]) -> NSManagedObjectModel {
            let model = People.model("name", entities: ["Pet", "Log"])
            model.entitiesByName["Pet"]?.properties += attributes.map { name in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
                return attribute
            }
            model.setEntities([model.entitiesByName["Pet"]!], forConfigurationName: "Animals")
            return model
        }
        try model([]).opening(url, configuration: "Animals")
        try model(["kind"]).migrating(url, configuration: "Animals")
        try expect(PaperStore.migrations(of: url), equals: ["Pet(note) -> Pet(kind,note)"])
    }
}
