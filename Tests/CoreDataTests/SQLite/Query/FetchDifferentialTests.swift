import CoreData
import PredicateCases
import Predicates
import TestSupport
import Testing

/// Random orders, pages, dictionaries and groups over the same objects in memory and in SQLite.
@Suite("Random fetches") struct FetchDifferentialTests {
    static let seed = QueryDifferentialTests.seed

    private static let orders: [TextOrder] = [.binary, .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard]

    /// Runs `check` with fresh stores and cases until enough were tried; it answers nil, or what differs.
    private func run(_ check: (TwinStores, inout QueryCases) throws -> String?) throws {
        var tried = 0
        var round: UInt64 = 0
        let budget = TestBudget(seconds: 0.7, atLeast: 60)
        while budget.isLeft(after: tried) {
            round += 1
            let seed = Self.seed &+ round
            let stores = try TwinStores()
            try stores.fill { QueryCases.fill($0, seed: seed) }
            var cases = QueryCases(seed: seed &* 77)
            for _ in 0..<60 where budget.isLeft(after: tried) {
                tried += 1
                if let difference = try check(stores, &cases) {
                    Issue.record("seed \(Self.seed), round \(round): \(difference)")
                    return
                }
            }
        }
    }

    private static func key(_ cases: inout QueryCases) -> String {
        let (keys, _) = cases.keysToOne("Thing")
        let kinds = QueryCases.Kind.allCases
        let last = cases.chance(10) ? cases.pick(["one", "other", "many.@count", "more.@count"]) : cases.pick(cases.pick(kinds).attributes)
        return (keys.filter { _ in !last.contains("@") } + [last]).joined(separator: ".")
    }

    @Test("SQL sorts and cuts as the evaluator does") func orders() throws {
        try run { stores, cases in
            var descriptors = (0..<Int.random(in: 1...3, using: &cases.random)).map { _ in
                NSSortDescriptor(
                    key: Self.key(&cases), ascending: Bool.random(using: &cases.random), textOrder: cases.pick(Self.orders))
            }
            descriptors.append(NSSortDescriptor(key: "label", ascending: true))
            let (limit, offset) = (Int.random(in: 0...12, using: &cases.random), Int.random(in: 0...5, using: &cases.random))
            let tree = cases.predicate([QueryCases.Scope(variable: nil, entity: "Thing")], depth: 1)
            let includesSubentities = !cases.chance(4)
            let found = stores.labels { _ in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.predicate = NSPredicate(tree: tree)
                request.sortDescriptors = descriptors
                request.fetchLimit = limit
                request.fetchOffset = offset
                request.includesSubentities = includesSubentities
                return request
            }
            let (memory, sqlite) = (try found.memory.get(), try found.sqlite.get())
            if memory == sqlite { return nil }
            return "\(tree) by \(descriptors), offset \(offset), limit \(limit): memory \(memory), SQL \(sqlite)"
        }
    }

    @Test("SQL counts and gives IDs as the evaluator does") func countsAndIDs() throws {
        try run { stores, cases in
            let tree = cases.predicate([QueryCases.Scope(variable: nil, entity: "Thing")], depth: 1)
            let (limit, offset) = (Int.random(in: 0...12, using: &cases.random), Int.random(in: 0...5, using: &cases.random))
            func ask(_ context: NSManagedObjectContext) throws -> String {
                try context.performAndWait {
                    let counting = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                    counting.predicate = NSPredicate(tree: tree)
                    counting.fetchLimit = limit
                    counting.fetchOffset = offset
                    let listing = NSFetchRequest<NSManagedObjectID>(entityName: "Thing")
                    listing.predicate = NSPredicate(tree: tree)
                    listing.resultType = .managedObjectIDResultType
                    listing.sortDescriptors = [NSSortDescriptor(key: "label", ascending: false)]
                    let labels = try context.fetch(listing).map { context.object(with: $0).value(forKey: "label") as? Int ?? -1 }
                    let kinds = try context.fetch(listing).map { $0.entity.name ?? "" }
                    return "\(try context.count(for: counting)) \(labels) \(kinds)"
                }
            }
            let (memory, sqlite) = (try ask(stores.memory), try ask(stores.sqlite))
            return memory == sqlite ? nil : "\(tree), offset \(offset), limit \(limit): memory \(memory), SQL \(sqlite)"
        }
    }

    // MARK: Dictionaries

    /// The dictionaries of a fetch as text, objects by their labels.
    private static func shown(_ context: NSManagedObjectContext, _ make: () -> NSFetchRequest<NSDictionary>) throws -> [String] {
        try context.performAndWait {
            try context.fetch(make()).map { dictionary in
                var lines: [String] = []
                for (key, value) in dictionary {
                    let shown: String
                    switch value {
                    case let id as NSManagedObjectID: shown = "object \(context.object(with: id).value(forKey: "label") ?? "?")"
                    // Sums of the same numbers in another order differ in their last digits.
                    case let number as NSNumber: shown = "number " + String(format: "%.12g", number.doubleValue)
                    case let data as Data: shown = "data \(Array(data))"
                    default: shown = "\(type(of: value)) \(value)"
                    }
                    lines.append("\(key): \(shown)")
                }
                return lines.sorted().joined(separator: ", ")
            }
        }
    }

    private static func column(_ name: String, _ expression: ExpressionTree) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(tree: expression)
        return column
    }

    @Test("SQL gives the dictionaries that the evaluator gives") func dictionaries() throws {
        try run { stores, cases in
            let scope = QueryCases.Scope(variable: nil, entity: "Thing")
            let names = Set((0..<Int.random(in: 1...4, using: &cases.random)).map { _ in Self.key(&cases) }).sorted()
            let tree = cases.predicate([scope], depth: 1)
            let expression = cases.value(scope, cases.pick([.int, .text, .date, .uuid, .url, .data]), depth: 2)
            // A statistic would be taken over all rows.
            let plain = expression.description.contains(":(") || cases.chance(2) ? nil : expression
            let isDistinct = cases.chance(3)
            func request() -> NSFetchRequest<NSDictionary> {
                let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
                request.resultType = .dictionaryResultType
                request.predicate = NSPredicate(tree: tree)
                request.propertiesToFetch =
                    names + (plain.map { [Self.column("made", $0)] } ?? []) + ["objectID"].filter { _ in !isDistinct }
                request.returnsDistinctResults = isDistinct
                request.sortDescriptors = isDistinct ? nil : [NSSortDescriptor(key: "label", ascending: true)]
                return request
            }
            var memory = try Self.shown(stores.memory, request)
            var sqlite = try Self.shown(stores.sqlite, request)
            if isDistinct { (memory, sqlite) = (memory.sorted(), sqlite.sorted()) }
            if memory == sqlite { return nil }
            return "\(names), \(plain.map { "\($0)" } ?? ""), distinct \(isDistinct) of \(tree): memory \(memory), SQL \(sqlite)"
        }
    }

    @Test("SQL sorts distinct dictionaries and cuts them as the evaluator does") func distinctPages() throws {
        try run { stores, cases in
            // Objects have no order of their own: every column tells dictionaries apart.
            let names = Set((0..<Int.random(in: 1...3, using: &cases.random)).map { _ in Self.key(&cases) })
                .filter { !["one", "other"].contains($0.split(separator: ".").last ?? "") }.sorted()
            let descriptors = (names.isEmpty ? ["label"] : names).shuffled(using: &cases.random).map { name in
                NSSortDescriptor(key: name, ascending: Bool.random(using: &cases.random), textOrder: .binary)
            }
            let tree = cases.predicate([QueryCases.Scope(variable: nil, entity: "Thing")], depth: 1)
            let (limit, offset) = (Int.random(in: 0...12, using: &cases.random), Int.random(in: 0...5, using: &cases.random))
            func request() -> NSFetchRequest<NSDictionary> {
                let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
                request.resultType = .dictionaryResultType
                request.predicate = NSPredicate(tree: tree)
                request.propertiesToFetch = names.isEmpty ? ["label"] : names
                request.returnsDistinctResults = true
                request.sortDescriptors = descriptors
                request.fetchLimit = limit
                request.fetchOffset = offset
                return request
            }
            let memory = try Self.shown(stores.memory, request)
            let sqlite = try Self.shown(stores.sqlite, request)
            if memory == sqlite { return nil }
            return "\(names) by \(descriptors), offset \(offset), limit \(limit) of \(tree): memory \(memory), SQL \(sqlite)"
        }
    }

    @Test("SQL groups as the evaluator does") func groups() throws {
        try run { stores, cases in
            let keys = Array(
                Set(
                    (0..<Int.random(in: 1...2, using: &cases.random)).map { _ in
                        cases.pick(["flag", "rank", "name", "one", "one.rank", "moment", "other.flag"])
                    })
            ).sorted()
            let functions = ["sum:", "min:", "max:", "count:", "average:", "median:", "stddev:", "mode:"]
            let attributes = ["number", "rank", "real", "amount", "label", "one.number"]
            let made = (0..<Int.random(in: 1...3, using: &cases.random)).map { index in
                ("made\(index)", ExpressionTree.function(cases.pick(functions), [.path(cases.pick(attributes))]))
            }
            let tree = cases.predicate([QueryCases.Scope(variable: nil, entity: "Thing")], depth: 1)
            let having: NSPredicate? = cases.pick([
                nil, NSPredicate(format: "made0 > 1"), NSPredicate(format: "$made0 != nil AND \(keys[0]) != nil"),
                NSPredicate(format: "count:(label) BETWEEN {2, 4} OR max:(rank) == 5"),
            ])
            func request() -> NSFetchRequest<NSDictionary> {
                let request = NSFetchRequest<NSDictionary>(entityName: "Thing")
                request.resultType = .dictionaryResultType
                request.predicate = NSPredicate(tree: tree)
                request.propertiesToGroupBy = keys
                request.propertiesToFetch = keys + made.map { Self.column($0, $1) }
                request.havingPredicate = having
                return request
            }
            let memory = try Self.shown(stores.memory, request).sorted()
            let sqlite = try Self.shown(stores.sqlite, request).sorted()
            if memory == sqlite { return nil }
            return "\(keys), \(made) having \(having?.formatString ?? "-") of \(tree): memory \(memory), SQL \(sqlite)"
        }
    }
}
