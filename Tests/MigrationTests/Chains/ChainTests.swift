import CoreData
import Foundation
import Platform
import TestSupport
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
        try expect(PaperStore.migrations(of: url), equals: ["Person(name) -> Person(email,name,phone)"])
    }

    @Test func whereNothingLeadsThereDirectlyTheShortestChainOfLaterVersionsIsTaken() throws {
        // The type of the age changes, over a version without it.
        let bundle = try shop.bundle([
            People.model("name", "#age"), People.model("name", "#age", "email"), People.model("name", "email"),
            People.model("name", "email", "phone", "age"),
        ])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        try NSManagedObjectModel(reading: bundle).migrating(url)
        try expect(
            PaperStore.migrations(of: url),
            equals: [
                "Person(age,name) -> Person(email,name)", "Person(email,name) -> Person(age,email,name,phone)",
            ])
    }

    /// The bundle of a chain of two steps, with a store of its first version.
    private func chain() throws -> URL {
        let bundle = try shop.bundle([People.model("name", "#age"), People.model("name"), People.model("name", "age")])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        return bundle
    }

    /// Where a chain works.
    private var copy: URL { url.deletingLastPathComponent().appendingPathComponent(".people.store-chain/people.store") }

    /// Lets a step of the chain, counted from now, fail; returns how many were begun.
    private func failing(_ code: Int, at number: Int = 2) -> LockedBox<Int> {
        let steps = LockedBox(0)
        PaperStore.willMigrate.withLock {
            $0[copy.path] = { _ in
                let step = steps.withLock { steps in
                    steps += 1
                    return steps
                }
                if step == number { throw NSError(domain: NSCocoaErrorDomain, code: code) }
            }
        }
        return steps
    }

    @Test func aStoreIsAsItWasUntilTheLastStepOfAChainIsTaken() throws {
        let bundle = try chain()
        let before = try shop.bytes()
        _ = failing(NSMigrationError)
        expect(openingFailure { try NSManagedObjectModel(reading: bundle).migrating(url) }?.code, equals: NSMigrationError)
        try expect(shop.bytes(), equals: before)
        PaperStore.willMigrate.withLock { $0[copy.path] = nil }
        try NSManagedObjectModel(reading: bundle).migrating(url)
        try expect(PaperStore.migrations(of: url), equals: ["Person(age,name) -> Person(name)", "Person(name) -> Person(age,name)"])
        try expect(shop.bytes().keys.sorted(), equals: ["people.store"])
    }

    @Test func aChainThatIsCancelledGoesOnWithTheNextStepUnlessTheStoreWasChanged() throws {
        let bundle = try chain()
        for isChanged in [false, true] {
            let before = try Data(contentsOf: url)
            _ = failing(NSMigrationCancelledError)
            expect(openingFailure { try NSManagedObjectModel(reading: bundle).migrating(url) }?.code, equals: NSMigrationCancelledError)
            try expect(Data(contentsOf: url), equals: before)
            if isChanged {
                var metadata = try PaperStore.metadataForPersistentStore(with: url)
                metadata["note"] = "changed"
                try PaperStore.setMetadata(metadata, forPersistentStoreAt: url)
            }
            let steps = failing(0, at: 0)
            try NSManagedObjectModel(reading: bundle).migrating(url)
            expect(steps.withLock { $0 }, equals: (isChanged ? 2 : 1))
            try expect(PaperStore.migrations(of: url).count, equals: 2)
            expect((try PaperStore.metadataForPersistentStore(with: url)["note"] != nil), equals: isChanged)
            if !isChanged {
                try FileManager.default.removeItem(at: url)
                try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
            }
        }
    }

    @Test func aChainIsNotInferredOverVersionsThatDoNotLieBetween() throws {
        // The first version lacks the age: a way over it would drop the values.
        let bundle = try shop.bundle([People.model("name"), People.model("name", "#age"), People.model("name", "age")])
        try NSManagedObjectModel(reading: bundle, version: "People 2").opening(url)
        let error = try #require(openingFailure { try NSManagedObjectModel(reading: bundle).migrating(url) })
        expect(error.code, equals: NSInferredMappingModelError)
        #expect(try PaperStore.migrations(of: url).isEmpty)
    }

    @Test func versionsOfABundleAreOrderedByTheNumbersInTheirNames() {
        #expect(ModelVersion.isEarlier("People", "People 2"))
        #expect(ModelVersion.isEarlier("People 9", "People 10"))
        #expect(!ModelVersion.isEarlier("People v10", "People v9"))
    }
}
