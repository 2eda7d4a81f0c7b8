import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import SQLQueries
@testable import SQLiteStore

/// Relationships and attributes of every shape, and names of every kind.
@Suite struct SQLiteShapesTests {
    /// Saves, reopens and hands over both times.
    private func roundTrip(
        _ model: () -> NSManagedObjectModel, _ make: (NSManagedObjectContext) throws -> Void,
        _ check: (NSManagedObjectContext, Scratchpad) throws -> Void
    ) throws {
        let pad = try Scratchpad()
        try {
            let context = try pad.context(model())
            try context.performAndWait {
                try make(context)
                try context.save()
            }
        }()
        let context = try pad.context(model())
        try context.performAndWait { try check(context, pad) }
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]])
    }

    private func named(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: context.persistentStoreCoordinator!.managedObjectModel.entities[0].name!)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    /// One entity “Person” with a name and what is added.
    private static func people(_ add: (NSEntityDescription) -> [NSPropertyDescription]) -> NSManagedObjectModel {
        let person = NSEntityDescription(name: "Person")
        person.properties = [NSAttributeDescription(name: "name", type: .string)] + add(person)
        return NSManagedObjectModel(entities: [person])
    }

    @Test func aRelationshipThatIsItsOwnInverseLeadsBothWays() throws {
        let model = {
            Self.people { person in
                let friends = NSRelationshipDescription(name: "friends", destination: person, toMany: true)
                friends.inverse(to: friends)
                return [friends]
            }
        }
        try roundTrip(model) { context in
            let people = ["a", "b", "c"].map { context.insert("Person", ["name": $0]) }
            people[0].setValue(Set(people[1...]), forKey: "friends")
        } _: { context, pad in
            let friends = try ["a", "b", "c"].map { name in
                let set = try named(name, in: context).value(forKey: "friends") as? Set<NSManagedObject>
                return Set((set ?? []).compactMap { $0.value(forKey: "name") as? String })
            }
            expect(friends, equals: [["b", "c"], ["a"], ["a"]])
            try named("a", in: context).setValue(Set([try named("c", in: context)]), forKey: "friends")
            try context.save()
            context.reset()
            expect((try named("b", in: context).value(forKey: "friends") as? Set<NSManagedObject>)?.isEmpty, equals: true)
            expect((try named("c", in: context).value(forKey: "friends") as? Set<NSManagedObject>)?.count, equals: 1)
        }
    }

    @Test func anOrderedManyToManyRelationshipWithinOneEntityKeepsItsOrder() throws {
        let model = {
            Self.people { person in
                let heroes = NSRelationshipDescription(name: "heroes", destination: person, toMany: true, isOrdered: true)
                let fans = NSRelationshipDescription(name: "fans", destination: person, toMany: true)
                heroes.inverse(to: fans)
                return [heroes, fans]
            }
        }
        try roundTrip(model) { context in
            let people = ["a", "b", "c", "d"].map { context.insert("Person", ["name": $0]) }
            people[0].setValue(NSOrderedSet(array: [people[3], people[1], people[2]]), forKey: "heroes")
        } _: { context, pad in
            func heroes() throws -> [String?] {
                let set = try named("a", in: context).value(forKey: "heroes") as? NSOrderedSet
                return set?.array.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } ?? []
            }
            try expect(heroes(), equals: ["d", "b", "c"])
            let order = try ["c", "a", "d"].map { try named($0, in: context) }
            try named("a", in: context).setValue(NSOrderedSet(array: order), forKey: "heroes")
            try context.save()
            context.reset()
            try expect(heroes(), equals: ["c", "a", "d"])
            let fans = try named("c", in: context).value(forKey: "fans") as? Set<NSManagedObject>
            expect(fans?.map { $0.value(forKey: "name") as? String }, equals: ["a"])
        }
    }

    @Test func relationshipsWithoutAWayBackAreKept() throws {
        let model = {
            Self.people { person in
                [
                    NSRelationshipDescription(name: "boss", destination: person),
                    NSRelationshipDescription(name: "favourites", destination: person, toMany: true),
                    NSRelationshipDescription(name: "ranking", destination: person, toMany: true, isOrdered: true),
                ]
            }
        }
        try roundTrip(model) { context in
            let people = ["a", "b", "c"].map { context.insert("Person", ["name": $0]) }
            people[0].setValue(people[1], forKey: "boss")
            people[0].setValue(Set([people[1], people[2]]), forKey: "favourites")
        } _: { context, pad in
            let person = try named("a", in: context)
            expect((person.value(forKey: "boss") as? NSManagedObject)?.value(forKey: "name") as? String, equals: "b")
            let favourites = person.value(forKey: "favourites") as? Set<NSManagedObject>
            expect(Set(favourites?.compactMap { $0.value(forKey: "name") as? String } ?? []), equals: ["b", "c"])
            let gone = try named("c", in: context)
            person.setValue(Set([try named("b", in: context)]), forKey: "favourites")
            context.delete(gone)
            try context.save()
            context.reset()
            expect((try named("a", in: context).value(forKey: "favourites") as? Set<NSManagedObject>)?.count, equals: 1)
        }
    }

    /// Quotes hold pictures and texts; other things have a quote of either kind.
    private static func quotes() -> NSManagedObjectModel {
        let quote = NSEntityDescription(name: "Quote", properties: [NSAttributeDescription(name: "name", type: .string)])
        quote.isAbstract = true
        let words = NSEntityDescription(name: "Words", properties: [NSAttributeDescription(name: "text", type: .string)])
        let picture = NSEntityDescription(name: "Picture", properties: [NSAttributeDescription(name: "text", type: .integer64)])
        quote.subentities = [words, picture]
        let post = NSEntityDescription(name: "Post", properties: [NSAttributeDescription(name: "name", type: .string)])
        let posted = NSRelationshipDescription(name: "quote", destination: quote)
        let posts = NSRelationshipDescription(name: "posts", destination: post, toMany: true)
        posted.inverse(to: posts)
        post.properties.append(posted)
        quote.properties.append(posts)
        return NSManagedObjectModel(entities: [quote, words, picture, post])
    }

    @Test func entitiesThatInheritShareATableAndReferencesKnowWhichTheyLeadTo() throws {
        try roundTrip(Self.quotes) { context in
            let words = context.insert("Words", ["name": "w", "text": "Hello"])
            let picture = context.insert("Picture", ["name": "p", "text": 7])
            context.insert("Post", ["name": "1"]).setValue(words, forKey: "quote")
            context.insert("Post", ["name": "2"]).setValue(picture, forKey: "quote")
        } _: { context, pad in
            try expect(
                pad.texts("SELECT name FROM pragma_table_info('ZQUOTE')").map { $0[0] },
                equals: ["Z_PK", "Z_ENT", "Z_OPT", "ZTEXT", "ZNAME", "ZTEXT1"])
            #expect(try pad.texts("SELECT name FROM pragma_table_info('ZPOST')").map { $0[0] }.contains("Z2_QUOTE"))
            let kinds = try context.all("Quote").map { $0.entity.name }
            expect(Set(kinds), equals: ["Words", "Picture"])
            for post in try context.all("Post") {
                let quote = try #require(post.value(forKey: "quote") as? NSManagedObject)
                let isFirst = post.value(forKey: "name") as? String == "1"
                expect(quote.objectID.entity.name, equals: (isFirst ? "Words" : "Picture"))
                expect("\(quote.value(forKey: "text") ?? "")", equals: (isFirst ? "Hello" : "7"))
                expect(quote.value(forKey: "posts") as? Set<NSManagedObject>, equals: [post])
            }
            try expect(context.all("Words").count, equals: 1)
        }
    }

    @Test func bothEndsOfAOneToOneRelationshipAreKept() throws {
        let model = {
            Self.people { person in
                let married = NSRelationshipDescription(name: "partner", destination: person)
                married.inverse(to: married)
                return [married]
            }
        }
        try roundTrip(model) { context in
            let people = ["a", "b", "c"].map { context.insert("Person", ["name": $0]) }
            people[0].setValue(people[1], forKey: "partner")
        } _: { context, pad in
            let (a, b, c) = (try named("a", in: context), try named("b", in: context), try named("c", in: context))
            #expect(b.value(forKey: "partner") as? NSManagedObject === a)
            a.setValue(c, forKey: "partner")
            try context.save()
            try expect(pad.texts("SELECT ZNAME, ZPARTNER FROM ZPERSON ORDER BY ZNAME"), equals: [["a", "3"], ["b", nil], ["c", "1"]])
        }
    }

    @Test func namesOfModelsCannotBreakOutOfTheSQL() throws {
        let names = [
            "quote\"mark", "semi;colon", "select", "x\u{1F600}y", "a'b", "[a]", "with space", "--", "*/", "Z_PK", "ent", "Straße",
            "a\"); DROP TABLE ZX; --",
        ]
        for name in names {
            let model = { () -> NSManagedObjectModel in
                let entity = NSEntityDescription(
                    name: name, properties: [NSAttributeDescription(name: "name", type: .string)])
                let others = NSRelationshipDescription(name: name, destination: entity, toMany: true)
                let back = NSRelationshipDescription(name: "back" + name, destination: entity, toMany: true)
                others.inverse(to: back)
                entity.properties += [NSAttributeDescription(name: "Z" + name, type: .string), others, back]
                entity.uniquenessConstraints = [["Z" + name]]
                return NSManagedObjectModel(entities: [entity])
            }
            try roundTrip(model) { context in
                let object = context.insert(name, ["name": "a", "Z" + name: "'; DROP"])
                object.setValue(Set([context.insert(name, ["name": "b"])]), forKey: name)
            } _: { context, pad in
                let object = try named("a", in: context)
                expect(object.value(forKey: "Z" + name) as? String, equals: "'; DROP")
                expect((object.value(forKey: name) as? Set<NSManagedObject>)?.count, equals: 1)
            }
        }
    }

    @Test func namesThatDifferInCaseAloneGetColumnsOfTheirOwn() throws {
        let model = { Self.people { _ in ["Title", "title", "TITLE"].map { NSAttributeDescription(name: $0, type: .string) } } }
        try roundTrip(model) { context in
            _ = context.insert("Person", ["name": "a", "Title": "1", "title": "2", "TITLE": "3"])
        } _: { context, _ in
            let person = try named("a", in: context)
            expect(["Title", "title", "TITLE"].map { person.value(forKey: $0) as? String }, equals: ["1", "2", "3"])
        }
    }

    @Test func bytesThatLieInAFileOfTheirOwnAreRead() throws {
        let model = { () -> NSManagedObjectModel in
            Self.people { _ in
                let data = NSAttributeDescription(name: "data", type: .binaryData)
                data.allowsExternalBinaryDataStorage = true
                return [data]
            }
        }
        try roundTrip(model) { context in
            _ = context.insert("Person", ["name": "a", "data": Data([1, 2, 3])])
            _ = context.insert("Person", ["name": "b"])
        } _: { context, pad in
            try expect(named("a", in: context).value(forKey: "data") as? Data, equals: Data([1, 2, 3]))
            try expect(pad.texts("SELECT hex(ZDATA) FROM ZPERSON WHERE ZNAME = 'a'"), equals: [["01010203"]])
            let folder = pad.url.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("large".utf8).write(to: folder.appendingPathComponent("ABC"))
            try pad.execute("UPDATE ZPERSON SET ZDATA = x'0241424300' WHERE ZNAME = 'b'")
            context.reset()
            try expect(named("b", in: context).value(forKey: "data") as? Data, equals: Data("large".utf8))
            try pad.execute("UPDATE ZPERSON SET ZDATA = x'022E2E2F7374" + "00' WHERE ZNAME = 'b'")
            context.reset()
            #expect(throws: NSError.self) { try context.all("Person") }
        }
    }

    @Test func aDateWithoutAFiniteTimeIsAnErrorThatNamesTheAttribute() throws {
        let pad = try Scratchpad()
        _ = try pad.coordinator(Music.model())
        try pad.execute("INSERT INTO ZBAND (Z_PK, Z_ENT, Z_OPT, ZNAME, ZFOUNDED) VALUES (1, 2, 1, 'Can', 9e999)")
        let context = try pad.context(Music.model())
        try context.performAndWait {
            let error = try #require(failure { _ = try context.all(Band.self) })
            #expect(error.localizedDescription.contains("Band.founded"))
        }
    }

    @Test func entitiesOfANewStoreAreNumberedByTheirNamesWithoutCase() throws {
        func entity(_ name: String, _ subentities: [NSEntityDescription] = []) -> NSEntityDescription {
            let entity = NSEntityDescription(name: name, properties: [])
            entity.subentities = subentities
            return entity
        }
        let pad = try Scratchpad()
        let parts = [entity("partB"), entity("PARTA")]
        let all = [entity("NWFlow"), entity("Network"), entity("b"), entity("Whole", parts), entity("B2")] + parts
        _ = try pad.coordinator(NSManagedObjectModel(entities: all))
        // As in stores of Apple's systems.
        try expect(
            pad.texts("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT").map { $0[0] },
            equals: ["b", "B2", "Network", "NWFlow", "Whole", "PARTA", "partB"])
    }
}
