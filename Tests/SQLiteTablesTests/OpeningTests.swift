import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Opening files with the tables of other programs") struct OpeningTests {
    private func entity(_ name: String, _ info: [String: String], _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription(name: name)
        entity.userInfo = info
        entity.properties = properties
        return entity
    }

    @Test("Every difference between the model and the tables is named in one error") func differences() throws {
        let file = try OthersFile(OthersFile.library)
        let attribute = NSAttributeDescription(name: "fullName", type: .integer64)
        let missing = NSAttributeDescription(name: "shoeSize", type: .double)
        let data = NSAttributeDescription(name: "state", type: .binaryData)
        let model = NSManagedObjectModel(entities: [
            entity("Authors", [:], [attribute, missing, data]), entity("Nothing", [:], []),
            entity("Books", ["keyColumns": "number"], [NSAttributeDescription(name: "title", type: .string)]),
            entity("Views", ["tableName": "author_totals"], [NSAttributeDescription(name: "fullName", type: .string)]),
        ])
        let error = #expect(throws: NSError.self) { try file.open(model) }
        expect(error?.code, equals: NSPersistentStoreIncompatibleSchemaError)
        let reason = try #require(error?.localizedFailureReason)
        for text in [
            "in 6 places", "Authors.fullName (authors.full_name): expected an integer, found TEXT",
            "Authors.shoeSize (authors.shoe_size): expected a column, found none",
            "Authors.state (authors.state): expected bytes, found TEXT",
            "Nothing (main.nothing): expected a table or a view, found none",
            "Books (main.books.number): expected a column of the key, found none",
            "Views (main.author_totals): expected a primary key, or “keyColumns” in the user info, found neither",
        ] { #expect(reason.contains(text), "\(text) is not in \(reason)") }
    }

    @Test("Reading leaves the files of a store with a log, and no others, whichever connection is closed last")
    func files() async throws {
        let script = "PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); INSERT INTO t VALUES (1, 'a');"
        let file = try OthersFile(script)
        let (files, bytes) = (file.files, try file.bytes)
        expect(files, equals: ["others.sqlite3"])
        let model = try file.draft().model
        expect(file.files, equals: files)
        do {
            // Several readers at a time have connections of their own.
            let first = try file.open(model, isReadOnly: true)
            let second = NSManagedObjectContext(.privateQueue)
            second.persistentStoreCoordinator = first.persistentStoreCoordinator
            let third = try file.open(model, isReadOnly: true)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for context in [first, second, third, first, second] {
                    group.addTask { try await context.perform { try context.found("T").count } }
                }
                for try await count in group { expect(count, equals: 1) }
            }
            for context in [first, third] {
                let coordinator = try #require(context.persistentStoreCoordinator)
                for store in coordinator.persistentStores { try coordinator.remove(store) }
            }
        }
        expect(file.files, equals: files)
        try expect(file.bytes, equals: bytes)
    }

    @Test("A model of the program's own names tables and columns in its user info") func mapping() throws {
        let file = try OthersFile(OthersFile.library)
        let name = NSAttributeDescription(name: "name", type: .string)
        name.userInfo = ["columnName": "full_name"]
        let text = NSAttributeDescription(name: "seen", type: .string)
        let pages = NSAttributeDescription(name: "pages", type: .string)
        let writer = entity("Writer", ["tableName": "authors"], [name, text])
        let book = entity("Book", ["tableName": "books", "keyColumns": "isbn"], [pages])
        let author = NSRelationshipDescription(name: "author", destination: writer)
        author.inverse(to: NSRelationshipDescription(name: "books", destination: book, toMany: true))
        book.properties.append(author)
        writer.properties.append(try #require(author.inverseRelationship))
        let context = try file.open(NSManagedObjectModel(entities: [writer, book]))
        try context.performAndWait {
            let olga = try context.one("Writer", "name == 'Olga'")
            expect(olga.value(forKey: "seen") as? String, equals: "2001-01-01 00:00:10")
            let books = try #require(olga.value(forKey: "books") as? Set<NSManagedObject>)
            expect(Set(books.map { $0.objectID.uriRepresentation().path }), equals: ["/Book/pa-1", "/Book/pa-2"])
            expect(Set(books.compactMap { $0.value(forKey: "pages") as? String }), equals: ["400", "250"])
            // The third book has no key: it cannot be an object.
            let error = #expect(throws: NSError.self) { try context.found("Book") }
            expect(error?.localizedDescription.contains("has no key"), equals: true)
        }
    }

    @Test("A file that is not there is an error, and is not made") func absent() throws {
        let file = try OthersFile(OthersFile.library)
        let url = file.url.deletingLastPathComponent().appendingPathComponent("absent.sqlite3")
        let drafting = #expect(throws: NSError.self) { try NSManagedObjectModel(describing: url) }
        expect(drafting?.code, equals: CocoaError.Code.fileReadNoSuchFile.rawValue)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try file.draft().model)
        let opening = #expect(throws: NSError.self) { try coordinator.addPersistentStore(type: .existingSQLite, at: url) }
        expect(opening?.code, equals: CocoaError.Code.fileReadNoSuchFile.rawValue)
        #expect(throws: NSError.self) { try SQLiteModelDraft(of: url.deletingLastPathComponent()) }
        expect(file.files, equals: ["others.sqlite3"])
    }

    @Test("A container opens such a store by its description, and URIs of objects are valid in the next program") func container() throws {
        let file = try OthersFile(OthersFile.library)
        var uris: [URL] = []
        for _ in 0..<2 {
            let container = NSPersistentContainer(name: "Library", managedObjectModel: try NSManagedObjectModel(describing: file.url))
            let description = NSPersistentStoreDescription(url: file.url)
            description.type = ExistingSQLiteStoreType
            container.persistentStoreDescriptions = [description]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            #expect(failure == nil)
            let context = container.newBackgroundContext()
            uris.append(
                try context.performAndWait { try context.one("Authors", "fullName == 'Olga'").objectID.uriRepresentation() })
        }
        expect(uris[0], equals: uris[1])
    }

    @Test("The metadata of such a store cannot be saved") func metadata() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        coordinator.setMetadata(["own": 1, NSStoreUUIDKey: store.identifier ?? "", NSStoreTypeKey: store.type], for: store)
        try context.performAndWait {
            try context.one("Tags", "label == 'novel'").setValue("poem", forKey: "label")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.localizedDescription.contains("metadata"), equals: true)
        }
    }

    @Test("A file that Core Data made is a file with tables, too") func coreData() throws {
        let file = try OthersFile("CREATE TABLE placeholder (id INTEGER PRIMARY KEY)")
        let url = file.url.deletingLastPathComponent().appendingPathComponent("store.sqlite")
        let model = NSManagedObjectModel(entities: [entity("Song", [:], [NSAttributeDescription(name: "title", type: .string)])])
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .sqlite, at: url)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                context.insert("Song", ["title": "One"])
                try context.save()
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel(describing: url))
        try coordinator.addPersistentStore(type: .existingSQLite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let titles = try context.performAndWait { try context.found("Zsong").map { $0.value(forKey: "ztitle") as? String } }
        expect(titles, equals: ["One"])
    }

    @Test("Damaged files, files of other kinds and empty ones are errors or have no tables, and are not changed") func damaged() throws {
        let file = try OthersFile(OthersFile.library)
        let model = try file.draft().model
        try Data("no database at all, but some text that is longer than a header of a file".utf8).write(to: file.url)
        let other = #expect(throws: NSError.self) { try SQLiteModelDraft(of: file.url) }
        expect(other?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
        try Data().write(to: file.url)
        #expect(try file.draft().model.entities.isEmpty)
        let empty = #expect(throws: NSError.self) { try file.open(model) }
        expect(empty?.code, equals: NSPersistentStoreIncompatibleSchemaError)
        #expect(try file.bytes.isEmpty)
        // A schema that SQLite does not take.
        let broken = try OthersFile(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY);
            PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE t (id INTEGER PRIMARY' WHERE name = 't'
            """)
        let bytes = try broken.bytes
        let damage = #expect(throws: NSError.self) { try SQLiteModelDraft(of: broken.url) }
        expect(damage?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue, "\(damage as Any)")
        try expect(broken.bytes, equals: bytes)
    }

    @Test("Files with bytes altered at random are read, or are errors", .timeLimit(.minutes(30))) func altered() throws {
        let seed = TestSeed.current(for: "Altered files")
        var random = SeededGenerator(seed: seed)
        let file = try OthersFile(OthersFile.library)
        let (bytes, model) = (try file.bytes, try file.draft().model)
        for _ in TestRounds(seconds: 0.9, atLeast: 10) {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try damaged.write(to: file.url)
            _ = try? file.draft()
            guard let context = try? file.open(model) else { continue }
            context.performAndWait {
                for entity in model.entities.compactMap(\.name) {
                    for object in (try? context.found(entity)) ?? [] {
                        for key in object.entity.propertiesByName.keys { _ = object.value(forKey: key) }
                    }
                }
                context.reset()
            }
        }
    }

    @Test("Another file in the place of the open one is an error") func replaced() throws {
        let file = try OthersFile(OthersFile.library)
        let context = try file.open()
        try context.performAndWait {
            let tag = try context.one("Tags", "label == 'novel'")
            tag.setValue("poem", forKey: "label")
            try FileManager.default.moveItem(at: file.url, to: file.url.appendingPathExtension("old"))
            try file.execute("CREATE TABLE tags (id INTEGER PRIMARY KEY, label TEXT)")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.localizedFailureReason?.contains("Another file took its place"), equals: true)
        }
    }
}
