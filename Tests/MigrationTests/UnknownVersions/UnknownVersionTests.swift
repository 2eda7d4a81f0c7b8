import CoreData
import Foundation
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph

/// Stores of versions that the program does not have.
struct UnknownVersionTests {
    private let shop: Workshop
    private var url: URL { shop.store }

    init() throws { shop = try Workshop() }

    @Test func aStoreOfAnUnknownVersionIsMigratedFromTheModelThatItKeeps() throws {
        try People.model("name").opening(url)
        let bundle = try shop.bundle([People.model("name", "#age"), People.model("name", "email")])
        try NSManagedObjectModel(reading: bundle).migrating(url)
        try expect(PaperStore.migrations(of: url), equals: ["Person(name) -> Person(email,name)"])
    }

    @Test func aStoreOfAnUnknownVersionThatWouldLoseValuesIsLeftAsItIs() throws {
        // It may be that of a newer program, which has made it anew.
        try People.model("name", "#age").opening(url)
        let before = try shop.bytes()
        let bundle = try shop.bundle([People.model("name"), People.model("name", "email")])
        let error = try #require(openingFailure { try NSManagedObjectModel(reading: bundle).migrating(url) })
        expect(error.code, equals: NSMigrationMissingSourceModelError)
        #expect(error.localizedDescription.contains("Person.age"))
        try expect(shop.bytes(), equals: before)
    }

    @Test func aProgramWithoutVersionsMayDropWhatItsModelLacks() throws {
        try People.model("name", "#age").opening(url)
        try People.model("name", "email").migrating(url)
        try expect(PaperStore.migrations(of: url), equals: ["Person(age,name) -> Person(email,name)"])
    }

    @Test func withoutAModelInTheStoreTheNearestVersionAndTheEntitiesThatDifferAreNamed() throws {
        try People.model("name", "#age", entities: ["Pet"]).opening(url)
        try PaperStore.forgetModel(at: url)
        let before = try shop.bytes()
        let bundle = try shop.bundle([People.model("name", entities: ["Pet"]), People.model("email", entities: ["Toy"])])
        let error = try #require(openingFailure { try NSManagedObjectModel(reading: bundle).migrating(url) })
        expect(error.code, equals: NSMigrationMissingSourceModelError)
        #expect(error.localizedDescription.contains("“People”"))
        expect(error.userInfo["NSDifferingEntities"] as? [String], equals: ["Person"])
        try expect(shop.bytes(), equals: before)
    }

    /// Opens a store with an older program, and expects that nothing happens to its files.
    private func expectRefusal(by older: NSManagedObjectModel, naming names: String...) throws {
        let before = try shop.bytes()
        let error = try #require(openingFailure { try older.migrating(url) })
        expect(error.code, equals: StoreNewerThanModelError)
        for name in names { #expect(error.localizedDescription.contains(name)) }
        try expect(shop.bytes(), equals: before)
    }

    @Test func aProgramWhoseVersionTheStoreHasLeftBehindIsOlder() throws {
        let (first, second) = (People.model("name", "#age"), People.model("name", "email"))
        try first.opening(url)
        try second.migrating(url)
        let older = People.model("name", "#age")
        try expectRefusal(by: older, naming: older.versionChecksum, second.versionChecksum)
        try second.migrating(url)
        try expect(PaperStore.migrations(of: url).count, equals: 1)
    }

    @Test func versionsOfTheBundleThatTheStoreNeverHadAreOlderToo() throws {
        let versions = [People.model("name"), People.model("name", "#age"), People.model("name", "email")]
        let bundle = try shop.bundle(versions)
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        try NSManagedObjectModel(reading: bundle).migrating(url)
        try expectRefusal(by: People.model("name", "#age"))
    }

    @Test func aProgramWithALowerVersionIdentifierIsOlder() throws {
        try People.model("name", identifier: "1.10").opening(url)
        try expectRefusal(by: People.model("name", "email", identifier: "1.9"), naming: "“1.10”", "“1.9”")
        try People.model("name", "email", identifier: "2").migrating(url)
        try expect(PaperStore.migrations(of: url).count, equals: 1)
    }

    @Test func aShippedVersionIsOlderThanAStoreThatHasEverythingOfItAndMore() throws {
        try People.model("name", "email", entities: ["Pet"]).opening(url)
        let bundle = try shop.bundle([People.model("name")])
        try expectRefusal(by: NSManagedObjectModel(reading: bundle))
    }

    @Test func aProgramThatHasTheNewerVersionMayGoBack() throws {
        let bundle = try shop.bundle([People.model("name"), People.model("name", "email")])
        try NSManagedObjectModel(reading: bundle, version: "People").opening(url)
        try NSManagedObjectModel(reading: bundle).migrating(url)
        try NSManagedObjectModel(reading: bundle, version: "People").migrating(url)
        try expect(PaperStore.migrations(of: url).last, equals: "Person(email,name) -> Person(name)")
    }
}
