import CoreData
import FileStores
import Foundation
import TestSupport
import Testing

/// Files that are moved while a context has their records.
@Suite("Files that are moved") struct MovedFilesTests {
    enum Kind: CaseIterable { case csv, keylessCSV, json, keylessJSON }

    private func description(_ kind: Kind, _ scratch: Scratch, _ folder: String) -> NSPersistentStoreDescription {
        let url = scratch.url(folder)
        switch kind {
        case .csv, .keylessCSV: return CSVStore.description(at: url)
        case .json, .keylessJSON: return JSONStore.description(at: url)
        }
    }

    private func write(_ kind: Kind, _ scratch: Scratch) throws {
        try FileManager.default.createDirectory(at: scratch.url("first"), withIntermediateDirectories: true)
        switch kind {
        case .csv: try scratch.write("id,text,other\n1,a,x\n2,b,x\n3,c,x\n", "first/Note.csv")
        case .keylessCSV: try scratch.write("text,other\na,x\nb,x\nc,x\n", "first/Note.csv")
        case .json:
            try scratch.write(
                #"[{"id":1,"text":"a","other":"x"},{"id":2,"text":"b","other":"x"},{"id":3,"text":"c","other":"x"}]"#, "first/Note.json")
        case .keylessJSON:
            try scratch.write(
                #"[{"text":"a","other":"x"},{"text":"b","other":"x"},{"text":"c","other":"x"}]"#, "first/Note.json")
        }
    }

    @Test("keep the numbers and the versions of records: edits go on, also behind a gap", arguments: Kind.allCases)
    func edits(_ kind: Kind) throws {
        let scratch = try Scratch()
        try write(kind, scratch)
        let description = description(kind, scratch, "first")
        let context = try open(description, Library.notes())
        let coordinator = try #require(context.persistentStoreCoordinator)
        var notes = try context.all("Note", by: "text")
        notes[2].setValue("c2", forKey: "text")
        context.delete(notes.remove(at: 0))
        try context.save()
        notes[0].setValue("b2", forKey: "text")
        let store = try coordinator.migratePersistentStore(
            coordinator.persistentStores[0], to: scratch.url("second"), options: description.options, withType: description.type)
        expect(notes.map { $0.value(forKey: "text") as? String }, equals: ["b2", "c2"])
        #expect(notes.allSatisfy { $0.objectID.persistentStore === store })
        try context.save()
        for note in notes { context.refresh(note, mergeChanges: false) }
        expect(notes.map { $0.value(forKey: "text") as? String }, equals: ["b2", "c2"])
        notes[1].setValue("c3", forKey: "text")
        context.insert("Note", ["text": "d", "other": "x"])
        try context.save()
        try expect(context.all("Note", by: "text").map { $0.value(forKey: "text") as? String }, equals: ["b2", "c3", "d"])
        let again = try open(self.description(kind, scratch, "second"), Library.notes())
        try expect(again.all("Note", by: "text").map { $0.value(forKey: "text") as? String }, equals: ["b2", "c3", "d"])
    }

    @Test("conflict with what others have written to the copy", arguments: Kind.allCases)
    func conflict(_ kind: Kind) throws {
        let scratch = try Scratch()
        try write(kind, scratch)
        let description = description(kind, scratch, "first")
        let context = try open(description, Library.notes())
        let coordinator = try #require(context.persistentStoreCoordinator)
        let note = try context.all("Note", by: "text")[0]
        try coordinator.migratePersistentStore(
            coordinator.persistentStores[0], to: scratch.url("second"), options: description.options, withType: description.type)
        let isCSV = description.type == CSVStore.type
        let name = isCSV ? "second/Note.csv" : "second/Note.json"
        try scratch.write(
            scratch.text(name).replacingOccurrences(of: isCSV ? "a,x" : #""a""#, with: isCSV ? "q,x" : #""q""#), name)
        note.setValue("mine", forKey: "text")
        do {
            try context.save()
            Issue.record("The save succeeds.")
        } catch let error as NSError {
            expect(error.code, equals: NSManagedObjectMergeError)
        }
    }
}
