import CoreData
import FileStores
import TestSupport
import Testing

@Suite("A save that is killed loses nothing") struct KillTests {
    static func model() -> NSManagedObjectModel {
        let entities = ["Left", "Right"].map { name in
            let entity = NSEntityDescription(name: name)
            entity.properties = [
                NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "state", type: .integer64),
            ]
            return entity
        }
        return NSManagedObjectModel(entities: entities)
    }

    static var writer: URL {
        let tests = Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent()
        let beside = tests.appendingPathComponent("file-store-writer")
        if FileManager.default.fileExists(atPath: beside.path) { return beside }
        return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("file-store-writer")
    }
    private final class Anchor {}

    /// Writes the files that the writer changes.
    static func writeFiles(_ kind: String, _ scratch: Scratch) throws {
        if kind == "csv" {
            for name in ["Left", "Right"] { try scratch.write("id,name,state\n1,a,1\n2,goes,1\n3,b,1\n", "\(name).csv") }
        } else {
            let text = "[\n  {\"id\": 1, \"name\": \"a\", \"state\": 1},\n  {\"id\": 2, \"name\": \"goes\", \"state\": 1}\n]\n"
            for name in ["Left", "Right"] { try scratch.write(text, "\(name).json") }
        }
    }

    /// Returns whether the files are in the old state or the new one: they must be in one of them.
    static func state(_ kind: String, _ scratch: Scratch, after place: String) throws -> String {
        let description = kind == "csv" ? CSVStore.description(at: scratch.folder) : JSONStore.description(at: scratch.folder)
        let context = try open(description, model())
        let states = try ["Left", "Right"].map { entity in
            try context.all(entity, by: "name").map { "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "state") ?? "")" }
        }
        expect(states[0], equals: states[1], "Both files are of one state, killed before \(place).")
        let isOld = states[0].contains("goes 1") && states[0].contains("a 1")
        let isNew = states[0].contains("new 2") && states[0].contains("a 2") && !states[0].contains("goes 1")
        #expect(isOld != isNew, "Killed before \(place), there is \(states).")
        // Nothing is left of the killed save, and the next one succeeds.
        try context.all("Left").first?.setValue(5, forKey: "state")
        try context.save()
        #expect(scratch.names.allSatisfy { !$0.hasSuffix(".new") && !$0.hasSuffix(".journal") })
        return isOld ? "old" : "new"
    }

    @Test("Killed before any call of the system, a save of two files is there whole or not at all", arguments: ["csv", "json"])
    func everyCall(_ kind: String) throws {
        var outcomes: Set<String> = []
        var call = 1
        while true {
            let scratch = try Scratch()
            try Self.writeFiles(kind, scratch)
            let process = Process()
            process.executableURL = Self.writer
            process.arguments = [kind, scratch.folder.path, "\(call)"]
            try process.run()
            process.waitUntilExit()
            let status = process.terminationStatus
            try #require(status == 0 || status == 9, "The writer ended with \(status).")
            outcomes.insert(try Self.state(kind, scratch, after: "call \(call)"))
            if status == 0 { break }
            call += 1
        }
        #expect(call > 10)
        expect(outcomes, equals: ["old", "new"])
    }
}
