import Foundation
import Predicates

/// Makes trees about the objects of a random model, of every construct of the language, and the objects themselves.
struct LanguageCases {
    typealias Entity = RandomModel.Entity
    typealias Kind = RandomModel.Kind

    /// What a key path may begin at: the evaluated object or a variable.
    struct Scope {
        let variable: String?
        let entity: Entity
    }

    var random: SeededGenerator
    let model: RandomModel

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        model = RandomModel(&random)
    }

    static let texts = RandomCases.texts + ["12", "2.5", "*a?"]
    static let datas = [Data(), Data([0]), Data([0, 1]), Data([255])]
    static let uuids = (0..<3).map { UUID(uuid: (UInt8($0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)) }
    static let urls = ["https://a.example", "https://b.example/é", "file:///x"].compactMap { URL(string: $0) }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    // MARK: Values and objects

    mutating func constant(_ kind: Kind, nilChance: Int = 10) -> PropertyValue {
        if chance(nilChance) { return .null }
        switch kind {
        case .bool: return .bool(Bool.random(using: &random))
        case .int: return .int64(pick(RandomCases.numbers))
        case .double: return .double(pick(RandomCases.fractions))
        case .decimal: return .decimal(pick(RandomCases.decimals + [Decimal(9_007_199_254_740_993 as Int64)]))
        case .text: return .string(pick(LanguageCases.texts))
        case .date: return .date(pick(RandomCases.dates))
        case .data: return .data(pick(LanguageCases.datas))
        case .uuid: return .uuid(pick(LanguageCases.uuids))
        case .url: return .url(pick(LanguageCases.urls))
        }
    }

    mutating func object(_ entity: Entity, depth: Int) -> RandomObject {
        var values: [String: PropertyValue] = [:]
        for attribute in entity.attributes { values[attribute.name] = constant(attribute.kind, nilChance: 4) }
        let object = RandomObject(entity, values)
        for name in entity.toMany.keys { object.toMany[name] = [] }
        guard depth > 0 else { return object }
        for (name, destination) in entity.toOne.sorted(by: { $0.key < $1.key }) where !chance(3) {
            object.toOne[name] = self.object(destination, depth: depth - 1)
        }
        for (name, destination) in entity.toMany.sorted(by: { $0.key < $1.key }) {
            object.toMany[name] = (0..<Int.random(in: 0...3, using: &random)).map { _ in self.object(destination, depth: depth - 1) }
        }
        return object
    }

    // MARK: Paths

    static let numbers: [Kind] = [.bool, .int, .double, .decimal]

    private func expression(_ scope: Scope, _ keys: [String]) -> ExpressionTree {
        guard let variable = scope.variable else { return keys.isEmpty ? .evaluatedObject : .keyPath(keys) }
        return keys.isEmpty ? .variable(variable) : .navigation(.variable(variable), keys)
    }

    /// The keys to some object over relationships to one.
    private mutating func keysToOne(_ entity: Entity) -> ([String], Entity) {
        var keys: [String] = []
        var entity = entity
        while keys.count < 2, chance(4) {
            let key = pick(["one", "other"])
            keys.append(key)
            entity = entity.toOne[key] ?? entity
        }
        return (keys, entity)
    }

    /// The keys to objects over a relationship to many.
    private mutating func keysToMany(_ entity: Entity) -> ([String], Entity) {
        var (keys, entity) = keysToOne(entity)
        let key = pick(["many", "more"])
        keys.append(key)
        entity = entity.toMany[key] ?? entity
        if chance(5) {
            let next = pick(["one", "many"])
            keys.append(next)
            entity = entity.toOne[next] ?? entity.toMany[next] ?? entity
        }
        return (keys, entity)
    }

    private mutating func attribute(_ scope: Scope, _ kinds: [Kind]) -> ExpressionTree {
        let (keys, entity) = keysToOne(scope.entity)
        return expression(scope, keys + [pick(entity.attributes(kinds))])
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
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
        case 0...2: return attribute(scope, kinds)
        case 3, 4: return .constant(constant(kind))
        case 5: return .conditional(predicate([scope], depth: 0), value(scope, kind, depth: depth - 1), value(scope, kind, depth: 0))
        case 6:
            return .element(ordered(scope, kinds), pick([.first, .last, .at(.constant(.int64(Int64.random(in: -1...2, using: &random))))]))
        default:
            let (keys, entity) = keysToMany(scope.entity)
            let names = entity.attributes(kinds)
            return .element(expression(scope, keys + [pick(names)]), .first)
        }
    }

    mutating func number(_ scope: Scope, depth: Int) -> ExpressionTree {
        guard depth > 0 else { return simple(scope, LanguageCases.numbers, depth: 0) }
        let small = ExpressionTree.constant(.int64(Int64.random(in: -1...4, using: &random)))
        switch Int.random(in: 0..<13, using: &random) {
        case 0...2: return simple(scope, LanguageCases.numbers, depth: depth)
        case 3, 4:
            return .arithmetic(
                pick([.add, .subtract, .multiply, .divide]), number(scope, depth: depth - 1), number(scope, depth: depth - 1))
        case 5: return .arithmetic(.power, number(scope, depth: 0), pick([small, .constant(.double(0.5)), .constant(.null)]))
        case 6: return bits(scope, depth: depth)
        case 7:
            let name = pick(["abs:", "floor:", "ceiling:", "trunc:", "sqrt:", "ln:", "log:", "exp:", "modulus:by:"])
            return .function(name, (0..<(name == "modulus:by:" ? 2 : 1)).map { _ in number(scope, depth: depth - 1) })
        case 8:
            return .function(
                pick(["sum:", "count:", "min:", "max:", "average:", "median:", "stddev:", "mode:"]),
                [collection(scope, LanguageCases.numbers, depth: 0)])
        case 9:
            let (keys, entity) = keysToMany(scope.entity)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return expression(scope, keys + ["@count"])
            case 1: return expression(scope, keys + [pick(["@sum", "@max"]), "many", "@count"])
            default:
                return expression(scope, keys + [pick(["@sum", "@avg", "@min", "@max"]), pick(entity.attributes(LanguageCases.numbers))])
            }
        case 10: return .function("length:", [text(scope, depth: depth - 1)])
        case 11:
            return pick([
                .negated(number(scope, depth: depth - 1)), .cast(date(scope, depth: 0), "NSNumber"),
                .cast(text(scope, depth: 0), "NSNumber"),
                .arithmetic(.subtract, date(scope, depth: 0), date(scope, depth: 0)),
                .cast(.constant(constant(pick(LanguageCases.numbers))), "NSDecimalNumber"),
            ])
        default:
            let set = collection(scope, LanguageCases.numbers, depth: depth - 1)
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
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return .function(pick(["uppercase:", "lowercase:", "canonical:"]), [part])
            case 1: return .method(part, "stringByAppendingString:", [text(scope, depth: 0)])
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

    // MARK: Collections

    private mutating func ordered(_ scope: Scope, _ kinds: [Kind]) -> ExpressionTree {
        if chance(2) { return .aggregate((0..<3).map { _ in attribute(scope, kinds) }) }
        return .constant(.array((0..<Int.random(in: 0...3, using: &random)).map { _ in constant(pick(kinds)) }))
    }

    /// A collection of values; from a variable too, so that a subquery may look outwards.
    mutating func collection(_ scope: Scope, _ kinds: [Kind], depth: Int) -> ExpressionTree {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
        case 0: return ordered(scope, kinds)
        case 1:
            return .constant(.array((0..<Int.random(in: 0...6, using: &random)).map { _ in constant(pick(kinds)) }))
        case 2, 3:
            let (keys, entity) = keysToMany(scope.entity)
            return expression(scope, keys + [pick(entity.attributes(kinds))])
        case 4:
            let (keys, entity) = keysToMany(scope.entity)
            return expression(scope, keys + [pick(["@unionOfObjects", "@distinctUnionOfObjects"]), pick(entity.attributes(kinds))])
        case 5: return .constant(.set(Set((0..<3).map { _ in constant(kinds[0]) })))
        case 6:
            return .setOperation(
                pick([.union, .intersect, .minus]), collection(scope, kinds, depth: depth - 1), collection(scope, kinds, depth: depth - 1))
        default:
            let (objects, entity) = subquery(scope, depth: depth - 1)
            return .navigation(objects, [pick(entity.attributes(kinds))])
        }
    }

    private mutating func subquery(_ scope: Scope, depth: Int) -> (ExpressionTree, Entity) {
        let (keys, entity) = keysToMany(scope.entity)
        let name = scope.variable == nil ? "x" : "y"
        let inner = Scope(variable: name, entity: entity)
        return (.subquery(expression(scope, keys), variable: name, predicate([inner, scope], depth: max(0, depth))), entity)
    }

    // MARK: Predicates

    mutating func predicate(_ scopes: [Scope], depth: Int) -> PredicateTree {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
        case 0...4: return comparison(scopes, depth: depth)
        case 5: return .and((0..<Int.random(in: 2...5, using: &random)).map { _ in predicate(scopes, depth: depth - 1) })
        case 6: return .or((0..<Int.random(in: 2...5, using: &random)).map { _ in predicate(scopes, depth: depth - 1) })
        case 7: return .not(predicate(scopes, depth: depth - 1))
        default: return chance(8) ? .true : chance(8) ? .false : .not(comparison(scopes, depth: depth))
        }
    }

    private mutating func comparison(_ scopes: [Scope], depth: Int) -> PredicateTree {
        let scope = pick(scopes)
        let kind = pick(Kind.allCases + [.text, .text, .int])
        let kinds = LanguageCases.numbers.contains(kind) ? LanguageCases.numbers : [kind]
        let options = kind == .text ? PredicateComparison.Options(rawValue: pick([0, 0, 1, 2, 3, 8, 4, 11])) : []
        if chance(12) { return objects(scope) }
        let equalities: [PredicateComparison.Operator] = [
            .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        ]
        var operations = equalities + [.isIn, .between]
        if kind == .text { operations += [.beginsWith, .endsWith, .contains, .like, .matches, .isIn] }
        let operation = pick(operations)
        let other = pick(scopes)
        let right: ExpressionTree
        switch operation {
        case .isIn where kind == .text && chance(3): right = text(other, depth: depth)
        case .isIn: right = collection(other, kinds, depth: depth)
        case .between:
            right =
                chance(2)
                ? .constant(.array([constant(kind), constant(kind)]))
                : .aggregate([value(other, kind, depth: 0), value(other, kind, depth: 0)])
        case .like: right = .constant(.string(pick(["*", "a*", "?", "*a*", "", "ą*", "\\*a?", "A??", "*b*c*"])))
        case .matches: right = .constant(.string(pick([".*", "a.*", "[a-c]+", "", "\\S+", "ą|é", "(?s).*x", "A"])))
        // Rarely a value of another kind: they are never equal and have no order.
        case _ where chance(15) && equalities.contains(operation): right = .constant(constant(pick(Kind.allCases)))
        default: right = value(other, kind, depth: depth)
        }
        if chance(4) {
            let left = collection(scope, kinds, depth: depth)
            if operation == .between || operation == .isIn || !chance(4) {
                let tree = PredicateTree.compare(left, operation, right, modifier: pick([.any, .all]), options: options)
                // NONE is NOT ANY.
                return chance(4) ? .not(tree) : tree
            }
            return .compare(left, .contains, value(other, kind, depth: 0), options: options)
        }
        let left = value(scope, kind, depth: depth)
        if equalities.contains(operation), chance(3) { return .compare(right, operation, left, options: options) }
        return .compare(left, operation, right, options: options)
    }

    /// Compares objects themselves.
    private mutating func objects(_ scope: Scope) -> PredicateTree {
        let (keys, _) = keysToMany(scope.entity)
        let one = pick([expression(scope, []), expression(scope, ["one"]), expression(scope, ["one", "other"]), .constant(.null)])
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return .compare(one, pick([.equal, .notEqual]), pick([expression(scope, ["other"]), .constant(.null)]))
        case 1: return .compare(one, .isIn, expression(scope, keys))
        default: return .compare(expression(scope, keys), .equal, one, modifier: pick([.any, .all]))
        }
    }
}
