import CoreData
import PredicateCases
import Predicates
import TestSupport

/// The entities of ``QueryModel``, and values for their objects.
struct QueryWorld: CaseWorld {
    static let texts = [
        "", "a", "A", "ab", "abc", "Ą", "ą", "é", "éa", "e", "q", "K", "b", "Żółw", "zolw", "日本", "日", "ß", "ss", "한글", "한",
        "common prefix one",
        "common prefix two", "Привет", "привет", "😀", "😀a", "12", "2.5", "*a?", "'; DROP TABLE ZTHING; --", "\"", "nul\u{0}inside",
    ]
    /// Spellings of some of these, and texts with marks that belong to no letter.
    static let oddTexts = [
        "a\u{328}", "e\u{301}", "q\u{301}", "\u{212A}", "a\u{301}b", "Z\u{307}o\u{301}łw", "e\u{301}a", "\u{1112}\u{1161}\u{11AB}",
    ]

    /// Whether texts may be spelled in several ways; comparing their order is left out then, for it is another one in SQL.
    let isOdd: Bool

    func attributes(of entity: String, _ kinds: [CaseKind]) -> [String] { kinds.flatMap(\.attributes) }
    func destination(of entity: String, _ key: String) -> String { key == "queue" ? entity : QueryModel.destinations[entity]![key]! }
    func orderedKey(of entity: String) -> String? { entity == "Thing" ? "queue" : nil }
    /// Elements of relationships that have no order have no SQL.
    var hasOrder: Bool { false }
    var ordersTexts: Bool { !isOdd }
    var textKeys: [String] { ["uppercaseString"] }
    var functions: [String] { [] }

    func constant(_ kind: CaseKind, _ random: inout SeededGenerator) -> PropertyValue {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        switch kind {
        case .bool: return .bool(Bool.random(using: &random))
        case .int: return .int64(pick([0, 1, -1, 2, 5, 100, 32_767]))
        // SQLite keeps no sign of zero.
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
}

/// Makes predicates over the objects of ``QueryModel``, of every construct of the language, and the objects themselves.
typealias QueryCases = PredicateCases<QueryWorld>

extension CaseKind {
    /// The attributes of either entity that have such values.
    var attributes: [String] {
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
    typealias Kind = CaseKind

    init(seed: UInt64, isOdd: Bool = false) {
        self.init(QueryWorld(isOdd: isOdd), random: SeededGenerator(seed: seed), nilChance: 20)
    }

    /// A graph of objects, the same for the same seed, in the context on whose queue the caller is.
    static func fill(_ context: NSManagedObjectContext, seed: UInt64, isOdd: Bool = false, things: Int = 24, places: Int = 8) {
        var cases = QueryCases(seed: seed, isOdd: isOdd)
        var objects: [String: [NSManagedObject]] = [:]
        for index in 0..<(things + places) {
            let entity = index >= things ? "Place" : index % 5 == 0 ? "Special" : "Thing"
            let object = context.insert(entity, ["label": index])
            for kind in Kind.allCases {
                for key in kind.attributes where !cases.chance(4) { object.setValue(cases.constant(kind).any, forKey: key) }
            }
            if entity == "Special" { object.setValue(index % 3, forKey: "extra") }
            objects[entity == "Place" ? "Place" : "Thing", default: []].append(object)
        }
        for (entity, members) in objects.sorted(by: { $0.key < $1.key }) {
            for object in members {
                for key in ["one", "other"] where !cases.chance(3) {
                    object.setValue(cases.pick(objects[QueryModel.destinations[entity]![key]!]!), forKey: key)
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
