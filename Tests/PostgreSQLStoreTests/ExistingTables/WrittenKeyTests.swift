#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Keys of a database that people write") struct WrittenKeyTests {
    private static let script = """
        CREATE TABLE editions (book uuid, number integer, name text, at timestamptz, PRIMARY KEY (book, number, name));
        CREATE TABLE books (id uuid PRIMARY KEY, title text);
        CREATE TABLE words (word text PRIMARY KEY);
        INSERT INTO books VALUES ('0000000a-0000-0000-0000-000000000001', 'Flights');
        INSERT INTO words VALUES ('42'), ('0000000A-0000-0000-0000-000000000001');
        """

    @Test(
        "An object is found by its key as a JSON array in any writing",
        arguments: [
            ("plain", #"["0000000a-0000-0000-0000-000000000001", "7", "plain"]"#),
            ("plain", #"["0000000a-0000-0000-0000-000000000001","7","plain"]"#),
            ("plain", #"[ "0000000A-0000-0000-0000-000000000001", 7, "plain" ]"#),
            (
                "a \"b\" \\ /\n\u{1}é",
                #"["0000000A-0000-0000-0000-000000000001",7,"a \"b\" \\ \/\n\u0001\u00e9"]"#
            ),
        ])
    func composite(_ name: String, _ written: String) async throws {
        let database = try await LibraryDatabase(Self.script)
        let context = try await database.open()
        try await context.perform {
            let id = try #require(UUID(uuidString: "0000000A-0000-0000-0000-000000000001"))
            let new = context.insert("Editions", ["book": id, "number": 7, "name": name])
            try context.save()
            let uri = new.objectID.uriRepresentation().absoluteString
            let key = try #require(written.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let place = try #require(uri.range(of: "/Editions/p"))
            let found = try #require(context.persistentStoreCoordinator?.managedObjectID(for: uri[..<place.upperBound] + key))
            expect(found, equals: new.objectID)
            context.reset()
            let object = try context.existingObject(with: found)
            expect(object.value(forKey: "number") as? Int, equals: 7)
            try expect(context.found("Editions", "SELF == %@", [found]).count, equals: 1)
        }
    }

    @Test("A key of one column is found in small letters, and where it reads like another kind") func single() async throws {
        let database = try await LibraryDatabase(Self.script)
        let context = try await database.open()
        try await context.perform {
            for (entity, key) in [
                ("Books", "0000000a-0000-0000-0000-000000000001"), ("Words", "42"), ("Words", "0000000A-0000-0000-0000-000000000001"),
            ] {
                let any = try #require(try context.found(entity).first).objectID.uriRepresentation().absoluteString
                let place = try #require(any.range(of: "/\(entity)/p"))
                let id = try #require(context.persistentStoreCoordinator?.managedObjectID(for: any[..<place.upperBound] + key))
                #expect(throws: Never.self) { _ = try context.existingObject(with: id) }
            }
        }
    }
}
#endif
