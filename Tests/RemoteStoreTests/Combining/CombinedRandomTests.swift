import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Random fetches over random parts, against the same objects in a store in memory.
@Suite("Random fetches of several backends") struct CombinedRandomTests {
    private static let attributes = ["a", "b", "c", "d", "e"]

    private static func model() -> NSManagedObjectModel {
        let thing = NSEntityDescription(name: "Thing")
        thing.properties =
            attributes.map { NSAttributeDescription(name: $0, type: .integer64) } + [NSAttributeDescription(name: "key", type: .string)]
        return NSManagedObjectModel(entities: [thing])
    }

    private struct World {
        let memory: NSManagedObjectContext
        let remote: NSManagedObjectContext
        let notes: String

        init(_ random: inout SeededGenerator) throws {
            let model = CombinedRandomTests.model()
            let count = Int.random(in: 2...3, using: &random)
            var properties: [[String]] = Array(repeating: [], count: count)
            for name in CombinedRandomTests.attributes { properties[Int.random(in: 0..<count, using: &random)].append(name) }
            let objects = (0..<Int.random(in: 0...30, using: &random)).map { "k\($0)" }
            let whole = Bool.random(using: &random) ? Int.random(in: 0..<count, using: &random) : nil
            var values: [String: [String: Int]] = [:]
            var parts: [CombinedBackend.Part] = []
            var notes = "parts \(properties), whole \(whole.map(String.init) ?? "none")"
            for (index, own) in properties.enumerated() {
                let isAlike = Bool.random(using: &random)
                var parameters = [Parameter("key", operators: .equality, maximumValues: Int.random(in: 1...20, using: &random))]
                if isAlike || Bool.random(using: &random) {
                    parameters.append(Parameter("SELF", operators: .equality, maximumValues: Int.random(in: 1...20, using: &random)))
                }
                for name in own where Int.random(in: 0..<4, using: &random) > 0 {
                    let operators = Set(Parameter.Operator.allCases.filter { _ in Bool.random(using: &random) })
                    if !operators.isEmpty { parameters.append(Parameter(name, operators: operators, maximumValues: 3)) }
                }
                let endpoint = Endpoint(
                    "list", parameters: parameters, logic: Bool.random(using: &random) ? .all : .tree,
                    sorting: Bool.random(using: &random) ? .none : Sorting((own + ["key"]).map { .init($0) }, maximumKeys: 2),
                    paging: Bool.random(using: &random)
                        ? .whole
                        : .pages(
                            of: Int.random(in: 1...9, using: &random), takesLimit: Bool.random(using: &random),
                            takesOffset: Bool.random(using: &random), stability: .cursors),
                    counts: Bool.random(using: &random), properties: Set(own + ["key"]))
                let backend = ScriptedBackend(model, [Resource("Thing", endpoints: [endpoint])])
                for (number, key) in objects.enumerated() where whole == index || Int.random(in: 0..<3, using: &random) > 0 {
                    var row: [String: ResourceValue] = ["key": .init(key)]
                    values[key, default: [:]] = values[key] ?? [:]
                    for name in own where Int.random(in: 0..<4, using: &random) > 0 {
                        let value = Int.random(in: 0...4, using: &random)
                        (row[name], values[key]![name]) = (.init(value), value)
                    }
                    for name in own where row[name] == nil { row[name] = .value(.null) }
                    backend.put("Thing", isAlike ? ResourceID.string(key) : .integer(Int64(100 * index + number)), row)
                }
                parts.append(
                    .init(
                        "part \(index)", backend,
                        [.init("Thing", by: "key", Set(own), identifiesAlike: isAlike, hasAll: whole == index)]))
                notes += "\n\(endpoint)"
            }
            let backend = try CombinedBackend(model, at: URL(string: "things:all")!, parts)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addRemoteStore(backend)
            remote = coordinator.context()
            let other = NSPersistentStoreCoordinator(managedObjectModel: model)
            try other.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
            let memory = other.context()
            try memory.performAndWait {
                for (key, row) in values {
                    let object = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: memory)
                    object.setValue(key, forKey: "key")
                    for (name, value) in row { object.setValue(value, forKey: name) }
                }
                try memory.save()
            }
            self.memory = memory
            self.notes = notes
        }
    }

    private func predicate(_ depth: Int, _ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
        case 0: return "\(Self.attributes.randomElement(using: &random)!) == nil"
        case 1: return "\(Self.attributes.randomElement(using: &random)!) != nil"
        case 2: return "key IN {'k1', 'k2', 'k7', 'k900'}"
        case 3: return "\(Self.attributes.randomElement(using: &random)!) IN {1, 3}"
        case 5: return "NOT (\(predicate(depth - 1, &random)))"
        case 6: return "(\(predicate(depth - 1, &random)) OR \(predicate(depth - 1, &random)))"
        case 7, 8: return "(\(predicate(depth - 1, &random)) AND \(predicate(depth - 1, &random)))"
        default:
            let comparison = ["==", "!=", "<", "<=", ">", ">="].randomElement(using: &random)!
            return "\(Self.attributes.randomElement(using: &random)!) \(comparison) \(Int.random(in: 0...4, using: &random))"
        }
    }

    private func result(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            try context.fetch(request).map { object in
                (["key"] + Self.attributes).map { object.value(forKey: $0).map { "\($0)" } ?? "-" }.joined(separator: " ")
            }
        }
    }

    @Test("Whatever the parts can do, a fetch and a count find what the store in memory finds")
    func fetches() throws {
        let seed = TestSeed.current(for: "Random fetches of several backends")
        let budget = TestBudget(seconds: 2, atLeast: 150)
        var round: UInt64 = 0
        var (found, fetches) = (0, 0)
        while budget.isLeft(after: fetches) {
            round += 1
            var random = SeededGenerator(seed: seed &+ round &* 7919)
            let world = try World(&random)
            for _ in 0..<15 {
                let format = Int.random(in: 0..<6, using: &random) == 0 ? nil : predicate(2, &random)
                let keys = Bool.random(using: &random) ? ["key"] : [Self.attributes.randomElement(using: &random)!, "-key"]
                let limit = Bool.random(using: &random) ? 0 : Int.random(in: 1...10, using: &random)
                let request = fetchRequest("Thing", format, by: keys, limit: limit, offset: Int.random(in: 0...3, using: &random))
                let expected = try result(request, world.memory)
                let here = try result(request, world.remote)
                let count = fetchRequest("Thing", format)
                let counts = try [world.memory, world.remote].map { context in
                    try context.performAndWait { try context.count(for: count) }
                }
                (found, fetches) = (found + here.count, fetches + 1)
                guard here == expected, counts[0] == counts[1] else {
                    Issue.record(
                        """
                        seed \(seed), round \(round): \(format ?? "anything") by \(keys), \(request.fetchOffset)+\(limit): found \(here) \
                        instead of \(expected), counted \(counts[1]) instead of \(counts[0])
                        \((try? world.remote.plan(request)).map { "\($0)" } ?? "")
                        \(world.notes)
                        """)
                    return
                }
            }
        }
        print("\(fetches) fetches over \(round) combinations, \(found) objects found")
        #expect(found > 0)
    }
}
