#if PostgreSQL
import CoreData
import Foundation
import Testing

@testable import PostgreSQLStore

@Suite("Models drafted from the catalogue of a database") struct DraftingTests {
    private func entity(_ name: String, of model: NSManagedObjectModel) throws -> NSEntityDescription {
        try #require(model.entitiesByName[name])
    }

    @Test("Tables and views become entities, and columns attributes of their types") func types() async throws {
        let model = try await LibraryDatabase().draft().model
        #expect(
            model.entities.compactMap(\.name).sorted() == [
                "AuthorProfiles", "AuthorTotals", "Authors", "Books", "Copies", "Countries", "Editions", "Tags",
            ])
        let authors = try entity("Authors", of: model)
        let types = authors.attributesByName.mapValues(\.type)
        #expect(
            types == [
                "id": .integer32, "fullName": .string, "state": .string, "nicknames": .transformable, "scores": .transformable,
                "extra": .transformable, "home": .transformable, "fame": .float, "born": .date, "alarm": .string, "address": .string,
                "joined": .date, "seen": .date, "upperName": .string,
            ])
        let required = authors.attributesByName.values.filter { !$0.isOptional }.map(\.name)
        #expect(required == ["fullName"], "what the database gives is optional")
        let books = try entity("Books", of: model).attributesByName.mapValues(\.type)
        #expect(books == ["id": .uuid, "title": .string, "price": .decimal, "isSoldOut": .boolean, "pages": .integer16, "isbn": .string])
        #expect(authors.attributesByName["state"]?.validationPredicates.first?.evaluate(with: "calm") == true)
        #expect(authors.attributesByName["state"]?.validationPredicates.first?.evaluate(with: "happy") == false)
        #expect(try entity("AuthorProfiles", of: model).attributesByName["motto"]?.isOptional == false, "a domain is never NULL")
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
        #expect(
            try described("Authors") == [
                "country": "Countries one authors", "mentor": "Authors one authors", "authors": "Authors many mentor",
                "authorProfile": "AuthorProfiles one author", "booksByAuthor": "Books many author", "booksByEditor": "Books many editor",
            ])
        #expect(
            try described("Books") == [
                "author": "Authors one booksByAuthor required", "editor": "Authors one booksByEditor", "editions": "Editions many book",
                "tags": "Tags many books",
            ])
        #expect(try described("Copies") == ["edition": "Editions one copies required"])
        let authors = try entity("Authors", of: model).relationshipsByName.mapValues(\.deleteRule)
        #expect(authors["booksByAuthor"] == .cascadeDeleteRule)
        #expect(authors["booksByEditor"] == .denyDeleteRule)
        #expect(try entity("Countries", of: model).relationshipsByName["authors"]?.deleteRule == .nullifyDeleteRule)
        #expect(try entity("Books", of: model).uniquenessConstraints as? [[String]] == [["isbn"]])
    }

    @Test("What cannot be mapped is named with its reason") func report() async throws {
        let draft = try await LibraryDatabase(
            LibraryDatabase.script + """
                ;CREATE TABLE shelves (id serial PRIMARY KEY, tag text REFERENCES tags (label));
                """
        ).draft()
        #expect(draft.unmapped.count == 3)
        #expect(draft.unmapped.contains { $0.hasPrefix("The view nameless: nothing says which columns name a row.") })
        #expect(draft.unmapped.contains { $0.hasPrefix("The table log: nothing says which columns name a row.") })
        #expect(
            draft.unmapped.contains {
                $0.hasPrefix("The foreign key shelves_tag_fkey of shelves: it leads to label of tags, not to the key.")
            })
        #expect(draft.notes.contains("authors.address, inet, is read and written as text."))
        #expect(draft.model.entitiesByName["Shelves"]?.attributesByName["tag"]?.type == .string)
    }

    @Test("A schema that is not there is an error") func missing() async throws {
        var options = PostgreSQLStoreOptions()
        options.schema = "no_such_schema"
        let error = await #expect(throws: NSError.self) {
            _ = try await NSManagedObjectModel(describing: try server().url, options: options)
        }
        #expect(error?.code == NSPersistentStoreOpenError)
        #expect(error?.localizedFailureReason?.contains("no_such_schema") == true)
    }
}
#endif
