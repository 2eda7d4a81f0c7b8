import CoreData
import FileStores
import Foundation
import TestSupport
import Testing

@Suite("Files with many columns") struct WideFileTests {
    /// Returns how many times as long a file takes that has sixteen times as many columns.
    private static func growth(_ work: (Int) throws -> Void) rethrows -> Double {
        func time(_ count: Int) throws -> Double {
            let durations = try (0..<3).map { _ in try ContinuousClock().measure { try work(count) } }
            return (durations.min() ?? .zero) / .milliseconds(1)
        }
        let small = try time(1_000)
        return try time(16_000) / max(small, 0.1)
    }

    @Test("The time of opening a file grows with its columns, and not with their square")
    func opening() throws {
        let growth = try Self.growth { count in
            let scratch = try Scratch()
            let others = (0..<count).map { "c\($0)" }
            try scratch.write((["id", "text", "other"] + others).joined(separator: ",") + "\n", "Note.csv")
            _ = try open(CSVStore.description(at: scratch.folder), Library.notes())
        }
        #expect(growth < 100, "\(growth)")
    }

    @Test("The time of drafting a model of a file grows with its columns, and not with their square", arguments: ["c", ""])
    func drafting(prefix: String) throws {
        let growth = try Self.growth { count in
            let scratch = try Scratch()
            try scratch.write((0..<count).map { prefix.isEmpty ? "" : "\(prefix)\($0)" }.joined(separator: ",") + "\n", "Note.csv")
            let model = try NSManagedObjectModel(describingCSV: scratch.folder)
            expect(model.entitiesByName["Note"]?.properties.count, equals: count)
        }
        #expect(growth < 100, "\(growth)")
    }

    @Test("A model drafted of a file with many columns opens it, in a time that grows with them")
    func drafted() throws {
        let growth = try Self.growth { count in
            let scratch = try Scratch()
            let names = (0..<count / 4).map { "c\($0)" }
            try scratch.write((["id"] + names).joined(separator: ",") + "\n", "Note.csv")
            let model = try NSManagedObjectModel(describingCSV: scratch.folder)
            _ = try open(CSVStore.description(at: scratch.folder), model)
        }
        #expect(growth < 100, "\(growth)")
    }

    @Test("Of columns that are there twice, the first that a property has is named, whichever others are there twice")
    func doubled() throws {
        let scratch = try Scratch()
        try scratch.write("id,x,x,text,other,text\n", "Note.csv")
        let error = #expect(throws: NSError.self) { _ = try open(CSVStore.description(at: scratch.folder), Library.notes()) }
        expect(error?.localizedDescription.contains("“text” twice"), equals: true, "\(error?.localizedDescription ?? "")")
        try scratch.write("id,x,x,text,other\n", "Note.csv")
        _ = try open(CSVStore.description(at: scratch.folder), Library.notes())
    }

    @Test("The error of a column that is missing names some of those that are there")
    func missing() throws {
        let scratch = try Scratch()
        try scratch.write((["id", "text"] + (0..<50_000).map { "c\($0)" }).joined(separator: ",") + "\n", "Note.csv")
        let error = #expect(throws: NSError.self) { _ = try open(CSVStore.description(at: scratch.folder), Library.notes()) }
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("a column “other”") && text.contains("“c1”") && text.utf8.count < 2_000, "\(text.prefix(2_000))")
    }
}
