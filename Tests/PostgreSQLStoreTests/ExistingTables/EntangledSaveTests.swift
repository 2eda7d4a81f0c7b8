#if PostgreSQL
import CoreData
import Foundation
import TableCases
import TestSupport
import Testing

@testable import PostgreSQLStore

// Each of them has connections of its own, and a server has not many.
@Suite("Saves to a database whose rows are in each other's way", .serialized) struct EntangledSaveTests {
    @Test("What a save itself does to other rows of it is no conflict, and unique values change hands", arguments: TableCase.all)
    func cases(_ table: TableCase) async throws {
        let database = try await LibraryDatabase(table.script(.postgreSQL))
        let context = try await database.open()
        try await context.perform {
            try table.change(context)
            try context.save()
        }
        expect(try await database.texts(table.query), equals: table.expected)
    }

    @Test("What triggers do to rows of the same save is no conflict") func triggers() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE bill (id integer PRIMARY KEY, name text, total integer NOT NULL DEFAULT 0);
            CREATE TABLE line (id integer PRIMARY KEY, amount integer NOT NULL, bill_id integer REFERENCES bill (id) ON DELETE CASCADE);
            CREATE FUNCTION count_lines() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF TG_OP = 'DELETE' THEN UPDATE bill SET total = total - old.amount WHERE id = old.bill_id;
                ELSE UPDATE bill SET total = total + new.amount - old.amount WHERE id = new.bill_id; END IF;
                RETURN NULL; END $$;
            CREATE TRIGGER changed AFTER DELETE OR UPDATE ON line FOR EACH ROW EXECUTE FUNCTION count_lines();
            INSERT INTO bill VALUES (1, 'a', 30), (2, 'b', 5); INSERT INTO line VALUES (1, 10, 1), (2, 20, 1), (3, 5, 2);
            """)
        let context = try await database.open()
        try await context.perform {
            try context.one("Line", "id == 3").setValue(6, forKey: "amount")
            try context.one("Bill", "id == 2").setValue("c", forKey: "name")
            context.delete(try context.one("Bill", "id == 1"))
            try context.save()
            try expect(context.one("Bill", "id == 2").value(forKey: "total") as? Int, equals: 6)
        }
        expect(try await database.texts("SELECT name || total FROM bill"), equals: ["c6"])
        expect(try await database.texts("SELECT count(*) FROM line"), equals: ["1"])
    }

    @Test("What others have changed is a conflict, also where the save would delete it by a rule") func conflicts() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE folder (id integer PRIMARY KEY, name text, up_id integer REFERENCES folder (id) ON DELETE CASCADE);
            INSERT INTO folder VALUES (1, 'a', NULL), (2, 'b', 1), (3, 'c', 2);
            """)
        let context = try await database.open()
        try await context.perform {
            let folders = try context.found("Folder", nil, by: "id")
            context.delete(folders[0])
        }
        try await database.execute("UPDATE folder SET name = 'theirs' WHERE id = 3")
        await context.perform {
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectMergeError)
        }
        expect(try await database.texts("SELECT name FROM folder ORDER BY id"), equals: ["a", "b", "theirs"])
    }

    @Test("A row that a rule of the tables keeps is an error, and nothing is saved") func kept() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE note (id integer PRIMARY KEY, name text UNIQUE, word text UNIQUE);
            CREATE FUNCTION ignore() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
            CREATE TRIGGER kept BEFORE DELETE OR UPDATE OF word ON note FOR EACH ROW EXECUTE FUNCTION ignore();
            INSERT INTO note VALUES (1, 'a', 'x'), (2, 'b', 'y');
            """)
        let context = try await database.open()
        try await context.perform {
            let note = try context.one("Note", "id == 1")
            context.delete(note)
            var error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSPersistentStoreSaveError)
            context.rollback()
            note.setValue("z", forKey: "word")
            error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSPersistentStoreSaveError)
            context.rollback()
        }
        expect(try await database.texts("SELECT name || word FROM note ORDER BY id"), equals: ["ax", "by"])
    }

    @Test("After random saves to random tables, the rows are what the objects were") func random() async throws {
        let seed = TestSeed.current(for: "Random tables in a database")
        for round in TestRounds(seconds: 2, atLeast: 5) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let tables = RandomTables(using: &random)
            let database = try await LibraryDatabase(tables.script(.postgreSQL))
            let context = try await database.open()
            for save in 0..<4 {
                let changes = SeededGenerator(seed: random.next())
                let expected = try await context.perform {
                    var changes = changes
                    try tables.change(context, using: &changes)
                    let expected = try tables.contents(of: context)
                    try context.save()
                    return expected
                }
                var found: [[String]] = []
                for query in tables.queries { found.append(try await database.texts(query)) }
                expect(found, equals: expected, "COREDATA_TEST_SEED=\(seed), round \(round), save \(save)")
            }
        }
    }
}
#endif
