import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import SQLiteStore
import TestSupport
import Testing

/// Every change that Core Data infers, in place and into a copy.
@Suite struct LightweightRuleTests {
    private func plain() -> NSManagedObjectModel {
        Version.model(Version.entity("Car", [Version.attribute("name"), Version.attribute("doors", .integer16)]))
    }

    private func fillCars(_ context: NSManagedObjectContext) {
        for (name, doors) in [("Amber", 2), ("Beryl", 4)] { context.make("Car", ["name": name, "doors": doors]) }
        context.make("Car", ["name": "Coral"])
    }

    @Test("An attribute that is added is nil in old objects, or has its default value", arguments: [false, true])
    func addition(copies: Bool) throws {
        let new = Version.model(
            Version.entity(
                "Car",
                [
                    Version.attribute("name"), Version.attribute("doors", .integer16), Version.attribute("color"),
                    Version.attribute("wheels", .integer32, isOptional: false, defaultValue: 4),
                    Version.attribute("maker", isOptional: false, defaultValue: "it's unknown"),
                    Version.attribute("built", .date, defaultValue: Date(timeIntervalSinceReferenceDate: 1.5)),
                    Version.attribute("price", .decimal, defaultValue: Decimal(string: "12345678901234567890.5")!),
                    Version.attribute("photo", .binaryData, defaultValue: Data([0, 1, 2])),
                ]))
        let store = try MigratedStore.filled(copies, plain(), fillCars)
        try store.migrate(plain(), new)
        try store.open(new) { context in
            try expect(context.values("Car", "doors"), equals: ["2", "4", "nil"])
            try expect(context.values("Car", "color"), equals: ["nil", "nil", "nil"])
            try expect(context.values("Car", "wheels"), equals: ["4", "4", "4"])
            let car = try #require(try context.all("Car").first)
            expect(car.value(forKey: "maker") as? String, equals: "it's unknown")
            expect(car.value(forKey: "built") as? Date, equals: Date(timeIntervalSinceReferenceDate: 1.5))
            expect(car.value(forKey: "price") as? Decimal, equals: Decimal(string: "12345678901234567890.5"))
            expect(car.value(forKey: "photo") as? Data, equals: Data([0, 1, 2]))
            context.make("Car", ["name": "Dusk", "color": "red"])
            try context.save()
        }
        let wheels = try store.open(new) { try $0.values("Car", "wheels") }
        expect(wheels.count, equals: 4)
    }

    @Test("An attribute or entity that is removed is gone from the file", arguments: [false, true])
    func removal(copies: Bool) throws {
        let (car, garage) = (Version.entity("Car", [Version.attribute("name")]), Version.entity("Garage", [Version.attribute("name")]))
        Version.relate(garage, "cars", toMany: true, to: car, "garage")
        let old = Version.model(car, garage)
        let new = Version.model(Version.entity("Car", [Version.attribute("kind", was: "none")]), Version.entity("Boat"))
        let store = try MigratedStore.filled(copies, old) { context in
            let garage = context.make("Garage", ["name": "Secret garage"])
            context.make("Car", ["name": "Secret car", "garage": garage])
        }
        try store.migrate(old, new)
        try store.open(new) { context in
            try expect(context.all("Car", by: "kind").count, equals: 1)
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Boat")), equals: 0)
            context.make("Boat")
            try context.save()
        }
        try expect(SQLiteStore.keptModel(at: store.url, options: nil)?.entitiesByName.keys.sorted(), equals: ["Boat", "Car"])
        let database = try Database(store.url)
        try expect(database.column("SELECT name FROM sqlite_master WHERE name LIKE 'ZGARAGE%'"), equals: [])
        try expect(database.column("SELECT name FROM pragma_table_info('ZCAR')"), equals: ["Z_PK", "Z_ENT", "Z_OPT", "ZKIND"])
    }

    @Test(
        "Renaming identifiers rename entities, attributes and relationships, also over versions that are left out",
        arguments: [false, true])
    func renaming(copies: Bool) throws {
        let (car, garage) = (
            Version.entity("Car", [Version.attribute("name"), Version.attribute("color"), Version.attribute("paint")]),
            Version.entity("Garage", [Version.attribute("name")])
        )
        Version.relate(garage, "cars", toMany: true, isOrdered: true, to: car, "garage")
        let old = Version.model(car, garage)
        // The second version called the color "hue"; the third one keeps the identifier, and exchanges two names.
        let (vehicle, hall) = (
            Version.entity(
                "Vehicle", was: "Car",
                [Version.attribute("name"), Version.attribute("paint", was: "color"), Version.attribute("color", was: "paint")]),
            Version.entity("Hall", was: "Garage", [Version.attribute("title", was: "name")])
        )
        Version.relate(hall, "vehicles", was: "cars", toMany: true, isOrdered: true, to: vehicle, "hall", inverseWas: "garage")
        let new = Version.model(vehicle, hall)
        let store = try MigratedStore.filled(copies, old) { context in
            let garage = context.make("Garage", ["name": "North"])
            let cars = ["Amber", "Beryl", "Coral"].map { context.make("Car", ["name": $0, "color": "c\($0)", "paint": "p\($0)"]) }
            garage.setValue(NSOrderedSet(array: [cars[2], cars[0], cars[1]]), forKey: "cars")
        }
        try store.migrate(old, new)
        try store.open(new) { context in
            try expect(context.values("Vehicle", "paint"), equals: ["cAmber", "cBeryl", "cCoral"])
            try expect(context.values("Vehicle", "color"), equals: ["pAmber", "pBeryl", "pCoral"])
            let hall = try #require(try context.all("Hall", by: "title").first)
            let names = (hall.value(forKey: "vehicles") as? NSOrderedSet)?.array.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            }
            expect(names, equals: ["Coral", "Amber", "Beryl"])
            try expect(context.all("Vehicle").first?.value(forKeyPath: "hall.title") as? String, equals: "North")
        }
    }

    @Test("A required attribute becomes optional, and an optional one required with its default value", arguments: [false, true])
    func optionality(copies: Bool) throws {
        let old = Version.model(
            Version.entity(
                "Car", [Version.attribute("name", isOptional: false, defaultValue: "?"), Version.attribute("doors", .integer16)]))
        let new = Version.model(
            Version.entity(
                "Car", [Version.attribute("name"), Version.attribute("doors", .integer16, isOptional: false, defaultValue: 5)]))
        let store = try MigratedStore.filled(copies, old, fillCars)
        try store.migrate(old, new)
        try store.open(new) { context in
            try expect(context.values("Car", "doors"), equals: ["2", "4", "5"])
            context.make("Car")
            try context.save()
        }
    }

    @Test("Numbers are converted between all types of numbers", arguments: [false, true])
    func numbers(copies: Bool) throws {
        let names = ["small", "middle", "large", "double", "float", "flag", "exact"]
        let types: [NSAttributeDescription.AttributeType] = [.integer16, .integer32, .integer64, .double, .float, .boolean, .decimal]
        for (from, type) in types.enumerated() {
            let old = Version.model(Version.entity("N", [Version.attribute("name")] + names.map { Version.attribute($0, type) }))
            let new = Version.model(
                Version.entity("N", [Version.attribute("name")] + zip(names, types).map { Version.attribute($0, $1) }))
            let numbers: [NSNumber] =
                type == .boolean ? [0, 1] : type == .double || type == .float || type == .decimal ? [0, -7.5, 12] : [0, -7, 12]
            let store = try MigratedStore.filled(copies, old) { context in
                for (index, number) in numbers.enumerated() {
                    let object = context.make("N", ["name": "\(index)"])
                    for name in names {
                        object.setValue(type == .decimal ? NSDecimalNumber(string: "\(number)") : number, forKey: name)
                    }
                }
                context.make("N", ["name": "nil"])
            }
            try store.migrate(old, new)
            try store.open(new) { context in
                let rows = try context.all("N")
                expect(rows.count, equals: numbers.count + 1)
                for (row, number) in zip(rows, numbers) {
                    let value = number.doubleValue
                    for name in ["small", "middle", "large"] {
                        expect(
                            (row.value(forKey: name) as? NSNumber)?.intValue ?? row.value(forKey: name) as? Int, equals: Int(value),
                            "\(from) \(name)")
                    }
                    for name in ["double", "float"] {
                        #expect(
                            "\(row.value(forKey: name) ?? "")".contains("\(value)") || Double("\(row.value(forKey: name) ?? "")") == value)
                    }
                    #expect(
                        "\(row.value(forKey: "flag") ?? "")" == (value != 0 ? "true" : "false")
                            || "\(row.value(forKey: "flag") ?? "")" == (value != 0 ? "1" : "0"))
                    expect(Double("\(row.value(forKey: "exact") ?? "")"), equals: value)
                }
                for name in names { #expect(rows.last?.value(forKey: name) == nil) }
            }
        }
    }

    @Test("A to-one relationship becomes to-many, with an inverse of either kind", arguments: [false, true])
    func toMany(copies: Bool) throws {
        for (inverseToMany, newInverse) in [(true, true), (false, false), (false, true)] {
            func model(_ toMany: Bool, _ inverseToMany: Bool, isOrdered: Bool = false) -> NSManagedObjectModel {
                let (car, owner) = (
                    Version.entity("Car", [Version.attribute("name")]), Version.entity("Owner", [Version.attribute("name")])
                )
                Version.relate(car, "owners", toMany: toMany, isOrdered: isOrdered, to: owner, "cars", inverseToMany: inverseToMany)
                return Version.model(car, owner)
            }
            let old = model(false, inverseToMany)
            let new = model(true, newInverse, isOrdered: true)
            let store = try MigratedStore.filled(copies, old) { context in
                for name in ["Amber", "Beryl"] {
                    context.make("Car", ["name": name, "owners": context.make("Owner", ["name": "of \(name)"])])
                }
                context.make("Car", ["name": "Coral"])
            }
            try store.migrate(old, new)
            try store.open(new) { context in
                let cars = try context.all("Car")
                let owners = cars.map { car in
                    (car.value(forKey: "owners") as? NSOrderedSet)?.array.compactMap {
                        ($0 as? NSManagedObject)?.value(forKey: "name") as? String
                    }
                }
                expect(owners, equals: [["of Amber"], ["of Beryl"], []])
                let first = try #require(try context.all("Owner").first)
                if newInverse {
                    #expect((first.value(forKey: "cars") as? Set<NSManagedObject>)?.first === cars[0])
                } else {
                    #expect(first.value(forKey: "cars") as? NSManagedObject === cars[0])
                }
            }
        }
    }

    @Test("A to-many relationship becomes ordered by age, and unordered again", arguments: [false, true])
    func ordering(copies: Bool) throws {
        func model(_ isOrdered: Bool, _ many: Bool) -> NSManagedObjectModel {
            let (car, owner) = (Version.entity("Car", [Version.attribute("name")]), Version.entity("Owner", [Version.attribute("name")]))
            Version.relate(owner, "cars", toMany: true, isOrdered: isOrdered, to: car, "owner", inverseToMany: many)
            return Version.model(car, owner)
        }
        for many in [false, true] {
            let store = try MigratedStore.filled(copies, model(false, many)) { context in
                let owner = context.make("Owner", ["name": "O"])
                for name in ["Amber", "Beryl", "Coral"] {
                    let car = context.make("Car", ["name": name])
                    try context.save()
                    car.setValue(many ? Set([owner]) : owner, forKey: "owner")
                }
            }
            try store.migrate(model(false, many), model(true, many))
            try store.open(model(true, many)) { context in
                let owner = try #require(try context.all("Owner").first)
                let cars = owner.mutableOrderedSetValue(forKey: "cars")
                expect(
                    cars.array.compactMap { $0.value(forKey: "name") as? String }, equals: ["Amber", "Beryl", "Coral"])
                cars.insert(context.make("Car", ["name": "Dusk"]), at: 1)
                try context.save()
            }
            try store.migrate(model(true, many), model(false, many))
            try store.open(model(false, many)) { context in
                let cars = try context.all("Owner").first?.value(forKey: "cars") as? Set<NSManagedObject>
                expect(cars?.count, equals: 4)
            }
        }
    }

    @Test("Large values move into files and back into rows with the attribute's setting", arguments: [false, true])
    func externalData(copies: Bool) throws {
        func model(_ isExternal: Bool) -> NSManagedObjectModel {
            let photo = Version.attribute("photo", .binaryData)
            photo.allowsExternalBinaryDataStorage = isExternal
            return Version.model(Version.entity("Car", [Version.attribute("name"), photo]))
        }
        let (small, large) = (Data([1, 0, 2, 0]), Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) }))
        let store = try MigratedStore.filled(copies, model(true)) { context in
            context.make("Car", ["name": "large", "photo": large])
            context.make("Car", ["name": "none"])
            context.make("Car", ["name": "small", "photo": small])
        }
        for isExternal in [false, true] {
            try store.migrate(model(!isExternal), model(isExternal))
            try store.open(model(isExternal)) { context in
                let photos = try context.all("Car").map { $0.value(forKey: "photo") as? Data }
                expect(photos, equals: [large, nil, small])
            }
        }
    }

    @Test("A derived attribute is computed for old objects and kept up to date", arguments: [false, true])
    func derived(copies: Bool) throws {
        func model(_ derives: Bool) -> NSManagedObjectModel {
            let (car, owner) = (Version.entity("Car", [Version.attribute("name")]), Version.entity("Owner", [Version.attribute("name")]))
            if derives {
                func derive(
                    _ entity: NSEntityDescription, _ name: String, _ type: NSAttributeDescription.AttributeType, _ expression: String
                ) {
                    let attribute = NSDerivedAttributeDescription()
                    attribute.name = name
                    attribute.type = type
                    attribute.derivationExpression = CoreData.NSExpression(format: expression)
                    entity.properties = entity.declaredProperties + [attribute]
                }
                derive(owner, "count", .integer64, "cars.@count")
                derive(car, "ownerName", .string, "owner.name")
                derive(car, "plain", .string, "lowercase:(name)")
            }
            Version.relate(owner, "cars", toMany: true, to: car, "owner")
            return Version.model(car, owner)
        }
        let store = try MigratedStore.filled(copies, model(false)) { context in
            let owner = context.make("Owner", ["name": "O"])
            for name in ["Amber", "Beryl"] { context.make("Car", ["name": name, "owner": owner]) }
            context.make("Owner", ["name": "P"])
        }
        try store.migrate(model(false), model(true))
        try store.open(model(true)) { context in
            try expect(context.values("Owner", "count"), equals: ["2", "0"])
            try expect(context.values("Car", "ownerName"), equals: ["O", "O"])
            try expect(context.values("Car", "plain"), equals: ["amber", "beryl"])
            context.make("Car", ["name": "Coral", "owner": try #require(try context.all("Owner").last)])
            try context.save()
        }
        try store.open(model(true)) { context in
            let counts = try context.values("Owner", "count")
            expect(counts, equals: ["2", "1"])
            try expect(context.values("Car", "ownerName"), equals: ["O", "O", "P"])
        }
    }

    @Test("Relationships to objects of a removed entity are cleared", arguments: [false, true])
    func danglingReferences(copies: Bool) throws {
        func model(_ hasTaxi: Bool) -> NSManagedObjectModel {
            let (car, owner) = (Version.entity("Car", [Version.attribute("name")]), Version.entity("Owner", [Version.attribute("name")]))
            Version.relate(owner, "favourite", to: car)
            Version.relate(owner, "cars", toMany: true, to: car, "owners", inverseToMany: true)
            if !hasTaxi { return Version.model(car, owner) }
            let taxi = Version.entity("Taxi", [Version.attribute("sign")])
            car.subentities = [taxi]
            return Version.model(car, owner, taxi)
        }
        let store = try MigratedStore.filled(copies, model(true)) { context in
            let (car, taxi) = (context.make("Car", ["name": "Amber"]), context.make("Taxi", ["name": "Beryl"]))
            context.make("Owner", ["name": "1", "favourite": car, "cars": Set([car, taxi])])
            context.make("Owner", ["name": "2", "favourite": taxi, "cars": Set([taxi])])
        }
        try store.migrate(model(true), model(false))
        try store.open(model(false)) { context in
            let owners = try context.all("Owner")
            expect(owners.map { $0.value(forKeyPath: "favourite.name") as? String }, equals: ["Amber", nil])
            expect(owners.map { ($0.value(forKey: "cars") as? Set<NSManagedObject>)?.count }, equals: [1, 0])
        }
    }

    @Test("Indexes and constraints are those of the new version", arguments: [false, true])
    func indexes(copies: Bool) throws {
        func model(_ isNew: Bool) -> NSManagedObjectModel {
            let car = Version.entity(
                "Car", [Version.attribute("name"), Version.attribute(isNew ? "gates" : "doors", .integer16, was: isNew ? "doors" : nil)])
            car.indexes = [
                NSFetchIndexDescription(
                    name: isNew ? "byGates" : "byDoors",
                    elements: [NSFetchIndexElementDescription(property: car.declaredProperties[1], collationType: .binary)])
            ]
            if isNew { car.uniquenessConstraints = [["name"]] }
            return Version.model(car)
        }
        let store = try MigratedStore.filled(copies, model(false), fillCars)
        try store.migrate(model(false), model(true))
        try store.open(model(true)) { context in
            context.make("Car", ["name": "Amber"])
            #expect(throws: (any Error).self) { try context.save() }
        }
        let database = try Database(store.url)
        #expect(
            try database.column(
                "SELECT count(*) FROM sqlite_master m JOIN pragma_index_info(m.name) i WHERE m.type = 'index' AND i.name = 'ZGATES'")
                != ["0"])
    }
}
