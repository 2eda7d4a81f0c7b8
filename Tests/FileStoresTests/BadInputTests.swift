import CoreData
import FileStores
import TestSupport
import Testing

@Suite("Bad input is named by file, line and column") struct BadInputTests {
    struct Wrong: CustomTestStringConvertible {
        let text: String
        let line: Int
        let column: Int
        let expected: String
        var name = "Book.csv"
        var testDescription: String { expected }
    }

    static let header = "id,title,pages,price,published,isLent,author\n"
    static let wrongs = [
        Wrong(text: header + "1,a,1,1,,,\n2,b,2 pages,1,,,\n", line: 3, column: 5, expected: "a whole number"),
        Wrong(text: header + "1,a,99999999999,1,,,\n", line: 2, column: 5, expected: "from -2147483648"),
        Wrong(text: header + "1,a,1,1,2014-02-30,,\n", line: 2, column: 9, expected: "a date"),
        Wrong(text: header + "1,a,1,\"1,5\",,,\n", line: 2, column: 7, expected: "a number"),
        Wrong(text: header + "1,a,1,1,,maybe,\n", line: 2, column: 10, expected: "true or false"),
        Wrong(text: header + "1,a,1,1,,\n", line: 2, column: 10, expected: "7 fields, found 6"),
        Wrong(text: header + "1,a,1,1,,,,x\n", line: 2, column: 12, expected: "7 fields, found 8"),
        Wrong(text: header + "1,a,1,1,,,\n1,b,1,1,,,\n", line: 3, column: 1, expected: "a key of its own: line 2 has “1”"),
        Wrong(text: header + ",a,1,1,,,\n", line: 2, column: 1, expected: "a key in “id”"),
        Wrong(text: header + "1,\"a,1,1,,,\n", line: 2, column: 3, expected: "a closing quote"),
        Wrong(text: header + "1,\"a\"b,1,1,,,\n", line: 2, column: 6, expected: "a delimiter or the end of the line"),
        Wrong(text: "id,title,pages,price,published,author\n", line: 1, column: 1, expected: "a column “isLent”"),
        Wrong(text: "[{\"id\": 1, \"pages\": \"many\"}]", line: 1, column: 21, expected: "a whole number", name: "Book.json"),
        Wrong(text: "[{\"id\": 1},\n {\"id\": 1}]", line: 2, column: 9, expected: "a key of its own", name: "Book.json"),
        Wrong(text: "[{\"id\": 1, \"title\": \"a\", \"title\": \"b\"}]", line: 1, column: 35, expected: "“title” twice", name: "Book.json"),
        Wrong(text: "[{\"id\": 1, \"title\": null, \"title\": \"b\"}]", line: 1, column: 36, expected: "“title” twice", name: "Book.json"),
        Wrong(text: "[{\"id\": 1,}]", line: 1, column: 11, expected: "a key", name: "Book.json"),
    ]

    private func description(_ scratch: Scratch, _ name: String, _ layout: FileLayout = FileLayout()) -> NSPersistentStoreDescription {
        name.hasSuffix("json")
            ? JSONStore.description(at: scratch.folder, layout: layout) : CSVStore.description(at: scratch.folder, layout: layout)
    }

    @Test("Each mistake", arguments: wrongs)
    func mistakes(_ wrong: Wrong) throws {
        let scratch = try Scratch()
        try scratch.write(wrong.text, wrong.name)
        let failure = #expect(throws: NSError.self) { _ = try open(description(scratch, wrong.name), Library.model()) }
        expect(failure?.code, equals: CocoaError.Code.fileReadCorruptFile.rawValue)
        expect((failure?.userInfo[NSFilePathErrorKey] as? String)?.hasSuffix(wrong.name), equals: true)
        expect(failure?.userInfo[FileStoreLineErrorKey] as? Int, equals: wrong.line, "\(failure?.localizedDescription ?? "")")
        expect(failure?.userInfo[FileStoreColumnErrorKey] as? Int, equals: wrong.column, "\(failure?.localizedDescription ?? "")")
        expect(failure?.localizedDescription.contains(wrong.expected), equals: true, "\(failure?.localizedDescription ?? "")")
        try expect(scratch.text(wrong.name), equals: wrong.text)
    }

    @Test("Records that cannot be read are left out where that is asked for, are reported, and stay in the file")
    func skipped() throws {
        let scratch = try Scratch()
        let text = Self.header + "1,a,1,1,,,\n2,b,many,1,,,\n3,c\n4,d,4,1,,,\n"
        try scratch.write(text, "Book.csv")
        var layout = FileLayout()
        layout.skipsUnreadableRecords = true
        let context = try open(description(scratch, "Book.csv", layout), Library.model())
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
        expect(
            CSVStore.report(of: store).entries.map { "\($0.line) \($0.expected.prefix(14))" },
            equals: ["4 7 fields, foun", "3 a whole number"])
        let books = try context.all("Book", by: "title")
        expect(books.map { $0.value(forKey: "title") as? String }, equals: ["a", "d"])
        books[1].setValue(5, forKey: "pages")
        try context.save()
        try expect(scratch.text("Book.csv"), equals: text.replacingOccurrences(of: "4,d,4", with: "4,d,5"))
    }

    @Test("A reference to a record that is not there is an error where that is asked for")
    func references() throws {
        let scratch = try Scratch()
        try scratch.write(Self.header + "1,a,1,1,,,9\n", "Book.csv")
        var layout = FileLayout()
        layout.checksReferences = true
        let failure = #expect(throws: NSError.self) { _ = try open(description(scratch, "Book.csv", layout), Library.model()) }
        expect(failure?.localizedDescription.contains("line 2, column 11"), equals: true)
        _ = try open(description(scratch, "Book.csv"), Library.model())
    }

    @Test("A key cannot be changed or be given twice, and is made where an object has none")
    func keys() throws {
        let scratch = try Scratch()
        try scratch.write("sku,text\na1,x\na2,y\n", "Note.csv")
        var layout = FileLayout()
        layout["Note"].key = "sku"
        let context = try open(CSVStore.description(at: scratch.url("Note.csv"), layout: layout), Library.notes(["sku", "text"]))
        let note = try #require(try context.all("Note", "sku == 'a1'").first)
        note.setValue("b1", forKey: "sku")
        #expect(throws: NSError.self) { try context.save() }
        context.rollback()
        let twin = context.insert("Note", ["sku": "a2"])
        #expect(throws: NSError.self) { try context.save() }
        context.delete(twin)
        let new = context.insert("Note", ["text": "z"])
        try context.save()
        let key = try #require(new.value(forKey: "sku") as? String)
        try expect(scratch.text("Note.csv"), equals: "sku,text\na1,x\na2,y\n\(key),z\n")
    }

    @Test("A drafted model keeps what a number would change as text")
    func drafted() throws {
        let scratch = try Scratch()
        let text = """
            id,ZIP code,code,big,amount,day,paid,hash,mixed,empty
            1,00601,1E10,12345678901234567890,1.50,2014-05-01,yes,a,1,
            2,10115,5,1,-3,2014-05-02 10:00,no,b,x,

            """
        try scratch.write(text, "big sales.csv")
        let model = try NSManagedObjectModel(describingCSV: scratch.url("big sales.csv"))
        let entity = try #require(model.entities.first)
        expect(entity.name, equals: "BigSales")
        let types = entity.attributesByName.mapValues(\.type)
        expect(
            types,
            equals: [
                "id": .integer64, "zipCode": .string, "code": .string, "big": .string, "amount": .double, "day": .date, "paid": .boolean,
                "hashColumn": .string, "mixed": .string, "empty": .string,
            ])
        let context = try open(CSVStore.description(at: scratch.url("big sales.csv")), model)
        let sale = try #require(try context.all("BigSales", "id == 1").first)
        expect(sale.value(forKey: "zipCode") as? String, equals: "00601")
        sale.setValue("00602", forKey: "zipCode")
        try context.save()
        try expect(scratch.text("big sales.csv"), equals: text.replacingOccurrences(of: "00601", with: "00602"))
    }

    @Test("The form of a file is told where one answer fits, and an error where several do")
    func detected() throws {
        let scratch = try Scratch()
        try scratch.write([0xEF, 0xBB, 0xBF] + Array("a;b\r\n1,5;2\r\n".utf8), "semicolons.csv")
        let dialect = try CSVDialect.detect(in: scratch.url("semicolons.csv"))
        #expect(
            dialect.delimiter == ";" && dialect.hasHeader && dialect.lineEnding == .carriageReturnLineFeed && dialect.writesByteOrderMark)
        try scratch.write("1|2\n3|4\n", "bars.csv")
        #expect(try !CSVDialect.detect(in: scratch.url("bars.csv")).hasHeader)
        try scratch.write("a;b,c\n1;2,3\n", "both.csv")
        let failure = #expect(throws: NSError.self) { try CSVDialect.detect(in: scratch.url("both.csv")) }
        expect(failure?.localizedDescription.contains("“,”, “;”"), equals: true)
        try scratch.write(Array("a,b\n".utf8) + [0xE9, 0x2C, 0x0A], "latin.csv")
        #expect(throws: NSError.self) { try CSVDialect.detect(in: scratch.url("latin.csv")) }
    }
}
