import CoreData
import PredicateCases
import Predicates
import TestSupport
import Testing

/// Random predicates over the same objects in memory and in SQLite.
@Suite("Random queries") struct QueryDifferentialTests {
    static let seed = TestSeed.current(for: "Random queries")

    private struct Tally {
        var cases = 0
        var matched = 0
        var compared = 0
        var refusals: [String: Int] = [:]
        var refused: Int { refusals.values.reduce(0, +) }
    }

    @Test("SQL finds what the evaluator finds", arguments: [false, true])
    func predicates(isOdd: Bool) throws {
        var tally = Tally()
        var round: UInt64 = 0
        let budget = TestBudget(seconds: 1, atLeast: 100)
        while budget.isLeft(after: tally.cases) {
            round += 1
            let seed = Self.seed &+ round
            let stores = try TwinStores()
            try stores.fill { QueryCases.fill($0, seed: seed, isOdd: isOdd) }
            var cases = QueryCases(seed: seed &* 31, isOdd: isOdd)
            for _ in 0..<100 where budget.isLeft(after: tally.cases) {
                let entity = cases.pick(["Thing", "Thing", "Place", "Special"])
                let scope = QueryCases.Scope(variable: nil, entity: entity == "Place" ? "Place" : "Thing")
                let tree = cases.predicate([scope], depth: 2)
                tally.cases += 1
                let found = stores.labels { _ in
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                    request.predicate = NSPredicate(tree: tree)
                    return request
                }
                switch (found.memory, found.sqlite) {
                case (.success(let memory), .success(let sqlite)):
                    tally.compared += 1
                    tally.matched += memory.count
                    if memory.sorted() == sqlite.sorted() { continue }
                    Issue.record(
                        "seed \(Self.seed), round \(round): \(entity) where \(tree): memory \(memory.sorted()), SQL \(sqlite.sorted())")
                    return
                case (.success, .failure(let error)):
                    let reason = (error as NSError).localizedFailureReason ?? "\(error)"
                    if !Self.isRefusal(error) {
                        Issue.record("seed \(Self.seed), round \(round): \(entity) where \(tree) fails: \(error)")
                        return
                    }
                    tally.refusals[String(reason.prefix(60)), default: 0] += 1
                default: continue
                }
            }
        }
        print(
            "Random queries: \(tally.cases) fetches, \(tally.compared) compared, \(tally.matched) objects found, refused: \(tally.refusals)"
        )
        #expect(tally.matched > tally.compared, "COREDATA_TEST_SEED=\(Self.seed)")
        #expect(tally.refused < tally.cases / 10, "COREDATA_TEST_SEED=\(Self.seed): \(tally.refusals)")
    }

    /// A mistake that SQL finds beforehand and the evaluator only where a value is not nil, or a clause without SQL.
    private static func isRefusal(_ error: any Error) -> Bool {
        if let error = error as? InvalidPredicateError { return error.kind == .unsupported }
        return (error as NSError).code == NSPersistentStoreUnsupportedRequestTypeError
    }
}
