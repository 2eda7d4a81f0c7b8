import CoreData
import FileStores
import TestSupport
import Testing

@Suite("Records in the record of their owner") struct NestedRecordTests {
    private static let before = """
        {
          "Author": [
            {
              "id": "v", "name": "Varga",
              "books": [
                {"id": 1, "title": "Ink", "extra": [1.50, {"a" :null}]},
                {"id": 2, "title": "Salt"}
              ]
            },
            {"id": "q", "name": "Quirke", "books": [{"id": 3, "title": "Dust"}]},
            {"id": "n", "name": "None"}
          ]
        }

        """

    private func opened(_ scratch: Scratch, _ text: String = before) throws -> NSManagedObjectContext {
        if !scratch.names.contains("Library.json") { try scratch.write(text, "Library.json") }
        var layout = FileLayout()
        layout["Book"].owner = "author"
        return try open(JSONStore.description(at: scratch.url("Library.json"), layout: layout), Library.model())
    }

    private func books(_ scratch: Scratch) throws -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        let context = try opened(scratch)
        for author in try context.all("Author") {
            let books = author.value(forKey: "books") as? Set<NSManagedObject> ?? []
            found[author.value(forKey: "name") as? String ?? ""] = Set(books.compactMap { $0.value(forKey: "title") as? String })
        }
        return withExtendedLifetime(context) { found }
    }

    @Test("A record moves to another owner with all that its text has, and its changes")
    func moved() throws {
        let scratch = try Scratch()
        let context = try opened(scratch)
        let ink = try #require(try context.all("Book", by: nil, "title == 'Ink'").first)
        ink.setValue(try context.all("Author", by: nil, "name == 'Quirke'").first, forKey: "author")
        try context.save()
        try expect(
            scratch.text("Library.json"),
            equals: Self.before.replacingOccurrences(
                of: "{\"id\": 1, \"title\": \"Ink\", \"extra\": [1.50, {\"a\" :null}]},\n        {\"id\": 2", with: "{\"id\": 2"
            ).replacingOccurrences(
                of: "\"title\": \"Dust\"}",
                with: "\"title\": \"Dust\"}, {\"id\": 1, \"title\": \"Ink\", \"extra\": [1.50, {\"a\" :null}]}"))
        // To an owner without a list, with another title, while the former owner goes.
        ink.setValue(try context.all("Author", by: nil, "name == 'None'").first, forKey: "author")
        ink.setValue("Inks", forKey: "title")
        for author in try context.all("Author", by: nil, "name == 'Quirke'") { context.delete(author) }
        for book in try context.all("Book", by: nil, "title == 'Dust'") { context.delete(book) }
        try context.save()
        try expect(books(scratch), equals: ["Varga": ["Salt"], "None": ["Inks"]])
        #expect(try scratch.text("Library.json").contains("\"extra\": [1.50, {\"a\" :null}]"))
        // To a new owner.
        ink.setValue(context.insert("Author", ["name": "New"]), forKey: "author")
        try context.save()
        try expect(books(scratch), equals: ["Varga": ["Salt"], "None": [], "New": ["Inks"]])
        ink.setValue(nil, forKey: "author")
        #expect(throws: NSError.self) { try context.save() }
    }

    @Test("After random moves, inserts and deletes, each record stands where the objects say")
    func randomMoves() throws {
        let seed = TestSeed.current(for: "NestedRecordTests.randomMoves")
        var generator = SeededGenerator(seed: seed)
        for _ in TestRounds(seconds: 0.7, atLeast: 5) {
            let scratch = try Scratch()
            let context = try opened(scratch)
            var wanted = ["Varga": Set(["Ink", "Salt"]), "Quirke": ["Dust"], "None": []]
            for round in 0..<3 {
                for step in 0..<Int.random(in: 1...4, using: &generator) {
                    let authors = try context.all("Author")
                    guard let author = authors.randomElement(using: &generator), let name = author.value(forKey: "name") as? String else {
                        continue
                    }
                    let book = try context.all("Book").randomElement(using: &generator)
                    let title = book?.value(forKey: "title") as? String ?? ""
                    switch Int.random(in: 0..<5, using: &generator) {
                    case 0:
                        context.insert("Book", ["title": "b\(round)\(step)", "author": author])
                        wanted[name]?.insert("b\(round)\(step)")
                    case 1:
                        context.insert("Author", ["name": "a\(round)\(step)"])
                        wanted["a\(round)\(step)"] = []
                    case 2 where wanted[name]?.isEmpty ?? false:
                        context.delete(author)
                        wanted[name] = nil
                    default:
                        guard let book else { continue }
                        for key in wanted.keys { wanted[key]?.remove(title) }
                        book.setValue(author, forKey: "author")
                        wanted[name]?.insert(title)
                    }
                }
                try context.save()
                try expect(books(scratch), equals: wanted, "COREDATA_TEST_SEED=\(seed)")
            }
            if try books(scratch).values.contains(where: { $0.contains("Ink") }) {
                #expect(try scratch.text("Library.json").contains("\"extra\": [1.50, {\"a\" :null}]"))
            }
        }
    }
}
