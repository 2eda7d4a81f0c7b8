import CoreData
import Foundation
import TestSupport
import Testing

@testable import FileStores

@Suite("Large files are opened in steps") struct LargeFileTests {
    private func large(_ scratch: Scratch) throws -> NSPersistentStoreDescription {
        var text = "id,text,other\n"
        for number in 1...200_000 { text += "\(number),text \(number),\n" }
        try scratch.write(text, "Note.csv")
        var layout = FileLayout()
        layout.keepsRowsUpTo = 0
        return CSVStore.description(at: scratch.url("Note.csv"), layout: layout)
    }

    @Test("Opening is a part of the current progress")
    func progress() throws {
        let scratch = try Scratch()
        let description = try large(scratch)
        let whole = Progress(totalUnitCount: 1)
        whole.becomeCurrent(withPendingUnitCount: 1)
        let context = try open(description, Library.notes())
        whole.resignCurrent()
        expect(whole.completedUnitCount, equals: 1)
        try expect(context.all("Note", "text == 'text 777'").count, equals: 1)
    }

    @Test("Rows that are not kept are decoded when they are wanted, and saved")
    func decoded() throws {
        let scratch = try Scratch()
        let context = try open(try large(scratch), Library.notes())
        let note = try #require(try context.all("Note", "text == 'text 199999'").first)
        note.setValue("x", forKey: "other")
        try context.save()
        #expect(try scratch.text("Note.csv").hasSuffix("199999,text 199999,x\n200000,text 200000,\n"))
    }

    @Test("What was read is freed once a save has replaced it, and when the store is closed", arguments: ["csv", "json"])
    func freed(_ kind: String) throws {
        let scratch = try Scratch()
        try scratch.write(kind == "csv" ? "id,text,other\n1,a,x\n2,b,y\n" : #"[{"id": 1, "text": "a"}, {"id": 2}]"#, "Note.\(kind)")
        let description = kind == "csv" ? CSVStore.description(at: scratch.folder) : JSONStore.description(at: scratch.folder)
        let context = try open(description, Library.notes())
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        weak let before = (store as? RecordStore)?.images.first
        #expect(before != nil)
        let note = try #require(try context.all("Note", by: "text").last)
        note.setValue("b", forKey: "other")
        try context.save()
        #expect(before == nil)
        weak let after = (store as? RecordStore)?.images.first
        try expect(context.all("Note", by: "text").count, equals: 2)
        context.reset()
        try coordinator.remove(store)
        (store as? RecordStore)?.images = []
        #expect(after == nil)
    }
}
