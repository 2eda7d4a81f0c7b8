import CoreData
import Foundation
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import Predicates

/// Migrations over several versions of a bundle.
struct ChainTests {
    private let shop: Workshop
    private var url: URL { shop.store }

    init() throws { shop = try Workshop() }

    @Test func aDirectWayIsTakenWhereThereIsOne() throws {
        let bundle = try shop.bundle([People.model("name"), People.model("name", "email"), People.model("name", "email", "phone")])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        try NSManagedObjectModel(reading: bundle).migrating(url)
        #expect(try PaperStore.migrations(of: url) == ["Person(name) -> Person(email,name,phone)"])
    }

    @Test func whereNothingLeadsThereDirectlyTheShortestChainOfLaterVersionsIsTaken() throws {
        // The type of the age changes, over a version without it.
        let bundle = try shop.bundle([
            People.model("name", "#age"), People.model("name", "#age", "email"), People.model("name", "email"),
            People.model("name", "email", "phone", "age"),
        ])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        try NSManagedObjectModel(reading: bundle).migrating(url)
        #expect(
            try PaperStore.migrations(of: url) == [
                "Person(age,name) -> Person(email,name)", "Person(email,name) -> Person(age,email,name,phone)",
            ])
    }

    @Test func aChainThatIsInterruptedGoesOnWithTheNextStep() throws {
        struct Interruption: Error {}
        let bundle = try shop.bundle([People.model("name", "#age"), People.model("name"), People.model("name", "age")])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        let steps = LockedBox(0)
        PaperStore.willMigrate.withLock {
            $0[url.path] = { _ in
                let step = steps.withLock { steps in
                    steps += 1
                    return steps
                }
                if step == 2 { throw Interruption() }
            }
        }
        #expect(openingFailure { try NSManagedObjectModel(reading: bundle).migrating(url) } != nil)
        #expect(try PaperStore.migrations(of: url).count == 1)
        try NSManagedObjectModel(reading: bundle).migrating(url)
        #expect(try PaperStore.migrations(of: url) == ["Person(age,name) -> Person(name)", "Person(name) -> Person(age,name)"])
    }

    @Test func aChainIsNotInferredOverVersionsThatDoNotLieBetween() throws {
        // The first version lacks the age: a way over it would drop the values.
        let bundle = try shop.bundle([People.model("name"), People.model("name", "#age"), People.model("name", "age")])
        try NSManagedObjectModel(reading: bundle, version: "People 2").opening(url)
        let error = try #require(openingFailure { try NSManagedObjectModel(reading: bundle).migrating(url) })
        #expect(error.code == NSInferredMappingModelError)
        #expect(try PaperStore.migrations(of: url).isEmpty)
    }

    @Test func versionsOfABundleAreOrderedByTheNumbersInTheirNames() {
        #expect(ModelVersion.isEarlier("People", "People 2"))
        #expect(ModelVersion.isEarlier("People 9", "People 10"))
        #expect(!ModelVersion.isEarlier("People v10", "People v9"))
    }
}
