import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("What follows a new object that was saved") struct RefusedFollowerTests {
    /// How a backend is told which new object it gets.
    struct Promise: CustomTestStringConvertible, Sendable {
        var hasOwnIdentifiers = false
        var isIdempotent = false
        static let all = [
            Promise(isIdempotent: true), Promise(hasOwnIdentifiers: true), Promise(hasOwnIdentifiers: true, isIdempotent: true),
        ]

        var saving: Resource.Saving { .init(identity: hasOwnIdentifiers ? .newUUID : .assignedByBackend, isIdempotent: isIdempotent) }
        var testDescription: String { "\(hasOwnIdentifiers ? "own" : "assigned") identifiers, \(isIdempotent ? "" : "not ")idempotent" }
    }

    private struct World {
        let backend: ScriptedBackend
        let context: NSManagedObjectContext

        init(_ promise: Promise) throws {
            let model = Shop.model()
            let band = try #require(model.entitiesByName["Band"])
            band.properties.append(NSRelationshipDescription(name: "best", destination: try #require(model.entitiesByName["Album"])))
            let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 5)])
            backend = ScriptedBackend(
                model, ["Band", "Album"].map { Resource($0, endpoints: [Endpoint("all"), byID], saving: promise.saving) })
            backend.setVersions(.numbers)
            context = try backend.context(model)
        }

        func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValuesForKeys(values)
            return object
        }

        /// Saves, which fails.
        func fails() -> NSError? { failure { try context.save() } }

        func answer() {
            backend.scriptSaves { _ in .answer }
            backend.scriptOutcomes { _ in nil }
            backend.script { _ in .answer }
        }

        func only(_ entity: String) throws -> [String: ResourceValue] {
            let ids = backend.ids(entity)
            try #require(ids.count == 1, "\(backend.saves)")
            return try #require(backend.values(entity, ids[0]))
        }
    }

    @Test("is sent again after a refusal, and the object is not", arguments: Promise.all, [1, 3])
    func refusedEdit(_ promise: Promise, refusals: Int) throws {
        let world = try World(promise)
        try world.context.performAndWait {
            let album = world.insert("Album", ["title": "Help!"])
            world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
            #expect(world.fails() != nil)
            world.answer()
            world.backend.scriptOutcomes { $0.kind == .update ? .refused(ServiceFailure("notes")) : nil }
            for number in 0..<refusals {
                album.setValue("no \(number)", forKey: "notes")
                #expect(world.fails() != nil)
            }
            world.answer()
            album.setValue("yes", forKey: "notes")
            try world.context.save()
            #expect(!world.context.hasChanges)
        }
        let album = try world.only("Album")
        #expect(album["title"] == "Help!" && album["notes"] == "yes", "\(album)")
    }

    @Test("closes a circle of new objects after a refusal, and none of them is there twice")
    func refusedCircle() throws {
        let world = try World(Promise(isIdempotent: true))
        try world.context.performAndWait {
            let band = world.insert("Band", ["name": "A"])
            band.setValue(world.insert("Album", ["title": "B", "band": band]), forKey: "best")
            world.backend.scriptOutcomes { $0.kind == .update ? .refused(ServiceFailure("best")) : nil }
            #expect(world.fails() != nil)
            world.answer()
            band.setValue("C", forKey: "name")
            try world.context.save()
            #expect(!world.context.hasChanges)
        }
        let band = try world.only("Band")
        _ = try world.only("Album")
        #expect(band["best"] == .one(.init(world.backend.ids("Album")[0])) && band["name"] == "C", "\(band)")
    }

    /// Loses the answer to a new album, lets others change it, and edits it.
    private static func contest(_ world: World) -> NSManagedObject {
        let album = world.insert("Album", ["title": "Help!", "year": 1965])
        world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
        #expect(world.fails() != nil)
        world.backend.change("Album", world.backend.ids("Album")[0], ["notes": "theirs", "year": 1966])
        world.answer()
        album.setValue("mine", forKey: "notes")
        return album
    }

    @Test("is a conflict where others have changed the same meanwhile, which the policy for errors reports", arguments: Promise.all)
    func others(_ promise: Promise) throws {
        let world = try World(promise)
        try world.context.performAndWait {
            let album = Self.contest(world)
            #expect(world.fails() != nil)
            let stored = try world.only("Album")
            #expect(stored["notes"] == "theirs" && stored["year"] == 1966, "\(stored)")
            if promise.hasOwnIdentifiers {
                // Until a policy settles it.
                #expect(world.fails() != nil)
                let again = try world.only("Album")
                #expect(again["notes"] == "theirs" && again["year"] == 1966, "\(again)")
                world.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            }
            // The program has heard of it, and wants its own.
            try world.context.save()
            expect(album.value(forKey: "notes") as? String, equals: "mine")
            #expect(!world.context.hasChanges)
        }
        let stored = try world.only("Album")
        #expect(stored["notes"] == "mine" && stored["title"] == "Help!", "\(stored)")
    }

    @Test(
        "is merged with what others have made meanwhile: where both have a value, the policy says whose",
        arguments: Promise.all.filter(\.hasOwnIdentifiers), [true, false])
    func merged(_ promise: Promise, objectWins: Bool) throws {
        let world = try World(promise)
        world.context.mergePolicy = objectWins ? NSMergePolicy.mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump
        try world.context.performAndWait {
            let album = Self.contest(world)
            try world.context.save()
            #expect(!world.context.hasChanges)
            expect(album.value(forKey: "notes") as? String, equals: objectWins ? "mine" : "theirs")
            expect(album.value(forKey: "year") as? Int, equals: objectWins ? 1965 : 1966)
        }
        let album = try world.only("Album")
        #expect(album["notes"] == (objectWins ? "mine" : "theirs") && album["year"] == (objectWins ? 1965 : 1966), "\(album)")
    }

    @Test("is not sent while nobody can say whether an earlier attempt was saved, and is not lost", arguments: Promise.all)
    func unreadable(_ promise: Promise) throws {
        let world = try World(promise)
        world.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try world.context.performAndWait {
            let album = world.insert("Album", ["title": "Help!"])
            world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
            #expect(world.fails() != nil)
            album.setValue("first", forKey: "notes")
            #expect(world.fails() != nil)
            world.backend.script { _ in .fail(OutboxWorld.lost) }
            world.backend.scriptSaves { _ in .answer }
            for notes in ["second", "third"] {
                album.setValue(notes, forKey: "notes")
                _ = world.fails()
            }
            world.answer()
            album.setValue(1965, forKey: "year")
            try world.context.save()
            #expect(!world.context.hasChanges)
        }
        let album = try world.only("Album")
        #expect(album["notes"] == "third" && album["year"] == 1965, "\(album)")
    }
}
