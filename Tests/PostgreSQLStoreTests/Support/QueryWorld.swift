#if PostgreSQL
import CoreData
import PredicateCases
import Predicates
import TestSupport

/// Things and places with attributes of every kind, and predicates about them.
struct QueryWorld: CaseWorld {
    static let texts = [
        "", "a", "A", "ab", "abc", "Ą", "ą", "é", "éa", "e", "q", "K", "b", "Żółw", "zolw", "日本", "日", "ß", "ss", "한글", "한",
        "common prefix one", "common prefix two", "Привет", "привет", "😀", "😀a", "12", "2.5", "*a?", "'; DROP TABLE thing; --", "\"",
        "nul\u{0}inside", "\u{1}", "(a.b)[c]",
    ]
    /// Spellings of some of these, and texts with marks that belong to no letter.
    static let oddTexts = [
        "a\u{328}", "e\u{301}", "q\u{301}", "\u{212A}", "a\u{301}b", "Z\u{307}o\u{301}łw", "e\u{301}a", "\u{1112}\u{1161}\u{11AB}",
    ]

    /// Whether texts may be spelled in several ways; comparing their order is left out then, for it is another one in SQL.
    let isOdd: Bool

    func attributes(of entity: String, _ kinds: [CaseKind]) -> [String] { kinds.flatMap(\.attributes) }
    func destination(of entity: String, _ key: String) -> String { key == "queue" ? entity : Self.destinations[entity]![key]! }
    func orderedKey(of entity: String) -> String? { entity == "Thing" ? "queue" : nil }
    var hasOrder: Bool { false }
    var ordersTexts: Bool { !isOdd }
    var textKeys: [String] { ["length"] }
    var functions: [String] { [] }

    func constant(_ kind: CaseKind, _ random: inout SeededGenerator) -> PropertyValue {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        switch kind {
        case .bool: return .bool(Bool.random(using: &random))
        case .int: return .int64(pick([0, 1, -1, 2, 5, 100, 32_767]))
        case .double: return .double(pick([0, 1, 2.5, -1, 0.1, 100, 1e19, 9_007_199_254_740_992]))
        case .decimal:
            return .decimal(
                pick([
                    0, 1, Decimal(string: "0.1")!, Decimal(string: "2.5")!, 100, Decimal(string: "0.33333333333333333333")!,
                    Decimal(string: "-7.0000000000000000000001")!,
                ]))
        case .text: return .string(pick(isOdd ? Self.texts + Self.oddTexts + Self.oddTexts : Self.texts))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: pick([0.0, 1, 86_400, 0.5])))
        case .data: return .data(pick([Data(), Data([0]), Data([0, 1]), Data([255])]))
        case .uuid: return .uuid(UUID(uuid: (pick([0, 1, 2]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)))
        case .url: return .url(pick(["https://a.example", "https://b.example/%C3%A9", "file:///x"].compactMap { URL(string: $0) }))
        }
    }

    /// Where relationships lead; the names are the same in both entities.
    static let destinations = [
        "Thing": ["one": "Place", "other": "Thing", "many": "Thing", "more": "Place"],
        "Place": ["one": "Thing", "other": "Place", "many": "Place", "more": "Thing"],
    ]

    static func model() -> NSManagedObjectModel {
        let (thing, place, special) = (
            NSEntityDescription(name: "Thing"), NSEntityDescription(name: "Place"), NSEntityDescription(name: "Special")
        )
        func attributes() -> [NSPropertyDescription] {
            [
                NSAttributeDescription(name: "label", type: .integer64, isOptional: false),
                NSAttributeDescription(name: "flag", type: .boolean), NSAttributeDescription(name: "number", type: .integer64),
                NSAttributeDescription(name: "rank", type: .integer16), NSAttributeDescription(name: "real", type: .double),
                NSAttributeDescription(name: "ratio", type: .double), NSAttributeDescription(name: "amount", type: .decimal),
                NSAttributeDescription(name: "text", type: .string), NSAttributeDescription(name: "name", type: .string),
                NSAttributeDescription(name: "moment", type: .date), NSAttributeDescription(name: "bytes", type: .binaryData),
                NSAttributeDescription(name: "key", type: .uuid), NSAttributeDescription(name: "link", type: .uri),
            ]
        }
        func pair(_ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, _ inverse: String, isOrdered: Bool = false) {
            let one = NSRelationshipDescription(name: name, destination: to)
            let many = NSRelationshipDescription(name: inverse, destination: from, toMany: true, isOrdered: isOrdered)
            one.inverse(to: many)
            from.properties.append(one)
            to.properties.append(many)
        }
        (thing.properties, place.properties) = (attributes(), attributes())
        pair(thing, "one", place, "things")
        pair(place, "one", thing, "homes")
        pair(thing, "other", thing, "many")
        pair(place, "other", place, "many")
        pair(thing, "owner", thing, "queue", isOrdered: true)
        let thingMore = NSRelationshipDescription(name: "more", destination: place, toMany: true)
        let placeMore = NSRelationshipDescription(name: "more", destination: thing, toMany: true)
        thingMore.inverse(to: placeMore)
        thing.properties.append(thingMore)
        place.properties.append(placeMore)
        special.properties = [NSAttributeDescription(name: "extra", type: .integer32)]
        thing.subentities = [special]
        return NSManagedObjectModel(entities: [thing, place, special])
    }
}

typealias QueryCases = PredicateCases<QueryWorld>

extension CaseKind {
    /// The attributes of either entity that have such values.
    fileprivate var attributes: [String] {
        switch self {
        case .bool: ["flag"]
        case .int: ["number", "rank"]
        case .double: ["real", "ratio"]
        case .decimal: ["amount"]
        case .text: ["text", "name"]
        case .date: ["moment"]
        case .data: ["bytes"]
        case .uuid: ["key"]
        case .url: ["link"]
        }
    }
}

extension PredicateCases where World == QueryWorld {
    init(seed: UInt64, isOdd: Bool) { self.init(QueryWorld(isOdd: isOdd), random: SeededGenerator(seed: seed), nilChance: 20) }

    /// A graph of objects, the same for the same seed, in the context on whose queue the caller is.
    static func fill(_ context: NSManagedObjectContext, seed: UInt64, isOdd: Bool, things: Int = 24, places: Int = 8) {
        var cases = QueryCases(seed: seed, isOdd: isOdd)
        var objects: [String: [NSManagedObject]] = [:]
        for index in 0..<(things + places) {
            let entity = index >= things ? "Place" : index % 5 == 0 ? "Special" : "Thing"
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValue(index, forKey: "label")
            for kind in CaseKind.allCases {
                for key in kind.attributes where !cases.chance(4) { object.setValue(cases.constant(kind).any, forKey: key) }
            }
            if entity == "Special" { object.setValue(index % 3, forKey: "extra") }
            objects[entity == "Place" ? "Place" : "Thing", default: []].append(object)
        }
        for (entity, members) in objects.sorted(by: { $0.key < $1.key }) {
            for object in members {
                for key in ["one", "other"] where !cases.chance(3) {
                    object.setValue(cases.pick(objects[QueryWorld.destinations[entity]![key]!]!), forKey: key)
                }
                if entity == "Thing", !cases.chance(3) { object.setValue(cases.pick(members), forKey: "owner") }
                if entity == "Thing" {
                    var more: Set<NSManagedObject> = []
                    for _ in 0..<Int.random(in: 0...3, using: &cases.random) { more.insert(cases.pick(objects["Place"]!)) }
                    object.setValue(more, forKey: "more")
                }
            }
        }
    }
}
#endif
