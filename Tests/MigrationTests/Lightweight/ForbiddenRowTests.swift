import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import SQLiteStore
import TestSupport
import Testing

/// Rows that the new version forbids, and what the rules say of them.
@Suite struct ForbiddenRowTests {
    private func old() -> NSManagedObjectModel {
        Version.model(
            Version.entity("Car", [Version.attribute("name"), Version.attribute("doors", .integer64), Version.attribute("owner")]))
    }

    private func new() -> NSManagedObjectModel {
        let car = Version.entity(
            "Car", [Version.attribute("name"), Version.attribute("doors", .integer16), Version.attribute("owner", isOptional: false)])
        car.uniquenessConstraints = [["name"]]
        return Version.model(car)
    }

    private func filled(_ copies: Bool) throws -> (store: MigratedStore, uris: [URL]) {
        let store = try MigratedStore()
        store.copies = copies
        let uris = try store.open(old()) { context in
            let cars = [
                context.make("Car", ["name": "A", "doors": 1, "owner": "O"]),
                context.make("Car", ["name": "B", "doors": 70_000, "owner": "O"]),
                context.make("Car", ["name": "C", "doors": 3]), context.make("Car", ["name": "A", "doors": 4, "owner": "P"]),
            ]
            for car in cars {
                try context.obtainPermanentIDs(for: [car])
                try context.save()
            }
            return cars.map { $0.objectID.uriRepresentation() }
        }
        return (store, uris)
    }

    @Test("The estimate lists them by URI, and says what else would be done", arguments: [false, true])
    func estimate(copies: Bool) throws {
        let (store, uris) = try filled(copies)
        let bytes = try Data(contentsOf: store.url)
        let estimate = try store.estimate(old(), new())
        expect(estimate.isInPlace, equals: !copies)
        #expect(estimate.rows == ["Car": 4] && estimate.deletedRows.isEmpty && estimate.bytes > 0)
        expect(estimate.forbiddenCount, equals: 3)
        let found = estimate.forbidden.sorted { $0.properties[0] < $1.properties[0] }
        expect(found.map(\.properties), equals: [["doors"], ["name"], ["owner"]])
        expect(found.map(\.uri), equals: [uris[1], uris[3], uris[2]])
        expect(found.map(\.violatesConstraint), equals: [false, true, false])
        try expect(Data(contentsOf: store.url), equals: bytes)
    }

    @Test("By default the migration fails and names them; the store is as before", arguments: [false, true])
    func failing(copies: Bool) throws {
        let (store, uris) = try filled(copies)
        do {
            try store.migrate(old(), new(), permitsMissingValues: true)
            Issue.record("It should fail.")
        } catch let error as NSError {
            expect(error.code, equals: NSMigrationError)
            for uri in uris.dropFirst() { #expect(error.localizedDescription.contains(uri.absoluteString)) }
        }
        let names = try store.open(old()) { try $0.values("Car", "name") }
        expect(names, equals: ["A", "A", "B", "C"])
    }

    @Test(
        "Repaired, a missing value is the neutral one, a number is the nearest, and one of two equal rows keeps its value",
        arguments: [false, true])
    func repairing(copies: Bool) throws {
        let (store, _) = try filled(copies)
        try store.migrate(old(), new(), rules: MigrationRules(forbiddenRows: .repair), permitsMissingValues: true)
        try store.open(new()) { context in
            let names = try context.values("Car", "name", by: "doors")
            expect(names, equals: ["A", "C", "nil", "B"])
            try expect(context.values("Car", "owner", by: "doors"), equals: ["O", "", "P", "O"])
            try expect(context.values("Car", "doors", by: "doors"), equals: ["1", "3", "4", "32767"])
        }
    }

    @Test("Kept, they stay as they are, and new ones are checked", arguments: [false, true])
    func keeping(copies: Bool) throws {
        let (store, _) = try filled(copies)
        try store.migrate(old(), new(), rules: MigrationRules(forbiddenRows: .keep), permitsMissingValues: true)
        try store.open(new()) { context in
            let names = try context.values("Car", "name")
            expect(names, equals: ["A", "A", "B", "C"])
            #expect(try context.all("Car").last?.value(forKey: "owner") == nil)
            context.make("Car", ["name": "D", "doors": 3])
            #expect(throws: (any Error).self) { try context.save() }
        }
    }

    @Test("Equal rows without an optional value are deleted, with the references to them", arguments: [false, true])
    func deletion(copies: Bool) throws {
        func model(_ isUnique: Bool) -> NSManagedObjectModel {
            let (car, owner) = (
                Version.entity("Car", [Version.attribute("name", isOptional: false, defaultValue: "")]),
                Version.entity("Owner", [Version.attribute("name")])
            )
            Version.relate(owner, "car", to: car)
            Version.relate(owner, "cars", toMany: true, to: car, "owners", inverseToMany: true)
            if isUnique { car.uniquenessConstraints = [["name"]] }
            return Version.model(car, owner)
        }
        let store = try MigratedStore()
        store.copies = copies
        try store.open(model(false)) { context in
            for name in ["1", "2"] {
                let car = context.make("Car", ["name": "A"])
                try context.save()
                context.make("Owner", ["name": name, "car": car, "cars": Set([car])])
                try context.save()
            }
        }
        try store.migrate(model(false), model(true), rules: MigrationRules(forbiddenRows: .repair))
        try store.open(model(true)) { context in
            let owners = try context.all("Owner")
            expect(owners.map { $0.value(forKeyPath: "car.name") as? String }, equals: ["A", nil])
            expect(owners.map { ($0.value(forKey: "cars") as? Set<NSManagedObject>)?.count }, equals: [1, 0])
            try expect(context.all("Car").count, equals: 1)
        }
    }

    @Test("A cancelled migration leaves the store as it was, without other files", arguments: [false, true])
    func cancelling(copies: Bool) throws {
        let (store, _) = try filled(copies)
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        do {
            try store.migrate(old(), new(), rules: MigrationRules(forbiddenRows: .keep), permitsMissingValues: true, progress: progress)
            Issue.record("It should be cancelled.")
        } catch let error as NSError {
            expect(error.code, equals: NSMigrationCancelledError)
        }
        #expect(try store.files.filter { $0.contains("migration") }.isEmpty)
        let names = try store.open(old()) { try $0.values("Car", "name") }
        expect(names, equals: ["A", "A", "B", "C"])
    }

    @Test("What is put off is done later, while the store is used", arguments: [false])
    func deferring(copies: Bool) throws {
        func model(_ isNew: Bool) -> NSManagedObjectModel {
            let car = Version.entity(
                "Car", [Version.attribute("name")] + (isNew ? [Version.attribute("doors", .string)] : [Version.attribute("owner")]))
            car.declaredProperties.first?.isIndexed = isNew
            return isNew ? Version.model(car) : Version.model(car, Version.entity("Gone", [Version.attribute("x")]))
        }
        let store = try MigratedStore()
        try store.open(model(false)) { context in
            context.make("Car", ["name": "A", "owner": "O"])
            context.make("Gone", ["x": "y"])
            try context.save()
        }
        try store.migrate(model(false), model(true), rules: MigrationRules(deferred: true))
        #expect(try SQLiteStore.hasDeferredMigration(at: store.url, options: nil))
        try store.open(model(true)) { context in
            context.make("Car", ["name": "B", "doors": "2"])
            try context.save()
            var steps = 1
            while try SQLiteStore.continueDeferredMigration(at: store.url, options: nil, model: model(true)) { steps += 1 }
            expect(steps, equals: 4)
            try expect(context.values("Car", "doors"), equals: ["nil", "2"])
        }
        #expect(try !SQLiteStore.hasDeferredMigration(at: store.url, options: nil))
        let database = try Database(store.url)
        try expect(database.column("SELECT name FROM pragma_table_info('ZCAR')"), equals: ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME", "ZDOORS"])
        #expect(try database.column("SELECT name FROM sqlite_master WHERE name LIKE '%DROPPED%' OR name LIKE 'ZGONE%'").isEmpty)
        try expect(database.column("SELECT count(*) FROM sqlite_master WHERE name = 'Z_Car_name'"), equals: ["1"])
    }
}
