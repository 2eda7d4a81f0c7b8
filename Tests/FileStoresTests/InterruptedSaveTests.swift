import CoreData
import FileStores
import Foundation
import Platform
import TestSupport
import Testing

@Suite("Files after an interrupted save, and in the hands of others") struct InterruptedSaveTests {
    private let text = "id,text,other\n1,a,x\n2,b,y\n"

    private func store(_ scratch: Scratch, isReadOnly: Bool = false) throws -> NSManagedObjectContext {
        let description = CSVStore.description(at: scratch.url("Note.csv"))
        description.isReadOnly = isReadOnly
        return try open(description, Library.notes())
    }

    private func edit(_ context: NSManagedObjectContext) throws {
        try context.all("Note", by: "text").first?.setValue("edited", forKey: "other")
        try context.save()
    }

    @Test(
        "A symbolic link in the place of a hidden file of a save is replaced, and what it leads to stays",
        arguments: ["Note.csv.new", "journal", "journal.new"])
    func links(_ ending: String) throws {
        let scratch = try Scratch()
        try scratch.write(text, "Note.csv")
        try scratch.write("precious", "victim")
        try FileManager.default.createSymbolicLink(at: scratch.url(".Note.csv.\(ending)"), withDestinationURL: scratch.url("victim"))
        try edit(store(scratch))
        try expect(scratch.text("victim"), equals: "precious")
        #expect(try scratch.text("Note.csv").contains("edited"))
    }

    @Test("New files of a save that was not decided keep nobody from reading") func undecided() throws {
        let scratch = try Scratch()
        try scratch.write(text, "Note.csv")
        try scratch.write("id,text,other\n1,never,x\n", ".Note.csv.Note.csv.new")
        let context = try store(scratch, isReadOnly: true)
        try expect(context.all("Note", by: "text").map { $0.value(forKey: "text") as? String }, equals: ["a", "b"])
    }

    @Test("A decided save is finished, but not over an edit that was made since, and not with a part of its content")
    func decided() throws {
        let scratch = try Scratch()
        let new = "id,text,other\n1,saved,x\n2,b,y\n"
        func interrupt(replacing state: String?, size: Int) throws {
            try scratch.write(text, "Note.csv")
            try scratch.write(new, ".Note.csv.Note.csv.new")
            try scratch.write("Note.csv/\(state ?? FileStamp(scratch.url("Note.csv").path)?.text ?? "")/\(size)", ".Note.csv.journal")
        }
        for (state, size, word) in [("1 2 3 4 5 6 7", new.utf8.count, "edited since"), (nil, new.utf8.count + 1, "incomplete")] {
            try interrupt(replacing: state, size: size)
            let error = #expect(throws: NSError.self) { _ = try store(scratch) }
            #expect(error?.localizedDescription.contains(word) ?? false, "\(String(describing: error))")
            try expect(scratch.text("Note.csv"), equals: text)
            try expect(scratch.text(".Note.csv.Note.csv.new"), equals: new)
            // The user has kept the file as it is.
            try FileManager.default.removeItem(at: scratch.url(".Note.csv.Note.csv.new"))
            try expect(store(scratch).all("Note").count, equals: 2)
        }
        try interrupt(replacing: nil, size: new.utf8.count)
        #expect(throws: NSError.self) { _ = try store(scratch, isReadOnly: true) }
        _ = try store(scratch)
        try expect(scratch.text("Note.csv"), equals: new)
        // A journal of an earlier version has the names alone.
        try interrupt(replacing: nil, size: 0)
        try scratch.write("Note.csv", ".Note.csv.journal")
        _ = try store(scratch)
        try expect(scratch.text("Note.csv"), equals: new)
    }

    @Test("A file that another program has emptied, or moved away, is an error, and nothing is written") func emptied() throws {
        let scratch = try Scratch()
        try scratch.write(text, "Note.csv")
        let context = try store(scratch)
        try edit(context)
        let saved = try scratch.text("Note.csv")
        try context.all("Note", by: "text").last?.setValue("later", forKey: "other")
        try scratch.write("", "Note.csv")
        #expect(throws: NSError.self) { try context.save() }
        try expect(scratch.text("Note.csv"), equals: "")
        let error = #expect(throws: NSError.self) { _ = try store(scratch) }
        #expect(error?.localizedDescription.contains("empty") ?? false, "\(String(describing: error))")
        try FileManager.default.removeItem(at: scratch.url("Note.csv"))
        #expect(throws: NSError.self) { try context.save() }
        #expect(FileStamp(scratch.url("Note.csv").path) == nil)
        try scratch.write(saved, "Note.csv")
        try context.save()
        #expect(try scratch.text("Note.csv").contains("later"))
    }
}
