import CSQLite
import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Saving to the tables of another program in a file") struct SaveTests {
    @Test("New rows get keys and defaults from the database, and references to each other") func inserting() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let italy = context.insert("Countries", ["code": "IT", "name": "Italy"])
            let italo = context.insert("Authors", ["fullName": "Italo", "extra": ["a": [1, 2.5, NSNull()]] as [String: Any]])
            italo.setValue(italy, forKey: "country")
            let book = context.insert("Books", ["title": "Cities", "price": NSDecimalNumber(string: "7.25")])
            book.setValue(italo, forKey: "author")
            let edition = context.insert("Editions", ["number": 3, "year": 1972])
            edition.setValue(book, forKey: "book")
            context.insert("Copies", ["shelf": "B"]).setValue(edition, forKey: "edition")
            let tag = context.insert("Tags", ["label": "short"])
            book.setValue([tag, try context.one("Tags", "label == 'novel'")] as Set<NSManagedObject>, forKey: "tags")
            context.insert("AuthorProfiles", ["motto": "Light", "photo": Data([7])]).setValue(italo, forKey: "author")
            context.insert("Log", ["at": 3, "line": "third"])
            try context.save()
            expect(italo.value(forKey: "id") as? Int, equals: 3)
            expect(italo.value(forKey: "state") as? String, equals: "calm")
            expect(italo.value(forKey: "upperName") as? String, equals: "ITALO")
            expect(italo.value(forKey: "seen") as? Date, equals: Date(timeIntervalSinceReferenceDate: 0))
            expect(italo.objectID.uriRepresentation().path, equals: "/Authors/p3")
            #expect(!book.objectID.isTemporaryID && book.value(forKey: "id") as? UUID != nil)
            // What was saved is changed without another fetch.
            italo.setValue("cross", forKey: "state")
            book.setValue("Invisible Cities", forKey: "title")
            try context.save()
            #expect(!context.hasChanges)
        }
        try expect(
            file.texts(
                """
                SELECT a.full_name || '|' || a.state || '|' || a.extra || '|' || c.name || '|' || b.title || '|' || b.price || '|' || e.number
                    || '|' || k.shelf || '|' || p.motto || '|' || length(b.id) || '|' ||
                    (SELECT group_concat(label, '+') FROM (SELECT label FROM book_tags JOIN tags t ON t.id = tag_id WHERE book_id = b.id ORDER BY 1))
                FROM authors a JOIN countries c ON c.code = a.country_code JOIN books b ON b.author_id = a.id
                JOIN editions e ON e.book_id = b.id JOIN copies k ON k.book = b.id AND k.edition = e.number
                JOIN author_profiles p ON p.author_id = a.id WHERE a.id = 3
                """), equals: ["Italo|cross|{\"a\":[1,2.5,null]}|Italy|Invisible Cities|7.25|3|B|Light|32|novel+short"])
        try expect(file.texts("SELECT rowid || line FROM log WHERE at = 3"), equals: ["3third"])
    }

    @Test("A reference to an object in no context is an error that names both, from either end") func danglingReference() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
            let author = try context.one("Authors", "fullName == 'Olga'")
            let book = NSManagedObject(entity: try #require(model.entitiesByName["Books"]), insertInto: nil)
            book.setValue("Empusium", forKey: "title")
            let name = try #require(
                author.entity.relationshipsByName.first {
                    $0.value.inverseRelationship?.name == "author" && $0.value.destinationEntity?.name == "Books"
                }?.key)
            author.mutableSetValue(forKey: name).add(book)
            do {
                try context.save()
                Issue.record("The save succeeds.")
            } catch let error as NSError {
                expect(error.code, equals: NSManagedObjectValidationError)
                expect(error.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] ?? [], equals: [author, book])
            }
            context.insert(book)
            try context.save()
        }
        try expect(file.texts("SELECT title FROM books WHERE author_id = 1 ORDER BY title"), equals: ["Empusium", "Flights", "Primeval"])
    }

    @Test("Values are written in the form in which the column has them") func forms() throws {
        let file = try OthersFile(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a DATETIME, b TIMESTAMP, c DATE, d TIMESTAMP, e UUID, f TEXT, g DECIMAL, h BOOLEAN, i DATETIME);
            INSERT INTO t VALUES (1, '2020-01-01T00:00:00Z', 1600000000, '2020-01-01', 1600000000000, 'ABCDEF00-0000-0000-0000-000000000000',
                'x', 1.5, 1, '2020-01-01 00:00:00.123456');
            """)
        let context = try file.open()
        try context.performAndWait {
            let date = Date(timeIntervalSince1970: 1_700_000_000.25)
            let new = context.insert("T", ["a": date, "b": date, "c": date, "d": date, "i": date])
            new.setValue(UUID(uuidString: "ABCDEF00-0000-0000-0000-00000000000A"), forKey: "e")
            new.setValue(NSDecimalNumber(string: "0.1"), forKey: "g")
            new.setValue(true, forKey: "h")
            try context.save()
            expect(new.value(forKey: "c") as? Date, equals: Date(timeIntervalSince1970: 1_699_920_000))
            let whole = context.insert("T", ["a": Date(timeIntervalSince1970: 86_400), "b": Date(timeIntervalSince1970: 7)])
            try context.save()
            _ = whole
            new.setValue(Date(timeIntervalSince1970: 1e12), forKey: "a")
            #expect(throws: NSError.self) { try context.save() }
        }
        try expect(
            file.texts(
                "SELECT a || '|' || b || '|' || c || '|' || d || '|' || e || '|' || g || '|' || h || '|' || i FROM t WHERE id = 2"),
            equals: [
                "2023-11-14T22:13:20.250000Z|1700000000.25|2023-11-14|1700000000250|ABCDEF00-0000-0000-0000-00000000000A|0.1|1|2023-11-14 22:13:20.250000"
            ])
        try expect(file.texts("SELECT a || '|' || b || typeof(b) FROM t WHERE id = 3"), equals: ["1970-01-02T00:00:00Z|7integer"])
    }

    @Test("Rows are deleted before those that they refer to, and pairs with their objects") func deleting() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            try context.found("Copies").forEach(context.delete)
            try context.save()
            let flights = try context.one("Books", "title == 'Flights'")
            flights.setValue(nil, forKey: "editor")
            context.delete(flights)
            context.delete(try context.one("Tags", "label == 'travel'"))
            try context.save()
        }
        try expect(file.texts("SELECT title FROM books ORDER BY 1"), equals: ["Kafka", "Primeval"])
        try expect(file.texts("SELECT count(*) FROM editions"), equals: ["0"])
        try expect(file.texts("SELECT book_id || ' ' || tag_id FROM book_tags"), equals: ["00000000000000000000000000000003 1"])
    }

    @Test("Pairs are added and removed from either end") func pairs() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let travel = try context.one("Tags", "label == 'travel'")
            let kafka = try context.one("Books", "title == 'Kafka'")
            travel.setValue([kafka] as Set<NSManagedObject>, forKey: "books")
            try context.save()
            expect((kafka.value(forKey: "tags") as? Set<NSManagedObject>)?.count, equals: 2)
        }
        try expect(file.texts("SELECT substr(book_id, 32) || tag_id FROM book_tags ORDER BY 1"), equals: ["11", "31", "32"])
    }

    @Test("An object that another program has changed is a conflict, which the merge policy resolves") func conflicts() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        let (author, book) = try context.performAndWait {
            context.retainsRegisteredObjects = true
            let (author, book) = (try context.one("Authors", "id == 1"), try context.one("Books", "title == 'Primeval'"))
            expect(author.value(forKey: "state") as? String, equals: "calm")
            expect(book.value(forKey: "pages") as? Int, equals: 250)
            return (author.objectID, book.objectID)
        }
        try file.execute("UPDATE authors SET fame = 9 WHERE id = 1; DELETE FROM books WHERE title = 'Primeval'")
        try context.performAndWait {
            context.object(with: author).setValue("cross", forKey: "state")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectMergeError)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            expect(context.object(with: author).value(forKey: "fame") as? Double, equals: 9)
            context.mergePolicy = NSMergePolicy.error
            context.object(with: book).setValue(251, forKey: "pages")
            #expect(throws: NSError.self) { try context.save() }
            context.rollback()
        }
        try expect(file.texts("SELECT state || fame FROM authors WHERE id = 1"), equals: ["cross9.0"])
    }

    @Test("A value that another program has set anew to the same one, or a column that the model does not know, is no conflict") func same()
        throws
    {
        let file = try OthersFile(OthersFile.library)
        let model = try file.draft().model
        try file.execute("ALTER TABLE authors ADD COLUMN visits INTEGER DEFAULT 0")
        let context = try file.open(model)
        try context.performAndWait {
            let author = try context.one("Authors", "id == 1")
            expect(author.value(forKey: "state") as? String, equals: "calm")
            try file.execute("UPDATE authors SET visits = visits + 1, state = 'calm'")
            author.setValue("cross", forKey: "state")
            try context.save()
        }
        try expect(file.texts("SELECT state || visits FROM authors WHERE id = 1"), equals: ["cross1"])
    }

    @Test("Two programs that change one object do not lose a change", arguments: ["DELETE", "WAL"]) func counting(_ mode: String)
        async throws
    {
        let file = try OthersFile("PRAGMA journal_mode = \(mode); " + OthersFile.library)
        let contexts = [try file.open(timeout: 60), try file.open(timeout: 60), try file.open(timeout: 60)]
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
        try expect(file.texts("SELECT pages FROM books WHERE title = 'Flights'"), equals: ["445"])
        try expect(file.texts("PRAGMA journal_mode"), equals: [mode.lowercased()])
    }

    @Test("A uniqueness rule of the table is a conflict with the object that has the value") func constraints() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
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

    @Test("What the tables forbid is an error that says which rule, and nothing is saved") func rules() throws {
        let file = try OthersFile(
            OthersFile.library + """
                CREATE TRIGGER no_shouting BEFORE UPDATE ON tags WHEN new.label = 'LOUD' BEGIN SELECT RAISE (ABORT, 'no shouting'); END;
                CREATE TRIGGER no_whispering BEFORE UPDATE ON tags WHEN new.label = 'soft' BEGIN SELECT RAISE (IGNORE); END;
                CREATE UNIQUE INDEX tags_nocase ON tags (label COLLATE NOCASE);
                """)
        let before = try file.bytes
        let context = try file.open()
        try context.performAndWait {
            func code(_ entity: String, _ format: String, _ key: String, _ value: Any?) throws -> Int? {
                try context.one(entity, format).setValue(value, forKey: key)
                defer { context.rollback() }
                let error = #expect(throws: NSError.self) { try context.save() }
                expect(error?.localizedFailureReason?.isEmpty, equals: false)
                return error?.code
            }
            try expect(code("Books", "title == 'Kafka'", "price", NSDecimalNumber(value: -1)), equals: NSManagedObjectValidationError)
            try expect(code("Books", "title == 'Kafka'", "id", UUID()), equals: NSPersistentStoreSaveError)
            try expect(code("Tags", "label == 'novel'", "label", "LOUD"), equals: NSManagedObjectValidationError)
            try expect(code("Tags", "label == 'novel'", "label", "soft"), equals: NSPersistentStoreSaveError)
            try expect(code("Tags", "label == 'novel'", "label", "TRAVEL"), equals: NSManagedObjectConstraintValidationError)
            try expect(code("Authors", "id == 1", "upperName", "LOUD"), equals: NSPersistentStoreSaveError)
            try expect(code("AuthorTotals", "books == 2", "fullName", "Someone"), equals: NSPersistentStoreSaveError)
            try expect(
                code("Books", "title == 'Kafka'", "price", NSDecimalNumber(string: "0.12345678901234567890")),
                equals: NSPersistentStoreSaveError)
            // A copy refers to the edition.
            let edition = try context.one("Editions", "year == 2017")
            try context.found("Copies").forEach { _ in }
            context.delete(edition)
            #expect(throws: NSError.self) { try context.save() }
            context.rollback()
        }
        try expect(file.bytes, equals: before)
    }

    @Test("Keys of other rows are kept, also where the program does not know them") func keys() throws {
        let file = try OthersFile(
            """
            CREATE TABLE parents (id INTEGER PRIMARY KEY);
            CREATE TABLE children (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL REFERENCES parents);
            CREATE TABLE others (id INTEGER PRIMARY KEY, parent_id INTEGER NOT NULL REFERENCES parents);
            INSERT INTO parents VALUES (1); INSERT INTO others VALUES (1, 1);
            """)
        let model = NSManagedObjectModel(
            entities: try file.draft().model.entities.filter { $0.name == "Parents" }.map { parents in
                let entity = NSEntityDescription(name: "Parents")
                entity.userInfo = ["tableName": "parents"]
                entity.properties = [NSAttributeDescription(name: "id", type: .integer64)]
                return entity
            })
        let context = try file.open(model)
        try context.performAndWait {
            context.delete(try context.one("Parents", "id == 1"))
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectReferentialIntegrityError, "\(error as Any)")
        }
        try expect(file.texts("SELECT count(*) FROM parents"), equals: ["1"])
    }

    @Test("New rows that refer to each other are saved, and in any order where all is looked at last") func cycles() throws {
        let file = try OthersFile(
            OthersFile.library + """
                CREATE TABLE hens (id INTEGER PRIMARY KEY, egg_id INTEGER NOT NULL REFERENCES eggs);
                CREATE TABLE eggs (id INTEGER PRIMARY KEY, hen_id INTEGER REFERENCES hens);
                CREATE TABLE dogs (id INTEGER PRIMARY KEY, tail_id INTEGER NOT NULL REFERENCES tails);
                CREATE TABLE tails (id INTEGER PRIMARY KEY, dog_id INTEGER NOT NULL REFERENCES dogs);
                """)
        let context = try file.open()
        try context.performAndWait {
            let (first, second) = (context.insert("Authors", ["fullName": "First"]), context.insert("Authors", ["fullName": "Second"]))
            first.setValue(second, forKey: "mentor")
            second.setValue(first, forKey: "mentor")
            let own = context.insert("Authors", ["fullName": "Own"])
            own.setValue(own, forKey: "mentor")
            let (hen, egg) = (context.insert("Hens"), context.insert("Eggs"))
            hen.setValue(egg, forKey: "egg")
            egg.setValue(hen, forKey: "hen")
            try context.save()
            context.delete(hen)
            context.delete(egg)
            try context.save()
            let (dog, tail) = (context.insert("Dogs"), context.insert("Tails"))
            dog.setValue(tail, forKey: "tail")
            tail.setValue(dog, forKey: "dog")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.localizedFailureReason?.contains("refer to each other"), equals: true)
        }
        try expect(
            file.texts(
                "SELECT a.full_name || m.full_name FROM authors a JOIN authors m ON m.id = a.mentor_id WHERE a.id > 2 ORDER BY 1"),
            equals: ["FirstSecond", "OwnOwn", "SecondFirst"])
        try expect(file.texts("SELECT count(*) FROM hens UNION ALL SELECT count(*) FROM eggs"), equals: ["0", "0"])
    }

    @Test("A thousand new objects are saved together, and what triggers do is read again") func many() throws {
        let file = try OthersFile(
            OthersFile.library + """
                CREATE TRIGGER paged AFTER INSERT ON books BEGIN UPDATE books SET pages = length(new.title) WHERE id = new.id; END;
                """)
        let context = try file.open()
        try context.performAndWait {
            var books: [NSManagedObject] = []
            for index in 0..<1000 {
                let author = context.insert("Authors", ["fullName": "Author \(index)"])
                let book = context.insert("Books", ["title": "Book \(index)"])
                book.setValue(author, forKey: "author")
                books.append(book)
            }
            try context.save()
            #expect(books.allSatisfy { $0.value(forKey: "pages") as? Int == ($0.value(forKey: "title") as? String)?.count })
            try expect(context.found("Books", "author.fullName BEGINSWITH 'Author 99'").count, equals: 11)
        }
        try expect(
            file.texts(
                "SELECT count(*) FROM books b JOIN authors a ON a.id = author_id WHERE title = replace(full_name, 'Author', 'Book')"),
            equals: ["1000"])
    }

    @Test("A file that another program keeps locked is an error that says so, and the save works later") func locked() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open(timeout: 0.1)
        var other: OpaquePointer?
        try #require(sqlite3_open_v2(file.url.path, &other, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        defer { sqlite3_close_v2(other) }
        try context.performAndWait {
            let tag = try context.one("Tags", "label == 'novel'")
            tag.setValue("poem", forKey: "label")
            try #require(sqlite3_exec(other, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSPersistentStoreTimeoutError, "\(error as Any)")
            #expect(context.hasChanges)
            try #require(sqlite3_exec(other, "ROLLBACK", nil, nil, nil) == SQLITE_OK)
            try context.save()
        }
        try expect(file.texts("SELECT label FROM tags WHERE id = 1"), equals: ["poem"])
    }

    @Test("A store that was opened for reading refuses a save, and changes nothing") func readOnly() throws {
        let file = try OthersFile(OthersFile.library)
        let bytes = try file.bytes
        let context = try file.open(isReadOnly: true)
        try context.performAndWait {
            try context.one("Tags", "label == 'novel'").setValue("poem", forKey: "label")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSPersistentStoreSaveError)
        }
        try expect(file.bytes, equals: bytes)
    }
}
