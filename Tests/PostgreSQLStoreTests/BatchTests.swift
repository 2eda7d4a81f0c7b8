#if PostgreSQL
import CoreData
import PostgreSQLStore
import PredicateCases
import Predicates
import StoreConformance
import TestSupport
import Testing

/// Batch requests in PostgreSQL do what they do in memory.
@Suite("Batch requests in PostgreSQL") struct BatchTests {
    /// A store in memory and one in the database, with the same objects.
    private static func twins(_ seed: UInt64) async throws -> [NSManagedObjectContext] {
        let memory = NSPersistentStoreCoordinator(managedObjectModel: QueryWorld.model())
        try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let contexts = [context(memory), context(try await coordinator(freshOptions(), QueryWorld.model()))]
        for context in contexts {
            try await context.perform {
                QueryCases.fill(context, seed: seed, isOdd: false)
                try context.save()
                context.reset()
            }
        }
        return contexts
    }

    /// Everything that a context can read, as text.
    private static func shown(_ context: NSManagedObjectContext) throws -> [String] {
        context.reset()
        var lines: [String] = []
        for entity in ["Thing", "Place"] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
            for object in try context.fetch(request) {
                func label(_ value: Any?) -> Int { (value as? NSManagedObject)?.value(forKey: "label") as? Int ?? -1 }
                var line = "\(object.entity.name ?? "") \(label(object))"
                for name in ["number", "text", "rank", "amount", "flag", "real", "key", "link"] {
                    line += " \(name)=\(object.value(forKey: name) ?? "nil")"
                }
                for relationship in object.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
                    switch object.value(forKey: relationship.name) {
                    case let many as Set<NSManagedObject>: line += " \(relationship)=\(many.map { label($0) }.sorted())"
                    case let many as NSOrderedSet: line += " \(relationship)=\(many.map { label($0) })"
                    case let one: line += " \(relationship)=\(label(one))"
                    }
                }
                lines.append(line)
            }
        }
        return lines
    }

    @Test("Random updates and deletions change the same rows as in memory") func random() async throws {
        var compared = 0
        for round in 0..<UInt64(6) {
            let seed = PredicateTests.seed &+ round
            let contexts = try await Self.twins(seed)
            var cases = QueryCases(seed: seed &* 7, isOdd: false)
            for step in 0..<5 {
                let entity = cases.pick(["Thing", "Thing", "Place", "Special"])
                let tree = cases.predicate([QueryCases.Scope(variable: nil, entity: entity == "Place" ? "Place" : "Thing")], depth: 1)
                let isDeletion = step == 4
                let includesSubentities = !cases.chance(3)
                let (number, text, amount) = (cases.constant(.int).any, cases.constant(.text).any, cases.constant(.decimal).any)
                let byExpression = cases.chance(2)
                func run(_ context: NSManagedObjectContext) throws -> [Int] {
                    if isDeletion {
                        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
                        fetch.predicate = NSPredicate(tree: tree)
                        fetch.includesSubentities = includesSubentities
                        let request = NSBatchDeleteRequest(fetchRequest: fetch)
                        request.resultType = .resultTypeCount
                        return [(try context.execute(request) as? NSBatchDeleteResult)?.result as? Int ?? -1]
                    }
                    let request = NSBatchUpdateRequest(entityName: entity)
                    request.predicate = NSPredicate(tree: tree)
                    request.includesSubentities = includesSubentities
                    request.resultType = .updatedObjectIDsResultType
                    request.propertiesToUpdate = ["number": number ?? NSNull(), "text": text ?? NSNull(), "flag": true]
                    if byExpression {
                        request.propertiesToUpdate?["rank"] = NSExpression(format: "many.@count + 1")
                        request.propertiesToUpdate?["amount"] = amount ?? NSNull()
                    }
                    let ids = (try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID] ?? []
                    return ids.map { context.object(with: $0).value(forKey: "label") as? Int ?? -1 }.sorted()
                }
                let place = Comment(rawValue: "seed \(seed), step \(step): \(entity) where \(tree)")
                let found = contexts[1].performAndWait { Result { try run(contexts[1]) } }
                if case .failure(let error) = found {
                    // A clause that PostgreSQL answers differently is refused, and changes nothing.
                    #expect(PredicateTests.isRefusal(error), place)
                    continue
                }
                let expected = contexts[0].performAndWait { Result { try run(contexts[0]) } }
                try expect(expected.get(), equals: found.get(), place)
                let stored = try contexts.map { context in try context.performAndWait { try Self.shown(context) } }
                expect(stored[0], equals: stored[1], "\(place) \(Set(stored[0]).symmetricDifference(stored[1]))")
                if stored[0] != stored[1] { return }
                compared += 1
            }
        }
        print("Batch requests in PostgreSQL: \(compared) compared")
        #expect(compared > 5)
    }

    @Test("Inserted rows have their values, the default values and their IDs, by dictionaries and by handlers") func insertion()
        async throws
    {
        let context = context(try await coordinator(freshOptions(), QueryWorld.model()))
        try await context.perform {
            let rows = (0..<50).map {
                ["label": $0, "text": "row \($0)", "amount": Decimal($0) / 3, "flag": $0 % 2 == 0] as [String: Any]
            }
            let request = NSBatchInsertRequest(entityName: "Special", objects: rows)
            request.resultType = .objectIDs
            let ids = try #require((context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            expect(ids.map { context.object(with: $0).value(forKey: "text") as? String }, equals: (0..<50).map { "row \($0)" })
            var next = 50
            let handled = NSBatchInsertRequest(entityName: "Thing") { (dictionary: NSMutableDictionary) in
                dictionary["label"] = next
                next += 1
                return next > 25_000
            }
            handled.resultType = .count
            try expect((context.execute(handled) as? NSBatchInsertResult)?.result as? Int, equals: 24_950)
            let all = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            try expect(context.count(for: all), equals: 25_000)
            all.predicate = NSPredicate(format: "label == 24998")
            try expect(context.fetch(all).first?.entity.name, equals: "Thing")
            // Keys that were reserved for the batch serve the next save.
            let object = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            object.setValue(-1, forKey: "label")
            try context.save()
            try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")), equals: 25_001)
        }
    }

    @Test("A mistake changes nothing") func mistakes() async throws {
        let contexts = try await Self.twins(PredicateTests.seed)
        let requests: [@Sendable () -> NSPersistentStoreRequest] = [
            {
                let request = NSBatchUpdateRequest(entityName: "Thing")
                request.propertiesToUpdate = ["text": "changed", "number": "no number"]
                return request
            },
            {
                let request = NSBatchUpdateRequest(entityName: "Thing")
                request.propertiesToUpdate = ["rank": NSExpression(format: "label * 3000")]
                return request
            },
            { NSBatchInsertRequest(entityName: "Place", objects: [["label": 1], ["nosuch": 1]]) },
            // The column is NOT NULL.
            { NSBatchInsertRequest(entityName: "Place", objects: [["label": 1], ["text": "without a label"]]) },
        ]
        for request in requests {
            contexts[1].performAndWait {
                _ = #expect(throws: NSError.self) { try contexts[1].execute(request()) }
            }
        }
        let stored = try contexts.map { context in try context.performAndWait { try Self.shown(context) } }
        expect(stored[0], equals: stored[1])
    }

    @Test(
        "Rows that violate a uniqueness constraint are settled as in memory, by each merge policy",
        arguments: ["error", "store", "object", "overwrite", "rollback"])
    func uniqueness(_ policy: String) async throws {
        let memory = NSPersistentStoreCoordinator(managedObjectModel: ConformanceModel.make())
        try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let contexts = [context(memory), context(try await coordinator(freshOptions()))]
        var outcomes: [[String]] = []
        for context in contexts {
            outcomes.append(
                try await context.perform {
                    let fixed: NSMergePolicy = [
                        "error": .error, "store": .mergeByPropertyStoreTrump, "object": .mergeByPropertyObjectTrump,
                        "overwrite": .overwrite, "rollback": .rollback,
                    ][policy]!
                    context.mergePolicy = fixed
                    func insert(_ rows: [[String: Any]]) -> String {
                        let request = NSBatchInsertRequest(entityName: "Badge", objects: rows)
                        request.resultType = .count
                        do { return "\((try context.execute(request) as? NSBatchInsertResult)?.result ?? "")" } catch {
                            return "error \((error as NSError).code)"
                        }
                    }
                    var lines = [insert([["code": "a", "colour": "red", "points": 1], ["code": "b", "colour": "blue", "points": 2]])]
                    // With the database, and within the batch.
                    lines.append(insert([["code": "b", "points": 7], ["code": "c", "colour": "green"], ["code": "c", "points": 9]]))
                    lines.append(insert([["code": "d"], ["colour": "none"], ["colour": "none"]]))
                    context.reset()
                    let badges = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Badge"))
                    lines += badges.map { badge in
                        ["code", "colour", "points"].map { "\(badge.value(forKey: $0) ?? "nil")" }.joined(separator: " ")
                    }.sorted()
                    let update = NSBatchUpdateRequest(entityName: "Badge")
                    update.propertiesToUpdate = ["code": "same"]
                    do { _ = try context.execute(update) } catch { lines.append("error \((error as NSError).code)") }
                    return lines
                })
        }
        expect(outcomes[0], equals: outcomes[1])
        expect(outcomes[1].last, equals: "error \(NSManagedObjectConstraintMergeError)")
    }

    @Test("Batch updates at the same time are each done once") func concurrency() async throws {
        let options = freshOptions()
        let first = context(try await coordinator(options))
        try await first.perform {
            _ = try first.execute(NSBatchInsertRequest(entityName: "Badge", objects: [["code": "a"], ["code": "b"]]))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                let context = context(try await coordinator(options))
                group.addTask {
                    for _ in 0..<4 {
                        try await context.perform {
                            let request = NSBatchUpdateRequest(entityName: "Badge")
                            request.propertiesToUpdate = ["points": NSExpression(format: "points + 1")]
                            var isDone = false
                            while !isDone {
                                // Where six attempts have met others, the program is told.
                                do {
                                    _ = try context.execute(request)
                                    isDone = true
                                } catch let error as NSError where "\(error)".contains("40001") {}
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let points = try await first.perform {
            first.reset()
            return try first.fetch(NSFetchRequest<NSManagedObject>(entityName: "Badge")).map { $0.value(forKey: "points") as? Int }
        }
        expect(points, equals: [12, 12])
    }
}
#endif
