#if PostgreSQL
import CoreData
import PostgreSQLStore
import PredicateCases
import Testing
import TestSupport

/// Random requests of every shape about the same objects in memory and in PostgreSQL.
///
/// Each run has a fresh seed, which it prints, and goes on for a fixed time: `COREDATA_TEST_SEED` repeats a run, `COREDATA_TEST_FIRST` says with which
/// round it begins, and `COREDATA_TEST_ROUNDS` for how many fetches it goes on instead.
@Suite("Random fetches over PostgreSQL") struct RandomFetchTests {
    private struct Tally {
        var fetches = 0
        var compared: [RandomFetch.Shape: Int] = [:]
        var found = 0
        var refusals: [String: Int] = [:]
        /// What the store in memory cannot answer either.
        var mistakes = 0
        var refused: Int { refusals.values.reduce(0, +) }
    }

    @Test("PostgreSQL answers a request of any shape as the store in memory does, or refuses a clause")
    func fetches() async throws {
        let seed = TestSeed.current(for: "Random fetches over PostgreSQL")
        let budget = TestBudget(seconds: 2.7, atLeast: 300)
        var tally = Tally()
        var round = UInt64(TestTime.firstRound)
        var failures = 0
        while budget.isLeft(after: tally.fetches), failures < 5 {
            failures += try await run(seed, round, budget, &tally)
            round += 1
        }
        let compared = RandomFetch.Shape.allCases.map { "\(tally.compared[$0, default: 0]) \($0.rawValue)" }.joined(separator: ", ")
        print(
            "Random fetches over PostgreSQL: \(tally.fetches) fetches over \(round) stores, compared: \(compared); \(tally.found) results; "
                + "\(tally.mistakes) mistakes; refused: \(tally.refusals)")
        for shape in RandomFetch.Shape.allCases { #expect(tally.compared[shape, default: 0] > 0, "\(shape)") }
        #expect(tally.found > tally.fetches)
        #expect(tally.refused < tally.fetches / 5, "\(tally.refusals)")
    }

    /// Makes fetches of two stores with the same objects.
    ///
    /// - Returns: The number of those that differ.
    private func run(_ seed: UInt64, _ round: UInt64, _ budget: TestBudget, _ tally: inout Tally) async throws -> Int {
        let (own, isOdd) = (seed &+ round &* 7919, round % 4 == 3)
        let memory = NSPersistentStoreCoordinator(managedObjectModel: QueryWorld.model())
        try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let database = try await coordinator(freshOptions(), QueryWorld.model())
        defer { for store in database.persistentStores { try? database.remove(store) } }
        let contexts = [memory, database].map { context($0) }
        for context in contexts {
            try await context.perform {
                QueryCases.fill(context, seed: own, isOdd: isOdd)
                try context.save()
            }
        }
        var cases = QueryCases(seed: own &* 31, isOdd: isOdd)
        var failures = 0
        for number in 0..<250 {
            guard budget.isLeft(after: tally.fetches) else { break }
            let fetch = RandomFetch(&cases)
            // Rows are read anew, or are there already.
            if cases.chance(4) { for context in contexts { await context.perform { context.reset() } } }
            var found: [Result<[String], any Error>] = []
            for context in contexts { found.append(await context.perform { Result { try fetch.answer(in: context) } }) }
            tally.fetches += 1
            let place = "seed \(seed), round \(round), fetch \(number): \(fetch)"
            switch (found[0], found[1]) {
            case (.success(let expected), .success(let found)):
                tally.compared[fetch.shape, default: 0] += 1
                tally.found += expected.count
                if found == expected { continue }
                Issue.record("\(place): memory \(expected), PostgreSQL \(found)")
                failures += 1
            case (.success, .failure(let error)) where PredicateTests.isRefusal(error):
                tally.refusals[String(((error as NSError).localizedFailureReason ?? "\(error)").prefix(60)), default: 0] += 1
            case (.success, .failure(let error)):
                Issue.record("\(place) fails: \(error)")
                failures += 1
            default: tally.mistakes += 1
            }
            if failures >= 5 { break }
        }
        return failures
    }
}
#endif
