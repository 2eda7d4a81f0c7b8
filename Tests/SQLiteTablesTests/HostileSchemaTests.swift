import CoreData
import Foundation
import TestSupport
import Testing

/// Tables as nobody would make them, and as files of others have them nevertheless: SQLite takes foreign keys that fit no table.
@Suite("Schemas that do not fit themselves") struct HostileSchemaTests {
    @Test(
        "A foreign key without a column for each of the key's is left out, and named",
        arguments: [
            "z REFERENCES p", "z INTEGER, y INTEGER, x INTEGER, FOREIGN KEY (z, y, x) REFERENCES p",
            "z INTEGER, y INTEGER, FOREIGN KEY (z, y) REFERENCES p (a, a)", "z REFERENCES p (a)", "z REFERENCES p (x)",
            "z REFERENCES elsewhere",
        ])
    func unpaired(columns: String) throws {
        let file = try OthersFile(
            "CREATE TABLE p (a INTEGER, b INTEGER, PRIMARY KEY (a, b)); CREATE TABLE d (id INTEGER PRIMARY KEY, \(columns));")
        let draft = try file.draft()
        expect(draft.model.entitiesByName["D"]?.relationshipsByName.count, equals: 0)
        #expect(draft.unmapped.contains { $0.hasPrefix("The foreign key (z") }, "\(draft.unmapped)")
    }

    @Test("A text that is no number refers to no row, though it begins with one") func texts() throws {
        let file = try OthersFile(
            """
            CREATE TABLE u (k INTEGER PRIMARY KEY, v TEXT); INSERT INTO u VALUES (0, 'zero'), (1, 'one'), (2, 'two');
            CREATE TABLE c (id INTEGER PRIMARY KEY, k TEXT REFERENCES u (k)); INSERT INTO c VALUES (1, '1'), (2, NULL), (3, '2');
            """)
        let context = try file.open()
        try context.performAndWait {
            try expect(context.found("C", by: "id").map { $0.value(forKeyPath: "k.v") as? String }, equals: ["one", nil, "two"])
            try expect(context.found("U", by: "k").map { ($0.value(forKey: "cs") as? Set<NSManagedObject>)?.count }, equals: [0, 1, 1])
        }
        for text in ["1abc", "2.9", "xyz", "", "0x1", "2.0", "01"] {
            try file.execute("DELETE FROM c; INSERT INTO c VALUES (2, '\(text)');")
            let other = try file.open()
            other.performAndWait {
                let error = #expect(throws: NSError.self, "\(text)") {
                    for object in try other.found("C") { _ = object.value(forKey: "k") }
                    // What a property could not tell is thrown here.
                    try other.save()
                }
                expect(error?.code, equals: NSCoreDataError, "\(text)")
            }
        }
    }

    @Test("A view without an end holds nobody who opens the file", arguments: ["SELECT x FROM r", "SELECT sum(x) AS x FROM r"])
    func endless(select: String) throws {
        let file = try OthersFile(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1);
            CREATE VIEW v AS WITH RECURSIVE r (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) \(select);
            """)
        let context = try file.open()
        try context.performAndWait { try expect(context.found("T").count, equals: 1) }
    }

    @Test("A pair that names no row is none, and one that is there twice is one, in lists, counts and predicates") func pairs() throws {
        let file = try OthersFile(
            """
            CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE img (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE img_tag (img_id INTEGER REFERENCES img (id), tag_id INTEGER REFERENCES tag (id));
            INSERT INTO tag VALUES (1, 't'), (2, 'u'); INSERT INTO img VALUES (1, 'i');
            INSERT INTO img_tag VALUES (1, 1), (1, 1), (999, 1), (NULL, 1), (999, 2), (1, 777);
            """)
        let draft = try file.draft()
        let tag = try #require(draft.model.entitiesByName["Tag"])
        // A table without a key is an entity of its own; the names of its columns make it a table of pairs.
        let img = try #require(draft.model.entitiesByName["Img"])
        for entity in [tag, img] { entity.properties.removeAll { ($0 as? NSRelationshipDescription)?.isToMany == true } }
        let (imgs, tags) = (
            NSRelationshipDescription(name: "imgs", destination: img, toMany: true),
            NSRelationshipDescription(name: "tags", destination: tag, toMany: true)
        )
        imgs.inverse(to: tags)
        imgs.userInfo = ["joinTable": "img_tag", "joinOwner": "tag_id", "joinMember": "img_id"]
        tag.properties.append(imgs)
        img.properties.append(tags)
        let model = NSManagedObjectModel(entities: [tag, img])
        let context = try file.open(model)
        try context.performAndWait {
            let all = try context.found("Tag", by: "id")
            expect(all.map { ($0.value(forKey: "imgs") as? Set<NSManagedObject>)?.count }, equals: [1, 0])
            for (predicate, count) in [
                ("imgs.@count == 1", 1), ("imgs.@count == 0", 1), ("imgs.@count == 2", 0), ("ANY imgs.id == 999", 0),
                ("ANY imgs.id == 1", 1),
                ("SUBQUERY(imgs, $x, TRUEPREDICATE).@count == 1", 1), ("SUBQUERY(imgs, $x, $x.id > 1).@count > 0", 0),
                ("imgs.@sum.id == 1", 1), ("ANY imgs != nil", 1),
            ] { try expect(context.number("Tag", predicate), equals: count, "\(predicate)") }
            try expect(context.number("Img", "tags.@count == 1"), equals: 1)
        }
    }

    // MARK: At random

    /// Tables that refer to each other in any way, and their rows.
    private static func script(_ random: inout SeededGenerator) -> String {
        func one(_ list: [String]) -> String { list.randomElement(using: &random) ?? "" }
        let names = ["t", "u", "v"].prefix(Int.random(in: 1...3, using: &random))
        let all = ["a", "b", "c"]
        var script = ""
        for name in names {
            let columns = all.prefix(Int.random(in: 1...3, using: &random))
            var parts = columns.map { "\($0) \(one(["INTEGER", "TEXT", "REAL", "", "NUMERIC", "BLOB", "TEXT COLLATE NOCASE", "INT"]))" }
            func some() -> String {
                (0..<Int.random(in: 1...2, using: &random)).map { _ in columns.randomElement(using: &random) ?? "a" }.joined(
                    separator: ", ")
            }
            if Bool.random(using: &random) { parts.append("PRIMARY KEY (\(Set(some().split(separator: ", ")).joined(separator: ", ")))") }
            if Bool.random(using: &random) { parts.append("UNIQUE (\(Set(some().split(separator: ", ")).joined(separator: ", ")))") }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let target = one(["t", "u", "v", "w", "T"])
                let named = one(["", "", "(a)", "(b)", "(a, b)", "(b, a)", "(a, a)", "(x)"])
                parts.append(
                    "FOREIGN KEY (\(some())) REFERENCES \(target) \(named) \(one(["", "ON DELETE CASCADE", "ON DELETE SET NULL"]))")
            }
            script += "CREATE TABLE \(name) (\(parts.joined(separator: ", ")));\n"
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let values = columns.map { _ in
                    one(["0", "1", "2", "'0'", "'1'", "'1abc'", "'2.9'", "''", "1.0", "1.5", "NULL", "x'31'", "'A'", "'a'"])
                }
                script += "INSERT OR IGNORE INTO \(name) VALUES (\(values.joined(separator: ", ")));\n"
            }
        }
        return script
    }

    @Test("Whatever tables refer to, objects are the rows, and what they refer to is what SQLite finds, or it is an error")
    func random() throws {
        let seed = TestSeed.current(for: "HostileSchemaTests")
        var (read, refused) = (0, 0)
        for round in TestRounds(seconds: 1.5, atLeast: 20) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let script = Self.script(&random)
            let file = try OthersFile("")
            // What SQLite refuses is not there.
            for statement in script.split(separator: "\n") { file.tryToExecute(String(statement)) }
            let draft: SQLiteModelDraft
            do { draft = try file.draft() } catch {
                expect((error as NSError).domain, equals: NSCocoaErrorDomain, "round \(round): \(script)")
                continue
            }
            let context = try file.open(draft.model)
            try context.performAndWait {
                for entity in draft.model.entities {
                    guard let table = entity.userInfo?["tableName"] as? String else { continue }
                    let objects: [NSManagedObject]
                    do {
                        objects = try context.found(entity.name ?? "")
                        for object in objects { for name in entity.propertiesByName.keys { _ = object.value(forKey: name) } }
                        try context.save()
                    } catch {
                        expect((error as NSError).domain, equals: NSCocoaErrorDomain, "round \(round): \(script)")
                        refused += 1
                        continue
                    }
                    read += 1
                    let key = (entity.userInfo?["keyColumns"] as? String ?? "").split(separator: ",").map { "\($0) IS NOT NULL" }
                    let rows = try file.texts(
                        "SELECT count(*) FROM \(table)" + (key == ["* IS NOT NULL"] ? "" : " WHERE " + key.joined(separator: " AND ")))
                    expect(["\(objects.count)"], equals: rows, "round \(round), \(table): \(script)")
                    for relationship in entity.relationshipsByName.values where !relationship.isToMany {
                        guard let target = relationship.destinationEntity, let other = target.userInfo?["tableName"] as? String,
                            let columns = relationship.userInfo?["columnNames"] as? String,
                            let keys = target.userInfo?["keyColumns"] as? String
                        else { continue }
                        let pairs = zip(columns.split(separator: ","), keys.split(separator: ",")).map { "x.\($1) = y.\($0)" }
                        let joined = try file.texts(
                            "SELECT count(*) FROM \(table) y JOIN \(other) x ON \(pairs.joined(separator: " AND "))")
                        let found = objects.count { object in
                            guard let one = object.value(forKey: relationship.name) as? NSManagedObject else { return false }
                            return (try? context.existingObject(with: one.objectID)) != nil
                        }
                        expect(["\(found)"], equals: joined, "round \(round), \(table).\(relationship.name): \(script)")
                    }
                }
            }
        }
        print("\(read) tables were read, \(refused) refused.")
    }
}
