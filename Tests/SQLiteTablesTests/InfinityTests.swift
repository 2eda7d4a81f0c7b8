import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Infinite values in a file") struct InfinityTests {
    @Test("A row with a number that its attribute does not have hides no other row, and says where it is") func numbers() throws {
        let file = try OthersFile(
            """
            CREATE TABLE reading (id INTEGER PRIMARY KEY, level DECIMAL(8, 2), name TEXT);
            INSERT INTO reading VALUES (1, 9e999, 'a'), (2, 1.5, 'b'), (3, NULL, 'c'), (4, -9e999, 'd');
            """)
        let context = try file.open()
        try context.performAndWait {
            let readings = try context.found("Reading", nil, by: "id")
            expect(readings.map { $0.value(forKey: "name") as? String }, equals: [nil, "b", "c", nil])
            expect(readings[1].value(forKey: "level") as? Decimal, equals: Decimal(string: "1.5"))
            for (reading, id) in [(readings[0], 1), (readings[3], 4)] {
                let error = try #require(reading.faultError.map { $0 as NSError })
                expect(error.code, equals: NSCoreDataError)
                #expect(error.localizedDescription.contains("The row is that of reading whose id is \(id)."), "\(error)")
            }
            #expect(throws: NSError.self, "A save says once that something was read as nil.") { try context.save() }
            try expect(context.number("Reading", "level > 1"), equals: 2)
            readings[1].setValue("e", forKey: "name")
            context.delete(readings[3])
            try context.save()
        }
        try expect(file.texts("SELECT id || name FROM reading ORDER BY id"), equals: ["1a", "2e", "3c"])
        try file.execute("UPDATE reading SET level = 3 WHERE id = 1")
        context.performAndWait {
            context.refreshAllObjects()
            let names = (try? context.found("Reading", nil, by: "id").map { $0.value(forKey: "name") as? String }) ?? []
            expect(names, equals: ["a", "e", "c"])
        }
    }

    @Test("Dictionaries have infinite numbers as they are") func dictionaries() throws {
        let context = try OthersFile(
            """
            CREATE TABLE reading (id INTEGER PRIMARY KEY, level DECIMAL(8, 2));
            INSERT INTO reading VALUES (1, 9e999), (2, 1.5), (3, -9e999);
            """
        ).open()
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Reading")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["level"]
            request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
            let levels = try context.fetch(request).map { ($0["level"] as? NSNumber)?.doubleValue }
            expect(levels, equals: [.infinity, 1.5, -.infinity])
        }
    }

    @Test("Infinite dates are read as the most distant ones, and found by them") func dates() throws {
        let context = try OthersFile(
            """
            CREATE TABLE period (id INTEGER PRIMARY KEY, ends DATETIME);
            INSERT INTO period VALUES (1, 1700000000.0), (2, 9e999), (3, -9e999), (4, 9e999);
            """
        ).open()
        try context.performAndWait {
            let periods = try context.found("Period", nil, by: "id")
            let dates = [Date(timeIntervalSince1970: 1_700_000_000), .distantFuture, .distantPast, .distantFuture]
            expect(periods.map { $0.value(forKey: "ends") as? Date }, equals: dates)
            func ids(_ format: String, _ arguments: Any...) throws -> [Int] {
                try context.found("Period", format, arguments, by: "id").compactMap { $0.value(forKey: "id") as? Int }
            }
            try expect(ids("ends == %@", Date.distantFuture), equals: [2, 4])
            try expect(ids("ends == %@", Date.distantPast), equals: [3])
            try expect(ids("ends < %@", Date.distantFuture), equals: [1, 3])
            try expect(ids("ends IN %@", [dates[0], Date.distantPast]), equals: [1, 3])
            try expect(ids("ends > %@", dates[0]), equals: [2, 4])
        }
    }
}
