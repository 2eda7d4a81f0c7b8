import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Fetching from the tables of another program in a file") struct FetchTests {
    @Test("Values of every type are read, and faults fire") func values() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let olga = try context.one("Authors", "fullName == 'Olga'")
            expect(olga.value(forKey: "id") as? Int, equals: 1)
            expect(olga.value(forKey: "upperName") as? String, equals: "OLGA")
            expect((olga.value(forKey: "extra") as? [String: Any])?["year"] as? Int, equals: 2018)
            expect(olga.value(forKey: "fame") as? Double, equals: 0.5)
            expect(olga.value(forKey: "born") as? Date, equals: Date(timeIntervalSinceReferenceDate: -1_228_348_800))
            expect(olga.value(forKey: "seen") as? Date, equals: Date(timeIntervalSinceReferenceDate: 10))
            expect(olga.value(forKey: "joined") as? Date, equals: Date(timeIntervalSinceReferenceDate: 0))
            let haruki = try context.one("Authors", "id == 2")
            expect(haruki.value(forKey: "seen") as? Date, equals: Date(timeIntervalSinceReferenceDate: 20.5))
            #expect(haruki.value(forKey: "mentor") as? NSManagedObject === olga)
            let books = try #require(olga.value(forKey: "booksByAuthor") as? Set<NSManagedObject>)
            expect(Set(books.compactMap { $0.value(forKey: "title") as? String }), equals: ["Flights", "Primeval"])
            let flights = try context.one("Books", "title == 'Flights'")
            expect(flights.value(forKey: "id") as? UUID, equals: UUID(uuidString: "00000000-0000-0000-0000-000000000001"))
            expect(flights.value(forKey: "price") as? NSDecimalNumber, equals: NSDecimalNumber(string: "12.5"))
            expect(flights.value(forKey: "isSoldOut") as? Bool, equals: false)
            let editions = try #require(flights.value(forKey: "editions") as? Set<NSManagedObject>)
            expect(Set(editions.compactMap { $0.value(forKey: "year") as? Int }), equals: [2007, 2017])
            let copy = try #require(try context.found("Copies").first)
            expect((copy.value(forKey: "edition") as? NSManagedObject)?.value(forKey: "number") as? Int, equals: 2)
            expect((flights.value(forKey: "tags") as? Set<NSManagedObject>)?.count, equals: 2)
            let profile = try #require(olga.value(forKey: "authorProfile") as? NSManagedObject)
            expect(profile.value(forKey: "photo") as? Data, equals: Data([0, 255]))
            #expect(profile.value(forKey: "author") as? NSManagedObject === olga)
            try expect(context.one("AuthorTotals", "fullName == 'Olga'").value(forKey: "books") as? Int, equals: 2)
            try expect(context.found("Log", "line BEGINSWITH 's'").first?.objectID.uriRepresentation().path, equals: "/Log/p2")
        }
    }

    @Test(
        "Predicates reach over relationships of every kind",
        arguments: [
            ("Books", "author.country.name == 'Poland'", 2), ("Books", "ANY tags.label == 'travel'", 1), ("Tags", "books.@count == 2", 1),
            ("Authors", "ANY booksByAuthor.pages > 300", 1), ("Authors", "mentor == nil", 1),
            ("Authors", "authorProfile.motto == 'Walk'", 1),
            ("Copies", "edition.book.title == 'Flights'", 1), ("Editions", "SUBQUERY(copies, $c, $c.shelf == 'A').@count == 1", 1),
            ("Books", "price < 10", 1), ("Books", "price == 12.5", 1), ("Books", "isSoldOut == NO AND pages BETWEEN {200, 300}", 1),
            ("Authors", "fullName ==[cd] 'ÓLGA'", 1), ("Authors", "born < %@", 1), ("Authors", "seen > %@", 2),
            ("Authors", "joined == %@", 1),
            ("AuthorTotals", "books > 1", 1), ("Measures", "amount / 2 > 1.4", 1), ("Log", "at IN {2, 3}", 1),
        ])
    func predicates(_ entity: String, _ format: String, _ count: Int) throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let arguments = format.contains("%@") ? [Date(timeIntervalSinceReferenceDate: 0)] : []
            let found = try context.found(entity, format, arguments)
            expect(found.count, equals: count)
            try expect(context.number(entity, format, arguments), equals: count)
        }
    }

    @Test("UUIDs, dates and objects are compared as what they are") func constants() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let id = UUID(uuidString: "00000000-0000-0000-0000-000000000002")!
            try expect(context.one("Books", "id == %@", [id]).value(forKey: "title") as? String, equals: "Primeval")
            let olga = try context.one("Authors", "id == 1")
            try expect(context.number("Books", "author == %@", [olga]), equals: 2)
            let edition = try context.one("Editions", "year == 2017")
            try expect(context.number("Copies", "edition == %@", [edition]), equals: 1)
            try expect(context.number("Editions", "SELF IN %@", [[edition]]), equals: 1)
        }
    }

    @Test("Dictionaries, aggregates, groups, orders and pages are answered") func shapes() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "Books")
            request.resultType = .dictionaryResultType
            let pages = NSExpressionDescription()
            pages.name = "pages"
            pages.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
            pages.expressionResultType = .integer64AttributeType
            request.propertiesToGroupBy = ["author.fullName"]
            request.propertiesToFetch = ["author.fullName", pages]
            request.sortDescriptors = [NSSortDescriptor(key: "author.fullName", ascending: true)]
            let found = try context.fetch(request).map { "\($0["author.fullName"] ?? "") \($0["pages"] ?? "")" }
            expect(found, equals: ["Haruki 0", "Olga 650"])
            let plain = NSFetchRequest<NSDictionary>(entityName: "Authors")
            plain.resultType = .dictionaryResultType
            plain.propertiesToFetch = ["id", "extra", "seen", "country", "mentor"]
            plain.predicate = NSPredicate(format: "id == 1")
            let olga = try #require(try context.fetch(plain).first)
            expect((olga["extra"] as? [String: Any])?["year"] as? Int, equals: 2018)
            expect(olga["seen"] as? Date, equals: Date(timeIntervalSinceReferenceDate: 10))
            expect((olga["country"] as? NSManagedObjectID)?.uriRepresentation().path, equals: "/Countries/pPL")
            let page = NSFetchRequest<NSManagedObject>(entityName: "Books")
            page.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
            (page.fetchLimit, page.fetchOffset) = (1, 1)
            try expect(context.fetch(page).compactMap { $0.value(forKey: "title") as? String }, equals: ["Kafka"])
            let sorted = NSFetchRequest<NSManagedObject>(entityName: "Books")
            sorted.sortDescriptors = [NSSortDescriptor(key: "author.country.name", ascending: true)]
            try expect(context.fetch(sorted).first?.value(forKey: "title") as? String, equals: "Kafka")
        }
    }

    @Test("A clause without SQL is refused, or finished in memory where the request allows it") func finishing() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Books")
            let block = NSPredicate { object, _ in (object as? [String: Any])?["pages"] as? Int == 400 }
            request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "author.id == 1"), block])
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            expect(error?.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
            request.allowsEvaluationInMemory = true
            let found = try context.fetch(request)
            expect(found.compactMap { $0.value(forKey: "title") as? String }, equals: ["Flights"])
            let sorted = NSFetchRequest<NSManagedObject>(entityName: "Books")
            sorted.sortDescriptors = [
                NSSortDescriptor(key: "title", ascending: true) { left, right in
                    let (left, right) = ((left as? String ?? "").count, (right as? String ?? "").count)
                    return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
                }
            ]
            try expect(context.fetch(sorted).compactMap { $0.value(forKey: "title") as? String }, equals: ["Kafka", "Flights", "Primeval"])
        }
    }

    @Test("Objects that came together are read by one statement, whatever their keys are") func batches() throws {
        let file = try OthersFile(
            """
            CREATE TABLE pairs (a TEXT, b INTEGER, c BLOB, note TEXT, PRIMARY KEY (a, b, c)) WITHOUT ROWID;
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                INSERT INTO pairs SELECT 'k"' || i, i, CAST(i AS BLOB), 'note ' || i FROM n;
            """)
        let context = try file.open()
        try context.performAndWait {
            let all = try context.found("Pairs", nil, by: "b")
            expect(all.count, equals: 500)
            context.reset()
            let ids = all.map(\.objectID)
            let again = ids.map { context.object(with: $0) }
            #expect(again.enumerated().allSatisfy { $1.value(forKey: "note") as? String == "note \($0 + 1)" })
            try expect(context.number("Pairs", "SELF IN %@", [ids]), equals: 500)
        }
    }

    @Test("Reading changes no byte of the file and leaves no other file", arguments: ["DELETE", "WAL"]) func bytes(_ mode: String) throws {
        let file = try OthersFile("PRAGMA journal_mode = \(mode); " + OthersFile.library)
        let (bytes, files) = (try file.bytes, file.files)
        do {
            let context = try file.open()
            try context.performAndWait { () throws in
                try expect(context.found("Books", "author.fullName == 'Olga' AND title LIKE '*l*'").count, equals: 2)
                #expect(throws: (any Error).self) { try context.found("Books", "nothing == 1") }
            }
        }
        try expect(file.bytes, equals: bytes)
        expect(file.files, equals: files)
        try expect(file.texts("PRAGMA journal_mode"), equals: [mode.lowercased()])
    }

    @Test("A value of another kind than its column is an error that names row and column, and is never compared") func kinds() throws {
        let file = try OthersFile(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, plain INTEGER, known INTEGER, flag BOOLEAN, flagged BOOLEAN, day DATE, name TEXT, code TEXT);
            CREATE INDEX t_known ON t (known);
            CREATE INDEX t_flagged ON t (flagged);
            CREATE INDEX t_code ON t (code);
            INSERT INTO t VALUES (1, 1, 1, 1, 1, '2020-01-01', 'a', 'a'), (2, 2, 2, 0, 0, '2020-01-02', 'b', 'b');
            """)
        let model = try file.draft().model
        for (column, value, condition) in [
            ("plain", "'many'", "plain > 1"), ("known", "'many'", "known < 5"), ("flag", "2", "flag == YES"),
            ("flagged", "2", "flagged == YES"),
            ("day", "'someday'", "day > %@"), ("name", "x'61'", "name == 'b'"), ("code", "x'61'", "code == 'b'"),
            ("known", "x'00'", "known == 2"),
        ] {
            try file.execute("UPDATE t SET \(column) = \(value) WHERE id = 2")
            let context = try file.open(model)
            let arguments = condition.contains("%@") ? [Date.distantPast] : []
            try context.performAndWait { () throws in
                let counting = #expect(throws: NSError.self) { try context.number("T", condition, arguments) }
                #expect("\(counting as Any)".contains("t.\(column)"), "\(column) \(counting as Any)")
                let reading = #expect(throws: NSError.self) { try context.found("T") }
                expect(reading?.code, equals: NSCoreDataError)
                expect(reading?.localizedDescription.contains("t.\(column)"), equals: true)
                expect(reading?.localizedFailureReason?.contains("in the row with the key 2"), equals: true, "\(reading as Any)")
                // Other columns and rows are not concerned.
                try expect(context.number("T", "id == 1"), equals: 1)
            }
            try file.execute("UPDATE t SET \(column) = (SELECT \(column) FROM t WHERE id = 1) WHERE id = 2")
            let all = try context.performAndWait { try context.found("T").count }
            expect(all, equals: 2)
        }
    }

    @Test("Text is compared by its characters, whatever the collation of its column is") func collations() throws {
        let file = try OthersFile(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, code TEXT COLLATE RTRIM);
            INSERT INTO t VALUES (1, 'abc', 'x  '), (2, 'ABD', 'y');
            """)
        let context = try file.open()
        try context.performAndWait {
            let found = try context.found("T", nil, by: "name")
            expect(found.compactMap { $0.value(forKey: "id") as? Int }, equals: [2, 1])
            try expect(context.number("T", "name == 'ABC'"), equals: 0)
            try expect(context.number("T", "name == 'abc'"), equals: 1)
            try expect(context.number("T", "code == 'x'"), equals: 0)
        }
    }
}
