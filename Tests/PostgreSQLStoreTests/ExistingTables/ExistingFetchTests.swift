#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Fetching from the tables of another program") struct ExistingFetchTests {
    @Test("Values of every type are read") func values() async throws {
        let context = try await LibraryDatabase().open()
        try await context.perform {
            let olga = try context.one("Authors", "fullName == 'Olga'")
            expect(olga.value(forKey: "id") as? Int, equals: 1)
            expect(olga.value(forKey: "state") as? String, equals: "calm")
            expect(olga.value(forKey: "nicknames") as? [String], equals: ["O", "T, of course"])
            expect(olga.value(forKey: "scores") as? [Int], equals: [1, 2, 3])
            let extra = try #require(olga.value(forKey: "extra") as? [String: Any])
            expect(extra["prizes"] as? [String], equals: ["Nobel"])
            expect((olga.value(forKey: "home") as? [String: Any])?["street"] as? String, equals: "Main \"St\"")
            expect(olga.value(forKey: "fame") as? Float, equals: 0.5)
            expect(olga.value(forKey: "born") as? Date, equals: Date(timeIntervalSince1970: -250_041_600))
            expect(olga.value(forKey: "alarm") as? String, equals: "06:30:00")
            expect(olga.value(forKey: "address") as? String, equals: "10.0.0.1")
            expect(olga.value(forKey: "joined") as? Date, equals: Date(timeIntervalSinceReferenceDate: 0))
            expect(olga.value(forKey: "seen") as? Date, equals: Date(timeIntervalSinceReferenceDate: 10))
            expect(olga.value(forKey: "upperName") as? String, equals: "OLGA")
            expect(olga.value(forKeyPath: "country.name") as? String, equals: "Poland")
            expect(olga.value(forKeyPath: "authorProfile.photo") as? Data, equals: Data([0, 255]))
            expect(olga.value(forKeyPath: "authorProfile.author.fullName") as? String, equals: "Olga")
        }
    }

    @Test("Network addresses are read, compared, sorted, saved and keys as PostgreSQL shows them") func addresses() async throws {
        let library = try await LibraryDatabase(
            """
            CREATE TABLE hosts (ip inet PRIMARY KEY, net cidr, former inet[]);
            CREATE TABLE names (id serial PRIMARY KEY, label text, ip inet REFERENCES hosts ON UPDATE CASCADE);
            INSERT INTO hosts VALUES ('10.0.0.1', '10.0.0.0/8', '{10.0.0.9,10.1.0.0/16}'), ('10.0.0.2/8', '10.0.0.2/32', NULL), ('::1', NULL, NULL);
            INSERT INTO names (label, ip) VALUES ('one', '10.0.0.1'), ('two', '10.0.0.2/8'), ('six', '::1');
            """)
        let context = try await library.open()
        try await context.perform {
            let hosts = try context.found("Hosts", by: "ip")
            expect(hosts.map { $0.value(forKey: "ip") as? String }, equals: ["10.0.0.1", "10.0.0.2/8", "::1"])
            expect(hosts.map { $0.value(forKey: "net") as? String }, equals: ["10.0.0.0/8", "10.0.0.2/32", nil])
            expect(hosts[0].value(forKey: "former") as? [String], equals: ["10.0.0.9", "10.1.0.0/16"])
            try expect(context.one("Hosts", "ip == '10.0.0.1'").value(forKey: "net") as? String, equals: "10.0.0.0/8")
            try expect(context.found("Hosts", "ip IN {'10.0.0.1', '::1'}").count, equals: 2)
            try expect(context.found("Hosts", "ip == '10.0.0.1/32'").count, equals: 0)
            try expect(context.found("Names", "ip.ip == '10.0.0.1'").map { $0.value(forKey: "label") as? String }, equals: ["one"])
            expect((hosts[0].value(forKey: "names") as? Set<NSManagedObject>)?.count, equals: 1)
            let new = context.insert("Hosts", ["ip": "192.168.0.7", "net": "192.168.0.0/16"])
            context.insert("Names", ["label": "seven", "ip": new])
            try context.save()
            expect(new.objectID.uriRepresentation().lastPathComponent, equals: "p[\"192.168.0.7\"]")
            new.setValue("10.9.0.0/16", forKey: "net")
            try context.save()
            context.reset()
            let seven = try context.one("Names", "label == 'seven'")
            expect(seven.value(forKeyPath: "ip.ip") as? String, equals: "192.168.0.7")
            try expect(context.existingObject(with: new.objectID).value(forKey: "net") as? String, equals: "10.9.0.0/16")
        }
        try await expect(library.texts("SELECT ip FROM names WHERE label = 'seven'"), equals: ["192.168.0.7/32"])
    }

    @Test("Relationships are walked over keys of every kind") func walk() async throws {
        let context = try await LibraryDatabase().open()
        try await context.perform {
            func names(_ object: NSManagedObject, _ path: String, _ key: String) -> [String] {
                (object.value(forKey: path) as? Set<NSManagedObject> ?? []).map { "\($0.value(forKey: key) ?? "nil")" }.sorted()
            }
            let olga = try context.one("Authors", "fullName == 'Olga'")
            expect(names(olga, "booksByAuthor", "title"), equals: ["Flights", "Primeval"])
            expect(names(olga, "booksByEditor", "title"), equals: ["Kafka"])
            expect(names(olga, "authors", "fullName"), equals: ["Haruki"])
            let flights = try context.one("Books", "title == 'Flights'")
            expect(names(flights, "tags", "label"), equals: ["novel", "travel"])
            expect(names(flights, "editions", "year"), equals: ["2007", "2017"])
            let copy = try #require(try context.found("Copies").first)
            expect(copy.value(forKeyPath: "edition.year") as? Int, equals: 2017)
            expect(copy.value(forKeyPath: "edition.book.title") as? String, equals: "Flights")
            let edition = try #require(copy.value(forKey: "edition") as? NSManagedObject)
            expect(names(edition, "copies", "shelf"), equals: ["A"])
            expect(names(try context.one("Tags", "label == 'novel'"), "books", "title"), equals: ["Flights", "Kafka"])
            try expect(context.one("AuthorTotals", "books == 2").value(forKey: "fullName") as? String, equals: "Olga")
        }
    }

    @Test(
        "Predicates over paths, objects and collections are answered",
        arguments: [
            ("author.fullName == 'Olga' AND pages > 300", ["Flights"]), ("ANY tags.label == 'travel'", ["Flights"]),
            ("tags.@count == 0", ["Primeval"]), ("editor == nil", ["Primeval"]), ("title CONTAINS[c] 'KAF'", ["Kafka"]),
            ("price > 10", ["Flights"]), ("SUBQUERY(editions, $e, $e.year > 2010).@count == 1", ["Flights"]),
            ("author.country.name IN {'Japan'}", ["Kafka"]), ("author.mentor.fullName == 'Olga'", ["Kafka"]),
            ("author.authorProfile.motto == 'Walk'", ["Flights", "Primeval"]), ("isSoldOut == NO AND pages == nil", ["Kafka"]),
            ("ANY editions.copies.shelf == 'A'", ["Flights"]), ("title BEGINSWITH 'P'", ["Primeval"]),
            ("author.state == 'calm' AND isbn != nil", ["Flights", "Primeval"]),
        ])
    func predicates(format: String, titles: [String]) async throws {
        let context = try await LibraryDatabase().open()
        try await context.perform {
            let found = try context.found("Books", format, by: "title").map { $0.value(forKey: "title") as? String }
            expect(found, equals: titles)
        }
    }

    @Test("Objects and lists of objects are found by keys of every kind") func objects() async throws {
        let context = try await LibraryDatabase().open()
        try await context.perform {
            let flights = try context.one("Books", "title == 'Flights'")
            let edition = try context.one("Editions", "year == 2017")
            let poland = try context.one("Countries", "name == 'Poland'")
            try expect(context.found("Editions", "book == %@", [flights], by: "year").count, equals: 2)
            try expect(context.found("Editions", "book IN %@", [[flights] as NSArray]).count, equals: 2)
            try expect(context.found("Copies", "edition == %@", [edition]).count, equals: 1)
            #expect(try context.found("Copies", "edition != %@", [edition]).isEmpty)
            try expect(context.found("Authors", "country == %@", [poland]).count, equals: 1)
            #expect(try context.found("Authors", "country == %@", [flights]).isEmpty)
            try expect(context.found("Editions", "SELF == %@", [edition.objectID]).count, equals: 1)
            try expect(context.found("Books", "ANY editions == %@", [edition]).count, equals: 1)
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Books")), equals: 3)
            let request = NSFetchRequest<NSDictionary>(entityName: "Books")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["author.country.name", "title"]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
            try expect(context.fetch(request).compactMap { $0["title"] as? String }, equals: ["Primeval", "Kafka", "Flights"])
        }
    }

    @Test("The URI of an object carries its key, and names it in another run") func uris() async throws {
        let database = try await LibraryDatabase()
        let context = try await database.open()
        let uris = try await context.perform {
            try [
                context.one("Authors", "fullName == 'Olga'"), context.one("Books", "title == 'Flights'"),
                context.one("Countries", "name == 'Japan'"), context.one("Editions", "year == 2017"),
            ].map { $0.objectID.uriRepresentation() }
        }
        expect(uris[0].path, equals: "/Authors/p1")
        expect(uris[1].path, equals: "/Books/p00000000-0000-0000-0000-000000000001")
        let other = try await database.open()
        try await other.perform {
            let coordinator = try #require(other.persistentStoreCoordinator)
            let objects = try uris.map { uri in
                try other.existingObject(with: try #require(coordinator.managedObjectID(forURIRepresentation: uri)))
            }
            expect(objects[0].value(forKey: "fullName") as? String, equals: "Olga")
            expect(objects[1].value(forKey: "title") as? String, equals: "Flights")
            expect(objects[2].value(forKey: "name") as? String, equals: "Japan")
            expect(objects[3].value(forKey: "year") as? Int, equals: 2017)
        }
    }

    @Test("A hundred objects are walked in a handful of statements") func batches() async throws {
        let database = try await LibraryDatabase()
        try await database.execute(
            """
            INSERT INTO books (author_id, title) SELECT 1 + n % 2, 'Book ' || n FROM generate_series(1, 100) n;
            INSERT INTO editions SELECT id, 7, 2000 FROM books WHERE title LIKE 'Book%'
            """)
        let context = try await database.open()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Books")
        request.relationshipKeyPathsForPrefetching = ["editions", "author", "tags"]
        try await context.perform {
            let books = try context.fetch(request)
            let editions = books.flatMap { $0.value(forKey: "editions") as? Set<NSManagedObject> ?? [] }
            expect(editions.count, equals: 102)
            expect(Set(books.compactMap { $0.value(forKeyPath: "author.fullName") as? String }), equals: ["Olga", "Haruki"])
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? MappedStore)
            #expect(store.content.statementCount < 12, "\(store.content.statementCount) statements")
        }
    }

    @Test("Every difference between model and tables is named in one error") func differences() async throws {
        let database = try await LibraryDatabase()
        let model = try await database.draft().model
        try await database.execute(
            """
            ALTER TABLE authors DROP COLUMN fame; ALTER TABLE books ALTER COLUMN pages TYPE bigint;
            ALTER TABLE books RENAME COLUMN editor_id TO editor; DROP VIEW author_totals; DROP TABLE book_tags
            """)
        let error = await #expect(throws: NSError.self) { _ = try await database.open(model) }
        expect(error?.code, equals: NSPersistentStoreIncompatibleSchemaError)
        let reason = error?.localizedFailureReason ?? ""
        #expect(reason.contains("in 5 places"))
        for part in [
            "Authors.fame (authors.fame): expected a column, found none",
            "Books.pages (books.pages): expected an integer of at most 16 bits, found bigint",
            "Books.editor (books.editor_id): expected columns with the key of “Authors”, found none",
            "AuthorTotals (\(database.options.schema).author_totals): expected a table or a view, found none",
            "(\(database.options.schema).book_tags): expected a table of pairs, found none",
        ] { #expect(reason.contains(part), "\(part) in: \(reason)") }
    }

    @Test("A model that is written by hand names tables and columns by its user info, and by the names of its properties") func byHand()
        async throws
    {
        let (person, book) = (NSEntityDescription(name: "Person"), NSEntityDescription(name: "Book"))
        person.userInfo = ["tableName": "authors"]
        book.userInfo = ["tableName": "books"]
        let name = NSAttributeDescription(name: "name", type: .string, isOptional: false)
        name.userInfo = ["columnName": "full_name"]
        // Every type has a form as text.
        let seen = NSAttributeDescription(name: "seen", type: .string)
        let writer = NSRelationshipDescription(name: "writer", destination: person, isOptional: false)
        writer.userInfo = ["columnNames": "author_id"]
        let works = NSRelationshipDescription(name: "works", destination: book, toMany: true)
        writer.inverse(to: works)
        person.properties = [name, seen, works]
        book.properties = [NSAttributeDescription(name: "title", type: .string, isOptional: false), writer]
        let context = try await LibraryDatabase().open(NSManagedObjectModel(entities: [person, book]))
        try await context.perform {
            let olga = try context.one("Person", "name == 'Olga'")
            expect((olga.value(forKey: "works") as? Set<NSManagedObject>)?.count, equals: 2)
            expect((olga.value(forKey: "seen") as? String)?.hasPrefix("2001-01-01 00:00:10"), equals: true)
        }
    }
}
#endif
