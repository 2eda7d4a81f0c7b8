import CoreData
import PredicateCases
import Predicates
import TestSupport
import Testing

/// Batch requests in SQLite do what they do in memory.
@Suite("Batch requests in SQLite") struct SQLiteBatchTests {
    /// Everything that a context can read, as text.
    private static func shown(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            context.reset()
            var lines: [String] = []
            for entity in ["Thing", "Place"] {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
                for object in try context.fetch(request) {
                    func label(_ value: Any?) -> Int { (value as? NSManagedObject)?.value(forKey: "label") as? Int ?? -1 }
                    var line = "\(object.entity.name ?? "") \(label(object))"
                    for attribute in QueryCases.Kind.allCases.flatMap(\.attributes) {
                        line += " \(attribute)=\(object.value(forKey: attribute) ?? "nil")"
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
    }

    /// Does the same in both stores, and checks that both answer the same and hold the same afterwards.
    private func run(_ stores: TwinStores, _ place: String, _ body: (NSManagedObjectContext) throws -> String) throws {
        let memory = Result { try stores.memory.performAndWait { try body(stores.memory) } }
        let sqlite = Result { try stores.sqlite.performAndWait { try body(stores.sqlite) } }
        switch (memory, sqlite) {
        case (.success(let first), .success(let second)): expect(first, equals: second, "\(place)")
        case (.failure(let first as NSError), .failure(let second as NSError)):
            expect(first.code, equals: second.code, "\(place): \(first), \(second)")
        default: Issue.record("\(place): memory \(memory), SQL \(sqlite)")
        }
        let expected = try Self.shown(stores.memory)
        let found = try Self.shown(stores.sqlite)
        expect(expected, equals: found, "\(place): memory \(Set(expected).subtracting(found)), SQL \(Set(found).subtracting(expected))")
    }

    @Test("Random updates and deletions change the same rows as in memory") func randomRequests() throws {
        for round in 0..<UInt64(12) {
            let seed = QueryDifferentialTests.seed &+ round
            let stores = try TwinStores()
            try stores.fill { QueryCases.fill($0, seed: seed) }
            var cases = QueryCases(seed: seed &* 7)
            for step in 0..<4 {
                let entity = cases.pick(["Thing", "Thing", "Place", "Special"])
                let tree = cases.predicate([QueryCases.Scope(variable: nil, entity: entity == "Place" ? "Place" : "Thing")], depth: 1)
                let isDeletion = step == 3
                let includesSubentities = !cases.chance(3)
                let (number, text) = (cases.constant(.int), cases.constant(.text))
                let amount = cases.constant(.decimal)
                let byExpression = cases.chance(2)
                try run(stores, "seed \(seed), step \(step): \(entity) where \(tree)") { context in
                    let ids: [NSManagedObjectID]
                    if isDeletion {
                        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
                        fetch.predicate = NSPredicate(tree: tree)
                        fetch.includesSubentities = includesSubentities
                        let request = NSBatchDeleteRequest(fetchRequest: fetch)
                        request.resultType = .resultTypeCount
                        return "\((try context.execute(request) as? NSBatchDeleteResult)?.result ?? "")"
                    }
                    let request = NSBatchUpdateRequest(entityName: entity)
                    request.predicate = NSPredicate(tree: tree)
                    request.includesSubentities = includesSubentities
                    request.resultType = .updatedObjectIDsResultType
                    request.propertiesToUpdate = ["number": number.any ?? NSNull(), "text": text.any ?? NSNull()]
                    if byExpression {
                        request.propertiesToUpdate?["rank"] = NSExpression(format: "many.@count + 1")
                        request.propertiesToUpdate?["amount"] = amount.any ?? NSNull()
                    }
                    ids = (try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID] ?? []
                    return "\(ids.map { context.object(with: $0).value(forKey: "label") as? Int ?? -1 }.sorted())"
                }
            }
        }
    }

    @Test("Inserted rows have their values and the default values, and their IDs") func insertion() throws {
        let stores = try TwinStores()
        try stores.fill { QueryCases.fill($0, seed: 3) }
        try run(stores, "insertion") { context in
            let rows = (0..<50).map {
                ["label": 1000 + $0, "text": "row \($0)", "amount": Decimal($0) / 3, "flag": $0 % 2 == 0] as [String: Any]
            }
            let request = NSBatchInsertRequest(entityName: "Special", objects: rows)
            request.resultType = .objectIDs
            let ids = (try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID] ?? []
            return "\(ids.map { context.object(with: $0).value(forKey: "label") as? Int ?? -1 })"
        }
    }

    @Test("A value that an attribute cannot hold changes nothing") func mistakes() throws {
        let stores = try TwinStores()
        try stores.fill { QueryCases.fill($0, seed: 4) }
        try run(stores, "wrong type") { context in
            let request = NSBatchUpdateRequest(entityName: "Thing")
            request.propertiesToUpdate = ["text": "changed", "number": "no number"]
            return "\(try context.execute(request))"
        }
        try run(stores, "out of range, found at the last row") { context in
            let request = NSBatchUpdateRequest(entityName: "Thing")
            request.propertiesToUpdate = ["rank": NSExpression(format: "label * 3000")]
            return "\(try context.execute(request))"
        }
        try run(stores, "unknown attribute") { context in
            let request = NSBatchUpdateRequest(entityName: "Thing")
            request.propertiesToUpdate = ["nosuch": 1]
            return "\(try context.execute(request))"
        }
    }

    private static func uniqueModel() -> NSManagedObjectModel {
        let model = QueryModel.model()
        model.entitiesByName["Place"]?.uniquenessConstraints = [["name"]]
        return model
    }

    @Test("Unique values are kept as the merge policy says", arguments: [0, 1, 2, 3]) func uniqueness(_ policy: Int) throws {
        let stores = try TwinStores(Self.uniqueModel)
        try stores.fill { context in
            for (index, name) in ["a", "b", "c"].enumerated() {
                _ = context.insert("Place", ["label": index, "name": name, "number": index])
            }
        }
        let policies: [NSMergePolicy] = [.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite]
        for context in [stores.memory, stores.sqlite] { context.performAndWait { context.mergePolicy = policies[policy] } }
        try run(stores, "insertion") { context in
            let request = NSBatchInsertRequest(
                entityName: "Place",
                objects: [["label": 10, "name": "d"], ["label": 11, "name": "b"], ["label": 12, "name": "d", "rank": 3]])
            request.resultType = .count
            return "\((try context.execute(request) as? NSBatchInsertResult)?.result ?? "")"
        }
        try run(stores, "update") { context in
            let request = NSBatchUpdateRequest(entityName: "Place")
            request.predicate = NSPredicate(format: "number > 0")
            request.propertiesToUpdate = ["name": "a"]
            return "\((try context.execute(request) as? NSBatchUpdateResult)?.result ?? "")"
        }
    }
}
