#if PostgreSQL
import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import SQLQueries
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Tables and views without a key in a database") struct KeylessTests {
    private static let script = """
        CREATE TABLE hosts (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TYPE level AS ENUM ('low', 'high');
        CREATE TABLE log (
            at timestamptz, line text, host_id integer REFERENCES hosts ON DELETE CASCADE, level level, number integer, wait interval,
            hidden bytea, times timestamptz[], span tstzrange, spans tstzmultirange, day date, amount numeric, extra json, local timestamp,
            price money, tags text[], share double precision);
        CREATE VIEW hosts_seen AS SELECT h.name, count(*) AS lines FROM hosts h JOIN log l ON l.host_id = h.id GROUP BY h.name;
        CREATE MATERIALIZED VIEW lines AS SELECT line, at FROM log;
        CREATE TABLE nothing ();
        INSERT INTO nothing DEFAULT VALUES;
        INSERT INTO nothing DEFAULT VALUES;
        INSERT INTO hosts VALUES (1, 'alpha'), (2, 'beta');
        INSERT INTO log VALUES
            ('2001-01-01 00:00:10+00', 'started', 1, 'low', 1, '1 day 02:00', '\\x00ff', '{2001-01-01 00:00+00}',
                '[2001-01-01 00:00+00,2001-01-02 00:00+00)', '{[2001-01-01 00:00+00,2001-01-02 00:00+00)}', '2001-01-03', 1.50, '{"a": 1}',
                '2001-01-01 05:00', 3, '{a,NULL,"NULL"}', 0.1);
        INSERT INTO log (at, line, host_id, level, number) VALUES ('infinity', 'stopped', 1, 'high', 2), (NULL, NULL, NULL, NULL, NULL);
        INSERT INTO log (at, line, host_id)
            VALUES ('2001-01-01 00:00+00', 'equal', 2), ('2001-01-01 00:00+00', 'equal', 2), ('2001-01-01 00:00+00', 'equal', 2);
        REFRESH MATERIALIZED VIEW lines;
        """

    /// The URIs of all rows, by what they are of.
    private static func names(_ context: NSManagedObjectContext, _ entity: String = "Log") async throws -> [String] {
        try await context.perform {
            try context.found(entity).map { object in
                object.objectID.uriRepresentation().lastPathComponent + " \(object.value(forKey: "line") as? String ?? "")"
            }.sorted()
        }
    }

    @Test("They are entities that are read only, and each row is an object, also among equal rows") func reading() async throws {
        let database = try await LibraryDatabase(Self.script)
        let draft = try await database.draft()
        expect(draft.model.entities.compactMap(\.name).sorted(), equals: ["Hosts", "HostsSeen", "Lines", "Log", "Nothing"])
        expect(draft.unmapped, equals: [])
        for place in ["view hosts_seen", "materialized view lines", "table log", "table nothing"] {
            #expect(draft.notes.contains { $0.hasPrefix("The \(place) has no key: its objects are read only") }, "\(draft.notes)")
        }
        let context = try await database.open(draft.model)
        try await context.perform {
            let equal = try context.found("Log", "line == 'equal'")
            expect(Set(equal.map(\.objectID)).count, equals: 3)
            let hosts = equal.compactMap { ($0.value(forKey: "host") as? NSManagedObject)?.value(forKey: "name") as? String }
            expect(hosts, equals: ["beta", "beta", "beta"])
            try expect(context.found("Nothing").count, equals: 2)
            try expect(context.found("HostsSeen", nil, by: "name").map { $0.value(forKey: "lines") as? Int }, equals: [2, 3])
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Lines")), equals: 6)
            let host = try context.one("Hosts", "ANY logs.level == 'high'")
            let logs = host.value(forKey: "logs") as? Set<NSManagedObject>
            expect(logs?.compactMap { $0.value(forKey: "number") as? Int }.sorted(), equals: [1, 2])
            let row = try context.one("Log", "number == 1 AND host.name == 'alpha'")
            expect(row.value(forKey: "at") as? Date, equals: Date(timeIntervalSinceReferenceDate: 10))
            // A fault reads its row by its name.
            context.refresh(row, mergeChanges: false)
            expect(row.value(forKey: "line") as? String, equals: "started")
            let again = try context.existingObject(with: equal[1].objectID)
            expect(again.value(forKey: "line") as? String, equals: "equal")
            let request = NSFetchRequest<NSDictionary>(entityName: "Log")
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = ["line"]
            request.propertiesToFetch = ["line"]
            try expect(context.fetch(request).count, equals: 4)
        }
    }

    @Test("A row has the same name in each session, wherever it lies, and another one when it has changed") func names() async throws {
        let database = try await LibraryDatabase(Self.script)
        let before = try await Self.names(try await database.open())
        expect(before.count, equals: 6)
        expect(Set(before.map { $0.prefix { $0 != " " } }).count, equals: 6)
        let settings = "-c TimeZone=Asia/Tokyo -c DateStyle=German -c IntervalStyle=iso_8601 -c bytea_output=escape -c lc_monetary=C"
        let query = try #require(settings.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        #expect(try await Self.names(try await database.open(at: "\(database.url)?options=\(query)")) == before)
        // Every row moves to another place of the file.
        try await database.execute("UPDATE log SET line = line")
        try await database.execute("CREATE INDEX log_numbers ON log (number)")
        try await database.execute("CLUSTER log USING log_numbers")
        #expect(try await Self.names(try await database.open()) == before)
        let lines = try await Self.names(try await database.open(), "Lines")
        try await database.execute("REFRESH MATERIALIZED VIEW lines")
        #expect(try await Self.names(try await database.open(), "Lines") == lines)
        // Of the equal ones, two are left.
        try await database.execute("UPDATE log SET line = 'begun' WHERE number = 1")
        try await database.execute("DELETE FROM log WHERE ctid = (SELECT max(ctid) FROM log WHERE line = 'equal')")
        let after = try await Self.names(try await database.open())
        expect(after.count, equals: 5)
        expect(Set(before).subtracting(after).map { $0.suffix(7) }.sorted(), equals: ["started", "3 equal"].map { $0.suffix(7) }.sorted())
        expect(Set(after).subtracting(before).map { $0.suffix(5) }, equals: ["begun"])
    }

    @Test("Their objects cannot be saved, and what refers to others does not keep these from being deleted") func saving() async throws {
        let database = try await LibraryDatabase(Self.script)
        let context = try await database.open()
        try await context.perform {
            try context.one("Log", "number == 1").setValue("other", forKey: "line")
            do {
                try context.save()
                Issue.record("A row without a key was saved.")
            } catch { #expect("\(error)".contains("read only"), "\(error)") }
            context.rollback()
            context.delete(try context.one("Hosts", "name == 'alpha'"))
            try context.save()
            try expect(context.found("Log").count, equals: 4)
        }
    }

    @Test("A condition about a column is applied before the rows are named, by the column's index") func index() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE log (number integer, line text);
            INSERT INTO log SELECT n, 'line ' || n FROM generate_series(1, 20000) n;
            CREATE INDEX log_numbers ON log (number);
            ANALYZE log;
            """)
        let context = try await database.open()
        let steps = try await context.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Log")
            request.predicate = NSPredicate(format: "number == 77")
            try expect(context.fetch(request).map { $0.value(forKey: "line") as? String }, equals: ["line 77"])
            let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Log"])
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
            let query = StoreQuery(entity).with(predicate: request.predicate)
            return try #require(try store.databaseExplanation(of: query)).steps
        }
        #expect(steps.contains { $0.contains("log_numbers") }, "\(steps.joined(separator: "\n"))")
    }
}
#endif
