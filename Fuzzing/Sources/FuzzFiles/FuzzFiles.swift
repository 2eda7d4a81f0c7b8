import CoreData
import FileStores
import Foundation
import FuzzDriver

@main struct FuzzFiles {
    static func main() { fuzz { fuzzFiles($0, $1) } }
}

/// What a store of one kind is fuzzed with.
struct Kind {
    let type: String
    let ending: String
    /// The parts of a file, which an input puts together: each byte below their number stands for one, any other for itself.
    let parts: [String]
}

private let csv = Kind(
    type: CSVStore.type, ending: "csv",
    parts: [
        "id,text,number,note\n", "id;text;number;note\r\n", "1,a,5,\n", "2,\"b\"\"c\",,1\r\n", "\"", "\"\"", ",", ";", "\n", "\r\n", "\r",
        "#",
        "id", "text", "note", "number", "-9", "9223372036854775808", "1e5", "\u{FEFF}", "é", "😀", " ", "3,,,2",
    ])
private let json = Kind(
    type: JSONStore.type, ending: "json",
    parts: [
        "{\"Note\":[", "{\"id\":1,\"text\":\"a\",\"number\":5,\"note\":2}", "{\"id\":2", "]}", "{", "}", "[", "]", ":", ",", "\"", "\\u12",
        "\\ud83d",
        "\"id\":", "\"text\":", "\"note\":", "\"number\":", "null", "true", "-1", "1e400", "\n  ", "é", "0.5", "\"Note\":", "\\",
    ])
private let xml = Kind(
    type: NSXMLStoreType, ending: "xml",
    parts: [
        "<?xml version=\"1.0\"?>\n<database><databaseInfo><version>134481920</version><UUID>U</UUID><nextObjectID>105</nextObjectID><metadata></metadata></databaseInfo>",
        "<object type=\"NOTE\" id=\"z102\">", "<object type=\"NOTE\" id=\"z103\">", "</object>", "</database>",
        "<attribute name=\"text\" type=\"string\">", "<attribute name=\"number\" type=\"int64\">", "</attribute>",
        "<relationship name=\"note\" type=\"1/1\" destination=\"NOTE\" idrefs=\"z103\"></relationship>", "z102", "\"", "<", ">", "&amp;",
        "&#x41;",
        "\\u3c00", "<!--", "-->", "<![CDATA[", "]]>", "<metadata>", "</metadata>", "<plist version=\"1.0\"><dict>", "</dict></plist>", "5",
    ])
private let binary = Kind(type: NSBinaryStoreType, ending: "binary", parts: [])

/// The store under test, its file, and what it was saved as.
// Used by the one thread of the fuzzer.
nonisolated(unsafe) private let subject = Subject()

final class Subject {
    let kind: Kind
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context = NSManagedObjectContext(.privateQueue)
    let options: [AnyHashable: Any]
    /// A file of the binary store, whose bytes an input changes.
    var whole: [UInt8] = []

    init() {
        let name = ProcessInfo.processInfo.environment["FUZZ"] ?? "csv"
        kind = ["csv": csv, "json": json, "xml": xml, "binary": binary][name] ?? csv
        CSVStore.register()
        JSONStore.register()
        let memory = URL(fileURLWithPath: "/dev/shm")
        let parent = FileManager.default.fileExists(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        let folder = parent.appendingPathComponent("FuzzFiles-\(ProcessInfo.processInfo.processIdentifier)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("Note." + kind.ending)
        let note = NSEntityDescription(name: "Note")
        let other = NSRelationshipDescription(name: "note", destination: note)
        note.properties = [
            NSAttributeDescription(name: "text", type: .string), NSAttributeDescription(name: "number", type: .integer64), other,
        ]
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [note]))
        context.persistentStoreCoordinator = coordinator
        options = [NSIgnorePersistentStoreVersioningOption: true]
        if kind.type == NSBinaryStoreType { makeWhole() }
    }

    /// Saves objects to a binary store, and keeps its bytes.
    private func makeWhole() {
        withStore { _ in
            for number in 0..<3 {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                object.setValue("text \(number)", forKey: "text")
                object.setValue(number, forKey: "number")
            }
            try? context.save()
        }
        whole = (try? Array(Data(contentsOf: url))) ?? []
    }

    /// Opens the store; returns whether that was possible.
    @discardableResult func withStore(_ body: (NSPersistentStore) -> Void) -> Bool {
        let given = kind.ending == "csv" || kind.ending == "json" ? [:] : options
        guard let store = try? coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url, options: given) else {
            return false
        }
        context.performAndWait {
            body(store)
            context.reset()
        }
        try? coordinator.remove(store)
        return true
    }

    func clean() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? [] {
            try? FileManager.default.removeItem(at: url.deletingLastPathComponent().appendingPathComponent(name))
        }
    }

    func bytes(_ input: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        if kind.type == NSBinaryStoreType {
            // The first byte says whether the input is a file itself.
            if input.first.map({ $0 & 1 == 1 }) ?? true || whole.isEmpty { return Array(input.dropFirst()) }
            return damaged(whole, by: input.dropFirst())
        }
        return assembled(input, of: kind.parts)
    }
}

/// A file may be read, or be an error; it must not stop the program. Reading changes nothing, and what is saved is there when it is opened again.
func fuzzFiles(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    let bytes = subject.bytes(input)
    subject.clean()
    try? Data(bytes).write(to: subject.url)
    var saved: Int?
    subject.withStore { _ in
        let context = subject.context
        guard let notes = try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) else { return }
        for note in notes { _ = (note.value(forKey: "text"), note.value(forKey: "number"), note.value(forKey: "note")) }
        guard (try? Array(Data(contentsOf: subject.url))) == bytes || bytes.isEmpty else { fatalError("Reading has changed the file.") }
        guard let first = notes.first else { return }
        first.setValue("changed, \"so\"\n", forKey: "text")
        if notes.count > 1, input.count & 1 == 0 { context.delete(notes[1]) }
        if input.count & 2 == 0 {
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("new", forKey: "text")
        }
        if (try? context.save()) != nil { saved = (try? context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))) ?? -1 }
    }
    guard let saved else { return 0 }
    let isOpen = subject.withStore { _ in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        guard (try? subject.context.count(for: request)) == saved else { fatalError("Other objects are there than were saved.") }
        request.predicate = NSPredicate(format: "text == %@", "changed, \"so\"\n")
        guard (try? subject.context.count(for: request)) ?? 0 > 0 else { fatalError("A saved value is not there.") }
    }
    guard isOpen else { fatalError("What was saved cannot be opened.") }
    return 0
}
