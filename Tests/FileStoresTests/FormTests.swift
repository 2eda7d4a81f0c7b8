import CoreData
import FileStores
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
        try scratch.write("id;x\n", "unrelated.txt")
        try scratch.write("id,name\n7,\"Varga, Ilse\"\n", "Author.csv")
        var dialect = CSVDialect.rfc4180
        dialect.comment = "#"
        let context = try open(CSVStore.description(at: scratch.folder, dialect: dialect), Library.model())
        let books = try context.all("Book", by: "title")
        #expect(books.map { $0.value(forKey: "title") as? String } == ["Ink", "Salt Maps"])
        #expect((books[1].value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Varga, Ilse")
        books[0].setValue(13, forKey: "pages")
        try context.save()
        #expect(try scratch.text("Book.csv") == before.replacingOccurrences(of: "2,Ink,,12,,", with: "2,Ink,,13,,"))
        #expect(try scratch.text("Author.csv") == "id,name\n7,\"Varga, Ilse\"\n")
    }
}
