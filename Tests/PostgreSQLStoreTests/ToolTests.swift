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
