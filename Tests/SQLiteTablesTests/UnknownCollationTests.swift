import CSQLite
import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Columns with a collation that only their program has") struct UnknownCollationTests {
    /// As a program for flash cards has them: names that are unique without case, in tables of each kind.
    private static let script = """
        CREATE TABLE deck (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE unicase, size INTEGER, side TEXT COLLATE unicase);
        CREATE UNIQUE INDEX deck_name ON deck (name);
        CREATE INDEX deck_side ON deck (side, size);
        CREATE TABLE tag (tag TEXT NOT NULL PRIMARY KEY COLLATE unicase, usn INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE field (
            note INTEGER, ord INTEGER, name TEXT NOT NULL COLLATE unicase, deck_id INTEGER REFERENCES deck (id), PRIMARY KEY (note, ord)) WITHOUT ROWID;
        CREATE UNIQUE INDEX field_name ON field (name, note);
        CREATE TABLE card (id INTEGER PRIMARY KEY, tag TEXT COLLATE unicase REFERENCES tag (tag), front TEXT COLLATE unicase);
        CREATE INDEX card_by_tag ON card (tag);
        CREATE TABLE card_tag (card_id INTEGER NOT NULL REFERENCES card (id), tag TEXT NOT NULL COLLATE unicase REFERENCES tag (tag), UNIQUE (card_id, tag));
        CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT COLLATE unicase);
        CREATE TABLE strictly (id INTEGER PRIMARY KEY, name TEXT COLLATE unicase UNIQUE) STRICT;
        CREATE TABLE sorted (id INTEGER PRIMARY KEY, name TEXT, note TEXT);
        CREATE INDEX sorted_name ON sorted (name COLLATE unicase);
        CREATE TABLE coded (code INTEGER COLLATE unicase UNIQUE, word BLOB COLLATE unicase UNIQUE, loose COLLATE unicase UNIQUE);
        CREATE VIEW names AS SELECT id, name FROM deck;
        CREATE VIEW distinct_names AS SELECT DISTINCT name, 1 AS id FROM card JOIN plain ON front = name;
        INSERT INTO deck VALUES (1, 'banana', 3, 'x'), (2, 'Apple', 1, 'X'), (3, 'cherry', 2, NULL), (4, 'Banane', 2, 'y');
        INSERT INTO tag VALUES ('Red', 1), ('blue', 2), ('GREEN', 3);
        INSERT INTO field VALUES (1, 0, 'Front', 1), (1, 1, 'back', 1), (2, 0, 'FRONT', 2);
        INSERT INTO card VALUES (1, 'Red', 'a'), (2, 'Red', 'B'), (3, 'blue', NULL);
        INSERT INTO card_tag VALUES (1, 'Red'), (1, 'blue'), (2, 'Red');
        INSERT INTO plain VALUES (1, 'a'), (2, 'A'), (3, 'b');
        INSERT INTO strictly VALUES (1, 'b'), (2, 'C');
        INSERT INTO sorted VALUES (1, 'b', 'x'), (2, 'A', 'y');
        INSERT INTO coded VALUES (10, x'01', 'a'), (9, x'00', 'B');
        """

    private func model(_ file: OthersFile) throws -> NSManagedObjectModel {
        let model = try file.draft().model
        for (name, key) in [("Names", "id"), ("DistinctNames", "id")] { model.entitiesByName[name]?.userInfo?["keyColumns"] = key }
        return model
    }

    private func texts(_ objects: [NSManagedObject], _ key: String) -> [String] {
        objects.map { $0.value(forKey: key).map { "\($0)" } ?? "-" }
    }

    @Test("Every table is read, whatever indexes it has") func tables() throws {
        let file = try OthersFile(Self.script)
        let draft = try file.draft()
        expect(draft.model.entities.compactMap(\.name).filter { !$0.hasPrefix("Distinct") }.count >= 9, equals: true, "\(draft.unmapped)")
        let before = try file.bytes
        let context = try file.open(model(file), isReadOnly: true)
        try context.performAndWait {
            try expect(texts(context.found("Deck", nil, by: "id"), "name"), equals: ["banana", "Apple", "cherry", "Banane"])
            try expect(texts(context.found("Tag", nil, by: "tag"), "tag"), equals: ["GREEN", "Red", "blue"])
            try expect(texts(context.found("Field", nil, by: "name"), "name"), equals: ["FRONT", "Front", "back"])
            try expect(texts(context.found("Sorted", nil, by: "name"), "name"), equals: ["A", "b"])
            try expect(texts(context.found("Strictly", nil, by: "name"), "name"), equals: ["C", "b"])
            try expect(texts(context.found("Coded", nil, by: "code"), "loose"), equals: ["B", "a"])
            try expect(texts(context.found("Names", nil, by: "name"), "name"), equals: ["Apple", "Banane", "banana", "cherry"])
            for (entity, count) in [
                ("Deck", 4), ("Tag", 3), ("Field", 3), ("Card", 3), ("Sorted", 2), ("Strictly", 2), ("Coded", 2), ("Names", 4),
            ] {
                try expect(context.number(entity), equals: count, "\(entity)")
            }
        }
        try expect(file.bytes, equals: before)
    }

    @Test(
        "Conditions and orders compare by characters, as in memory",
        arguments: [
            "name == 'banana'", "name == 'BANANA'", "name ==[c] 'BANANA'", "name != 'Apple'", "name < 'b'", "name >= 'b'",
            "name IN {'Apple', 'banana', 'x'}",
            "name BEGINSWITH 'ban'", "name BEGINSWITH[c] 'ban'", "name CONTAINS 'an'", "name LIKE '*a*e'", "name MATCHES '[ab].*'",
            "name ENDSWITH 'e'",
            "name BETWEEN {'A', 'b'}", "side == 'x'", "side == nil", "side != nil AND size > 1", "name == side", "NOT name == 'Apple'",
            "side == 'x' AND size == 3",
            "ANY fields.name == 'FRONT'", "fields.@count == 2", "SUBQUERY(fields, $f, $f.name == 'back').@count > 0",
        ])
    func conditions(_ format: String) throws {
        let context = try OthersFile(Self.script).open()
        try context.performAndWait {
            let all = try context.found("Deck")
            let predicate = NSPredicate(format: format)
            let expected = all.filter { predicate.evaluate(with: $0) }.compactMap { $0.value(forKey: "name") as? String }.sorted()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Deck")
            request.predicate = predicate
            for ascending in [true, false] {
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: ascending)]
                try expect(texts(context.fetch(request), "name"), equals: ascending ? expected : expected.reversed(), "\(format)")
            }
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true), NSSortDescriptor(key: "side", ascending: false)]
            (request.fetchOffset, request.fetchLimit) = (1, 2)
            try expect(texts(context.fetch(request), "name"), equals: Array(expected.dropFirst().prefix(2)))
            try expect(context.number("Deck", format), equals: expected.count)
        }
    }

    @Test("Columns are grouped, made distinct and counted by characters") func dictionaries() throws {
        let context = try OthersFile(Self.script).open()
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Deck")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["side"]
            request.returnsDistinctResults = true
            try expect(Set(context.fetch(request).map { $0["side"] as? String ?? "-" }), equals: ["x", "X", "y", "-"])
            let count = NSExpressionDescription()
            (count.name, count.expressionResultType) = ("n", .integer64AttributeType)
            count.expression = NSExpression(format: "count:(name)")
            request.propertiesToFetch = ["side", count]
            request.propertiesToGroupBy = ["side"]
            try expect(context.fetch(request).count, equals: 4)
            let largest = NSExpressionDescription()
            (largest.name, largest.expressionResultType) = ("m", .stringAttributeType)
            largest.expression = NSExpression(format: "max:(name)")
            request.propertiesToFetch = [largest]
            request.propertiesToGroupBy = nil
            try expect(context.fetch(request).first?["m"] as? String, equals: "cherry")
        }
    }

    @Test("Keys and relationships are those of the same characters") func relationships() throws {
        let context = try OthersFile(Self.script).open()
        try context.performAndWait {
            let red = try context.one("Tag", "tag == 'Red'")
            let cards = try context.found("Card", nil, by: "id")
            expect(cards.map { ($0.value(forKey: "tag") as? NSManagedObject)?.value(forKey: "usn") as? Int }, equals: [1, 1, 2])
            try expect(context.number("Card", "tag == %@", [red]), equals: 2)
            try expect(context.number("Card", "tag.tag == 'blue'"), equals: 1)
            context.refreshAllObjects()
            expect(red.value(forKey: "usn") as? Int, equals: 1)
            let names = red.entity.relationshipsByName.values.filter { $0.destinationEntity?.name == "Card" }.map(\.name).sorted()
            expect(names.map { (red.value(forKey: $0) as? Set<NSManagedObject>)?.count }, equals: names.map { _ in 2 })
            try expect(
                context.one("Deck", "id == 1").value(forKey: "fields") as? Set<NSManagedObject> ?? [],
                equals: Set(context.found("Field", "deck.id == 1")))
            let url = red.objectID.uriRepresentation()
            let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
            try expect(context.existingObject(with: id) === red, equals: true)
        }
    }

    @Test("What is in an order of its program is not changed, and the error says so") func saving() throws {
        let file = try OthersFile(Self.script)
        let context = try file.open()
        try context.performAndWait {
            // Nothing that is in an index.
            let deck = try context.one("Deck", "id == 3")
            deck.setValue("z", forKey: "side")
            try refused(context, file)
            try context.one("Sorted", "id == 1").setValue("changed", forKey: "note")
            for plain in try context.found("Plain", "id == 1") { plain.setValue("Z", forKey: "name") }
            context.insert("Plain", ["id": 9, "name": "new"])
            try context.save()
            let changes: [() throws -> Void] = [
                { context.insert("Deck", ["id": 5, "name": "date"]) },
                { context.delete(try context.one("Deck", "id == 4")) },
                { try context.one("Deck", "id == 1").setValue("plum", forKey: "name") },
                { try context.one("Tag", "tag == 'Red'").setValue(7, forKey: "usn") },
                { context.insert("Sorted", ["id": 5, "name": "date"]) },
                { context.insert("Tag", ["tag": "date", "usn": 1]) },
            ]
            for change in changes {
                try change()
                try refused(context, file)
            }
        }
        try expect(file.texts("SELECT note FROM sorted WHERE id = 1"), equals: ["changed"])
        try expect(file.texts("SELECT name FROM plain WHERE id IN (1, 9) ORDER BY id"), equals: ["Z", "new"])
        try expect(file.texts("PRAGMA integrity_check"), equals: ["ok"])
    }

    private func refused(_ context: NSManagedObjectContext, _ file: OthersFile) throws {
        let tables = ["deck", "tag", "sorted", "field", "card"]
        let before = try tables.map { try file.texts("SELECT count(*) || group_concat(quote(1)) FROM \($0)") }
        do {
            try context.save()
            Issue.record("The save changes an index.")
        } catch let error as NSError {
            expect(error.code, equals: NSPersistentStoreSaveError)
            let words = error.localizedDescription.lowercased()
            #expect(words.contains("unicase") && words.contains("collation"), "\(words)")
        }
        context.rollback()
        try expect(tables.map { try file.texts("SELECT count(*) || group_concat(quote(1)) FROM \($0)") }, equals: before)
    }

    @Test("A view that compares by the collation itself is an error that names it") func views() throws {
        let file = try OthersFile(Self.script)
        let draft = try file.draft()
        #expect(draft.unmapped.contains { $0.contains("distinct_names") && $0.contains("unicase") }, "\(draft.unmapped)")
        #expect(draft.notes.contains { $0.contains("name") && $0.contains("UNICASE") }, "\(draft.notes)")
    }

    @Test("A program that gives its connections the collation changes everything") func known() throws {
        let file = try OthersFile(Self.script)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try file.draft().model)
        let preparation = SQLiteConnectionPreparation(encrypts: false) { try OthersFile.addUnicase($0) }
        try coordinator.addPersistentStore(
            type: .existingSQLite, at: file.url, options: [SQLiteConnectionPreparationOption: preparation])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try expect(context.number("Deck", "name == 'APPLE'"), equals: 0)
            try context.one("Deck", "name == 'Apple'").setValue("plum", forKey: "name")
            context.insert("Deck", ["id": 5, "name": "date"])
            try context.save()
            context.insert("Deck", ["id": 6, "name": "DATE"])
            #expect(throws: (any Error).self) { try context.save() }
        }
        try expect(file.texts("PRAGMA integrity_check"), equals: ["ok"])
        try expect(file.texts("SELECT name FROM deck ORDER BY name"), equals: ["banana", "Banane", "cherry", "date", "plum"])
    }
}
