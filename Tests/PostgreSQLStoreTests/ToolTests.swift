#if PostgreSQL
import CoreData
import Explorer
import StoreCommands
import StoreConformance
import Testing
import TestSupport

@testable import PostgreSQLStore

/// What the command and the explorer make of databases.
@Suite("Databases in the command and the explorer") struct ToolTests {
    /// A store with tags, and its URL.
    private static func tags(_ count: Int) async throws -> String {
        let options = freshOptions()
        let context = context(try await coordinator(options))
        try await context.perform {
            for number in 0..<count {
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("tag \(number)", forKey: "label")
            }
            try context.save()
        }
        return "\(try server().url)?schema=\(options.schema)"
    }

    /// The numbers of objects that were added, changed and left.
    private static func counts(_ outcome: StoreImport.Outcome) -> [Int] { [outcome.added, outcome.changed, outcome.unchanged] }

    private static func text(_ value: JSONValue?) -> String { if case .string(let text)? = value { text } else { "" } }

    @Test("A store in a database is opened by its URL, with the model that it keeps") func ownStore() async throws {
        let store = try StoreReference(try await Self.tags(3)).open()
        guard case .store = store.modelOrigin else { return #expect(Bool(false), "It is \(store.modelOrigin).") }
        let output = CollectedOutput()
        let query = try Query(QueryText("Tag", where: "label != 'tag 1'", sort: "-label", columns: "label"), in: store)
        try QueryPrinter(query, to: output).write(.csv)
        let labels = output.text.split(separator: "\n").map { line in line.split(separator: ",").last.map(String.init) }
        expect(labels, equals: ["label", "tag 2", "tag 0"])
        let explanation = try QueryExplanation(query).json()
        expect(Self.text(explanation["way"]), equals: "sql")
        #expect(Self.text(explanation["sql"]).contains("SELECT"))
        guard case .array(let values)? = explanation["values"], case .array(let plan)? = explanation["plan"] else {
            return #expect(Bool(false), "\(explanation.text())")
        }
        #expect(values.map(Self.text).contains("\"tag 1\""))
        #expect(plan.map(Self.text).contains { $0.contains("Scan") })
    }

    @Test("A file is copied into a database, and not over objects") func copying() async throws {
        let scratch = try ScratchFolder("tool")
        defer { scratch.remove() }
        let folder = scratch.url
        let file = folder.appendingPathComponent("tags.sqlite")
        let local = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        let store = try local.addPersistentStore(type: .sqlite, at: file)
        let context = context(local)
        try await context.perform {
            for number in 0..<3 {
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("tag \(number)", forKey: "label")
            }
            try context.save()
        }
        try local.remove(store)
        let url = "\(try server().url)?schema=\(freshOptions().schema)"
        let copying = StoreCopying(StoreReference(file.path, decodesTransformables: true))
        try expect(copying.copy(to: url), equals: 3)
        let output = CollectedOutput()
        try QueryPrinter(Query(QueryText("Tag", sort: "label", columns: "label"), in: StoreReference(url).open()), to: output).write(.csv)
        #expect(output.text.contains(",tag 0\n") && output.text.contains(",tag 2\n"))
        let error = #expect(throws: NSError.self) { try copying.copy(to: url) }
        expect(error?.localizedFailureReason, equals: "There are objects already.")
    }

    @Test("Tables of another program are opened by their URL alone, and walked") func existingTables() async throws {
        let library = try await LibraryDatabase()
        let store = try StoreReference("\(library.url)?schema=\(library.options.schema)").open()
        guard case .drafted(let note) = store.modelOrigin else { return #expect(Bool(false), "It is \(store.modelOrigin).") }
        #expect(note.contains("log"))
        let countries = try store.entity(try #require(store.model.entities.compactMap(\.name).first { $0.hasPrefix("Countr") }))
        let output = CollectedOutput()
        try QueryPrinter(Query(QueryText(countries.name ?? "", sort: "name", columns: "name"), in: store), to: output).write(.csv)
        #expect(output.text.contains(",Japan\n"))
        let report = CollectedOutput()
        try StoreReport(store).write(.table, to: report)
        #expect(report.text.contains("PostgreSQL store"))
    }

    @Test("A store that is only read takes no changes") func readOnly() async throws {
        let url = try await Self.tags(1)
        let store = try StoreReference(url).open()
        try store.read {
            let tag = try #require(try store.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).first)
            tag.setValue("other", forKey: "label")
            #expect(throws: NSError.self) { try store.context.save() }
        }
        let fresh = try StoreReference(url).open()
        try fresh.read {
            let tags = try fresh.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
            expect(tags.map { $0.value(forKey: "label") as? String }, equals: ["tag 0"])
        }
    }

    @Test("A password in a URL is in no report and no error") func password() async throws {
        let url = try await Self.tags(1).replacing("tester@", with: "tester:geheim@")
        let report = CollectedOutput()
        try StoreReport(try StoreReference(url).open()).write(.json, to: report)
        #expect(report.text.contains("127.0.0.1") && !report.text.contains("geheim"))
        for wrong in [
            url.replacing("/postgres?", with: "/no-such-database?"), url.replacing("postgresql:", with: "mysql:"), url + "&nonsense=1",
            url.replacing("schema=", with: "schema=none_"),
        ] {
            let error = #expect(throws: NSError.self) { try StoreReference(wrong).open() }
            let texts = [error?.localizedDescription ?? "", "\(error?.userInfo ?? [:])"]
            #expect(texts.allSatisfy { !$0.contains("geheim") })
        }
    }

    @Test("Connection texts of every form that libpq takes are opened, and their passwords shown nowhere", arguments: [0, 1, 2, 3, 4])
    func connectionTexts(form: Int) async throws {
        let url = try await Self.tags(1)
        let (server, schema) = (try server(), url.components(separatedBy: "schema=").last ?? "")
        let port = server.port
        let text = [
            "host=127.0.0.1 port=\(port) user=tester password='ge heim' dbname=postgres schema=\(schema)",
            "postgresql://tester:ge#heim@127.0.0.1:\(port)/postgres?schema=\(schema)",
            "postgresql://tester:geheim@127.0.0.1:\(port),127.0.0.1:\(port)/postgres?schema=\(schema)",
            "POSTGRESQL://tester:geheim@127.0.0.1:\(port)/postgres?schema=\(schema)",
            "schema=\(schema) user=tester dbname=postgres host=\(server.directory.path) port=\(port) password=geheim",
        ][form]
        let report = CollectedOutput()
        let store = try StoreReference(text).open()
        try StoreReport(store).write(.json, to: report)
        #expect(!report.text.contains("heim"))
        try expect(Query(QueryText("Tag"), in: store).count(), equals: 1)
        // A database, or a scheme, that is none.
        let error = #expect(throws: NSError.self) { try StoreReference(text.replacing("postgres", with: "none")).open() }
        #expect([error?.localizedDescription ?? "", "\(error?.userInfo ?? [:])"].allSatisfy { !$0.contains("heim") }, "\(error as Any)")
    }

    @Test("JSON and arrays are written as JSON, exported, imported, and equal to themselves") func jsonColumns() async throws {
        let script = "CREATE TABLE notes (id integer PRIMARY KEY, j jsonb, k json, list integer[], flags boolean[])"
        let library = try await LibraryDatabase(script)
        try await library.execute(
            """
            INSERT INTO notes VALUES (1, '{"b": true, "a": [null, 1, "x"]}', '{"z": 1.5, "y": false}', '{1,0,NULL}', '{t,f}'),
                (2, NULL, '"text"', NULL, NULL)
            """)
        let url = "\(library.url)?schema=\(library.options.schema)"
        func rows(_ url: String) throws -> String {
            let output = CollectedOutput()
            let query = try Query(QueryText("Notes", sort: "id", columns: "j,k,list,flags"), in: StoreReference(url).open())
            try QueryPrinter(query, to: output).write(.json)
            return output.text.replacing(#/"\$id":"[^"]*",/#, with: "")
        }
        let found = try rows(url)
        #expect(
            found.contains(#""j":{"a":[null,1,"x"],"b":true},"k":{"y":false,"z":1.5},"list":[1,0,null],"flags":[true,false]}"#), "\(found)")
        #expect(found.contains(#""j":null,"k":"text","list":null,"flags":null}"#), "\(found)")
        let output = CollectedOutput()
        #expect(try !StoreDifference(StoreReference(url).open(), StoreReference(url).open()).write(.table, to: output))
        let scratch = try ScratchFolder("tool")
        defer { scratch.remove() }
        let other = try await LibraryDatabase(script)
        let otherURL = "\(other.url)?schema=\(other.options.schema)"
        for name in ["notes.json", "Notes.csv"] {
            let file = scratch.file(name).path
            try expect(StoreExport(StoreReference(url).open()).write(to: file), equals: 2)
            try expect(Self.counts(StoreImport.run(file, into: otherURL, writes: false)), equals: [2, 0, 0])
            try await expect(other.texts("SELECT count(*) FROM notes"), equals: ["0"])
            try expect(Self.counts(StoreImport.run(file, into: otherURL, writes: true)), equals: [2, 0, 0])
            try expect(rows(otherURL), equals: found)
            // Nothing is to be changed in the rows that the file is of.
            try expect(Self.counts(StoreImport.run(file, into: url, writes: true)), equals: [0, 0, 2])
            try await other.execute("DELETE FROM notes")
        }
    }

    @Test("A view whose rows cannot be computed is not counted, and errors name it") func failingView() async throws {
        let library = try await LibraryDatabase(
            """
            CREATE TABLE things (id integer PRIMARY KEY, x text); INSERT INTO things VALUES (1, 'a');
            CREATE VIEW bad AS SELECT x, 1 / (id - 1) AS d FROM things;
            """)
        let url = "\(library.url)?schema=\(library.options.schema)"
        let store = try StoreReference(url).open()
        let report = CollectedOutput()
        try StoreReport(store).write(.table, to: report)
        #expect(report.text.contains(#/Bad +\?/#) && report.text.contains(#/Things +1\b/#), "\(report.text)")
        #expect(report.text.contains("“Bad” cannot be counted: "), "\(report.text)")
        #expect(report.text.contains("division by zero"), "\(report.text)")
        func isNamed(_ body: () throws -> Void) {
            let error = #expect(throws: NSError.self) { try body() }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("“Bad”") && text.contains("view bad") && text.contains("division by zero"), "\(text)")
        }
        isNamed { _ = try Query(QueryText("Bad"), in: store).count() }
        isNamed { try QueryPrinter(Query(QueryText("Bad"), in: store), to: CollectedOutput()).write(.csv) }
        let scratch = try ScratchFolder("tool")
        defer { scratch.remove() }
        isNamed { _ = try StoreCopying(StoreReference(url)).copy(to: scratch.file("copy.sqlite").path) }
        isNamed { _ = try StoreExport(store).write(to: scratch.file("all.json").path) }
    }

    @Test("Objects are imported into a database: tried without a change, and written") func importing() async throws {
        let library = try await LibraryDatabase(
            """
            CREATE TABLE things (id integer PRIMARY KEY, name text NOT NULL, size integer CHECK (size > 0));
            INSERT INTO things VALUES (1, 'one', 1), (2, 'two', 2);
            """)
        let url = "\(library.url)?schema=\(library.options.schema)"
        let scratch = try ScratchFolder("tool")
        defer { scratch.remove() }
        let file = scratch.file("Things.csv")
        func run(_ text: String, writes: Bool) throws -> [Int] {
            try Data("id,name,size\n\(text)\n".utf8).write(to: file)
            return try Self.counts(StoreImport.run(file.path, into: url, key: "id", writes: writes))
        }
        let all = "SELECT string_agg(id || name, ',' ORDER BY id) FROM things"
        try expect(run("2,zwei,2\n3,three,3\n1,one,1", writes: false), equals: [1, 1, 1])
        try await expect(library.texts(all), equals: ["1one,2two"])
        try expect(run("2,zwei,2\n3,three,3\n1,one,1", writes: true), equals: [1, 1, 1])
        try await expect(library.texts(all), equals: ["1one,2zwei,3three"])
        // What is not valid is found without a change, and what the database refuses changes nothing.
        #expect(throws: NSError.self) { try run("4,,4", writes: false) }
        #expect(throws: NSError.self) { try run("5,five,5\n6,six,-1", writes: true) }
        try await expect(library.texts(all), equals: ["1one,2zwei,3three"])
        // A store of the package takes objects, too.
        let own = try await Self.tags(2)
        let tags = scratch.file("Tag.csv")
        try Data("label\ntag 9\n".utf8).write(to: tags)
        try expect(Self.counts(StoreImport.run(tags.path, into: own, writes: false)), equals: [1, 0, 0])
        try expect(Self.counts(StoreImport.run(tags.path, into: own, writes: true)), equals: [1, 0, 0])
        try expect(Query(QueryText("Tag"), in: StoreReference(own).open()).count(), equals: 3)
    }

    @Test("The model of a database is that which it keeps, or a draft") func models() async throws {
        let library = try await LibraryDatabase()
        let drafted = try ModelSource.model(at: "\(library.url)?schema=\(library.options.schema)")
        #expect(drafted.entitiesByName["Authors"] != nil)
        try await expect(ModelSource.model(at: Self.tags(1)).entitiesByName["Tag"] != nil, equals: true)
        #expect(ModelDrawing(drafted).svg().contains("Authors"))
    }

    @Test("Commands that look into files say so of a database") func filesOnly() async throws {
        let url = try await Self.tags(1)
        let store = try StoreReference(url).open()
        let history = #expect(throws: NSError.self) { try HistoryReport(store) }
        #expect(history?.localizedFailureReason?.contains("SQLite") == true, "\(history as Any)")
        let migration = #expect(throws: NSError.self) { try StoreMigrating(url, model: "none.mom") }
        #expect(migration?.localizedDescription.contains("program") == true, "\(migration as Any)")
        #expect(migration?.localizedDescription.contains("no place of files") == false, "\(migration as Any)")
    }

    @Test("Where the functions of a clause are missing, the error says which clause and why") func missingFunctions() async throws {
        let url = try await server().database()
        var options = PostgreSQLStoreOptions()
        options.layout = .existing
        let pool = try ConnectionPool(try #require(URL(string: url)), options, .existing)
        defer { pool.close() }
        try await pool.with { try await $0.execute("CREATE TABLE things (id integer PRIMARY KEY, name text)") }
        let error = #expect(throws: NSError.self) {
            try Query(QueryText("Things", where: "id > 0 AND name BEGINSWITH 's1'"), in: StoreReference(url).open()).count()
        }
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("name BEGINSWITH \"s1\"") && text.contains("only") && text.contains("coredata"), "\(text)")
        #expect(!text.contains("may not create"), "\(text)")
        // A user who may not create them is told that.
        try await pool.with {
            try await $0.execute(
                "CREATE ROLE reader_\(try server().port) LOGIN; GRANT SELECT ON things TO reader_\(try server().port);"
                    + "REVOKE CREATE ON DATABASE \(url.components(separatedBy: "/").last ?? "") FROM PUBLIC")
        }
        let other = url.replacing("tester@", with: "reader_\(try server().port)@")
        let store = try StoreReference(other, isWritable: true).open()
        let refused = #expect(throws: NSError.self) { try Query(QueryText("Things", where: "name BEGINSWITH 's1'"), in: store).count() }
        #expect(refused?.localizedDescription.contains("may not create") == true, "\(refused as Any)")
        // Once they are there, those who only read have them, too.
        _ = try StoreReference(url, isWritable: true).open()
        try expect(Query(QueryText("Things", where: "name BEGINSWITH 's1'"), in: StoreReference(url).open()).count(), equals: 0)
    }

    @Test("A page of the explorer shows the SQL that it took, and reads a bounded part of what is related") func pages() async throws {
        let library = try await LibraryDatabase()
        try await library.execute(
            """
            INSERT INTO authors (id, full_name) VALUES (1000, 'Many');
            INSERT INTO books (author_id, title) SELECT 1000, 'Book ' || n FROM generate_series(1, 5000) n
            """)
        let session = try ExplorerSession(StoreReference("\(library.url)?schema=\(library.options.schema)"))
        defer { try? session.close() }
        let names = try await session.overview().text()
        #expect(names.contains("\"Authors\"") && names.contains("\"Books\""))
        let rows = try await session.rows(TableQuestion("Authors", where: "fullName == 'Many'"))
        guard case .array(let statements)? = rows["asked"]?["statements"], case .array(let found)? = rows["rows"] else {
            return #expect(Bool(false), "\(rows.text())")
        }
        #expect(statements.contains { Self.text($0["sql"]).contains("authors") })
        let author = Self.text(try #require(found.first)["id"])
        let related = try await session.related(author, "booksByAuthor", offset: 0, limit: 20)
        guard case .array(let asked)? = related["asked"]?["statements"], case .array(let objects)? = related["objects"] else {
            return #expect(Bool(false), "\(related.text())")
        }
        expect(objects.count, equals: 20)
        #expect(related["count"] == .integer(1000) && related["isCapped"] == .bool(true))
        let read = asked.reduce(0) { sum, statement in if case .integer(let rows)? = statement["rows"] { sum + Int(rows) } else { sum } }
        #expect(read < 100)
    }

    @Test("The explorer notices what another program writes") func noticing() async throws {
        let library = try await LibraryDatabase()
        let session = try ExplorerSession(StoreReference("\(library.url)?schema=\(library.options.schema)"))
        defer { try? session.close() }
        let before = session.stamp()
        try await library.execute("INSERT INTO countries VALUES ('FR', 'France')")
        #expect(session.stamp() != before)
    }
}
#endif
