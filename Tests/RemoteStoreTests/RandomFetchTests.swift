import CoreData
import Foundation
import PredicateCases
import Predicates
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Random fetches over random capabilities, against the store in memory.
///
/// Each run has a fresh seed, which it prints, and goes on for a fixed time: `COREDATA_TEST_SEED` repeats a run, `COREDATA_TEST_SECONDS`
/// says for how long, and `COREDATA_TEST_ROUNDS` for how many fetches instead.
@Suite("Random fetches of a remote store") struct RandomFetchTests {
    private struct Tally {
        var fetches = 0
        var found = 0
        var refused = 0
        var requests = 0
        var pushed = 0
        var joined = 0
    }

    @Test("Whatever the backend can do, a fetch finds what the store in memory finds, or says what it cannot")
    func fetches() throws {
        let seed = TestSeed.current(for: "Random fetches of a remote store")
        let budget = TestBudget(seconds: 3.3, atLeast: 200)
        var tally = Tally()
        var round: UInt64 = 0
        while budget.isLeft(after: tally.fetches) {
            round += 1
            guard try run(seed, round, &tally) else { return }
        }
        print(
            "\(tally.fetches) fetches over \(round) backends, \(tally.found) objects found, \(tally.pushed) wholly pushed down, "
                + "\(tally.joined) by destinations that were asked for first, "
                + "\(tally.refused) refused, \(tally.requests) requests")
        #expect(tally.refused < max(40, tally.fetches / 2))
        #expect(tally.joined > 0 || tally.fetches < 500)
    }

    private func run(_ seed: UInt64, _ round: UInt64, _ tally: inout Tally) throws -> Bool {
        var random = SeededGenerator(seed: seed &+ round &* 7919)
        let stores = try RandomStores(&random)
        var cases = PredicateCases(RandomWorld(), random: SeededGenerator(seed: seed &+ round &* 104_729), nilChance: 10)
        for number in 0..<20 {
            let entity = ["Thing", "Thing", "Place", "Special"].randomElement(using: &random)!
            let scope = PredicateCases<RandomWorld>.Scope(variable: nil, entity: entity == "Place" ? "Place" : "Thing")
            let tree = Int.random(in: 0..<8, using: &random) == 0 ? nil : simple(&cases, scope, &random)
            let request = self.request(entity, tree, &random)
            let expected = Result { try result(request, stores.memory) }
            let before = stores.backend.requests.count
            let found = Result { try result(request, stores.remote) }
            tally.fetches += 1
            tally.requests += stores.backend.requests.count - before
            let place = "seed \(seed), round \(round), fetch \(number): \(entity) where \(tree.map { "\($0)" } ?? "anything")"
            switch (expected, found) {
            case (.success(let expected), .success(let found)):
                tally.found += expected.count
                if isRight(found, expected, request) { break }
                let plan = (try? stores.remote.plan(request)).map { "\($0)" } ?? ""
                Issue.record(
                    """
                    \(place), by \(request.sortDescriptors?.compactMap(\.key) ?? []), \(request.fetchOffset)+\(request.fetchLimit): found \
                    \(found) instead of \(expected)
                    \(plan)
                    \(stores.backend.requests.dropFirst(before).prefix(30).map { "\($0)" }.joined(separator: "\n"))
                    \(stores.backend.resources.map { "\($0.entity): \($0.endpoints)" }.joined(separator: "\n"))
                    """)
                return false
            case (.success, .failure(let error)):
                guard (error as NSError).code == NSPersistentStoreUnsupportedRequestTypeError else {
                    Issue.record("\(place): \(error)")
                    return false
                }
                tally.refused += 1
            default: break
            }
            let plan = try? stores.remote.plan(request)
            if let plan, !plan.joins.isEmpty { tally.joined += 1 }
            if let plan, plan.predicateInMemory == nil, plan.sortsInMemory.isEmpty { tally.pushed += 1 }
        }
        return true
    }

    /// Mostly what services can express, and sometimes anything.
    private func simple(
        _ cases: inout PredicateCases<RandomWorld>, _ scope: PredicateCases<RandomWorld>.Scope, _ random: inout SeededGenerator
    ) -> PredicateTree {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: return cases.predicate([scope], depth: 2)
        case 2: return .not(simple(&cases, scope, &random))
        case 3: return .or((0..<2).map { _ in simple(&cases, scope, &random) })
        case 4, 5: return .and((0..<2).map { _ in simple(&cases, scope, &random) })
        default:
            let kind = CaseKind.allCases.filter { $0 != .data }.randomElement(using: &random)!
            let world = RandomWorld()
            let isAny = Int.random(in: 0..<8, using: &random) == 0
            let first =
                isAny
                ? ["more"]
                : Int.random(in: 0..<4, using: &random) == 0 ? [["one"], ["other"], ["one", "other"]].randomElement(using: &random)! : []
            let path = ExpressionTree.keyPath(first + [RandomWorld.names(kind).randomElement(using: &random)!])
            let constant = ExpressionTree.constant(world.constant(kind, &random))
            if isAny { return .compare(path, [.equal, .notEqual].randomElement(using: &random)!, constant, modifier: .any) }
            if Int.random(in: 0..<8, using: &random) == 0 { return .compare(path, .equal, .constant(.null)) }
            if Int.random(in: 0..<6, using: &random) == 0 {
                let values = (0..<Int.random(in: 0...4, using: &random)).map { _ in world.constant(kind, &random) }
                return .compare(path, .isIn, .constant(.array(values)))
            }
            let order: [PredicateComparison.Operator] = [
                .equal, .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
            ]
            guard kind == .text else {
                let operation: PredicateComparison.Operator =
                    kind == .bool || kind == .url || kind == .uuid
                    ? [.equal, .notEqual].randomElement(using: &random)! : order.randomElement(using: &random)!
                return Bool.random(using: &random) ? .compare(path, operation, constant) : .compare(constant, operation, path)
            }
            let operations = order + [.beginsWith, .endsWith, .contains]
            let options: [PredicateComparison.Options] = [[], [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive]]
            return .compare(
                path, operations.randomElement(using: &random)!, constant, options: options.randomElement(using: &random)!)
        }
    }

    private func request(_ entity: String, _ tree: PredicateTree?, _ random: inout SeededGenerator) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = tree.map { NSPredicate(tree: $0) }
        request.includesSubentities = Int.random(in: 0..<4, using: &random) > 0
        if Int.random(in: 0..<2, using: &random) == 0 {
            let keys = ["number", "text", "real", "moment", "flag", "one.label", "rank"].shuffled(using: &random)
            // The label makes the order complete.
            request.sortDescriptors = (keys.prefix(Int.random(in: 0...2, using: &random)) + ["label"]).map {
                NSSortDescriptor(key: $0, ascending: Bool.random(using: &random))
            }
        }
        if Int.random(in: 0..<3, using: &random) == 0 { request.fetchLimit = Int.random(in: 1...6, using: &random) }
        if Int.random(in: 0..<4, using: &random) == 0 { request.fetchOffset = Int.random(in: 1...4, using: &random) }
        return request
    }

    @Test("Whatever the backend can group and compute, the dictionaries are those of the store in memory")
    func groups() throws {
        let seed = TestSeed.current(for: "Random groups of a remote store")
        let budget = TestBudget(seconds: 1.7, atLeast: 50)
        var (round, pushed, fetches) = (UInt64(0), 0, 0)
        while budget.isLeft(after: fetches) {
            round += 1
            var random = SeededGenerator(seed: seed &+ round &* 7919)
            let stores = try RandomStores(&random)
            var cases = PredicateCases(RandomWorld(), random: SeededGenerator(seed: seed &+ round &* 104_729), nilChance: 10)
            for number in 0..<10 {
                let tree = Bool.random(using: &random) ? nil : simple(&cases, .init(variable: nil, entity: "Thing"), &random)
                let request = grouped(tree, &random)
                guard let expected = try? dictionaries(request, stores.memory) else { continue }
                let plan = try? stores.remote.performAndWait { try request.explain(in: stores.remote) }
                guard let plan else { continue }
                fetches += 1
                if plan.isAggregatedByBackend { pushed += 1 }
                let found: [NSDictionary]
                do { found = try dictionaries(request, stores.remote) } catch let error as NSError
                    where error.code == NSPersistentStoreUnsupportedRequestTypeError
                { continue }
                guard found == expected else {
                    Issue.record("seed \(seed), round \(round), fetch \(number): \(request): \(found) instead of \(expected)\n\(plan)")
                    return
                }
            }
        }
        print("\(fetches) grouped fetches, \(pushed) computed by the backend")
        #expect(pushed > 0 || fetches < 300)
    }

    private func grouped(_ tree: PredicateTree?, _ random: inout SeededGenerator) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
        request.resultType = .dictionaryResultType
        request.predicate = tree.map { NSPredicate(tree: $0) }
        let keys = ["flag", "number", "text"].filter { _ in Bool.random(using: &random) }
        let functions = ["sum(number)", "max(real)", "count(label)"].filter { _ in Bool.random(using: &random) }
        let columns = (functions.isEmpty ? ["count(label)"] : functions).map { format in
            let column = NSExpressionDescription()
            column.name = String(format.prefix { $0 != "(" })
            column.expression = NSExpression(format: format)
            return column
        }
        request.propertiesToGroupBy = keys
        request.propertiesToFetch = keys + columns
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: Bool.random(using: &random)) }
        if !keys.isEmpty, Int.random(in: 0..<4, using: &random) == 0 { request.fetchLimit = Int.random(in: 1...3, using: &random) }
        if !keys.isEmpty, Int.random(in: 0..<4, using: &random) == 0 { request.havingPredicate = NSPredicate(format: "count(label) > 1") }
        return request
    }

    private func dictionaries(_ request: NSFetchRequest<NSDictionary>, _ context: NSManagedObjectContext) throws -> [NSDictionary] {
        try context.performAndWait { try context.fetch(request) }
    }

    /// The labels of the results, and their number as the store counts them.
    private func result(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws -> [Int] {
        try context.performAndWait {
            let labels = try context.fetch(request).map { $0.value(forKey: "label") as? Int ?? -1 }
            let count = try context.count(for: request)
            guard count == labels.count else { return [-1000, count, labels.count] }
            return labels
        }
    }

    private func isRight(_ found: [Int], _ expected: [Int], _ request: NSFetchRequest<NSManagedObject>) -> Bool {
        if request.sortDescriptors != nil { return found == expected }
        if request.fetchLimit == 0, request.fetchOffset == 0 { return found.sorted() == expected.sorted() }
        // Without an order any of the results will do.
        return found.count == expected.count && Set(found).count == found.count
    }
}
