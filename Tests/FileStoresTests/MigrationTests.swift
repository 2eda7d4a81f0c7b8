import CoreData
import FileStores
import TestSupport
import Testing

@Suite("Files of an older version of the model are migrated in place") struct FileMigrationTests {
    /// An attribute by its name; `new<old` has a renaming identifier, `#` is a whole number, `!` required, and `=` a default value, where `''` is the
    /// empty text.
    private static func attribute(_ text: String) -> NSAttributeDescription {
        let parts = text.split(separator: "=").map(String.init)
        let names = parts[0].trimmingCharacters(in: ["#", "!"]).split(separator: "<").map(String.init)
        let attribute = NSAttributeDescription(name: names[0], type: text.contains("#") ? .integer64 : .string)
        if names.count > 1 { attribute.renamingIdentifier = names[1] }
        attribute.isOptional = !text.contains("!")
        if parts.count > 1 { attribute.defaultValue = text.contains("#") ? Int64(parts[1]) as Any : parts[1] == "''" ? "" : parts[1] }
        return attribute
    }

    private static func model(_ entities: [String: [String]]) -> NSManagedObjectModel {
        NSManagedObjectModel(
            entities: entities.map { name, attributes in
                let names = name.split(separator: "<").map(String.init)
                let entity = NSEntityDescription(name: names[0])
                if names.count > 1 { entity.renamingIdentifier = names[1] }
                entity.properties = attributes.map(attribute)
                return entity
            })
    }

    /// Writes a bundle of versions, and returns the model of the newest.
    private func versions(_ models: [NSManagedObjectModel], _ scratch: Scratch) throws -> NSManagedObjectModel {
        let bundle = scratch.url("Model.xcdatamodeld")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for (number, model) in models.enumerated() {
            try model.write(toXCDataModel: bundle.appendingPathComponent("Model \(number + 1).xcdatamodel"))
        }
        try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "Model \(models.count).xcdatamodel"], format: .xml, options: 0
        ).write(to: bundle.appendingPathComponent(".xccurrentversion"))
        return try #require(NSManagedObjectModel(contentsOf: bundle))
    }

    /// Saves once with the old model, so that the store knows of which version it is.
    private func note(_ description: NSPersistentStoreDescription, _ model: NSManagedObjectModel, _ entity: String) throws {
        let context = try open(description, model)
        let object = try #require(try context.all(entity).first)
        object.setValue("noted", forKey: "name")
        try context.save()
    }

    private func migrating(_ description: NSPersistentStoreDescription) -> NSPersistentStoreDescription {
        description.setOption(NSNumber(value: true), forKey: NSMigratePersistentStoresAutomaticallyOption)
        description.setOption(NSNumber(value: true), forKey: NSInferMappingModelAutomaticallyOption)
        return description
    }

    @Test("Columns are renamed and added, with the quotes that they had and need; all else stays, also what was removed or never known")
    func csv() throws {
        let scratch = try Scratch()
        let store = scratch.url("Store")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        try scratch.write("# by hand\r\n\"name\";\"extra\";id;pages;gone\r\n\"a\";\"x;\";1;007;g\r\n;;2;5;\r\n", "Store/Book.csv")
        var dialect = CSVDialect.excel
        dialect.comment = "#"
        let old = Self.model(["Book": ["name", "#pages", "gone"]])
        let new = try versions(
            [old, Self.model(["Book": ["title<name", "#pages", "#copies=1", "note", "kind=a;b", "mark=''"]])], scratch)
        try note(CSVStore.description(at: store, dialect: dialect), old, "Book")
        let before = try scratch.text("Store/Book.csv")
        let uuid = try #require(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: CSVStore.type, at: store)[NSStoreUUIDKey] as? String)
        let context = try open(migrating(CSVStore.description(at: store, dialect: dialect)), new)
        let lines = before.components(separatedBy: "\r\n")
        try expect(
            scratch.text("Store/Book.csv"),
            equals: [
                lines[0], lines[1].replacingOccurrences(of: "name", with: "title") + ";copies;kind;mark;note",
                lines[2] + ";1;\"a;b\";\"\";", lines[3] + ";1;\"a;b\";\"\";", "",
            ].joined(separator: "\r\n"))
        let books = try context.all("Book", by: "pages")
        expect(books.map { $0.value(forKey: "pages") as? Int64 }, equals: [5, 7])
        #expect(Set(books.map { $0.value(forKey: "title") as? String }).contains("noted"))
        expect(books.map { $0.value(forKey: "mark") as? String }, equals: ["", ""])
        #expect(books.allSatisfy { $0.value(forKey: "copies") as? Int64 == 1 && $0.value(forKey: "kind") as? String == "a;b" })
        expect(context.persistentStoreCoordinator?.persistentStores.first?.identifier, equals: uuid)
        // It is of the new version now.
        _ = try open(CSVStore.description(at: store, dialect: dialect), new)
    }

    @Test("In JSON, members and lists are renamed and added, and everything else stays")
    func json() throws {
        let scratch = try Scratch()
        try scratch.write(
            """
            {"v": 1.0,
             "Book": [
               {"id": 1, "name": "a", "more": [1, 2], "gone": null},
               { "id":2 }
             ]}
            """, "Store.json")
        let old = Self.model(["Book": ["name", "gone"]])
        let new = try versions([old, Self.model(["Volume<Book": ["title<name", "#copies=1", "note"]])], scratch)
        let description = JSONStore.description(at: scratch.url("Store.json"))
        try note(description, old, "Book")
        let before = try scratch.text("Store.json")
        let context = try open(migrating(description), new)
        let after = try scratch.text("Store.json")
        try expect(context.all("Volume").count, equals: 2)
        expect(
            after,
            equals: before.replacingOccurrences(of: "\"Book\"", with: "\"Volume\"").replacingOccurrences(of: "\"name\"", with: "\"title\"")
                .replacingOccurrences(of: "\"more\": [1, 2], \"gone\": null", with: "\"more\": [1, 2], \"gone\": null, \"copies\": 1")
                .replacingOccurrences(of: "{ \"id\":2 }", with: "{ \"id\":2, \"copies\": 1 }"))
        try expect(context.all("Volume", by: nil, "copies == 1").count, equals: 2)
    }

    @Test("The file of a renamed entity is renamed, and that of a removed one stays as it is")
    func entities() throws {
        let scratch = try Scratch()
        let store = scratch.url("Store")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        try scratch.write("id,name\n1,a\n", "Store/Book.csv")
        try scratch.write("id,text\n1,x\n", "Store/Note.csv")
        let old = Self.model(["Book": ["name"], "Note": ["text"]])
        let new = try versions([old, Self.model(["Volume<Book": ["name"], "Shelf": ["place"]])], scratch)
        try note(CSVStore.description(at: store), old, "Book")
        let context = try open(migrating(CSVStore.description(at: store)), new)
        try expect(context.all("Volume").map { $0.value(forKey: "name") as? String }, equals: ["noted"])
        let names = try FileManager.default.contentsOfDirectory(atPath: store.path).filter { !$0.hasPrefix(".") }.sorted()
        expect(names, equals: ["Note.csv", "Volume.csv"])
        try expect(scratch.text("Store/Note.csv"), equals: "id,text\n1,x\n")
        context.insert("Shelf", ["place": "B"])
        try context.save()
        #expect(try scratch.text("Store/Shelf.csv").hasPrefix("id,place\n"))
    }

    @Test("What the files or a layout call by the new name already stays so")
    func renamedByOthers() throws {
        let scratch = try Scratch()
        try scratch.write("id,Titel\n1,a\n", "Book.csv")
        var layout = FileLayout()
        layout["Book"].columns = ["name": "Titel", "title": "Titel"]
        let old = Self.model(["Book": ["name"]])
        let new = try versions([old, Self.model(["Book": ["title<name"]])], scratch)
        let description = CSVStore.description(at: scratch.url("Book.csv"), layout: layout)
        try note(description, old, "Book")
        let context = try open(migrating(description), new)
        try expect(scratch.text("Book.csv"), equals: "id,Titel\n1,noted\n")
        try expect(context.all("Book").map { $0.value(forKey: "title") as? String }, equals: ["noted"])
    }

    @Test("Records that the new version forbids are an error, and leave the files byte-equal")
    func forbidden() throws {
        let scratch = try Scratch()
        try scratch.write("id,name,other\n1,a,x\n2,,x\n", "Book.csv")
        let old = Self.model(["Book": ["name", "other"]])
        // A default value lets the mapping be inferred; the records that are there still lack theirs.
        let new = try versions([old, Self.model(["Book": ["!name=none", "other"]])], scratch)
        let context = try open(CSVStore.description(at: scratch.url("Book.csv")), old)
        try context.all("Book", by: nil, "other == 'x'").first?.setValue("y", forKey: "other")
        try context.save()
        let before = try scratch.bytes("Book.csv")
        #expect(throws: NSError.self) { _ = try open(migrating(CSVStore.description(at: scratch.url("Book.csv"))), new) }
        try expect(scratch.bytes("Book.csv"), equals: before)
    }

    @Test("A mapping model writes new files through the manager")
    func managed() throws {
        let scratch = try Scratch()
        let store = scratch.url("Store")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        try scratch.write("id,name\n1,a\n", "Store/Book.csv")
        let (old, new) = (Self.model(["Book": ["name"]]), Self.model(["Book": ["title<name"]]))
        try note(CSVStore.description(at: store), old, "Book")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        try manager.migrateStore(
            from: store, sourceType: CSVStore.type, options: nil, with: mapping, toDestinationURL: scratch.url("New"),
            destinationType: CSVStore.type, destinationOptions: nil)
        let context = try open(CSVStore.description(at: scratch.url("New")), new)
        try expect(context.all("Book").map { $0.value(forKey: "title") as? String }, equals: ["noted"])
    }
}
