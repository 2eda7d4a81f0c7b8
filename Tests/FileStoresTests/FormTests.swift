import CoreData
import FileStores
import TestSupport
import Testing

@Suite("CSV files keep their form") struct CSVFormTests {
    @Test("A save changes the fields that were set, and no other byte")
    func minimalChange() throws {
        let scratch = try Scratch()
        let before = [
            "# The library of the house.", "id,\"title\",note,pages,price,published,isLent,author",
            "1,\"Salt Maps\",\"keeps \"\"this\"\"\",0310,12.50,2014-05-01,yes,7", "# A comment between.", "2,Ink,,12,,,no,", "",
        ].joined(separator: "\r\n")
        try scratch.write(before, "Book.csv")
        try scratch.write("id,name\n7,\"Varga, Ilse\"\n", "Author.csv")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: scratch.url("Book.csv").path)
        var dialect = CSVDialect.rfc4180
        dialect.comment = "#"
        let context = try open(CSVStore.description(at: scratch.folder, dialect: dialect), Library.model())
        let books = try context.all("Book", by: "title")
        expect(books.map { $0.value(forKey: "title") as? String }, equals: ["Ink", "Salt Maps"])
        expect((books[1].value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String, equals: "Varga, Ilse")
        books[0].setValue(13, forKey: "pages")
        try context.save()
        try expect(scratch.text("Book.csv"), equals: before.replacingOccurrences(of: "2,Ink,,12,,", with: "2,Ink,,13,,"))
        try expect(scratch.text("Author.csv"), equals: "id,name\n7,\"Varga, Ilse\"\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.url("Book.csv").path)
        expect(attributes[.posixPermissions] as? Int, equals: 0o640)
    }

    @Test("Records are added in the form of the file, and removed with their line")
    func addedAndRemoved() throws {
        let scratch = try Scratch()
        try scratch.write("id;text;unknown;other\r\n1;\"a;b\";x;\r\n2;c;y;\"\"\r\n3;d;z;e", "Note.csv")
        let context = try open(CSVStore.description(at: scratch.url("Note.csv"), dialect: .excel), Library.notes())
        try expect(context.all("Note", by: "text").map { $0.value(forKey: "other") as? String }, equals: [nil, "", "e"])
        for note in try context.all("Note", "text == 'c'") { context.delete(note) }
        context.insert("Note", ["text": "line\nbreak", "other": ""])
        try context.save()
        try expect(scratch.text("Note.csv"), equals: "id;text;unknown;other\r\n1;\"a;b\";x;\r\n3;d;z;e\r\n4;\"line\nbreak\";;\"\"\r\n")
    }

    struct File: CustomTestStringConvertible {
        let name: String
        let dialect: CSVDialect
        let bytes: [UInt8]
        let values: [String?]
        var testDescription: String { name }
    }

    private static func utf16(_ text: String, isBig: Bool = false) -> [UInt8] {
        text.utf16.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
    }

    static var files: [File] {
        var windows = CSVDialect.excel
        windows.encoding = .windows1252
        var backslash = CSVDialect.tabs
        backslash.escape = .backslash
        backslash.values.nilSpelling = "\\N"
        var bare = CSVDialect()
        bare.hasHeader = false
        return [
            File(
                name: "Excel, semicolons with a byte order mark", dialect: .excel,
                bytes: [0xEF, 0xBB, 0xBF] + Array("id;text;other\r\n1;Größe;\"a\"\"b\"\r\n2;;\"zwei\nZeilen\"\r\n".utf8),
                values: ["Größe", nil]),
            File(
                name: "Excel, Unicode text", dialect: .tabs,
                bytes: [0xFF, 0xFE] + utf16("id\ttext\tother\r\n1\tGröße 😀\t\"a \"\"b\"\"\"\r\n2\t\tx\r\n"), values: ["Größe 😀", nil]),
            File(
                name: "UTF-16, high byte first", dialect: .rfc4180,
                bytes: [0xFE, 0xFF] + utf16("id,text,other\n1,é,x\n2,,y\n", isBig: true),
                values: ["é", nil]),
            File(
                name: "Windows-1252", dialect: windows,
                bytes: Array("id;text;other\r\n1;".utf8) + [0x80, 0xE9, 0x81] + Array(";x\r\n2;;y\r\n".utf8),
                values: ["€é\u{81}", nil]),
            File(
                name: "LibreOffice, all text quoted", dialect: .rfc4180,
                bytes: Array("\"id\",\"text\",\"other\"\n1,\"Ink, black\",\"1\"\"2\"\n2,\"\",\"b\"\n".utf8), values: ["Ink, black", ""]),
            File(
                name: "RFC 4180 without a last line break", dialect: .rfc4180,
                bytes: Array("id,text,other\r\n1,\"b \r\nbb\",\"c\"\"cc\"\r\n2,z,".utf8), values: ["b \r\nbb", "z"]),
            File(
                name: "Backslashes and tabs", dialect: backslash,
                bytes: Array("id\ttext\tother\n1\t\"a \\\"q\\\" \\\\ b\\n\"\t\\N\n2\t\\N\tx\n".utf8), values: ["a \"q\" \\ b\n", nil]),
            File(name: "Carriage returns", dialect: .rfc4180, bytes: Array("id,text,other\r1,a,b\r2,,c\r".utf8), values: ["a", nil]),
            File(
                name: "A line feed, and carriage returns", dialect: .rfc4180,
                bytes: Array(("id,text,other\n" + (1...9).map { "\($0),\($0 * $0),x\r" }.joined()).utf8),
                values: (1...9).map { "\($0 * $0)" }),
        ]
    }

    @Test("Files of every kind are read, and a change and its undoing leave them byte-equal", arguments: files)
    func roundTrips(_ file: File) throws {
        let scratch = try Scratch()
        try scratch.write(file.bytes, "Note.csv")
        var description = CSVStore.description(at: scratch.url("Note.csv"), dialect: file.dialect)
        let context = try open(description, Library.notes())
        let notes = try context.all("Note").sorted { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
        expect(notes.map { $0.value(forKey: "text") as? String }, equals: file.values)
        let other = notes[1].value(forKey: "other")
        notes[1].setValue("changed", forKey: "other")
        let added = context.insert("Note", ["text": "é, \"new\"\n; \\"])
        try context.save()
        description = CSVStore.description(at: scratch.url("Note.csv"), dialect: file.dialect)
        let again = try open(description, Library.notes())
        try expect(again.all("Note", "other == 'changed'").count, equals: 1)
        #expect(try again.all("Note").contains { $0.value(forKey: "text") as? String == "é, \"new\"\n; \\" })
        context.delete(added)
        notes[1].setValue(other, forKey: "other")
        try context.save()
        let wanted = file.bytes.last == 0x0A || file.bytes.last == 0x0D || file.bytes.last == 0 ? file.bytes : file.bytes + [0x0D, 0x0A]
        try expect(scratch.bytes("Note.csv"), equals: wanted)
    }
}
