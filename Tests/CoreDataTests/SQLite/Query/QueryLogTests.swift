import CoreData
import Logging
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import SQLQueries
@testable import SQLiteStore

@Suite("The log of queries") struct QueryLogTests {
    private func logged(_ level: Int, showsValues: Bool = false, rows: Int = 5, byKey: Bool = false, _ format: String) throws -> [String] {
        let pad = try Scratchpad()
        let context = try Music.context(pad.coordinator(QueryModel.model()))
        let lines = LogLines()
        try context.performAndWait {
            let places = (0..<rows).map { context.insert("Place", ["label": $0, "name": "private"]) }
            try context.save()
            let store = context.persistentStoreCoordinator!.persistentStores[0] as! SQLiteStore
            store.queryLog = SQLQueryLog(
                level: level, showsValues: showsValues, logger: Logger(label: "test") { _ in LogLinesHandler(lines: lines) })
            let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
            request.predicate = byKey ? NSPredicate(format: "SELF == %@", places[0]) : NSPredicate(format: format)
            _ = try context.fetch(request)
        }
        return lines.all
    }

    @Test("Statements are shown without values unless these are asked for") func values() throws {
        #expect(try logged(0, "name == 'private'").isEmpty)
        let plain = try logged(2, "name == 'private'")
        #expect(plain.first?.contains("SELECT") == true && plain.first?.contains("5 rows") == true)
        #expect(!plain.joined().contains("private"))
        #expect(try logged(2, showsValues: true, "name == 'private'").joined().contains("“private”"))
    }

    @Test("Level 3 explains a query") func explanation() throws {
        #expect(try logged(3, "name == 'private'").contains { $0.contains("EXPLAIN QUERY PLAN: SCAN") })
    }

    @Test("Reading all of a large table is a warning, reading by key is none") func scans() throws {
        let large = Int(SQLQueryLog.largeTable) + 1
        #expect(try logged(1, rows: large, "name == 'x'").contains { $0.hasPrefix("warning") })
        #expect(try !logged(1, rows: 5, "name == 'x'").contains { $0.hasPrefix("warning") })
        #expect(try !logged(1, rows: large, byKey: true, "").contains { $0.hasPrefix("warning") })
    }
}
