import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

@Suite("Decimal numbers with more digits than a floating-point number") struct LongDecimalTests {
    private static let numbers = [
        "123456789012345678901234567890", "123456789012345678901234567891", "-0.123456789012345678901234567891", "12345678901234567.25",
    ]

    private static func model() -> NSManagedObjectModel {
        let account = NSEntityDescription(
            name: "Account",
            properties: [NSAttributeDescription(name: "number", type: .decimal), NSAttributeDescription(name: "name", type: .string)])
        account.uniquenessConstraints = [["number"]]
        return NSManagedObjectModel(entities: [account])
    }

    private static func decimal(_ text: String) throws -> NSDecimalNumber { try #require(Decimal(string: text)) as NSDecimalNumber }

    @Test("A uniqueness constraint finds the row with the number, whose object the merge policy takes", arguments: numbers)
    func uniqueness(_ text: String) throws {
        let pad = try Scratchpad()
        let first = try pad.context(Self.model())
        let number = try Self.decimal(text)
        try first.performAndWait {
            _ = first.insert("Account", ["number": number, "name": "old"])
            try first.save()
        }
        let context = try pad.context(Self.model())
        try context.performAndWait {
            _ = context.insert("Account", ["number": number, "name": "new"])
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectConstraintMergeError)
            let conflict = try #require((error.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
            expect(conflict.databaseObject?.value(forKey: "name") as? String, equals: "old")
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
        try expect(pad.texts("SELECT ZNAME FROM ZACCOUNT"), equals: [["new"]])
    }

    @Test("A batch insert finds it, too", arguments: numbers) func batches(_ text: String) throws {
        let pad = try Scratchpad()
        let context = try pad.context(Self.model())
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let number = try Self.decimal(text)
        try context.performAndWait {
            for name in ["old", "new"] {
                _ = try context.execute(NSBatchInsertRequest(entityName: "Account", objects: [["number": number, "name": name]]))
            }
        }
        try expect(pad.texts("SELECT ZNAME FROM ZACCOUNT"), equals: [["new"]])
    }

    @Test("Predicates find the numbers, in memory and in SQLite", arguments: [true, false]) func predicates(_ isInMemory: Bool) throws {
        let pad = try Scratchpad()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(
            ofType: isInMemory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil, at: isInMemory ? nil : pad.store)
        let context = Music.context(coordinator)
        try context.performAndWait {
            for text in Self.numbers + ["5", "0.5"] { _ = context.insert("Account", ["number": try Self.decimal(text), "name": text]) }
            try context.save()
            context.reset()
            func found(_ format: String, _ arguments: Any...) throws -> Set<String> {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
                request.predicate = NSPredicate(format: format, argumentArray: arguments)
                return Set(try context.fetch(request).compactMap { $0.value(forKey: "name") as? String })
            }
            for text in Self.numbers {
                let number = try Self.decimal(text)
                try expect(found("number == %@", number), equals: [text])
                try expect(found("number IN %@", [number, 5]), equals: [text, "5"])
                let smaller = try (Self.numbers + ["5", "0.5"]).filter { try Self.decimal($0).compare(number) == .orderedAscending }
                try expect(found("number < %@", number), equals: Set(smaller))
            }
        }
    }
}
