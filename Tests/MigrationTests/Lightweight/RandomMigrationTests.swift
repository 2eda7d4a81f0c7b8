import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import TestSupport
import Testing

/// Random versions of random models: what is in a filled store after a migration is what the edits make of it.
@Suite struct RandomMigrationTests {
    @Test("A migrated store has the objects that random edits of the model make of those before")
    func randomPairs() throws {
        let seed = TestSeed.current(for: "RandomMigrationTests")
        var (rounds, places) = (0, 0)
        for round in TestRounds(seconds: 2.7, atLeast: 5) {
            if try migrate(seed: seed &+ UInt64(round)) { places += 1 }
            rounds += 1
        }
        print("\(rounds) random versions were migrated, \(places) of them in place.")
    }

    /// Returns whether the store was migrated in place.
    private func migrate(seed: UInt64) throws -> Bool {
        var random = RandomVersions(seed: seed)
        let before = random.version()
        var after = before.asOrigin
        let edits = random.edit(&after, Int.random(in: 1...6, using: &random.generator))
        let store = try MigratedStore()
        store.copies = Bool.random(using: &random.generator)
        let (old, new) = (before.model(), after.model())
        let isInPlace: Bool
        do {
            let graph = try store.open(old) { context in
                try random.fill(context, before)
                context.reset()
                return try PlainGraph(context, old) { before.root($0) }
            }
            isInPlace = try store.estimate(old, new).isInPlace
            try store.migrate(old, new)
            let wrong = try store.open(new) { context in
                // A new root is above what was the root; entities of one table have one old root.
                let roots = Dictionary(
                    after.entities.compactMap { entity in entity.origin.map { (entity.name, before.root($0)) } },
                    uniquingKeysWith: { first, _ in first })
                let found = try PlainGraph(context, new) { roots[$0] ?? "new" }
                let wrong = differences(found, expectedGraph(graph, before, after))
                try random.fill(context, after)
                return wrong
            }
            #expect(wrong.isEmpty, "seed \(seed), copies \(store.copies): \(edits): \(wrong.prefix(5))")
            try expect(Database(store.url).column("PRAGMA integrity_check"), equals: ["ok"])
        } catch {
            Issue.record("seed \(seed), copies \(store.copies): \(edits): \((error as NSError).localizedDescription)")
            return false
        }
        return isInPlace
    }
}
