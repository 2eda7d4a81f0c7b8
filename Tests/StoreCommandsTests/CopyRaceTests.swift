import CoreData
import Foundation
import TestSupport
import Testing

@testable import StoreCommands

@Suite("Copies to one place at the same time") struct CopyRaceTests {
    @Test("One of them succeeds, the other is refused, and the copy is there", arguments: ["copy.sqlite", "copy.xml", "copy.json"])
    func race(name: String) async throws {
        let pad = try Pad()
        let source = pad.file("records.json")
        try Data(#"{"Artist": [{"id": 1, "name": "Neu!"}, {"id": 2, "name": "Can"}]}"#.utf8).write(to: source)
        let place = pad.file(name)
        let results = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 {
                group.addTask { (try? StoreCopying(StoreReference(source.path)).copy(to: place.path)) == 2 }
            }
            return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        expect(results.count { $0 }, equals: 1)
        expect(try FileManager.default.contentsOfDirectory(atPath: pad.url.path).count { $0.hasSuffix(".copying") }, equals: 0)
        let copy = try StoreReference(place.path).open()
        let count = try copy.read { try copy.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Artist")) }
        expect(count, equals: 2)
    }
}
