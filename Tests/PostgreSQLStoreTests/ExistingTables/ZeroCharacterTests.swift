#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

/// PostgreSQL's text has no U+0000, and libpq takes it for the end of a statement or a name.
@Suite("U+0000 in names and values of databases") struct ZeroCharacterTests {
    private static let script = """
        CREATE TABLE notes (id text PRIMARY KEY, text text, extra jsonb, tags text[]);
        INSERT INTO notes VALUES (E'\\x01', E'a\\x01b'), ('two', E'a\\x01\\x01b'), (E'\\x01\\x01', 'plain');
        """

    @Test("A condition with it is an error, and other control characters are compared as they are") func predicates() async throws {
        let database = try await LibraryDatabase(Self.script)
        let context = try await database.open()
        try await context.perform {
            try expect(context.one("Notes", "text == %@", ["a\u{1}b"]).value(forKey: "id") as? String, equals: "\u{1}")
            try expect(context.found("Notes", "text CONTAINS %@", ["\u{1}"], by: "id").count, equals: 2)
            try expect(context.found("Notes", "text IN %@", [["a\u{1}b", "plain"]]).count, equals: 2)
            try expect(context.found("Notes", "id == %@", ["\u{1}"]).count, equals: 1)
            for (format, value) in [
                ("text == %@", "a\0b"), ("text != %@", "a\0b"), ("text IN %@", ["x", "\0"]), ("text BEGINSWITH %@", "\0"),
                ("text LIKE %@", "\0*"), ("id == %@", "\0"),
            ] as [(String, Any)] {
                let error = #expect(throws: NSError.self) { try context.found("Notes", format, [value]) }
                let text = String(describing: error?.userInfo)
                #expect(text.contains("text has no U+0000"), "\(format): \(text)")
                expect(error?.domain, equals: NSCocoaErrorDomain)
            }
        }
    }

    @Test("A row whose key has control characters is found, and a key with U+0000 is no row's") func keys() async throws {
        let database = try await LibraryDatabase(Self.script)
        let context = try await database.open()
        try await context.perform {
            for key in ["\u{1}", "two", "\u{1}\u{1}"] {
                let note = try context.one("Notes", "id == %@", [key])
                context.refresh(note, mergeChanges: false)
                expect(note.value(forKey: "id") as? String, equals: key)
                note.setValue("changed", forKey: "text")
                try context.save()
            }
            let note = try context.one("Notes", "id == 'two'")
            let uri = note.objectID.uriRepresentation().absoluteString.replacing("two", with: "%00")
            let id = try #require(context.persistentStoreCoordinator?.managedObjectID(for: uri))
            let error = #expect(throws: NSError.self) { try context.existingObject(with: id) }
            expect(error?.code, equals: NSManagedObjectReferentialIntegrityError, "\(String(describing: error))")
        }
        expect(try await database.texts("SELECT count(*) FROM notes WHERE text = 'changed'"), equals: ["3"])
    }

    @Test("A value with it is not saved, in texts and in JSON", arguments: ["text", "id", "extra", "tags"])
    func values(_ key: String) async throws {
        let database = try await LibraryDatabase(Self.script)
        let context = try await database.open()
        await context.perform {
            let values: [String: Any] = ["text": "a\0b", "id": "a\0b", "extra": ["k": "a\0b"], "tags": ["a\0b"]]
            context.insert("Notes", ["id": "new"]).setValue(values[key], forKey: key)
            let error = #expect(throws: NSError.self) { try context.save() }
            let text = String(describing: error?.userInfo)
            #expect(text.contains("has no U+0000"), "\(text)")
        }
    }

    @Test("A schema, an entity and a column with it in their names are errors that say so") func names() async throws {
        let database = try await LibraryDatabase(Self.script)
        var options = database.options
        options.schema += "\0more"
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try await database.draft().model)
        for layout in [PostgreSQLStoreOptions.Layout.own, .existing] {
            options.layout = layout
            let error = await #expect(throws: NSError.self) { try await coordinator.addPostgreSQLStore(at: database.url, options: options) }
            expect(error?.code, equals: NSPersistentStoreOpenError)
            let text = String(describing: error?.userInfo)
            #expect(text.contains("U+0000"), "\(text)")
        }
        func refused(_ name: String, _ attribute: String, _ info: [String: String]) async throws -> String {
            let note = NSEntityDescription(name: name)
            note.userInfo = info
            note.properties = [NSAttributeDescription(name: attribute, type: .string)]
            note.properties[0].userInfo = ["columnName": "text"]
            let error = await #expect(throws: NSError.self) { _ = try await database.open(NSManagedObjectModel(entities: [note])) }
            expect(error?.code, equals: NSPersistentStoreIncompatibleSchemaError)
            return "\(error?.userInfo ?? [:])"
        }
        #expect(try await refused("No\0te", "text", ["tableName": "notes"]).contains("a name without U+0000"))
        #expect(try await refused("Note", "te\0xt", ["tableName": "notes"]).contains("a name without U+0000"))
        #expect(try await refused("Note", "text", ["tableName": "notes\0"]).contains("a table or a view"))
    }
}
#endif
