import Foundation
package import Predicates

extension PredicateCases {
    // MARK: Collections

    package mutating func ordered(_ scope: Scope, _ kinds: [CaseKind]) -> ExpressionTree {
        if chance(2) { return .aggregate((0..<3).map { _ in attribute(scope, kinds) }) }
        return .constant(.array((0..<Int.random(in: 0...3, using: &random)).map { _ in constant(pick(kinds)) }))
    }

    /// A collection of values; from a variable too, so that a subquery may look outwards.
    package mutating func collection(_ scope: Scope, _ kinds: [CaseKind], depth: Int) -> ExpressionTree {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
        case 0: return ordered(scope, kinds)
        case 1: return .constant(.array((0..<Int.random(in: 0...6, using: &random)).map { _ in constant(pick(kinds)) }))
        case 2, 3:
            let (keys, entity) = keysToMany(scope.entity)
            return expression(scope, keys + [pick(world.attributes(of: entity, kinds))])
        case 4:
            let (keys, entity) = keysToMany(scope.entity)
            return expression(
                scope, keys + [pick(["@unionOfObjects", "@distinctUnionOfObjects"]), pick(world.attributes(of: entity, kinds))])
        case 5: return .constant(.set(Set((0..<3).map { _ in constant(kinds[0]) })))
        case 6:
            return .setOperation(
                pick([.union, .intersect, .minus]), collection(scope, kinds, depth: depth - 1), collection(scope, kinds, depth: depth - 1))
        default:
            let (objects, entity) = subquery(scope, depth: depth - 1)
            return .navigation(objects, [pick(world.attributes(of: entity, kinds))])
        }
    }

    package mutating func subquery(_ scope: Scope, depth: Int) -> (ExpressionTree, World.Entity) {
        let (keys, entity) = keysToMany(scope.entity)
        let name = scope.variable == nil ? "x" : "y"
        let inner = Scope(variable: name, entity: entity)
        return (.subquery(expression(scope, keys), variable: name, predicate([inner, scope], depth: max(0, depth))), entity)
    }

    // MARK: Predicates

    package mutating func predicate(_ scopes: [Scope], depth: Int) -> PredicateTree {
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
        let kind = pick(CaseKind.allCases + [.text, .text, .int])
        let kinds = CaseKind.numbers.contains(kind) ? CaseKind.numbers : [kind]
        let options = kind == .text ? PredicateComparison.Options(rawValue: pick([0, 0, 1, 2, 3, 8, 4, 11])) : []
        if chance(12) { return objects(scope) }
        if chance(15) { return emptiness(scope, depth: depth) }
        let equalities: [PredicateComparison.Operator] = [.equal, .notEqual]
        var operations = equalities + [.isIn]
        // Texts of several spellings have another order in SQL.
        if world.ordersTexts || kind != .text { operations += [.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .between] }
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
        case .like:
            right = .constant(
                .string(pick(["*", "a*", "?", "*a*", "", "ą*", "\\*a?", "A??", "*b*c*", "ab*", "common*", "é*a", "K*", "a"])))
        case .matches: right = .constant(.string(pick([".*", "a.*", "[a-c]+", "", "\\S+", "ą|é", "(?s).*x", "A"])))
        // Rarely a value of another kind: they are never equal and have no order.
        case _ where chance(15) && equalities.contains(operation): right = .constant(constant(pick(CaseKind.allCases)))
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

    /// Asks whether there is anything in a collection.
    private mutating func emptiness(_ scope: Scope, depth: Int) -> PredicateTree {
        let zero = ExpressionTree.constant(.int64(0))
        let count: ExpressionTree
        if depth > 0 {
            count = .navigation(subquery(scope, depth: depth - 1).0, ["@count"])
        } else {
            let (keys, _) = keysToMany(scope.entity)
            count = expression(scope, keys + ["@count"])
        }
        let operation = pick([
            PredicateComparison.Operator.equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        ])
        return chance(2) ? .compare(count, operation, zero) : .compare(zero, operation, count)
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
