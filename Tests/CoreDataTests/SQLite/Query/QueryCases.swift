import CoreData
import Predicates

/// Makes predicates over the objects of ``QueryModel``, of every construct of the language, and the objects themselves.
struct QueryCases {
    enum Kind: CaseIterable {
        case bool, int, double, decimal, text, date, data, uuid, url

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

    /// What a key path may begin at: the evaluated object or a variable.
    struct Scope {
        let variable: String?
        let entity: String
    }

    static let numbers: [Kind] = [.bool, .int, .double, .decimal]
    static let texts = [
        "", "a", "A", "ab", "abc", "Ą", "ą", "é", "éa", "e", "q", "K", "b", "Żółw", "zolw", "日本", "日", "ß", "ss", "한글", "한",
        "common prefix one",
        "common prefix two", "Привет", "привет", "😀", "😀a", "12", "2.5", "*a?", "'; DROP TABLE ZTHING; --", "\"", "nul\u{0}inside",
    ]
    /// Spellings of some of these, and texts with marks that belong to no letter.
    static let oddTexts = [
        "a\u{328}", "e\u{301}", "q\u{301}", "\u{212A}", "a\u{301}b", "Z\u{307}o\u{301}łw", "e\u{301}a", "\u{1112}\u{1161}\u{11AB}",
    ]

    var random: SeededGenerator
    /// Whether texts may be spelled in several ways; comparing their order is left out then.
    let isOdd: Bool

    init(seed: UInt64, isOdd: Bool = false) {
        random = SeededGenerator(seed: seed)
        self.isOdd = isOdd
    }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

    // MARK: Objects

    mutating func constant(_ kind: Kind, nilChance: Int = 20) -> PropertyValue {
        if chance(nilChance) { return .null }
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

    // MARK: Paths

    func expression(_ scope: Scope, _ keys: [String]) -> ExpressionTree {
        guard let variable = scope.variable else { return keys.isEmpty ? .evaluatedObject : .keyPath(keys) }
        return keys.isEmpty ? .variable(variable) : .navigation(.variable(variable), keys)
    }

    private func destination(_ entity: String, _ key: String) -> String { QueryModel.destinations[entity]![key]! }

    /// The keys to some object over relationships to one.
    mutating func keysToOne(_ entity: String) -> ([String], String) {
        var keys: [String] = []
        var entity = entity
        while keys.count < 2, chance(4) {
            let key = pick(["one", "other"])
            keys.append(key)
            entity = destination(entity, key)
        }
        return (keys, entity)
    }

    /// The keys to objects over a relationship to many.
    mutating func keysToMany(_ entity: String) -> ([String], String) {
        var (keys, entity) = keysToOne(entity)
        let key = pick(["many", "more"])
        keys.append(key)
        entity = destination(entity, key)
        if chance(5) {
            let next = pick(["one", "many"])
            keys.append(next)
            entity = destination(entity, next)
        }
        return (keys, entity)
    }

    mutating func attribute(_ scope: Scope, _ kinds: [Kind]) -> ExpressionTree {
        let (keys, _) = keysToOne(scope.entity)
        return expression(scope, keys + [pick(pick(kinds).attributes)])
    }

    // MARK: Expressions

    mutating func value(_ scope: Scope, _ kind: Kind, depth: Int) -> ExpressionTree {
        switch kind {
        case .bool, .int, .double, .decimal: return number(scope, depth: depth)
        case .text: return text(scope, depth: depth)
        case .date: return date(scope, depth: depth)
        default: return simple(scope, [kind], depth: depth)
        }
    }

    /// What every kind of value can be.
    private mutating func simple(_ scope: Scope, _ kinds: [Kind], depth: Int) -> ExpressionTree {
        let kind = pick(kinds)
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
        case 0...2: return attribute(scope, kinds)
        case 3, 4: return .constant(constant(kind))
        case 5: return .conditional(predicate([scope], depth: 0), value(scope, kind, depth: depth - 1), value(scope, kind, depth: 0))
        default:
            return .element(ordered(scope, kinds), pick([.first, .last, .at(.constant(.int64(Int64.random(in: -1...2, using: &random))))]))
        }
    }

    mutating func number(_ scope: Scope, depth: Int) -> ExpressionTree {
        guard depth > 0 else { return simple(scope, Self.numbers, depth: 0) }
        let small = ExpressionTree.constant(.int64(Int64.random(in: -1...4, using: &random)))
        switch Int.random(in: 0..<14, using: &random) {
        case 0...2: return simple(scope, Self.numbers, depth: depth)
        case 3, 4:
            return .arithmetic(
                pick([.add, .subtract, .multiply, .divide]), number(scope, depth: depth - 1), number(scope, depth: depth - 1))
        case 5: return .arithmetic(.power, number(scope, depth: 0), pick([small, .constant(.double(0.5)), .constant(.null)]))
        case 6: return bits(scope, depth: depth)
        case 7:
            let name = pick(["abs:", "floor:", "ceiling:", "trunc:", "sqrt:", "ln:", "log:", "modulus:by:"])
            return .function(name, (0..<(name == "modulus:by:" ? 2 : 1)).map { _ in number(scope, depth: depth - 1) })
        case 8:
            return .function(
                pick(["sum:", "count:", "min:", "max:", "average:", "median:", "stddev:", "mode:"]),
                [collection(scope, Self.numbers, depth: 0)])
        case 9:
            let (keys, _) = keysToMany(scope.entity)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return expression(scope, keys + ["@count"])
            case 1: return expression(scope, keys + [pick(["@sum", "@max"]), "many", "@count"])
            default: return expression(scope, keys + [pick(["@sum", "@avg", "@min", "@max"]), pick(pick(Self.numbers).attributes)])
            }
        case 10: return .function("length:", [text(scope, depth: depth - 1)])
        case 11:
            return pick([
                .negated(number(scope, depth: depth - 1)), .cast(date(scope, depth: 0), "NSNumber"),
                .cast(text(scope, depth: 0), "NSNumber"), .arithmetic(.subtract, date(scope, depth: 0), date(scope, depth: 0)),
                .cast(.constant(constant(pick(Self.numbers))), "NSDecimalNumber"),
            ])
        case 12:
            guard scope.entity == "Thing" else { return .negated(number(scope, depth: depth - 1)) }
            return .element(expression(scope, ["queue", pick(["number", "rank"])]), pick([.first, .last, .size, .at(small)]))
        default:
            let set = collection(scope, Self.numbers, depth: depth - 1)
            return pick([.element(set, .size), .navigation(subquery(scope, depth: depth - 1).0, ["@count"])])
        }
    }

    private mutating func bits(_ scope: Scope, depth: Int) -> ExpressionTree {
        if depth == 0 { return simple(scope, [.int, .bool], depth: 0) }
        if chance(4) { return .complement(bits(scope, depth: depth - 1)) }
        return .arithmetic(
            pick([.bitAnd, .bitOr, .bitExclusiveOr, .shiftLeft, .shiftRight]), bits(scope, depth: depth - 1), bits(scope, depth: depth - 1))
    }

    mutating func text(_ scope: Scope, depth: Int) -> ExpressionTree {
        if depth > 0, chance(3) {
            let part = text(scope, depth: depth - 1)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return .function(pick(["uppercase:", "lowercase:", "canonical:"]), [part])
            case 1: return .method(part, "stringByAppendingString:", [text(scope, depth: 0)])
            case 2: return expression(scope, ["text", "uppercaseString"])
            default: return .cast(.constant(constant(pick([.int, .double, .decimal]))), "NSString")
            }
        }
        return simple(scope, [.text], depth: depth)
    }

    mutating func date(_ scope: Scope, depth: Int) -> ExpressionTree {
        if depth > 0, chance(3) {
            if chance(3) { return .cast(number(scope, depth: 0), "NSDate") }
            return .arithmetic(pick([.add, .subtract]), date(scope, depth: 0), number(scope, depth: depth - 1))
        }
        return simple(scope, [.date], depth: depth)
    }
}
