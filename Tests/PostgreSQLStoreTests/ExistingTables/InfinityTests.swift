#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Infinite values in a database") struct InfinityTests {
    @Test("A row with a number that its attribute does not have hides no other row, and says where it is") func numbers() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE reading (id integer PRIMARY KEY, level numeric, name text);
            INSERT INTO reading VALUES (1, 'Infinity', 'a'), (2, 1.5, 'b'), (3, NULL, 'c'), (4, '-Infinity', 'd');
            """)
        let context = try await database.open()
        try await context.perform {
            let readings = try context.found("Reading", nil, by: "id")
            expect(readings.map { $0.value(forKey: "name") as? String }, equals: [nil, "b", "c", nil])
            expect(readings[1].value(forKey: "level") as? Decimal, equals: Decimal(string: "1.5"))
            for (reading, id) in [(readings[0], 1), (readings[3], 4)] {
                let error = try #require(reading.faultError.map { $0 as NSError })
                expect(error.code, equals: NSCoreDataError)
                #expect(error.localizedDescription.contains("The row is that of reading whose id is \(id)."), "\(error)")
            }
            #expect(throws: NSError.self, "A save says once that something was read as nil.") { try context.save() }
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Reading")), equals: 4)
            readings[1].setValue("e", forKey: "name")
            context.delete(readings[3])
            try context.save()
        }
        expect(try await database.texts("SELECT id || name FROM reading ORDER BY id"), equals: ["1a", "2e", "3c"])
        try await database.execute("UPDATE reading SET level = 3 WHERE id = 1")
        try await context.perform {
            context.refreshAllObjects()
            expect(try context.found("Reading", nil, by: "id").map { $0.value(forKey: "name") as? String }, equals: ["a", "e", "c"])
        }
    }

    private static let comparisons: [(predicate: String, expected: [Int])] = [
        ("level > 1", [2, 4]), ("level >= 1", [2, 3, 4]), ("level < 100", [2, 3]), ("level <= 1", [3]), ("1 < level", [2, 4]),
        ("100 > level", [2, 3]),
        ("NOT level > 1", [1, 3]), ("level == 1", [3]), ("level != 1", [1, 2, 4]), ("level BETWEEN {0, 5}", [2, 3]),
        ("level IN {1, 1.5}", [2, 3]),
        ("level == other", [2]), ("level >= other", [2, 4]), ("other <= level", [2, 4]), ("NOT level == other", [1, 3, 4]),
        ("level + 1 > 2", [2, 4]),
    ]

    @Test(
        "What is no number equals nothing and has no order, as in memory",
        arguments: comparisons, ["double precision", "real", "numeric"])
    func notANumber(comparison: (predicate: String, expected: [Int]), type: String) async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE reading (id integer PRIMARY KEY, level \(type), other \(type));
            INSERT INTO reading VALUES (1, 'NaN', 'NaN'), (2, 1.5, 1.5), (3, 1, 'NaN'), (4, 250, 2);
            """)
        let context = try await database.open()
        try await context.perform {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Reading")
            request.resultType = .managedObjectIDResultType
            request.predicate = NSPredicate(format: comparison.predicate)
            let ids = try context.fetch(request).compactMap { Int($0.uriRepresentation().lastPathComponent.drop { !$0.isNumber }) }
            expect(ids.sorted(), equals: comparison.expected, "\(comparison.predicate), \(type)")
        }
    }

    @Test("Dictionaries have infinite numbers as they are") func dictionaries() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE reading (id integer PRIMARY KEY, level numeric);
            INSERT INTO reading VALUES (1, 'Infinity'), (2, 1.5), (3, '-Infinity');
            """)
        let context = try await database.open()
        try await context.perform {
            let request = NSFetchRequest<NSDictionary>(entityName: "Reading")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["level"]
            request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
            let levels = try context.fetch(request).map { ($0["level"] as? NSNumber)?.doubleValue }
            expect(levels, equals: [.infinity, 1.5, -.infinity])
        }
    }

    @Test("Infinite dates are read as the most distant ones, and found by them", arguments: ["timestamptz", "timestamp", "date"])
    func dates(_ type: String) async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE period (id integer PRIMARY KEY, ends \(type));
            INSERT INTO period VALUES (1, '2023-11-14'), (2, 'infinity'), (3, '-infinity'), (4, 'infinity');
            """)
        let context = try await database.open()
        try await context.perform {
            let periods = try context.found("Period", nil, by: "id")
            let dates = periods.map { $0.value(forKey: "ends") as? Date }
            let first = try #require(dates[0])
            expect(dates, equals: [first, .distantFuture, .distantPast, .distantFuture])
            func ids(_ format: String, _ arguments: Any...) throws -> [Int] {
                try context.found("Period", format, arguments, by: "id").compactMap { $0.value(forKey: "id") as? Int }
            }
            try expect(ids("ends == %@", Date.distantFuture), equals: [2, 4])
            try expect(ids("ends == %@", Date.distantPast), equals: [3])
            try expect(ids("ends != %@", Date.distantPast), equals: [1, 2, 4])
            try expect(ids("ends < %@", Date.distantFuture), equals: [1, 3])
            try expect(ids("ends <= %@", Date.distantFuture), equals: [1, 2, 3, 4])
            try expect(ids("ends IN %@", [first, Date.distantPast]), equals: [1, 3])
            try expect(ids("ends > %@", first), equals: [2, 4])
        }
    }
}
#endif
