import CoreData
import Foundation
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph
@testable import Predicates

/// Plans of what opening a store would do.
struct MigrationPlanTests {
    private let shop: Workshop
    private let description: NSPersistentStoreDescription

    init() throws {
        shop = try Workshop()
        PaperStore.registered
        description = NSPersistentStoreDescription(url: shop.store)
        description.type = PaperStore.type
    }

    private func plan(_ model: NSManagedObjectModel) throws -> MigrationPlan {
        try NSPersistentStoreCoordinator(managedObjectModel: model).migrationPlan(for: description)
    }

    @Test func aStoreOfTheModelsVersionAndOneThatDoesNotExistHaveEmptyPlans() throws {
        let model = People.model("name")
        #expect(try plan(model).isEmpty)
        #expect(try shop.bytes().isEmpty)
        try model.opening(shop.store)
        #expect(try plan(model).isEmpty)
        #expect(try plan(model).description.contains("is of the model's version"))
    }

    @Test func aPlanNamesStepsRowsAndBytesAndChangesNothing() throws {
        let bundle = try shop.bundle([People.model("name", "#age"), People.model("name"), People.model("name", "age")])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(shop.store)
        let before = try shop.bytes()
        let plan = try plan(NSManagedObjectModel(reading: bundle))
        expect(plan.steps.map(\.source), equals: ["“People”", "“People 2”"])
        expect(plan.steps.map(\.destination), equals: ["“People 2”", "“People 3”"])
        expect(plan.steps.map(\.way), equals: [.inPlace, .inPlaceOrCopied])
        expect(plan.rows, equals: ["Person": 3])
        // A chain works on a copy.
        let size = try #require(before["people.store"]).count
        expect(plan.bytes, equals: Int64(size + max(512, size + size / 4)))
        #expect(plan.description.contains("1. “People” → “People 2”: in place"))
        try expect(shop.bytes(), equals: before)
    }

    @Test func theRowsOfAPlanAreThoseAfterAllSteps() throws {
        func version(_ people: String, _ age: String) -> NSManagedObjectModel {
            let model = People.model("name", age)
            model.entities[0].name = people
            if people != "Person" { model.entities[0].renamingIdentifier = "Person" }
            return model
        }
        let bundle = try shop.bundle([version("Person", "#age"), People.model("name"), version("Human", "age")])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(shop.store)
        try expect(plan(NSManagedObjectModel(reading: bundle)).rows, equals: ["Human": 3])
        let ended = try shop.bundle([version("Person", "#age"), People.model("name", "note"), People.model("name", "age")])
        let gone = try NSManagedObjectModel(reading: ended)
        #expect(try plan(gone).deletedRows.isEmpty)
    }

    @Test func rowsThatTheNewVersionForbidsAreListedWithTheirPolicy() throws {
        try People.model("name").opening(shop.store)
        let failing = try plan(People.model("!name"))
        #expect(failing.wouldFail)
        expect(failing.forbiddenRows.map(\.uri.absoluteString), equals: ["x-coredata://paper/Person/p1"])
        #expect(failing.description.contains("x-coredata://paper/Person/p1: Person.name: no value"))
        description.forbiddenRowsPolicy = .keep
        #expect(try !plan(People.model("!name")).wouldFail)
    }

    @Test func thePlanOfStagesNamesThem() throws {
        let (first, second) = (People.model("name"), People.model("email"))
        try first.opening(shop.store)
        let stage = NSCustomMigrationStage(
            migratingFrom: NSManagedObjectModelReference(model: first, versionChecksum: first.versionChecksum),
            to: NSManagedObjectModelReference(model: second, versionChecksum: second.versionChecksum))
        stage.label = "addresses"
        description.setOption(NSStagedMigrationManager([stage]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        let plan = try plan(second)
        expect(plan.steps.map(\.isCustomStage), equals: [true])
        #expect(plan.description.contains("custom stage “addresses”"))
    }

    @Test func whatWouldFailFailsAlready() throws {
        try People.model("name").opening(shop.store)
        description.shouldMigrateStoreAutomatically = false
        expect(openingFailure { _ = try plan(People.model("email")) }?.code, equals: NSPersistentStoreIncompatibleVersionHashError)
        description.shouldMigrateStoreAutomatically = true
        description.shouldInferMappingModelAutomatically = false
        expect(openingFailure { _ = try plan(People.model("email")) }?.code, equals: NSMigrationMissingMappingModelError)
    }
}
