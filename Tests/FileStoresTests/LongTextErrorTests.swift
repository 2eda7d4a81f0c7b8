import CoreData
import FileStores
import Foundation
import TestSupport
import Testing

@Suite("Errors about long values of files") struct LongTextErrorTests {
    static let long = String(repeating: "ab", count: 1 << 19)
    static let header = "id,title,pages,price,published,isLent,author\n"

    @Test(
        "A key, a value or a column of a megabyte makes no error of more than some kilobytes",
        arguments: [
            ("Book.csv", header + "1,a,\(long),1,,,\n"), ("Book.csv", header + "1,a,1,1,\(long),,\n"),
            ("Book.csv", header + "\(long),a,1,1,,,\n\(long),b,1,1,,,\n"), ("Book.csv", "id,title,\(long)\n"),
            ("Book.csv", "id,title,pages,price,published,isLent,author,\(long),\(long),title\n"),
            ("Book.json", #"[{"id": "\#(long)"}, {"id": "\#(long)"}]"#), ("Book.json", #"[{"id": 1, "pages": "\#(long)"}]"#),
            ("Book.json", #"{"\#(long)": }"#), ("Book.json", #"[{"id": 1, "title": {"\#(long)": 1}}]"#),
        ])
    func files(name: String, text: String) throws {
        let scratch = try Scratch()
        try scratch.write(text, name)
        let description =
            name.hasSuffix("json") ? JSONStore.description(at: scratch.folder) : CSVStore.description(at: scratch.folder)
        let error = #expect(throws: NSError.self) { _ = try open(description, Library.model()) }
        let printed = error.map { "\($0)" } ?? ""
        #expect((error?.localizedDescription.utf8.count ?? 0) < 20_000 && printed.utf8.count < 100_000, "\(printed.prefix(500))")
    }
}
