import CoreData
import FileStores
import Platform
import TestSupport
import Testing

@Suite("Files are shared with others") struct SharedFileTests {
    @Test("What others changed meanwhile stays, record by record", arguments: ["csv", "json"])
    func merged(_ kind: String) throws {
        let scratch = try Scratch()
        let (name, before, after, wanted) =
            kind == "csv"
            ? (
                "Note.csv", "id,text,other\n1,a,x\n2,b,y\n3,c,z\n", "id,other,text,more\n1,x,a,!\n3,z,theirs,!\n4,n,new,!\n",
                "id,other,text,more\n1,ours,a,!\n3,z,theirs,!\n4,n,new,!\n"
            )
            : (
                "Notes.json", #"{"Note": [{"id": 1, "text": "a", "other": "x"}, {"id": 2, "text": "b"}, {"id": 3, "text": "c"}]}"#,
                #"{"v": 1, "Note": [{"id": 1, "text": "a", "other": "x"}, {"id": 3, "text": "theirs"}, {"id": 4, "text": "new"}]}"#,
                #"{"v": 1, "Note": [{"id": 1, "text": "a", "other": "ours"}, {"id": 3, "text": "theirs"}, {"id": 4, "text": "new"}]}"#
            )
        try scratch.write(before, name)
        let url = scratch.url(name)
        let context = try open(kind == "csv" ? CSVStore.description(at: url) : JSONStore.description(at: url), Library.notes())
        let notes = try context.all("Note", by: "text")
        expect(notes.count, equals: 3)
        try scratch.write(after, name)
        notes[0].setValue("ours", forKey: "other")
        try context.save()
        try expect(scratch.text(name), equals: wanted)
        context.reset()
        try expect(context.all("Note", by: "text").map { $0.value(forKey: "text") as? String }, equals: ["a", "new", "theirs"])
    }

    @Test("A record that both changed is a conflict, which the merge policy resolves; nothing is overwritten")
    func conflicts() throws {
        let scratch = try Scratch()
        try scratch.write("id,text,other\n1,a,x\n2,b,y\n", "Note.csv")
        let context = try open(CSVStore.description(at: scratch.url("Note.csv")), Library.notes())
        let notes = try context.all("Note", by: "text")
        _ = notes.map { $0.value(forKey: "other") }
        try scratch.write("id,text,other\n1,theirs,x\n2,b,y\n", "Note.csv")
        notes[0].setValue("ours", forKey: "other")
        let failure = #expect(throws: NSError.self) { try context.save() }
        expect(failure?.code, equals: NSManagedObjectMergeError)
        let conflict = (failure?.userInfo["conflictList"] as? [NSMergeConflict])?.first
        expect(conflict?.persistedSnapshot?["text"] as? String, equals: "theirs")
        try expect(scratch.text("Note.csv"), equals: "id,text,other\n1,theirs,x\n2,b,y\n")
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        try expect(scratch.text("Note.csv"), equals: "id,text,other\n1,theirs,ours\n2,b,y\n")
    }

    @Test("What an editor writes while a save writes its own is merged, too")
    func whileWriting() throws {
        let scratch = try Scratch()
        try scratch.write("id,text,other\n1,a,x\n2,b,y\n", "Note.csv")
        let context = try open(CSVStore.description(at: scratch.url("Note.csv")), Library.notes())
        let note = try #require(try context.all("Note", by: "text").first)
        // The first save writes the metadata, too.
        note.setValue("w", forKey: "other")
        try context.save()
        note.setValue("v", forKey: "other")
        let (thread, isDone) = (pthread_self(), LockedFlag())
        let observer = FileCalls.Observer { call in
            // Other tests save, too, on other threads.
            guard case .synchronize = call, pthread_equal(pthread_self(), thread) != 0, isDone.setOnce() else { return }
            _ = try? scratch.write("id,text,other\n1,a,w\n2,theirs,y\n", "Note.csv")
        }
        FileCalls.processObserver.set(observer)
        defer { FileCalls.processObserver.set(nil) }
        try context.save()
        #expect(isDone.isSet)
        try expect(scratch.text("Note.csv"), equals: "id,text,other\n1,a,v\n2,theirs,y\n")
        expect(scratch.names, equals: [".Note.csv.coredata", "Note.csv"])
    }

    @Test("A record that others deleted is a conflict of whoever changed it")
    func deletedOutside() throws {
        let scratch = try Scratch()
        try scratch.write("id,text,other\n1,a,x\n2,b,y\n", "Note.csv")
        let context = try open(CSVStore.description(at: scratch.url("Note.csv")), Library.notes())
        let notes = try context.all("Note", by: "text")
        try scratch.write("id,text,other\n2,b,y\n", "Note.csv")
        notes[0].setValue("ours", forKey: "other")
        let failure = #expect(throws: NSError.self) { try context.save() }
        expect(failure?.code, equals: NSManagedObjectMergeError)
        try expect(scratch.text("Note.csv"), equals: "id,text,other\n2,b,y\n")
    }

    @Test("A file that somebody has half edited is an error of the save, and stays as it is")
    func halfEdited() throws {
        let scratch = try Scratch()
        try scratch.write("id,text,other\n1,a,x\n", "Note.csv")
        let context = try open(CSVStore.description(at: scratch.url("Note.csv")), Library.notes())
        let note = try #require(try context.all("Note").first)
        let broken = "id,text,other\n1,\"a,x\n"
        try scratch.write(broken, "Note.csv")
        note.setValue("ours", forKey: "other")
        let failure = #expect(throws: NSError.self) { try context.save() }
        expect(failure?.userInfo[FileStoreLineErrorKey] as? Int, equals: 2)
        try expect(scratch.text("Note.csv"), equals: broken)
        try scratch.write("id,text,other\n1,a,x\n", "Note.csv")
        try context.save()
        try expect(scratch.text("Note.csv"), equals: "id,text,other\n1,a,ours\n")
    }

    @Test("URIs find objects in another process: by key, and by place where there is none; nothing is left beside a file that is read")
    func identity() throws {
        let scratch = try Scratch()
        try scratch.write("id,text,other\n7,a,\nab/c é,b,\n00601,c,\n", "Note.csv")
        try scratch.write("text,other\na,\nb,\n", "Plain.csv")
        for name in ["Note.csv", "Plain.csv"] {
            let first = try open(CSVStore.description(at: scratch.url(name)), Library.notes())
            let uris = try first.all("Note", by: "text").map { $0.objectID.uriRepresentation() }
            expect(Set(uris).count, equals: uris.count)
            let second = try open(CSVStore.description(at: scratch.url(name)), Library.notes())
            for (uri, text) in zip(uris, ["a", "b", "c"]) {
                let id = try #require(second.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
                try expect(second.existingObject(with: id).value(forKey: "text") as? String, equals: text)
            }
        }
        expect(scratch.names, equals: ["Note.csv", "Plain.csv"])
    }

    @Test("A folder that cannot be written is read, and a store opened for reading rejects saves")
    func readOnly() throws {
        let scratch = try Scratch()
        try scratch.write("id,text,other\n1,a,x\n", "Note.csv")
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: scratch.folder.path)
        let description = CSVStore.description(at: scratch.url("Note.csv"))
        description.isReadOnly = true
        let context = try open(description, Library.notes())
        let note = try #require(try context.all("Note").first)
        note.setValue("b", forKey: "text")
        #expect(throws: NSError.self) { try context.save() }
        try expect(scratch.text("Note.csv"), equals: "id,text,other\n1,a,x\n")
    }

    @Test("A file that nobody may write is not replaced, and one behind a link is replaced at its place")
    func protectedAndLinked() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(at: scratch.url("there"), withIntermediateDirectories: true)
        let text = "id,text,other\n1,a,x\n"
        try scratch.write(text, "there/Note.csv")
        try FileManager.default.createSymbolicLink(at: scratch.url("Link.csv"), withDestinationURL: scratch.url("there/Note.csv"))
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: scratch.url("there/Note.csv").path)
        let context = try open(CSVStore.description(at: scratch.url("Link.csv")), Library.notes())
        try context.all("Note").first?.setValue("b", forKey: "text")
        let failure = #expect(throws: NSError.self) { try context.save() }
        expect(failure?.code, equals: NSPersistentStoreSaveError)
        try expect(scratch.text("there/Note.csv"), equals: text)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: scratch.url("there/Note.csv").path)
        try context.save()
        try expect(scratch.text("there/Note.csv"), equals: "id,text,other\n1,b,x\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scratch.url("Link.csv").path).hasSuffix("there/Note.csv"))
    }

    @Test("Files of a folder that are behind links are replaced at their places, together, and the links stay")
    func linkedFilesOfAFolder() throws {
        let scratch = try Scratch()
        for name in ["there", "elsewhere", "store"] {
            try FileManager.default.createDirectory(at: scratch.url(name), withIntermediateDirectories: true)
        }
        try scratch.write("id,title,author\n1,Momo,1\n", "there/Books of mine.csv")
        try scratch.write("id,name\n1,Ende\n", "elsewhere/Author.csv")
        let links = ["store/Book.csv": "../there/Books of mine.csv", "store/Author.csv": scratch.url("elsewhere/Author.csv").path]
        for (link, target) in links {
            try FileManager.default.createSymbolicLink(atPath: scratch.url(link).path, withDestinationPath: target)
        }
        let (book, author) = (NSEntityDescription(name: "Book"), NSEntityDescription(name: "Author"))
        let (books, by) = (
            NSRelationshipDescription(name: "books", destination: book, toMany: true),
            NSRelationshipDescription(name: "author", destination: author)
        )
        by.inverse(to: books)
        book.properties = [NSAttributeDescription(name: "title", type: .string), by]
        author.properties = [NSAttributeDescription(name: "name", type: .string), books]
        let context = try open(CSVStore.description(at: scratch.url("store")), NSManagedObjectModel(entities: [book, author]))
        try context.all("Author").first?.setValue("Michael Ende", forKey: "name")
        try context.all("Book").first?.setValue("MOMO", forKey: "title")
        try context.save()
        try context.all("Book").first?.setValue("Jim Knopf", forKey: "title")
        try context.save()
        try expect(scratch.text("there/Books of mine.csv"), equals: "id,title,author\n1,Jim Knopf,1\n")
        try expect(scratch.text("elsewhere/Author.csv"), equals: "id,name\n1,Michael Ende\n")
        for (link, target) in links {
            try expect(FileManager.default.destinationOfSymbolicLink(atPath: scratch.url(link).path), equals: target)
        }
        for folder in ["there", "elsewhere"] {
            try expect(FileManager.default.contentsOfDirectory(atPath: scratch.url(folder).path).count, equals: 1)
        }
    }

    @Test("A pipe or a device is no file: an error says so at once", arguments: ["Note.csv", "Note.json"])
    func pipes(name: String) throws {
        let scratch = try Scratch()
        let description = name.hasSuffix("csv") ? CSVStore.description(at: scratch.url(name)) : JSONStore.description(at: scratch.url(name))
        expect(mkfifo(scratch.url(name).path, 0o600), equals: 0)
        let failure = #expect(throws: NSError.self) { _ = try open(description, Library.notes()).all("Note") }
        #expect(failure?.localizedDescription.contains("It is a pipe or a device") == true, "\(String(describing: failure))")
        try FileManager.default.removeItem(at: scratch.url(name))
        try FileManager.default.createSymbolicLink(atPath: scratch.url(name).path, withDestinationPath: "/dev/zero")
        let endless = #expect(throws: NSError.self) { _ = try open(description, Library.notes()).all("Note") }
        #expect(endless?.localizedDescription.contains("It is a pipe or a device") == true, "\(String(describing: endless))")
    }

    @Test("Metadata keep the UUID and the hashes of the model beside the files; another model is refused")
    func metadata() throws {
        let scratch = try Scratch()
        try scratch.write("id,text,other\n1,a,x\n", "Note.csv")
        let context = try open(CSVStore.description(at: scratch.url("Note.csv")), Library.notes())
        let uuid = context.persistentStoreCoordinator?.persistentStores.first?.identifier
        try context.all("Note").first?.setValue("b", forKey: "text")
        try context.save()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: CSVStore.type, at: scratch.url("Note.csv"))
        expect(metadata[NSStoreUUIDKey] as? String, equals: uuid)
        #expect(Library.notes().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let failure = #expect(throws: NSError.self) {
            let description = CSVStore.description(at: scratch.url("Note.csv"))
            description.shouldMigrateStoreAutomatically = false
            _ = try open(description, Library.notes(["text"]))
        }
        expect(failure?.code, equals: NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test("Records that stand in others are read, added, changed and removed with them")
    func nested() throws {
        let scratch = try Scratch()
        let before = """
            {
              "made by": "hand",
              "Author": [
                {
                  "id": "v", "name": "Varga", "born": 1.50e2,
                  "books": [{"id": 1, "title": "Ink", "pages": 12}, {"id": 2, "title": "Salt", "extra": [1, 2]}]
                },
                {"id": "q", "name": "Quirke"}
              ]
            }

            """
        try scratch.write(before, "Library.json")
        var layout = FileLayout()
        layout["Book"].owner = "author"
        let context = try open(JSONStore.description(at: scratch.url("Library.json"), layout: layout), Library.model())
        let varga = try #require(try context.all("Author", "name == 'Varga'").first)
        let titles = (varga.value(forKey: "books") as? Set<NSManagedObject>)?.compactMap { $0.value(forKey: "title") as? String }
        expect(titles?.sorted(), equals: ["Ink", "Salt"])
        try context.all("Book", "title == 'Ink'").first?.setValue(13, forKey: "pages")
        for book in try context.all("Book", "title == 'Salt'") { context.delete(book) }
        let quirke = try #require(try context.all("Author", "name == 'Quirke'").first)
        context.insert("Book", ["title": "Dust", "author": quirke])
        try context.save()
        let after = before.replacingOccurrences(
            of: "\"pages\": 12}, {\"id\": 2, \"title\": \"Salt\", \"extra\": [1, 2]}]", with: "\"pages\": 13}]")
        let text = try scratch.text("Library.json")
        #expect(text.hasPrefix(after.prefix(upTo: after.range(of: "{\"id\": \"q\"")?.lowerBound ?? after.endIndex)))
        let again = try open(JSONStore.description(at: scratch.url("Library.json"), layout: layout), Library.model())
        let dust = try #require(try again.all("Book", "title == 'Dust'").first)
        expect((dust.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String, equals: "Quirke")
    }
}

/// A flag that is set once.
private final class LockedFlag: @unchecked Sendable {
    // Guarded by this lock.
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }

    /// Sets the flag; returns whether it was not set.
    func setOnce() -> Bool {
        lock.withLock {
            defer { value = true }
            return !value
        }
    }

    @Test(
        "Reading with NSReadOnlyPersistentStoreOption changes no byte, and makes no file beside", arguments: ["csv", "json"], [true, false])
    func readOnlyFiles(_ kind: String, isMade: Bool) throws {
        let scratch = try Scratch()
        try scratch.write("id,text,other\n1,a,b\n", "Note.csv")
        try scratch.write(#"{"Note": [{"id": 1, "text": "a", "other": "b"}]}"#, "Notes.json")
        let place = kind == "csv" ? CSVStore.description(at: scratch.folder) : JSONStore.description(at: scratch.url("Notes.json"))
        if isMade {
            let writer = try open(place, Library.notes())
            writer.insert("Note", ["text": "c"])
            try writer.save()
        }
        func contents() throws -> [String: [UInt8]] {
            Dictionary(uniqueKeysWithValues: try scratch.names.map { ($0, try scratch.bytes($0)) })
        }
        let before = try contents()
        place.isReadOnly = true
        let context = try open(place, Library.notes())
        try expect(context.all("Note").count, equals: isMade ? 2 : 1)
        try expect(context.all("Note", "text == 'a'").map { $0.value(forKey: "other") as? String }, equals: ["b"])
        try context.persistentStoreCoordinator.map { try $0.remove($0.persistentStores[0]) }
        let after = try contents()
        expect(after.keys.sorted(), equals: before.keys.sorted())
        for (name, bytes) in before { expect(after[name], equals: bytes) }
    }
}
