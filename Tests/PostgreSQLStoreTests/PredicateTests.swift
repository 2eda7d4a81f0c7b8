#if PostgreSQL
import CoreData
import PostgreSQLStore
import PredicateCases
import Predicates
import Testing
import TestSupport

/// Random predicates over the same objects in memory and in PostgreSQL.
@Suite("Predicates over PostgreSQL") struct PredicateTests {
    static let seed = TestSeed.current(for: "Predicates over PostgreSQL")

    private struct Tally {
        var cases = 0
        var matched = 0
        var compared = 0
        var refusals: [String: Int] = [:]
        var refused: Int { refusals.values.reduce(0, +) }
    }

    @Test("PostgreSQL finds what the evaluator finds, or refuses the clause", arguments: [false, true])
    func predicates(isOdd: Bool) async throws {
        var tally = Tally()
        var failures = 0
        let memory = NSPersistentStoreCoordinator(managedObjectModel: QueryWorld.model())
        try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let server = try server()
        let database = NSPersistentStoreCoordinator(managedObjectModel: QueryWorld.model())
        try await database.addPostgreSQLStore(at: server.url, options: freshOptions())
        var contexts: [NSManagedObjectContext] = []
        for coordinator in [memory, database] {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try await context.perform {
                QueryCases.fill(context, seed: Self.seed, isOdd: isOdd)
                try context.save()
            }
            contexts.append(context)
        }
        var cases = QueryCases(seed: Self.seed &* 31, isOdd: isOdd)
        for _ in TestRounds(seconds: 4, atLeast: 300) {
            let entity = cases.pick(["Thing", "Thing", "Place", "Special"])
            let tree = cases.predicate([QueryCases.Scope(variable: nil, entity: entity == "Place" ? "Place" : "Thing")], depth: 2)
            tally.cases += 1
            var found: [Result<[Int], any Error>] = []
            for context in contexts {
                found.append(
                    Result {
                        try context.performAndWait {
                            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                            request.predicate = NSPredicate(tree: tree)
                            return try context.fetch(request).map { $0.value(forKey: "label") as? Int ?? -1 }.sorted()
                        }
                    })
            }
            switch (found[0], found[1]) {
            case (.success(let inMemory), .success(let inDatabase)):
                tally.compared += 1
                tally.matched += inMemory.count
                if inMemory == inDatabase { continue }
                Issue.record("seed \(Self.seed): \(entity) where \(tree): memory \(inMemory), PostgreSQL \(inDatabase)")
                failures += 1
                if failures > 5 { return }
            case (.success, .failure(let error)):
                let reason = (error as NSError).localizedFailureReason ?? "\(error)"
                if !Self.isRefusal(error) {
                    Issue.record("seed \(Self.seed): \(entity) where \(tree) fails: \(error)")
                    failures += 1
                    if failures > 5 { return }
                    continue
                }
                tally.refusals[String(reason.prefix(60)), default: 0] += 1
            default: continue
            }
        }
        print(
            "Predicates over PostgreSQL: \(tally.cases) fetches, \(tally.compared) compared, \(tally.matched) objects, refused: \(tally.refusals)"
        )
        #expect(tally.matched > tally.compared)
        #expect(tally.refused < tally.cases * 4 / 10, "\(tally.refusals)")
    }

    /// A mistake that SQL finds beforehand and the evaluator only where a value is not nil, or a clause without SQL.
    static func isRefusal(_ error: any Error) -> Bool {
        if let error = error as? InvalidPredicateError { return error.kind == .unsupported }
        return (error as NSError).code == NSPersistentStoreUnsupportedRequestTypeError
    }
}
#endif
