import CoreData
import Foundation
import PredicateCases
import Predicates
import RemoteStore
import RemoteStoreTesting
import TestSupport

/// Two entities with an attribute of every kind and relationships to one and to many, one of them inherited from; random objects of them
/// in a store in memory and at a backend; and random capabilities of that backend.
struct RandomWorld: CaseWorld {
    static let texts = ["", "a", "A", "ab", "abc", "Ą", "ą", "é", "e\u{301}", "e", "K", "b", "ß", "ss", "日本", "12", "*a?", "\"", "x y"]
    static let destinations = [
        "Thing": ["one": "Place", "other": "Thing", "many": "Thing", "more": "Place"],
        "Place": ["one": "Thing", "other": "Place", "many": "Place", "more": "Thing"],
    ]

    func attributes(of entity: String, _ kinds: [CaseKind]) -> [String] { kinds.flatMap(Self.names) }
    func destination(of entity: String, _ key: String) -> String { Self.destinations[entity]![key]! }
    func orderedKey(of entity: String) -> String? { nil }
    var hasOrder: Bool { false }
    var ordersTexts: Bool { true }
    var textKeys: [String] { [] }
    var functions: [String] { [] }

    static func names(_ kind: CaseKind) -> [String] {
        switch kind {
        case .bool: ["flag"]
        case .int: ["number", "rank"]
        case .double: ["real"]
        case .decimal: ["amount"]
        case .text: ["text", "name"]
        case .date: ["moment"]
        case .data: ["bytes"]
        case .uuid: ["key"]
        case .url: ["link"]
        }
    }

    func constant(_ kind: CaseKind, _ random: inout SeededGenerator) -> PropertyValue {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        switch kind {
        case .bool: return .bool(Bool.random(using: &random))
        case .int: return .int64(pick([0, 1, -1, 2, 5, 100]))
        case .double: return .double(pick([0, 1, 2.5, -1, 0.1, 100, 1e19]))
        case .decimal: return .decimal(pick([0, 1, Decimal(string: "0.1")!, Decimal(string: "2.5")!, 100]))
        case .text: return .string(pick(Self.texts))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: pick([0.0, 1, 86_400, 0.5])))
        case .data: return .data(pick([Data(), Data([0]), Data([0, 1]), Data([255])]))
        case .uuid: return .uuid(UUID(uuid: (pick([0, 1, 2]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)))
        case .url: return .url(pick(["https://a.example", "https://b.example/x", "file:///x"].compactMap { URL(string: $0) }))
        }
    }

    static func model() -> NSManagedObjectModel {
        let thing = NSEntityDescription(name: "Thing")
        let place = NSEntityDescription(name: "Place")
        let special = NSEntityDescription(name: "Special")
        func attributes() -> [NSPropertyDescription] {
            let types: [(String, NSAttributeDescription.AttributeType)] = [
                ("label", .integer64), ("flag", .boolean), ("number", .integer64), ("rank", .integer16), ("real", .double),
                ("amount", .decimal), ("text", .string), ("name", .string), ("moment", .date), ("bytes", .binaryData), ("key", .uuid),
                ("link", .uri),
            ]
            return types.map { NSAttributeDescription(name: $0.0, type: $0.1) }
        }
        func pair(_ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, _ inverse: String) -> [NSRelationshipDescription]
        {
            let one = NSRelationshipDescription(name: name, destination: to)
            let many = NSRelationshipDescription(name: inverse, destination: from, toMany: true)
            one.inverse(to: many)
            return [one, many]
        }
        let (thingOne, placeOne) = (pair(thing, "one", place, "things"), pair(place, "one", thing, "homes"))
        let (thingOther, placeOther) = (pair(thing, "other", thing, "many"), pair(place, "other", place, "many"))
        let thingMore = NSRelationshipDescription(name: "more", destination: place, toMany: true)
        let placeMore = NSRelationshipDescription(name: "more", destination: thing, toMany: true)
        thingMore.inverse(to: placeMore)
        thing.properties = attributes() + [thingOne[0], placeOne[1]] + thingOther + [thingMore]
        place.properties = attributes() + [placeOne[0], thingOne[1]] + placeOther + [placeMore]
        special.properties = [NSAttributeDescription(name: "extra", type: .integer64)]
        thing.subentities = [special]
        return NSManagedObjectModel(entities: [thing, place, special])
    }
}

/// The same objects in a store in memory and at a backend.
final class RandomStores {
    let memory: NSManagedObjectContext
    let backend: ScriptedBackend
    let remote: NSManagedObjectContext

    init(_ random: inout SeededGenerator) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: RandomWorld.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        memory = coordinator.context()
        let capabilities = ["Thing", "Place", "Special"].map { RandomCapabilities.resource($0, &random) }
        backend = ScriptedBackend(RandomWorld.model(), capabilities)
        remote = try backend.context(RandomWorld.model(), RemoteStoreOptions(maximumRows: 100_000, maximumRequests: 5000))
        try fill(&random)
    }

    private func fill(_ random: inout SeededGenerator) throws {
        let count = Int.random(in: 0...24, using: &random)
        let kinds = (0..<count).map { _ in ["Thing", "Place", "Special"].randomElement(using: &random)! }
        let world = RandomWorld()
        var values: [[String: PropertyValue]] = []
        for (index, entity) in kinds.enumerated() {
            var own: [String: PropertyValue] = ["label": .int64(Int64(index))]
            for kind in CaseKind.allCases {
                for name in RandomWorld.names(kind) where Int.random(in: 0..<4, using: &random) > 0 {
                    own[name] = world.constant(kind, &random)
                }
            }
            if entity == "Special" { own["extra"] = .int64(Int64(index % 3)) }
            values.append(own)
        }
        let places = kinds.indices.filter { kinds[$0] == "Place" }
        let things = kinds.indices.filter { kinds[$0] != "Place" }
        func some(_ list: [Int]) -> Int? { Int.random(in: 0..<3, using: &random) == 0 ? nil : list.randomElement(using: &random) }
        let ones = kinds.indices.map { some(kinds[$0] == "Place" ? things : places) }
        let others = kinds.indices.map { some(kinds[$0] == "Place" ? places : things) }
        let mores = kinds.indices.map { index in
            kinds[index] == "Place" ? [] : places.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        }
        let memory = memory
        try memory.performAndWait {
            let objects = kinds.map { NSEntityDescription.insertNewObject(forEntityName: $0, into: memory) }
            for (index, object) in objects.enumerated() {
                for (name, value) in values[index] { object.setValue(value.any, forKey: name) }
                object.setValue(ones[index].map { objects[$0] }, forKey: "one")
                object.setValue(others[index].map { objects[$0] }, forKey: "other")
                if kinds[index] != "Place" { object.setValue(Set(mores[index].map { objects[$0] }), forKey: "more") }
            }
            try memory.save()
            memory.reset()
        }
        func reference(_ index: Int?) -> ResourceValue {
            .one(index.map { ResourceReference(.integer(Int64($0)), entity: kinds[$0]) })
        }
        for (index, entity) in kinds.enumerated() {
            var own = values[index].mapValues { ResourceValue.value($0) }
            for name in CaseKind.allCases.flatMap(RandomWorld.names) where own[name] == nil { own[name] = .value(.null) }
            own["one"] = reference(ones[index])
            own["other"] = reference(others[index])
            let more = entity == "Place" ? things.filter { mores[$0].contains(index) } : mores[index]
            own["more"] = .many(more.map { ResourceReference(.integer(Int64($0)), entity: kinds[$0]) })
            backend.put(entity, index, own)
        }
    }
}

/// Capabilities at random.
enum RandomCapabilities {
    private static let attributes = ["label", "flag", "number", "rank", "real", "amount", "text", "name", "moment", "key"]

    static func resource(_ entity: String, _ random: inout SeededGenerator) -> Resource {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        var endpoints: [Endpoint] = []
        if chance(85) {
            var base = endpoint("base", &random)
            for index in base.parameters.indices { base.parameters[index].isRequired = false }
            endpoints.append(base)
        }
        for number in 0..<Int.random(in: 0...2, using: &random) { endpoints.append(endpoint("extra\(number)", &random)) }
        var links = [Parameter("SELF", isRequired: true, maximumValues: [1, 3, 100].randomElement(using: &random)!)]
        if !chance(90) { links = [] }
        if !links.isEmpty {
            endpoints.append(Endpoint("info", parameters: links, embeddings: chance(70) ? [.init("more", isAlwaysThere: true)] : []))
        }
        for key in ["one", "other", "ANY more"] where chance(80) {
            endpoints.append(
                Endpoint(
                    "by \(key)", parameters: [Parameter(key, isRequired: true, maximumValues: [1, 2, 100].randomElement(using: &random)!)],
                    paging: chance(30) ? .pages(of: 3) : .whole))
        }
        return Resource(entity, endpoints: endpoints)
    }

    private static func endpoint(_ name: String, _ random: inout SeededGenerator) -> Endpoint {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        var parameters: [Parameter] = []
        for attribute in attributes where chance(50) {
            let operators = Parameter.Operator.allCases.filter { _ in chance(60) }
            if operators.isEmpty { continue }
            let folds: [PredicateComparison.Options] = [[], [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive]]
            parameters.append(
                Parameter(
                    attribute, operators: Set(operators), isRequired: chance(5), maximumValues: [1, 2, 10].randomElement(using: &random)!,
                    text: attribute == "text" || attribute == "name" ? folds.randomElement(using: &random)! : [], isExact: chance(85)))
        }
        for path in ["one", "other", "one.number", "one.text", "SELF", "ANY more"] where chance(25) {
            parameters.append(Parameter(path, operators: [.equal, .isIn, .isNil, .isNotNil], maximumValues: 5))
        }
        let keys = (attributes + ["one.label"]).filter { _ in chance(50) }.map { Sorting.Key($0, isReversible: chance(80)) }
        let sizes: [Int?] = [nil, 1, 3, 10]
        return Endpoint(
            name, parameters: parameters, logic: chance(30) ? .tree : .all,
            sorting: Sorting(keys, maximumKeys: Int.random(in: 0...4, using: &random)),
            paging: Paging(
                size: sizes.randomElement(using: &random)!, takesLimit: chance(50), takesOffset: chance(50),
                stability: chance(30) ? .cursors : .offsets),
            counts: chance(50),
            aggregates: chance(50) ? [.init(.sum, of: "number"), .init(.maximum, of: "real"), .init(.count, of: "label")] : [],
            groups: Set(["flag", "number", "text"].filter { _ in chance(50) }),
            properties: chance(25) ? Set(attributes.filter { _ in chance(70) } + ["label"]) : nil,
            embeddings: chance(30) ? [.init("more", isAlwaysThere: chance(50))] : chance(30) ? [.init("one")] : [],
            includesSubentities: chance(70), freshness: chance(15) ? .seconds(3600) : nil,
            cost: .init(expectedRows: [1, 10, 1000].randomElement(using: &random)!))
    }
}
