import CoreData
import Foundation
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
            #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
        }
        #expect(try PaperStore.migrations(of: url) == ["Person(name) -> Person(email,name)"])
        #expect(try shop.bytes().count == 1)
    }

    @Test func withoutTheOptionAStoreOfAnotherVersionIsRefusedAndStaysAsItIs() throws {
        try People.model("name").opening(url)
        let before = try shop.bytes()
        let error = try #require(openingFailure { try People.model("name", "email").opening(url) })
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(error.userInfo["NSDifferingEntities"] as? [String] == ["Person"])
        #expect(try shop.bytes() == before)
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
        #expect(error.code == NSMigrationMissingMappingModelError)
        #expect(try shop.bytes() == before)
    }

    @Test func whatCannotBeInferredIsNamed() throws {
        try People.model("name", "#age").opening(url)
        let before = try shop.bytes()
        let error = try #require(openingFailure { try People.model("name", "!email").migrating(url) })
        #expect(error.code == NSInferredMappingModelError)
        #expect(error.localizedDescription.contains("Person.email"))
        #expect(try shop.bytes() == before)
    }

    @Test func aReadOnlyStoreIsNotMigratedAndTheErrorSaysSo() throws {
        try People.model("name").opening(url)
        let before = try shop.bytes()
        let error = try #require(
            openingFailure { try People.model("name", "email").migrating(url, [NSReadOnlyPersistentStoreOption: true]) })
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("read-only"))
        #expect(try shop.bytes() == before)
    }

    @Test func ofManyThatOpenAnOldStoreAtOnceOneMigratesItAndAllOpenIt() throws {
        try People.model("name").opening(url)
        let failures = LockedBox<[NSError]>([])
        let url = url
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            if let error = openingFailure({ try People.model("name", "email").migrating(url) }) { failures.withLock { $0.append(error) } }
        }
        #expect(failures.withLock { $0 }.isEmpty)
        #expect(try PaperStore.migrations(of: url).count == 1)
        #expect(try shop.bytes().count == 1)
    }

    @Test func aMigrationThatFailsLeavesTheStoreToTheNextAttempt() throws {
        struct Interruption: Error {}
        try People.model("name").opening(url)
        let before = try shop.bytes()
        PaperStore.willMigrate.withLock { $0[url.path] = { _ in throw Interruption() } }
        #expect(openingFailure { try People.model("name", "email").migrating(url) } is Interruption? == false)
        #expect(try shop.bytes() == before)
        PaperStore.willMigrate.withLock { $0[url.path] = nil }
        try People.model("name", "email").migrating(url)
        #expect(try PaperStore.migrations(of: url).count == 1)
    }

    @Test func theCurrentProgressIsToldAndTheOneOfTheDescriptionCancels() throws {
        try People.model("name").opening(url)
        let parent = Progress(totalUnitCount: 1)
        parent.becomeCurrent(withPendingUnitCount: 1)
        try People.model("name", "email").migrating(url)
        parent.resignCurrent()
        #expect(parent.fractionCompleted == 1)

        let description = NSPersistentStoreDescription(url: url)
        description.type = PaperStore.type
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        description.migrationProgress = progress
        var failure: NSError?
        NSPersistentStoreCoordinator(managedObjectModel: People.model("name", "email", "phone"))
            .addPersistentStore(with: description) { failure = $1 as NSError? }
        #expect(failure?.code == NSMigrationCancelledError)
        #expect(try PaperStore.migrations(of: url).count == 1)
    }

    @Test func theRulesOfTheOptionsReachTheStore() throws {
        try People.model("name").opening(url)
        let description = NSPersistentStoreDescription(url: url)
        description.type = PaperStore.type
        description.forbiddenRowsPolicy = .repair
        description.setOption(NSNumber(value: true), forKey: NSPersistentStoreDeferredLightweightMigrationOptionKey)
        #expect(description.forbiddenRowsPolicy == .repair)
        var failure: (any Error)?
        NSPersistentStoreCoordinator(managedObjectModel: People.model("!name")).addPersistentStore(with: description) { failure = $1 }
        #expect(failure == nil)
        #expect(try PaperStore.settings(of: url) == ["repair true"])
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
        #expect(try PaperStore.migrations(of: url) == ["Pet(note) -> Pet(kind,note)"])
    }
}
