import CoreData
import Foundation
import TestSupport
import Testing

/// Migrations in stages whose process is killed.
@Suite(.serialized) struct KilledStagesTests {
    private static func writer(_ file: URL, _ count: Int) -> Process {
        let process = BuiltProgram.storeWriter("stages", file.path, "\(count)")
        return process
    }

    @Test func aMigrationInStagesThatIsKilledAnywhereEndsWithEveryObjectWhole() throws {
        let count = 400
        let first = TestSeed.current(for: "aMigrationInStagesThatIsKilledAnywhereEndsWithEveryObjectWhole")
        for round in TestRounds(seconds: 1.8, atLeast: 2) {
            let shop = try Workshop()
            let seed = first &+ UInt64(round)
            let fill = Self.writer(shop.store, count)
            fill.standardOutput = FileHandle.nullDevice
            try fill.run()
            fill.waitUntilExit()
            try #require(fill.terminationStatus == 0)
            // The process tells of each handler that begins; it is killed soon after one of them, or left to end.
            var random = SeededGenerator(seed: seed)
            var attempts = 0
            while attempts < 12 {
                attempts += 1
                let process = Self.writer(shop.store, count)
                let pipe = Pipe()
                process.standardOutput = pipe
                try process.run()
                var left = attempts == 12 ? Int.max : random.below(4)
                while true {
                    let piece = pipe.fileHandleForReading.availableData
                    if piece.isEmpty { break }
                    left -= piece.filter { $0 == UInt8(ascii: "\n") }.count
                    if left <= 0 {
                        kill(process.processIdentifier, SIGKILL)
                        break
                    }
                }
                process.waitUntilExit()
                if process.terminationReason == .exit {
                    expect(process.terminationStatus, equals: 0)
                    break
                }
            }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try storedModel(at: shop.store))
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: shop.store, options: nil)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
                let place: Comment = "COREDATA_TEST_SEED=\(seed)"
                let titles = Set(notes.compactMap { $0.value(forKey: "title") as? String })
                expect(notes.count, equals: count, place)
                expect(titles, equals: Set((0..<count).map { "note \($0)" }), place)
                #expect(notes.allSatisfy { ($0.value(forKey: "text") as? String)?.count == $0.value(forKey: "length") as? Int }, place)
                #expect(notes.allSatisfy { $0.entity.attributesByName["color"] != nil }, place)
            }
        }
    }

    /// The model that a store keeps of itself.
    private func storedModel(at url: URL) throws -> NSManagedObjectModel { try NSManagedObjectModel(storeAt: url) }
}
