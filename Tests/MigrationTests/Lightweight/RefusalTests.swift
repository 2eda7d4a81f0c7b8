import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import TestSupport
import Testing

/// What cannot be inferred is refused with code 134190, naming entity and property.
@Suite struct RefusalTests {
    private func refusals(_ old: NSManagedObjectModel, _ new: NSManagedObjectModel) throws -> [String] {
        do {
            _ = try InferredMapping.infer(from: old, to: new)
            return []
        } catch let error as NSError {
            expect(error.code, equals: NSInferredMappingModelError)
            let all = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
            return all.map { error in
                let place = [error.userInfo["entity"] as? String, error.userInfo["property"] as? String].compactMap { $0 }
                #expect(error.localizedDescription.contains(place.joined(separator: ".")))
                return place.joined(separator: ".")
            }
        }
    }

    @Test("Attributes that become relationships, or the other way round, are refused, and each is named")
    func kinds() throws {
        let (car, owner) = (Version.entity("Car", [Version.attribute("owner")]), Version.entity("Owner", [Version.attribute("x")]))
        let (car1, owner1) = (Version.entity("Car"), Version.entity("Owner", [Version.attribute("y", was: "x")]))
        Version.relate(car1, "owner", to: owner1)
        try expect(refusals(Version.model(car, owner), Version.model(car1, owner1)), equals: ["Car.owner"])
        try expect(refusals(Version.model(car1, owner1), Version.model(car, owner)), equals: ["Car.owner"])
    }

    @Test("An attribute without a default value cannot be added or become required")
    func missingDefaults() throws {
        let old = Version.model(Version.entity("Car", [Version.attribute("name"), Version.attribute("doors", .integer16)]))
        let new = Version.model(
            Version.entity(
                "Car", [Version.attribute("name", isOptional: false), Version.attribute("wheels", .integer16, isOptional: false)]))
        try expect(refusals(old, new), equals: ["Car.name", "Car.wheels"])
        #expect(throws: Never.self) { try InferredMapping.infer(from: old, to: new, permitsMissingValues: true) }
    }

    @Test("Types that do not convert into each other are refused")
    func types() throws {
        let types: [NSAttributeDescription.AttributeType] = [
            .integer64, .string, .date, .binaryData, .uuid, .uri, .transformable,
        ]
        for old in types {
            for new in types where old != new {
                let (before, after) = (
                    Version.model(Version.entity("Car", [Version.attribute("a", old)])),
                    Version.model(Version.entity("Car", [Version.attribute("a", new)]))
                )
                try expect(refusals(before, after), equals: ["Car.a"])
            }
        }
    }

    @Test("A to-many relationship cannot become to-one")
    func relationships() throws {
        func model(_ toMany: Bool) -> NSManagedObjectModel {
            let (car, owner) = (Version.entity("Car"), Version.entity("Owner"))
            Version.relate(car, "r", toMany: toMany, to: owner)
            return Version.model(car, owner)
        }
        try expect(refusals(model(true), model(false)), equals: ["Car.r"])
    }

    @Test("A relationship without an inverse that becomes to-many is migrated, unless several owners have an object in common")
    func sharedObjects() throws {
        func model(_ toMany: Bool) -> NSManagedObjectModel {
            let (car, owner) = (Version.entity("Car", [Version.attribute("name")]), Version.entity("Owner", [Version.attribute("name")]))
            Version.relate(owner, "cars", toMany: toMany, to: car)
            return Version.model(car, owner)
        }
        for isShared in [false, true] {
            let store = try MigratedStore()
            try store.open(model(false)) { context in
                let cars = ["A", "B"].map { context.make("Car", ["name": $0]) }
                context.make("Owner", ["name": "1", "cars": cars[0]])
                context.make("Owner", ["name": "2", "cars": isShared ? cars[0] : cars[1]])
                try context.save()
            }
            if isShared {
                #expect(throws: NSError.self) { try store.migrate(model(false), model(true)) }
                let names = try store.open(model(false)) { try $0.all("Owner").map { $0.value(forKeyPath: "cars.name") as? String } }
                expect(names, equals: ["A", "A"])
            } else {
                try store.migrate(model(false), model(true))
                let counts = try store.open(model(true)) { context in
                    try context.all("Owner").map { ($0.value(forKey: "cars") as? Set<NSManagedObject>)?.count }
                }
                expect(counts, equals: [1, 1])
            }
        }
    }

    @Test("Hierarchies cannot be merged")
    func hierarchies() throws {
        let old = Version.model(Version.entity("Boat"), Version.entity("Car"))
        let vehicle = Version.entity("Vehicle")
        let (boat, car) = (Version.entity("Boat"), Version.entity("Car"))
        vehicle.subentities = [boat, car]
        try expect(refusals(old, Version.model(vehicle, boat, car)), equals: ["Car"])
    }

    @Test("Two names for one former property are refused")
    func rivals() throws {
        let old = Version.model(Version.entity("Car", [Version.attribute("name")]))
        let new = Version.model(Version.entity("Car", [Version.attribute("a", was: "name"), Version.attribute("b", was: "name")]))
        try expect(refusals(old, new), equals: ["Car.b"])
    }

    @Test("A mapping tells what becomes of each entity and where each value comes from")
    func mapping() throws {
        let (car, boat) = (Version.entity("Car", [Version.attribute("name")]), Version.entity("Boat", [Version.attribute("name")]))
        let old = Version.model(car, boat, Version.entity("Gone"))
        let new = Version.model(
            Version.entity("Boat", [Version.attribute("name")]),
            Version.entity("Vehicle", was: "Car", [Version.attribute("title", was: "name"), Version.attribute("note")]),
            Version.entity("New"))
        let mapping = try InferredMapping.infer(from: old, to: new)
        expect(
            mapping.entities.map { "\($0.source?.name ?? "-") \($0.kind) \($0.destination?.name ?? "-")" },
            equals: ["Boat copy Boat", "- add New", "Car transform Vehicle", "Gone remove -"])
        let vehicle = try #require(mapping.entity(from: car))
        expect(vehicle.attributes.map { "\($0.destination.name) \($0.source?.name ?? "-")" }, equals: ["note -", "title name"])
    }

    @Test("Virtual tables of a program's own are not lost in a copy: it is refused, and names them; in place they stay")
    func virtualTables() throws {
        let old = Version.model(Version.entity("Car", [Version.attribute("name")]))
        let new = Version.model(Version.entity("Car", [Version.attribute("name"), Version.attribute("note")]))
        let store = try MigratedStore()
        try store.open(old) { context in
            context.make("Car", ["name": "A"])
            try context.save()
        }
        try Database(store.url).execute("CREATE VIRTUAL TABLE notes USING fts5(text); INSERT INTO notes VALUES ('a word')")
        store.copies = true
        let error = #expect(throws: NSError.self) { try store.migrate(old, new) }
        #expect(error?.code == NSMigrationError && error?.localizedFailureReason?.contains("notes") == true)
        try expect(store.open(old) { try $0.values("Car", "name") }, equals: ["A"])
        store.copies = false
        try store.migrate(old, new)
        try expect(Database(store.url).column("SELECT text FROM notes WHERE notes MATCH 'word'"), equals: ["a word"])
    }
}
