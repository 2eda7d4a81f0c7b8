import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Models drafted from the tables of SQLite files") struct DraftingTests {
    private static func name(_ attribute: NSAttributeDescription) -> String {
        "\(attribute.attributeType)".replacing("AttributeType", with: "")
    }

    private func describe(_ model: NSManagedObjectModel, _ name: String) throws -> [String] {
        let entity = try #require(model.entitiesByName[name])
        return entity.properties.map { property in
            switch property {
            case let attribute as NSAttributeDescription:
                "\(attribute.name): \(Self.name(attribute))\(attribute.isOptional ? "?" : "") \(attribute.userInfo?["columnName"] ?? "")"
            case let relationship as NSRelationshipDescription:
                "\(relationship.name): \(relationship.isToMany ? "[" : "")\(relationship.destinationEntity?.name ?? "")"
                    + "\(relationship.isToMany ? "]" : "")\(relationship.isOptional ? "?" : "") < \(relationship.inverseRelationship?.name ?? "")"
                    + " \(relationship.userInfo?["columnNames"] ?? relationship.userInfo?["joinTable"] ?? "")"
            default: property.name
            }
        }.sorted()
    }

    @Test("Tables become entities, columns attributes by their declared types, foreign keys relationships") func drafting() throws {
        let file = try OthersFile(OthersFile.library)
        let draft = try file.draft()
        expect(
            draft.model.entities.compactMap(\.name).sorted(),
            equals: [
                "AuthorProfiles", "AuthorTotals", "Authors", "Books", "Copies", "Countries", "Editions", "Log", "Measures", "Nameless",
                "Tags",
            ])
        try expect(
            describe(draft.model, "Authors"),
            equals: [
                "authorProfile: AuthorProfiles? < author ", "booksByAuthor: [Books]? < author ", "booksByEditor: [Books]? < editor ",
                "born: date? born", "country: Countries? < authors country_code", "extra: transformable? extra", "fame: double? fame",
                "fullName: string full_name", "id: integer64? id", "joined: date? joined", "mentor: Authors? < authors mentor_id",
                "authors: [Authors]? < mentor ", "seen: date? seen", "state: string? state", "upperName: string? upper_name",
            ].sorted())
        try expect(
            describe(draft.model, "Books"),
            equals: [
                "author: Authors < booksByAuthor author_id", "editions: [Editions]? < book ",
                "editor: Authors? < booksByEditor editor_id",
                "id: UUID? id", "isSoldOut: boolean? is_sold_out", "isbn: string? isbn", "pages: integer64? pages",
                "price: decimal? price",
                "tags: [Tags]? < books book_tags", "title: string title",
            ].sorted())
        #expect(try describe(draft.model, "Copies").contains("edition: Editions < copies book,edition"))
        try expect(describe(draft.model, "Log"), equals: ["at: integer64? at", "line: string? line"])
        expect(draft.model.entitiesByName["Log"]?.userInfo?["keyColumns"] as? String, equals: "rowid")
        expect(draft.model.entitiesByName["AuthorTotals"]?.userInfo?["isReadOnly"] as? String, equals: "YES")
        expect(draft.model.entitiesByName["Books"]?.uniquenessConstraints as? [[String]], equals: [["isbn"], ["id"]])
        expect(draft.model.entitiesByName["Nameless"]?.userInfo?["keyColumns"] as? String, equals: "*")
        expect(draft.unmapped, equals: [])
        #expect(draft.notes.contains { $0.contains("authors.joined, TIMESTAMP, is taken for seconds since 1970") }, "\(draft.notes)")
    }

    @Test("Where the declared type leaves it open, the values decide") func values() throws {
        let file = try OthersFile(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a DATETIME, b DATETIME, c BOOLEAN, d, e, f, g UUID, h CHAR(32), i INTEGER, j DATE, k STRING,
                l TIMESTAMP, m TEXT CHECK (json_valid("m") OR m IS NULL));
            INSERT INTO t (a, b, c, d, e, f, g, h, i, j, k, l) VALUES (1600000000000, 'yesterday', 2, 1, 'x', x'00',
                '6F9619FF-8B86-D011-B42D-00CF4FC964FF', 'd41d8cd98f00b204e9800998ecf8427e', 'many', '2020-02-30', 'text', 1600000000000000);
            """)
        let draft = try file.draft()
        let types = try #require(draft.model.entitiesByName["T"]).attributesByName.mapValues(Self.name)
        expect(
            types,
            equals: [
                "id": "integer64", "a": "date", "b": "string", "c": "integer64", "d": "integer64", "e": "string", "f": "binaryData",
                "g": "UUID",
                "h": "UUID", "i": "string", "j": "string", "k": "string", "l": "date", "m": "transformable",
            ])
        #expect(draft.notes.contains { $0.contains("t.a") && $0.contains("milliseconds") })
        #expect(draft.notes.contains { $0.contains("t.l") && $0.contains("microseconds") })
        let context = try file.open(draft.model)
        try context.performAndWait {
            let row = try context.one("T", "i == 'many' AND c == 2")
            expect(row.value(forKey: "a") as? Date, equals: Date(timeIntervalSince1970: 1_600_000_000))
            expect(row.value(forKey: "l") as? Date, equals: Date(timeIntervalSince1970: 1_600_000_000))
        }
    }

    @Test("What cannot be mapped is named with its reason") func unmapped() throws {
        let file = try OthersFile(
            """
            CREATE TABLE parents (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
            CREATE TABLE children (id INTEGER PRIMARY KEY, parent_code TEXT REFERENCES parents (code), gone_id INTEGER REFERENCES gone, x);
            CREATE TABLE odd ("a,b" INTEGER PRIMARY KEY);
            CREATE VIEW broken AS SELECT * FROM nowhere;
            CREATE VIRTUAL TABLE boxes USING rtree (id, low, high);
            """)
        let unmapped = try file.draft().unmapped
        for text in [
            "The view broken: SQLite cannot read it: no such table: main.nowhere",
            "The virtual table boxes", "The table odd: the name of a column contains a comma",
            "The foreign key (parent_code) of children: it leads to code of parents, not to the key",
            "The foreign key (gone_id) of children: it leads to gone, which is no entity", "The column children.x: nothing says",
        ] { #expect(unmapped.contains { $0.contains(text) }, "\(text) is not in \(unmapped)") }
    }

    @Test("A table is named by the unique columns that most foreign keys lead to", arguments: ["", " WITHOUT ROWID"])
    func otherKeys(ending: String) throws {
        let file = try OthersFile(
            """
            CREATE TABLE accounts (id INTEGER NOT NULL UNIQUE, number TEXT PRIMARY KEY NOT NULL, parent_id INTEGER REFERENCES accounts (id))\(ending);
            CREATE TABLE plain (code TEXT NOT NULL UNIQUE, note TEXT);
            CREATE TABLE lines (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES accounts (id), code TEXT REFERENCES plain (code));
            INSERT INTO accounts VALUES (1, '4000', NULL), (2, '4010', 1);
            INSERT INTO plain VALUES ('x', 'a note');
            INSERT INTO lines VALUES (1, 2, 'x');
            """)
        let draft = try file.draft()
        #expect(draft.unmapped.isEmpty, "\(draft.unmapped)")
        expect(draft.model.entitiesByName["Accounts"]?.uniquenessConstraints.map { $0.map { "\($0)" } }, equals: [["number"], ["id"]])
        expect(draft.model.entitiesByName["Plain"]?.uniquenessConstraints.map { $0.map { "\($0)" } }, equals: [["code"]])
        let context = try file.open(draft.model)
        try context.performAndWait {
            let line = try context.one("Lines", "account.parent.number == '4000' AND code.note == 'a note'")
            let account = try #require(line.value(forKey: "account") as? NSManagedObject)
            account.setValue("4011", forKey: "number")
            let new = NSEntityDescription.insertNewObject(forEntityName: "Accounts", into: context)
            new.setValue(3, forKey: "id")
            new.setValue("5000", forKey: "number")
            new.setValue(account, forKey: "parent")
            line.setValue(new, forKey: "account")
            try context.save()
        }
        try expect(file.texts("SELECT number FROM accounts ORDER BY id"), equals: ["4000", "4011", "5000"])
        try expect(file.texts("SELECT account_id FROM lines"), equals: ["3"])
    }

    @Test("Names with quotes, keywords and other alphabets are tables and columns like others") func names() throws {
        let file = try OthersFile(
            """
            CREATE TABLE "select" ("group" INTEGER PRIMARY KEY, "a ""quoted"" name" TEXT, "Größe" REAL, "it's" TEXT, "日本" TEXT);
            CREATE TABLE "order" (id INTEGER PRIMARY KEY, "from" INTEGER REFERENCES "select" ("group"), "?1" TEXT);
            CREATE INDEX "in""dex" ON "select" ("it's");
            INSERT INTO "select" VALUES (1, 'one', 1.5, 'it', 'nihon');
            INSERT INTO "order" VALUES (7, 1, 'parameter');
            """)
        let context = try file.open()
        try context.performAndWait {
            let row = try #require(try context.found("Order").first)
            let target = try #require(row.value(forKey: "from") as? NSManagedObject)
            let texts = Set(target.entity.attributesByName.keys.compactMap { target.value(forKey: $0) as? String })
            expect(texts, equals: ["one", "it", "nihon"])
            for (key, attribute) in target.entity.attributesByName where attribute.type == .string {
                let text = try #require(target.value(forKey: key) as? String)
                try expect(context.number("Select", "%K == %@", [key, text]), equals: 1)
                target.setValue(text + "!", forKey: key)
            }
            try context.save()
        }
        try expect(file.texts(#"SELECT "it's" || "日本" || "a ""quoted"" name" FROM "select""#), equals: ["it!nihon!one!"])
    }
}
