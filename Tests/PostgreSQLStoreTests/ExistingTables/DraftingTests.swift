#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Models drafted from the catalogue of a database") struct DraftingTests {
    private func entity(_ name: String, of model: NSManagedObjectModel) throws -> NSEntityDescription {
        try #require(model.entitiesByName[name])
    }

    @Test("Tables and views become entities, and columns attributes of their types") func types() async throws {
        let model = try await LibraryDatabase().draft().model
        expect(
            model.entities.compactMap(\.name).sorted(),
            equals: [
                "AuthorProfiles", "AuthorTotals", "Authors", "Books", "Copies", "Countries", "Editions", "Log", "Nameless", "Tags",
            ])
        let authors = try entity("Authors", of: model)
        let types = authors.attributesByName.mapValues(\.type)
        expect(
            types,
            equals: [
                "id": .integer32, "fullName": .string, "state": .string, "nicknames": .transformable, "scores": .transformable,
                "extra": .transformable, "home": .transformable, "fame": .float, "born": .date, "alarm": .string, "address": .string,
                "joined": .date, "seen": .date, "upperName": .string,
            ])
        let required = authors.attributesByName.values.filter { !$0.isOptional }.map(\.name)
        expect(required, equals: ["fullName"], "what the database gives is optional")
        let books = try entity("Books", of: model).attributesByName.mapValues(\.type)
        expect(
            books, equals: ["id": .uuid, "title": .string, "price": .decimal, "isSoldOut": .boolean, "pages": .integer16, "isbn": .string])
        expect(authors.attributesByName["state"]?.validationPredicates.first?.evaluate(with: "calm"), equals: true)
        expect(authors.attributesByName["state"]?.validationPredicates.first?.evaluate(with: "happy"), equals: false)
        try expect(entity("AuthorProfiles", of: model).attributesByName["motto"]?.isOptional, equals: false, "a domain is never NULL")
    }

    @Test("Foreign keys become relationships with inverses, and tables of pairs many-to-many relationships") func relationships()
        async throws
    {
        let model = try await LibraryDatabase().draft().model
        func described(_ name: String) throws -> [String: String] {
            try entity(name, of: model).relationshipsByName.mapValues { relationship in
                "\(relationship.destinationEntity?.name ?? "") \(relationship.isToMany ? "many" : "one") "
                    + "\(relationship.inverseRelationship?.name ?? "none")\(relationship.isOptional ? "" : " required")"
            }
        }
        try expect(
            described("Authors"),
            equals: [
                "country": "Countries one authors", "mentor": "Authors one authors", "authors": "Authors many mentor",
                "authorProfile": "AuthorProfiles one author", "booksByAuthor": "Books many author", "booksByEditor": "Books many editor",
            ])
        try expect(
            described("Books"),
            equals: [
                "author": "Authors one booksByAuthor required", "editor": "Authors one booksByEditor", "editions": "Editions many book",
                "tags": "Tags many books",
            ])
        try expect(described("Copies"), equals: ["edition": "Editions one copies required"])
        let authors = try entity("Authors", of: model).relationshipsByName.mapValues(\.deleteRule)
        expect(authors["booksByAuthor"], equals: .cascadeDeleteRule)
        expect(authors["booksByEditor"], equals: .denyDeleteRule)
        try expect(entity("Countries", of: model).relationshipsByName["authors"]?.deleteRule, equals: .nullifyDeleteRule)
        try expect(entity("Books", of: model).uniquenessConstraints as? [[String]], equals: [["isbn"]])
    }

    @Test("What cannot be mapped is named with its reason") func report() async throws {
        let draft = try await LibraryDatabase(
            LibraryDatabase.script + """
                ;CREATE TABLE shelves (id serial PRIMARY KEY, tag text REFERENCES tags (label));
                """
        ).draft()
        expect(draft.unmapped.count, equals: 1)
        #expect(draft.notes.contains { $0.hasPrefix("The view nameless has no key: its objects are read only") })
        #expect(draft.notes.contains { $0.hasPrefix("The table log has no key: its objects are read only") })
        #expect(
            draft.unmapped.contains {
                $0.hasPrefix("The foreign key shelves_tag_fkey of shelves: it leads to label of tags, not to the key.")
            })
        #expect(draft.notes.contains("authors.address, inet, is read and written as text."))
        expect(draft.model.entitiesByName["Shelves"]?.attributesByName["tag"]?.type, equals: .string)
    }

    @Test("A table is named by the unique columns that most foreign keys lead to, and its primary key is an attribute then")
    func otherKeys() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE accounts (id serial NOT NULL UNIQUE, number text PRIMARY KEY, parent_id integer REFERENCES accounts (id));
            CREATE TABLE lines (id serial PRIMARY KEY, account_id integer NOT NULL REFERENCES accounts (id), note text);
            CREATE TABLE groups (name text PRIMARY KEY);
            CREATE TABLE account_groups (
                account integer REFERENCES accounts (id), "group" text REFERENCES groups (name), PRIMARY KEY (account, "group"));
            CREATE TABLE labels (account_number text PRIMARY KEY REFERENCES accounts (number));
            INSERT INTO accounts (number) VALUES ('4000');
            INSERT INTO accounts (number, parent_id) VALUES ('4010', 1);
            INSERT INTO lines (account_id) VALUES (1), (2), (2);
            """)
        let draft = try await database.draft()
        let accounts = try entity("Accounts", of: draft.model)
        expect(accounts.attributesByName["number"]?.isOptional, equals: false)
        expect(accounts.uniquenessConstraints.map { $0.map { "\($0)" } }, equals: [["number"]])
        expect(accounts.relationshipsByName.keys.sorted(), equals: ["accounts", "groups", "lines", "parent"])
        #expect(draft.notes.contains("The table accounts is referred to by “id”, which is taken for its key."))
        #expect(draft.unmapped.count == 1 && draft.unmapped[0].contains("it leads to number of accounts, not to the key"))
        let context = try await database.open(draft.model)
        try await context.perform {
            let account = try context.one("Accounts", "parent.number == '4000' AND lines.@count == 2")
            account.setValue("4011", forKey: "number")
            let new = context.insert("Accounts", ["number": "5000"])
            new.setValue(account, forKey: "parent")
            context.insert("Lines", ["note": "first"]).setValue(new, forKey: "account")
            new.setValue([context.insert("Groups", ["name": "sales"])] as Set<NSManagedObject>, forKey: "groups")
            try context.save()
            context.refreshAllObjects()
            let line = try context.one("Lines", "account.parent.number == '4011' AND ANY account.groups.name == 'sales'")
            expect(line.value(forKey: "note") as? String, equals: "first")
        }
    }

    @Test("A foreign key of another type than the key is left to the database, and the model opens") func otherTypes() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE languages (code varchar(6) PRIMARY KEY);
            CREATE TABLE invoices (id serial PRIMARY KEY, language_code char(6) REFERENCES languages);
            CREATE TABLE invoice_languages (
                invoice integer REFERENCES invoices, language char(6) REFERENCES languages, PRIMARY KEY (invoice, language));
            INSERT INTO languages VALUES ('pl');
            INSERT INTO invoices (language_code) VALUES ('pl');
            """)
        let draft = try await database.draft()
        expect(
            draft.unmapped.sorted(),
            equals: [
                "The foreign key invoice_languages_language_fkey of invoice_languages: its type is character(6), and that of the key of languages is "
                    + "character varying(6). Its columns are attributes.",
                "The foreign key invoices_language_code_fkey of invoices: its type is character(6), and that of the key of languages is "
                    + "character varying(6). Its columns are attributes.",
            ])
        let context = try await database.open(draft.model)
        try await context.perform {
            let invoice = try context.one("Invoices", "languageCode BEGINSWITH 'pl'")
            let pairs = try context.found("InvoiceLanguages")
            #expect(invoice.value(forKey: "languageCode") is String && pairs.isEmpty)
        }
    }

    @Test("A schema that is not there is an error") func missing() async throws {
        var options = PostgreSQLStoreOptions()
        options.schema = "no_such_schema"
        let error = await #expect(throws: NSError.self) {
            _ = try await NSManagedObjectModel(describing: try server().url, options: options)
        }
        expect(error?.code, equals: NSPersistentStoreOpenError)
        expect(error?.localizedFailureReason?.contains("no_such_schema"), equals: true)
    }
}
#endif
