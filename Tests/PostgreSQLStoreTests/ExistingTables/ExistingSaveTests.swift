#if PostgreSQL
import CoreData
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Saving to the tables of another program") struct ExistingSaveTests {
    @Test("New rows get keys and defaults from the database, and references to each other") func inserting() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        try await context.perform {
            let italy = context.insert("Countries", ["code": "IT", "name": "Italy"])
            let italo = context.insert(
                "Authors", ["fullName": "Italo", "scores": [4, 5], "extra": ["a": [1, 2.5, NSNull()]] as [String: Any]])
            italo.setValue(italy, forKey: "country")
            let book = context.insert("Books", ["title": "Cities", "price": NSDecimalNumber(string: "7.25")])
            book.setValue(italo, forKey: "author")
            let edition = context.insert("Editions", ["number": 3, "year": 1972])
            edition.setValue(book, forKey: "book")
            context.insert("Copies", ["shelf": "B"]).setValue(edition, forKey: "edition")
            let tag = context.insert("Tags", ["label": "short"])
            book.setValue([tag, try context.one("Tags", "label == 'novel'")] as Set<NSManagedObject>, forKey: "tags")
            context.insert("AuthorProfiles", ["motto": "Light", "photo": Data([7])]).setValue(italo, forKey: "author")
            try context.save()
            expect(italo.value(forKey: "id") as? Int, equals: 3)
            expect(italo.value(forKey: "state") as? String, equals: "calm")
            expect(italo.value(forKey: "upperName") as? String, equals: "ITALO")
            expect(italo.objectID.uriRepresentation().path, equals: "/Authors/p3")
            #expect(!book.objectID.isTemporaryID && book.value(forKey: "id") as? UUID != nil)
            // What was saved is changed without another fetch.
            italo.setValue("cross", forKey: "state")
            book.setValue("Invisible Cities", forKey: "title")
            try context.save()
            #expect(!context.hasChanges)
        }
        #expect(
            try await database.texts(
                """
                SELECT concat_ws('|', a.full_name, a.state, a.scores, a.extra, c.name, b.title, b.price, e.number, k.shelf, p.motto,
                    (SELECT string_agg(label, '+' ORDER BY label) FROM book_tags JOIN tags t ON t.id = tag_id WHERE book_id = b.id))
                FROM authors a JOIN countries c ON c.code = a.country_code JOIN books b ON b.author_id = a.id
                JOIN editions e ON e.book_id = b.id JOIN copies k ON k.book = b.id AND k.edition = e.number
                JOIN author_profiles p ON p.author_id = a.id WHERE a.id = 3
                """) == ["Italo|cross|{4,5}|{\"a\": [1, 2.5, null]}|Italy|Invisible Cities|7.25|3|B|Light|novel+short"])
    }

    @Test("Values of every type are written") func values() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        try await context.perform {
            let haruki = try context.one("Authors", "fullName == 'Haruki'")
            for (key, value) in [
                "nicknames": ["a \"b\"", "ą,{}"], "home": ["street": "Rue", "number": 3] as [String: Any], "fame": 2.25,
                "alarm": "23:59:30",
                "address": "192.168.0.0/16", "joined": Date(timeIntervalSinceReferenceDate: 3.5),
                "born": Date(timeIntervalSinceReferenceDate: 86_400),
                "seen": Date.distantPast,
            ] as [String: Any] { haruki.setValue(value, forKey: key) }
            try context.save()
            haruki.setValue(nil, forKey: "alarm")
            haruki.setValue([Any](), forKey: "nicknames")
            try context.save()
        }
        #expect(
            try await database.texts(
                "SELECT concat_ws('|', nicknames, home, fame, alarm IS NULL, address, joined, born) FROM authors WHERE id = 2")
                == ["{}|(Rue,3)|2.25|t|192.168.0.0/16|2001-01-01 00:00:03.5|2001-01-02"])
    }

    @Test("Rows are deleted before those that they refer to, and pairs with their objects") func deleting() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        try await context.perform {
            try context.found("Copies").forEach(context.delete)
            try context.save()
            let flights = try context.one("Books", "title == 'Flights'")
            flights.setValue(nil, forKey: "editor")
            context.delete(flights)
            context.delete(try context.one("Tags", "label == 'travel'"))
            try context.save()
        }
        #expect(try await database.texts("SELECT title FROM books ORDER BY 1") == ["Kafka", "Primeval"])
        #expect(try await database.texts("SELECT count(*) FROM editions") == ["0"])
        #expect(try await database.texts("SELECT book_id || ' ' || tag_id FROM book_tags") == ["00000000-0000-0000-0000-000000000003 1"])
    }

    @Test("Pairs are added and removed from either end") func pairs() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        try await context.perform {
            let travel = try context.one("Tags", "label == 'travel'")
            let kafka = try context.one("Books", "title == 'Kafka'")
            travel.setValue([kafka] as Set<NSManagedObject>, forKey: "books")
            try context.save()
            expect((kafka.value(forKey: "tags") as? Set<NSManagedObject>)?.count, equals: 2)
        }
        #expect(
            try await database.texts("SELECT right(book_id::text, 1) || tag_id FROM book_tags ORDER BY 1") == ["11", "31", "32"])
    }

    @Test("An object that another program has changed is a conflict, which the merge policy resolves") func conflicts() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        let (author, book) = try await context.perform {
            context.retainsRegisteredObjects = true
            let (author, book) = (try context.one("Authors", "id == 1"), try context.one("Books", "title == 'Primeval'"))
            expect(author.value(forKey: "state") as? String, equals: "calm")
            expect(book.value(forKey: "pages") as? Int, equals: 250)
            return (author.objectID, book.objectID)
        }
        try await database.execute("UPDATE authors SET fame = 9 WHERE id = 1; DELETE FROM books WHERE title = 'Primeval'")
        try await context.perform {
            context.object(with: author).setValue("cross", forKey: "state")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectMergeError)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            expect(context.object(with: author).value(forKey: "fame") as? Float, equals: 9)
            context.mergePolicy = NSMergePolicy.error
            context.object(with: book).setValue(251, forKey: "pages")
            #expect(throws: NSError.self) { try context.save() }
            context.rollback()
        }
        #expect(try await database.texts("SELECT state::text || fame FROM authors WHERE id = 1") == ["cross9"])
    }

    @Test("Two programs that change one object do not lose a change") func counting() async throws {
        let database = try await LibraryDatabase()
        let contexts = [try await database.open(), try await database.open(), try await database.open()]
        try await withThrowingTaskGroup { group in
            for context in contexts {
                group.addTask {
                    for _ in 0..<15 {
                        while true {
                            let isSaved = try await context.perform {
                                let book = try context.one("Books", "title == 'Flights'")
                                context.refresh(book, mergeChanges: false)
                                book.setValue((book.value(forKey: "pages") as? Int ?? 0) + 1, forKey: "pages")
                                do {
                                    try context.save()
                                    return true
                                } catch let error as NSError where error.code == NSManagedObjectMergeError {
                                    context.rollback()
                                    return false
                                }
                            }
                            if isSaved { break }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.texts("SELECT pages FROM books WHERE title = 'Flights'") == ["445"])
    }

    @Test("A uniqueness rule of the table is a conflict with the object that has the value") func constraints() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        try await context.perform {
            let tag = context.insert("Tags", ["label": "novel"])
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectConstraintMergeError)
            context.delete(tag)
            let country = context.insert("Countries", ["code": "PL", "name": "Poland again"])
            #expect(throws: NSError.self) { try context.save() }
            context.delete(country)
            try context.save()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            _ = context.insert("Tags", ["label": "travel"])
            try context.save()
            try expect(context.found("Tags").count, equals: 2)
        }
    }

    @Test("What the tables forbid is an error that says which rule, and nothing is saved") func rules() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        try await context.perform {
            let book = try context.one("Books", "title == 'Kafka'")
            func code(_ key: String, _ value: Any?) -> Int? {
                book.setValue(value, forKey: key)
                defer { context.rollback() }
                let error = #expect(throws: NSError.self) { try context.save() }
                expect(error?.localizedFailureReason?.isEmpty, equals: false)
                return error?.code
            }
            expect(code("price", NSDecimalNumber(value: -1)), equals: NSManagedObjectValidationError)
            expect(code("title", String(repeating: "x", count: 81)), equals: NSManagedObjectValidationError)
            expect(code("title", "nul\u{0}"), equals: NSPersistentStoreSaveError)
            expect(code("id", UUID()), equals: NSPersistentStoreSaveError)
            let total = try context.one("AuthorTotals", "books == 2")
            total.setValue("Someone", forKey: "fullName")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(
                error?.localizedFailureReason?.contains("“AuthorTotals” is the view") == true
                    || error?.localizedFailureReason?.contains("read only") == true)
            context.rollback()
            let author = try context.one("Authors", "id == 1")
            author.setValue("LOUD", forKey: "upperName")
            let generated = #expect(throws: NSError.self) { try context.save() }
            expect(generated?.localizedFailureReason?.contains("generated"), equals: true)
            context.rollback()
        }
        #expect(try await database.texts("SELECT title || price FROM books WHERE author_id = 2") == ["Kafka9.99"])
    }

    @Test("New rows that refer to each other are saved where a column may be NULL meanwhile") func cycles() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        try await context.perform {
            let (first, second) = (context.insert("Authors", ["fullName": "First"]), context.insert("Authors", ["fullName": "Second"]))
            first.setValue(second, forKey: "mentor")
            second.setValue(first, forKey: "mentor")
            let own = context.insert("Authors", ["fullName": "Own"])
            own.setValue(own, forKey: "mentor")
            try context.save()
        }
        #expect(
            try await database.texts(
                "SELECT a.full_name || m.full_name FROM authors a JOIN authors m ON m.id = a.mentor_id WHERE a.id > 2 ORDER BY 1")
                == ["FirstSecond", "OwnOwn", "SecondFirst"])
    }

    @Test("A thousand new objects are saved together") func many() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        try await context.perform {
            for index in 0..<1000 {
                let author = context.insert("Authors", ["fullName": "Author \(index)"])
                context.insert("Books", ["title": "Book \(index)"]).setValue(author, forKey: "author")
            }
            try context.save()
            try expect(context.found("Books", "author.fullName BEGINSWITH 'Author 99'").count, equals: 11)
        }
        #expect(
            try await database.texts(
                "SELECT count(*) FROM books b JOIN authors a ON a.id = author_id WHERE title = replace(full_name, 'Author', 'Book')") == [
                    "1000"
                ])
    }

    @Test("A save is done once, whether the connection is cut before or after the commit", arguments: [CuttingProxy.Cut.before, .after])
    func cut(_ cut: CuttingProxy.Cut) async throws {
        let database = try await LibraryDatabase()
        let proxy = try CuttingProxy(to: try server().port)
        defer { proxy.close() }
        let context = try await database.open(at: try server().url(port: proxy.port))
        for round in 0..<3 {
            proxy.cutNext(cut)
            try await context.perform {
                let tag = context.insert("Tags", ["label": "\(round)"])
                try context.save()
                tag.setValue("\(round), changed", forKey: "label")
                try context.save()
            }
        }
        expect(proxy.cuts, equals: 3)
        #expect(try await database.texts("SELECT label FROM tags WHERE id > 2 ORDER BY label") == (0..<3).map { "\($0), changed" })
    }

    @Test("A user who may only read opens the tables, and no schema is created") func reading() async throws {
        let database = try await LibraryDatabase()
        let schema = database.options.schema
        try await database.execute(
            """
            CREATE ROLE \(schema)_reader LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(schema)_reader;
            GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(schema)_reader
            """)
        let url = database.url.replacing("tester@", with: "\(schema)_reader@")
        let context = try await database.open(at: url)
        try await context.perform {
            let book = try context.one("Books", "title == 'Kafka'")
            book.setValue("Other", forKey: "title")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSPersistentStoreSaveError)
            expect(error?.localizedFailureReason?.contains("permission denied"), equals: true)
        }
    }
}
#endif
