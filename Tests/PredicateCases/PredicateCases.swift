import Foundation
package import Predicates
package import TestSupport

/// The kinds of values that attributes have.
package enum CaseKind: CaseIterable, Sendable {
    case bool, int, double, decimal, text, date, data, uuid, url

    package static let numbers: [CaseKind] = [.bool, .int, .double, .decimal]
}

/// What predicates are made about: entities with attributes of every kind, relationships to one called `one` and `other`, and to many called
/// `many` and `more`.
package protocol CaseWorld {
    associatedtype Entity

    /// The names of an entity's attributes of some kinds: at least one.
    func attributes(of entity: Entity, _ kinds: [CaseKind]) -> [String]
    func destination(of entity: Entity, _ key: String) -> Entity
    /// An ordered relationship of an entity; nil where it has none.
    func orderedKey(of entity: Entity) -> String?
    /// A value that is not nil.
    func constant(_ kind: CaseKind, _ random: inout SeededGenerator) -> PropertyValue

    /// Whether elements of relationships to many can be asked for by their place.
    var hasOrder: Bool { get }
    /// Whether whoever is asked agree about the order of texts.
    var ordersTexts: Bool { get }
    /// Keys that texts answer.
    var textKeys: [String] { get }
    /// Functions of one number, besides those that every reader computes to the last digit.
    var functions: [String] { get }
}

/// Makes predicates of every construct of the language, at random.
package struct PredicateCases<World: CaseWorld> {
    /// What a key path may begin at: the evaluated object or a variable.
    package struct Scope {
        package let variable: String?
        package let entity: World.Entity

        package init(variable: String?, entity: World.Entity) {
            self.variable = variable
            self.entity = entity
        }
    }

    package let world: World
    package var random: SeededGenerator
    private let nilChance: Int

    /// - Parameter nilChance: one of so many constants is nil.
    package init(_ world: World, random: SeededGenerator, nilChance: Int) {
        self.world = world
        self.random = random
        self.nilChance = nilChance
    }

    package mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    package mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    package mutating func constant(_ kind: CaseKind, nilChance: Int? = nil) -> PropertyValue {
        chance(nilChance ?? self.nilChance) ? .null : world.constant(kind, &random)
    }

    // MARK: Paths

    package func expression(_ scope: Scope, _ keys: [String]) -> ExpressionTree {
        guard let variable = scope.variable else { return keys.isEmpty ? .evaluatedObject : .keyPath(keys) }
        return keys.isEmpty ? .variable(variable) : .navigation(.variable(variable), keys)
    }

    /// The keys to some object over relationships to one.
    package mutating func keysToOne(_ entity: World.Entity) -> ([String], World.Entity) {
        var keys: [String] = []
        var entity = entity
        while keys.count < 2, chance(4) {
            let key = pick(["one", "other"])
            keys.append(key)
            entity = world.destination(of: entity, key)
        }
        return (keys, entity)
    }

    /// The keys to objects over a relationship to many.
    package mutating func keysToMany(_ entity: World.Entity) -> ([String], World.Entity) {
        var (keys, entity) = keysToOne(entity)
        let key = pick(["many", "more"])
        keys.append(key)
        entity = world.destination(of: entity, key)
        if chance(5) {
            let next = pick(["one", "many"])
            keys.append(next)
            entity = world.destination(of: entity, next)
        }
        return (keys, entity)
    }

    package mutating func attribute(_ scope: Scope, _ kinds: [CaseKind]) -> ExpressionTree {
        let (keys, entity) = keysToOne(scope.entity)
        return expression(scope, keys + [pick(world.attributes(of: entity, kinds))])
    }

    // MARK: Expressions

    package mutating func value(_ scope: Scope, _ kind: CaseKind, depth: Int) -> ExpressionTree {
        switch kind {
        case .bool, .int, .double, .decimal: return number(scope, depth: depth)
        case .text: return text(scope, depth: depth)
        case .date: return date(scope, depth: depth)
        default: return simple(scope, [kind], depth: depth)
        }
    }

    /// What every kind of value can be.
    private mutating func simple(_ scope: Scope, _ kinds: [CaseKind], depth: Int) -> ExpressionTree {
        let kind = pick(kinds)
        switch Int.random(in: 0..<(depth == 0 ? 5 : world.hasOrder ? 8 : 7), using: &random) {
        case 0...2: return attribute(scope, kinds)
        case 3, 4: return .constant(constant(kind))
        case 5: return .conditional(predicate([scope], depth: 0), value(scope, kind, depth: depth - 1), value(scope, kind, depth: 0))
        case 6:
            return .element(ordered(scope, kinds), pick([.first, .last, .at(.constant(.int64(Int64.random(in: -1...2, using: &random))))]))
        default:
            let (keys, entity) = keysToMany(scope.entity)
            return .element(expression(scope, keys + [pick(world.attributes(of: entity, kinds))]), .first)
        }
    }

    package mutating func number(_ scope: Scope, depth: Int) -> ExpressionTree {
        guard depth > 0 else { return simple(scope, CaseKind.numbers, depth: 0) }
        let small = ExpressionTree.constant(.int64(Int64.random(in: -1...4, using: &random)))
        switch Int.random(in: 0..<14, using: &random) {
        case 0...2: return simple(scope, CaseKind.numbers, depth: depth)
        case 3, 4:
            return .arithmetic(
                pick([.add, .subtract, .multiply, .divide]), number(scope, depth: depth - 1), number(scope, depth: depth - 1))
        case 5: return .arithmetic(.power, number(scope, depth: 0), pick([small, .constant(.double(0.5)), .constant(.null)]))
        case 6: return bits(scope, depth: depth)
        case 7:
            let name = pick(["abs:", "floor:", "ceiling:", "trunc:", "sqrt:", "ln:", "log:", "modulus:by:"] + world.functions)
            return .function(name, (0..<(name == "modulus:by:" ? 2 : 1)).map { _ in number(scope, depth: depth - 1) })
        case 8:
            return .function(
                pick(["sum:", "count:", "min:", "max:", "average:", "median:", "stddev:", "mode:"]),
                [collection(scope, CaseKind.numbers, depth: 0)])
        case 9:
            let (keys, entity) = keysToMany(scope.entity)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return expression(scope, keys + ["@count"])
            case 1: return expression(scope, keys + [pick(["@sum", "@max"]), "many", "@count"])
            default:
                return expression(
                    scope, keys + [pick(["@sum", "@avg", "@min", "@max"]), pick(world.attributes(of: entity, CaseKind.numbers))])
            }
        case 10: return .function("length:", [text(scope, depth: depth - 1)])
        case 11:
            return pick([
                .negated(number(scope, depth: depth - 1)), .cast(date(scope, depth: 0), "NSNumber"),
                .cast(text(scope, depth: 0), "NSNumber"), .arithmetic(.subtract, date(scope, depth: 0), date(scope, depth: 0)),
                .cast(.constant(constant(pick(CaseKind.numbers))), "NSDecimalNumber"),
            ])
        case 12:
            guard let queue = world.orderedKey(of: scope.entity) else { return .negated(number(scope, depth: depth - 1)) }
            let entity = world.destination(of: scope.entity, queue)
            return .element(
                expression(scope, [queue, pick(world.attributes(of: entity, [.int]))]), pick([.first, .last, .size, .at(small)]))
        default:
            let set = collection(scope, CaseKind.numbers, depth: depth - 1)
            return pick([.element(set, .size), .navigation(subquery(scope, depth: depth - 1).0, ["@count"])])
        }
    }

    private mutating func bits(_ scope: Scope, depth: Int) -> ExpressionTree {
        if depth == 0 { return simple(scope, [.int, .bool], depth: 0) }
        if chance(4) { return .complement(bits(scope, depth: depth - 1)) }
        return .arithmetic(
            pick([.bitAnd, .bitOr, .bitExclusiveOr, .shiftLeft, .shiftRight]), bits(scope, depth: depth - 1), bits(scope, depth: depth - 1))
    }

    package mutating func text(_ scope: Scope, depth: Int) -> ExpressionTree {
        if depth > 0, chance(3) {
            let part = text(scope, depth: depth - 1)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return .function(pick(["uppercase:", "lowercase:", "canonical:"]), [part])
            case 1: return .method(part, "stringByAppendingString:", [text(scope, depth: 0)])
            case 2 where !world.textKeys.isEmpty:
                return expression(scope, [pick(world.attributes(of: scope.entity, [.text])), pick(world.textKeys)])
            default: return .cast(.constant(constant(pick([.int, .double, .decimal]))), "NSString")
            }
        }
        return simple(scope, [.text], depth: depth)
    }

    package mutating func date(_ scope: Scope, depth: Int) -> ExpressionTree {
        if depth > 0, chance(3) {
            if chance(3) { return .cast(number(scope, depth: 0), "NSDate") }
            return .arithmetic(pick([.add, .subtract]), date(scope, depth: 0), number(scope, depth: depth - 1))
        }
        return simple(scope, [.date], depth: depth)
    }
}
