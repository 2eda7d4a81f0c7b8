import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import SQLiteStore
import TestSupport
import Testing

/// Changes of what inherits from what, in place and into a copy.
@Suite struct LightweightHierarchyTests {
    @Test("A new parent takes over what its children had in common", arguments: [false, true])
    func newParent(copies: Bool) throws {
        let (car, boat) = (
            Version.entity("Car", [Version.attribute("name"), Version.attribute("doors", .integer16)]),
            Version.entity("Boat", [Version.attribute("sails", .integer16)])
        )
        let vehicle0 = Version.entity("Base", isAbstract: true)
        vehicle0.subentities = [car, boat]
        boat.properties = boat.declaredProperties + [Version.attribute("name")]
        let old = Version.model(vehicle0, car, boat)
        let (car1, boat1) = (
            Version.entity("Car", [Version.attribute("doors", .integer16)]),
            Version.entity("Boat", [Version.attribute("sails", .integer16)])
        )
        let middle = Version.entity("Vehicle", [Version.attribute("name"), Version.attribute("note", defaultValue: "new")])
        middle.subentities = [car1, boat1]
        let base = Version.entity("Base", isAbstract: true)
        base.subentities = [middle]
        let new = Version.model(base, middle, car1, boat1)
        let store = try MigratedStore.filled(copies, old) { context in
            context.make("Car", ["name": "Amber", "doors": 2])
            context.make("Boat", ["name": "Beryl", "sails": 3])
        }
        try store.migrate(old, new)
        try store.open(new) { context in
            try expect(context.values("Vehicle", "name"), equals: ["Amber", "Beryl"])
            try expect(context.values("Vehicle", "note"), equals: ["new", "new"])
            try expect(context.values("Car", "doors"), equals: ["2"])
            try expect(context.values("Boat", "sails"), equals: ["3"])
            context.make("Vehicle", ["name": "Coral"])
            try context.save()
            try expect(context.values("Vehicle", "name"), equals: ["Amber", "Beryl", "Coral"])
        }
    }

    private enum Way: CaseIterable { case inPlace, copied, byManager }

    @Test("A relationship that leads to another entity keeps the objects that are of it, and loses the others", arguments: Way.allCases)
    private func destinations(way: Way) throws {
        func version(_ isNew: Bool) -> NSManagedObjectModel {
            let (image, sketch) = (Version.entity("Image", [Version.attribute("name")]), Version.entity("Sketch"))
            let (show, work) = (Version.entity("Show", [Version.attribute("name")]), Version.entity("Work", [Version.attribute("name")]))
            image.subentities = [sketch]
            Version.relate(show, "images", toMany: true, to: isNew ? sketch : image, "show")
            Version.relate(show, "cover", to: isNew ? image : work)
            Version.relate(work, "others", toMany: true, to: isNew ? show : work, "friends", inverseToMany: true)
            return Version.model(image, sketch, show, work)
        }
        let store = try MigratedStore.filled(way == .copied, version(false)) { context in
            let (show, work) = (context.make("Show", ["name": "S"]), context.make("Work", ["name": "W"]))
            context.make("Image", ["name": "a", "show": show])
            context.make("Sketch", ["name": "b", "show": show])
            context.make("Sketch", ["name": "c"])
            show.setValue(work, forKey: "cover")
            work.setValue(Set([work, context.make("Work", ["name": "V"])]), forKey: "others")
        }
        if way == .byManager {
            let place = store.directory.appendingPathComponent("new.sqlite")
            try NSMigrationManager(sourceModel: version(false), destinationModel: version(true)).migrateStore(
                from: store.url, sourceType: NSSQLiteStoreType, options: nil,
                with: NSMappingModel.inferredMappingModel(forSourceModel: version(false), destinationModel: version(true)),
                toDestinationURL: place, destinationType: NSSQLiteStoreType, destinationOptions: nil)
            try NSPersistentStoreCoordinator(managedObjectModel: version(true)).replacePersistentStore(
                at: store.url, withPersistentStoreFrom: place, type: .sqlite)
        } else {
            try expect(store.estimate(version(false), version(true)).isInPlace, equals: (way == .inPlace))
            try store.migrate(version(false), version(true))
        }
        try store.open(version(true)) { context in
            let show = try #require(try context.all("Show").first)
            expect((show.value(forKey: "images") as? Set<NSManagedObject>)?.map { $0.value(forKey: "name") as? String }, equals: ["b"])
            #expect(show.value(forKey: "cover") == nil)
            try expect(context.values("Image", "name"), equals: ["a", "b", "c"])
            for work in try context.all("Work") { expect((work.value(forKey: "others") as? Set<NSManagedObject>)?.isEmpty, equals: true) }
            show.setValue(try context.all("Image").first, forKey: "cover")
            show.setValue(Set(try context.all("Sketch")), forKey: "images")
            show.setValue(Set(try context.all("Work")), forKey: "friends")
            try context.save()
        }
    }

    @Test("An entity gets a parent or a child, and moves its properties up and down", arguments: [false, true])
    func hierarchy(copies: Bool) throws {
        func flat() -> NSManagedObjectModel {
            let (car, owner) = (
                Version.entity("Car", [Version.attribute("name"), Version.attribute("doors", .integer16)]),
                Version.entity("Owner", [Version.attribute("name")])
            )
            Version.relate(owner, "cars", toMany: true, to: car, "owner")
            return Version.model(car, owner)
        }
        func deep() -> NSManagedObjectModel {
            let (car, owner) = (
                Version.entity("Car", [Version.attribute("doors", .integer16)]), Version.entity("Owner", [Version.attribute("name")])
            )
            let (thing, taxi) = (Version.entity("Thing", [Version.attribute("name")]), Version.entity("Taxi", [Version.attribute("sign")]))
            thing.subentities = [car]
            car.subentities = [taxi]
            Version.relate(owner, "cars", toMany: true, to: car, "owner")
            return Version.model(car, owner, thing, taxi)
        }
        let store = try MigratedStore.filled(copies, flat()) { context in
            let owner = context.make("Owner", ["name": "O"])
            for name in ["Amber", "Beryl"] { context.make("Car", ["name": name, "doors": 3, "owner": owner]) }
        }
        try store.migrate(flat(), deep())
        try store.open(deep()) { context in
            try expect(context.values("Thing", "name"), equals: ["Amber", "Beryl"])
            try expect(context.values("Car", "doors"), equals: ["3", "3"])
            let owner = try #require(try context.all("Owner").first)
            expect((owner.value(forKey: "cars") as? Set<NSManagedObject>)?.count, equals: 2)
            context.make("Taxi", ["name": "Coral", "sign": "T", "owner": owner])
            context.make("Thing", ["name": "Dusk"])
            try context.save()
        }
        // The parent goes, with its own objects; the child's objects go as well.
        try store.migrate(deep(), flat())
        try store.open(flat()) { context in
            try expect(context.values("Car", "name"), equals: ["Amber", "Beryl"])
            let cars = try context.all("Owner").first?.value(forKey: "cars") as? Set<NSManagedObject>
            expect(cars?.count, equals: 2)
        }
    }

    @Test("Entities leave a hierarchy, each with its rows", arguments: [false, true])
    func leaving(copies: Bool) throws {
        func model(_ together: Bool) -> NSManagedObjectModel {
            var own: [NSPropertyDescription] { together ? [] : [Version.attribute("name")] }
            let (car, boat) = (Version.entity("Car", own + [Version.attribute("doors", .integer16)]), Version.entity("Boat", own))
            let owner = Version.entity("Owner", [Version.attribute("name")])
            Version.relate(owner, "cars", toMany: true, to: car, "owner")
            Version.relate(owner, "boats", toMany: true, isOrdered: true, to: boat, "owners", inverseToMany: true)
            if !together { return Version.model(car, boat, owner) }
            let vehicle = Version.entity("Vehicle", [Version.attribute("name")])
            vehicle.subentities = [car, boat]
            return Version.model(vehicle, car, boat, owner)
        }
        let store = try MigratedStore.filled(copies, model(true)) { context in
            let owner = context.make("Owner", ["name": "O"])
            for name in ["Amber", "Beryl"] {
                context.make("Car", ["name": name, "doors": 3, "owner": owner])
                context.make("Boat", ["name": "\(name) boat", "owners": Set([owner])])
            }
        }
        try store.migrate(model(true), model(false))
        try store.open(model(false)) { context in
            try expect(context.values("Car", "name"), equals: ["Amber", "Beryl"])
            try expect(context.values("Boat", "name"), equals: ["Amber boat", "Beryl boat"])
            let owner = try #require(try context.all("Owner").first)
            expect((owner.value(forKey: "cars") as? Set<NSManagedObject>)?.count, equals: 2)
            expect((owner.value(forKey: "boats") as? NSOrderedSet)?.count, equals: 2)
            context.make("Boat", ["name": "Coral"])
            try context.save()
        }
    }
}
