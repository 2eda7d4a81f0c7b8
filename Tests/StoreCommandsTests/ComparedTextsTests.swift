import CoreData
import Foundation
import TestSupport
import Testing

@testable import StoreCommands

/// Texts in the predicate of a query that are compared with attributes of other types.
@Suite("Texts that are compared with values of other types") struct ComparedTextsTests {
    /// A store with two objects of each type of attribute, and one to the other.
    private static func store(_ pad: Pad) throws -> OpenStore {
        try Plain.execute(
            """
            CREATE TABLE party(id INTEGER PRIMARY KEY, held DATETIME, code CHAR(36), done BOOLEAN, price DECIMAL(10, 2), seats INTEGER, name TEXT,
              next INTEGER REFERENCES party(id));
            INSERT INTO party VALUES(1, '2024-05-05 10:00:00', '11111111-2222-3333-4444-555555555555', 1, '9.50', 12, 'a', 2);
            INSERT INTO party VALUES(2, '2025-06-06 10:00:00', '99999999-2222-3333-4444-555555555555', 0, '12.00', 9, 'b', NULL);
            """, pad.store)
        return try StoreReference(pad.store.path).open()
    }

    private static func names(_ predicate: String, in store: OpenStore) throws -> [String] {
        let query = try Query(QueryText("Party", where: predicate, sort: "name", columns: "name"), in: store)
        return try store.read {
            try store.context.fetch(query.request(NSManagedObject.self)).compactMap { $0.value(forKey: "name") as? String }
        }
    }

    @Test(
        "They stand for values of the attribute's type: dates, UUIDs, Booleans and numbers",
        arguments: [
            ("held > '2024-01-01'", ["a", "b"]), ("held >= '2025-01-01T00:00:00Z'", ["b"]), ("'2025-01-01' > held", ["a"]),
            ("held == '2024-05-05T10:00:00Z'", ["a"]), ("held != '2024-05-05T12:00:00+02:00'", ["b"]),
            ("held BETWEEN {'2024-05-05', '2024-05-06'}", ["a"]), ("held IN {'2024-05-05T10:00:00Z', '2000-01-01'}", ["a"]),
            ("code == '11111111-2222-3333-4444-555555555555'", ["a"]), ("code IN {'99999999-2222-3333-4444-555555555555'}", ["b"]),
            ("done == 'true'", ["a"]), ("done != '1'", ["b"]), ("NOT done == 'false'", ["a"]), ("price == '9.5'", ["a"]),
            ("price > '10'", ["b"]),
            ("seats < '10'", ["b"]), ("next.held > '2025-01-01'", ["a"]), ("seats == 12 AND (name == 'a' OR held < '2000-01-01')", ["a"]),
            ("SUBQUERY(parties, $p, $p.held < '2025-01-01').@count > 0", ["b"]), ("ANY parties.done == 'true'", ["b"]),
            ("name == 'a'", ["a"]), ("name > 'a'", ["b"]), ("held == nil", []),
        ])
    func values(predicate: String, expected: [String]) throws {
        let store = try Self.store(try Pad())
        try expect(Self.names(predicate, in: store), equals: expected)
    }

    @Test(
        "One that is no value of the type is an error that says what is expected, and where",
        arguments: [
            ("held > 'yesterday'", "a date such as"), ("code == 'abc'", "a UUID"), ("done == 'yes'", "true or false"),
            ("price == 'x'", "number"),
            ("seats IN {'12', 'x'}", "number"), ("seats == '1.5'", "number"),
            ("SUBQUERY(parties, $p, $p.held < 'x').@count > 0", "a date such as"),
        ])
    func mistakes(predicate: String, words: String) throws {
        let store = try Self.store(try Pad())
        do {
            _ = try Self.names(predicate, in: store)
            Issue.record("No error was thrown")
        } catch {
            let message = (error as NSError).localizedDescription
            #expect(message.contains("is no text") && message.contains(words) && message.contains("^"), "\(message)")
        }
    }
}
