import CoreData
import Foundation
import TableCases
import TestSupport
import Testing

@Suite("Saves to a file whose rows are in each other's way") struct EntangledSaveTests {
    @Test("What a save itself does to other rows of it is no conflict, and unique values change hands", arguments: TableCase.all)
    func cases(_ table: TableCase) throws {
        let file = try OthersFile(table.script(.sqlite))
        let context = try file.open()
        try context.performAndWait {
            try table.change(context)
            try context.save()
        }
        try expect(file.texts(table.query), equals: table.expected)
    }

    @Test("What triggers do to rows of the same save is no conflict") func triggers() throws {
        let file = try OthersFile(
            """
            CREATE TABLE bill (id INTEGER PRIMARY KEY, name TEXT, total INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE line (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL, bill_id INTEGER REFERENCES bill (id) ON DELETE CASCADE);
            CREATE TRIGGER removed AFTER DELETE ON line BEGIN UPDATE bill SET total = total - old.amount WHERE id = old.bill_id; END;
            CREATE TRIGGER changed AFTER UPDATE OF amount ON line BEGIN
                UPDATE bill SET total = total + new.amount - old.amount WHERE id = new.bill_id; END;
            INSERT INTO bill VALUES (1, 'a', 30), (2, 'b', 5); INSERT INTO line VALUES (1, 10, 1), (2, 20, 1), (3, 5, 2);
            """)
        let context = try file.open()
        try context.performAndWait {
            try context.one("Line", "id == 3").setValue(6, forKey: "amount")
            try context.one("Bill", "id == 2").setValue("c", forKey: "name")
            context.delete(try context.one("Bill", "id == 1"))
            try context.save()
            try expect(context.one("Bill", "id == 2").value(forKey: "total") as? Int, equals: 6)
        }
        try expect(file.texts("SELECT name || total FROM bill"), equals: ["c6"])
        try expect(file.texts("SELECT count(*) FROM line"), equals: ["1"])
    }

    @Test("What others have changed is a conflict, also where the save would delete it by a rule") func conflicts() throws {
        let file = try OthersFile(
            """
            CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT, up_id INTEGER REFERENCES folder (id) ON DELETE CASCADE);
            INSERT INTO folder VALUES (1, 'a', NULL), (2, 'b', 1), (3, 'c', 2);
            """)
        let context = try file.open()
        try context.performAndWait {
            let folders = try context.found("Folder", nil, by: "id")
            context.delete(folders[0])
            context.processPendingChanges()
            try file.execute("UPDATE folder SET name = 'theirs' WHERE id = 3")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectMergeError)
        }
        try expect(file.texts("SELECT name FROM folder ORDER BY id"), equals: ["a", "b", "theirs"])
    }

    @Test("A unique value that is taken, or that no row can give up meanwhile, is an error, and nothing is saved") func taken() throws {
        let file = try OthersFile(
            """
            CREATE TABLE side (id INTEGER PRIMARY KEY, is_left BOOLEAN NOT NULL UNIQUE, name TEXT UNIQUE);
            CREATE TRIGGER firm BEFORE UPDATE OF is_left ON side WHEN new.is_left NOT IN (0, 1) BEGIN SELECT RAISE (ABORT, 'left or right'); END;
            INSERT INTO side VALUES (1, 0, 'a'), (2, 1, 'b'); CREATE UNIQUE INDEX names ON side (name COLLATE NOCASE);
            """)
        let context = try file.open()
        try context.performAndWait {
            let (first, second) = (try context.one("Side", "id == 1"), try context.one("Side", "id == 2"))
            first.setValue("B", forKey: "name")
            var error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectConstraintValidationError)
            context.rollback()
            first.setValue(true, forKey: "isLeft")
            second.setValue(false, forKey: "isLeft")
            error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectConstraintValidationError)
        }
        try expect(file.texts("SELECT is_left || name FROM side ORDER BY id"), equals: ["0a", "1b"])
    }

    @Test("After random saves to random tables, the rows are what the objects were") func random() throws {
        let seed = TestSeed.current(for: "Random tables in a file")
        for round in TestRounds(seconds: 2, atLeast: 5) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let tables = RandomTables(using: &random)
            let file = try OthersFile(tables.script(.sqlite))
            let context = try file.open()
            for save in 0..<4 {
                let expected = try context.performAndWait {
                    try tables.change(context, using: &random)
                    let expected = try tables.contents(of: context)
                    try context.save()
                    try expect(tables.contents(of: context), equals: expected)
                    return expected
                }
                try expect(
                    tables.queries.map(file.texts), equals: expected, "COREDATA_TEST_SEED=\(seed), round \(round), save \(save)")
            }
        }
    }
}
