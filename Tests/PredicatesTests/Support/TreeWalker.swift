import Foundation
import Predicates

/// The rules of the whole language once more, written for clarity alone and without anything of the compiler: what it must agree with.
struct TreeWalker {
    enum Answer {
        case yes, no, unknown
    }

    /// What the rules do not allow. Which mistake is found first is not a rule.
    struct Refusal: Error {}

    let object: RandomObject
    let logic: NilLogic
    /// Whether keys are read from plain objects, of which nothing is known beforehand: nil leads to nil, also over what would be a
    /// relationship to many, and is an element like any other.
    var isPlain = false
    var variables: [String: PropertyValue] = [:]

    func answer(_ tree: PredicateTree) throws -> Answer {
        switch tree {
        case .true: return .yes
        case .false: return .no
        case .block: throw Refusal()
        case .not(let part):
            switch try answer(part) {
            case .yes: return .no
            case .no: return .yes
            case .unknown: return .unknown
            }
        case .and(let parts):
            let answers = try parts.map(answer)
            return answers.contains(.no) ? .no : answers.contains(.unknown) ? .unknown : .yes
        case .or(let parts):
            let answers = try parts.map(answer)
            return answers.contains(.yes) ? .yes : answers.contains(.unknown) ? .unknown : .no
        case .comparison(let comparison): return try settled(answer(comparison), comparison)
        }
    }

    /// Foundation's logic in memory has no unknown: what is compared with nil differs from it, and nothing else holds.
    private func settled(_ answer: Answer, _ comparison: PredicateComparison) -> Answer {
        guard logic == .twoValued, answer == .unknown else { return answer }
        return comparison.operator == .notEqual ? .yes : .no
    }

    private func answer(_ comparison: PredicateComparison) throws -> Answer {
        let right = try value(comparison.right)
        let left = try value(comparison.left)
        if comparison.modifier != .direct {
            let elements = left == .null ? [] : try leaves(left)
            let found = try elements.map { try settled(compare($0, comparison, right), comparison) == .yes }
            return (comparison.modifier == .any ? found.contains(true) : !found.contains(false)) ? .yes : .no
        }
        return try compare(left, comparison, right)
    }

    private func compare(_ left: PropertyValue, _ comparison: PredicateComparison, _ right: PropertyValue) throws -> Answer {
        let options = comparison.options
        let isAskedForNil = comparison.left == .constant(.null) || comparison.right == .constant(.null)
        switch comparison.operator {
        case .equal, .notEqual:
            let wanted = comparison.operator == .equal
            if left == .null || right == .null {
                guard isAskedForNil || logic == .twoValued else { return .unknown }
                return ((left == .null && right == .null) == wanted) ? .yes : .no
            }
            return Comparing.same(left, right, options) == wanted ? .yes : .no
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            if logic == .twoValued, left == .null, right == .null {
                // Nil equals nil in memory, and these admit equality.
                return [.lessThanOrEqual, .greaterThanOrEqual].contains(comparison.operator) ? .yes : .no
            }
            return ordered(left, comparison.operator, right, options)
        case .between:
            if right == .null { return .unknown }
            guard case .array(let bounds) = right, bounds.count == 2 else { throw Refusal() }
            let answers = [
                ordered(left, .greaterThanOrEqual, bounds[0], options), ordered(left, .lessThanOrEqual, bounds[1], options),
            ]
            return answers.contains(.no) ? .no : answers.contains(.unknown) ? .unknown : .yes
        case .isIn: return try membership(left, right, options)
        case .contains: return try membership(right, left, options)
        case .beginsWith, .endsWith, .like, .matches:
            if left == .null || right == .null { return .unknown }
            guard case .string(let text) = left, case .string(let part) = right else { throw Refusal() }
            // The empty text is in none.
            if [.beginsWith, .endsWith].contains(comparison.operator), Comparing.characters(part, options).isEmpty { return .no }
            switch comparison.operator {
            case .beginsWith: return Comparing.characters(text, options).starts(with: Comparing.characters(part, options)) ? .yes : .no
            case .endsWith:
                return Comparing.characters(text, options).reversed().starts(with: Comparing.characters(part, options).reversed())
                    ? .yes : .no
            case .like:
                return Comparing.like(Comparing.fold(text, options)[...], Comparing.fold(part, options)[...]) ? .yes : .no
            default: return try Comparing.matches(text, part, options) ? .yes : .no
            }
        default: throw Refusal()
        }
    }

    private func ordered(
        _ left: PropertyValue, _ operation: PredicateComparison.Operator, _ right: PropertyValue, _ options: PredicateComparison.Options
    ) -> Answer {
        if left == .null || right == .null { return .unknown }
        guard let sign = Comparing.order(left, right, options) else { return .no }
        switch operation {
        case .lessThan: return sign < 0 ? .yes : .no
        case .lessThanOrEqual: return sign <= 0 ? .yes : .no
        case .greaterThan: return sign > 0 ? .yes : .no
        default: return sign >= 0 ? .yes : .no
        }
    }

    private func membership(_ element: PropertyValue, _ collection: PropertyValue, _ options: PredicateComparison.Options) throws -> Answer
    {
        switch collection {
        case .null: return .unknown
        case .string(let text):
            if element == .null { return .unknown }
            guard case .string(let part) = element else { return .no }
            let (text, wanted) = (Comparing.characters(text, options), Comparing.characters(part, options))
            return !wanted.isEmpty && text.indices.contains { text[$0...].starts(with: wanted) } ? .yes : .no
        default:
            let elements = try self.elements(collection)
            if logic == .twoValued, element == .null { return elements.contains(.null) ? .yes : .no }
            if elements.isEmpty { return .no }
            if element == .null { return .unknown }
            if elements.contains(where: { $0 != .null && Comparing.same($0, element, options) }) { return .yes }
            return elements.contains(.null) ? .unknown : .no
        }
    }

    // MARK: Collections

    func elements(_ value: PropertyValue) throws -> [PropertyValue] {
        switch value {
        case .array(let values): return values
        case .set(let values): return Array(values)
        default: throw Refusal()
        }
    }

    func leaves(_ value: PropertyValue) throws -> [PropertyValue] {
        try elements(value).flatMap { element in
            switch element {
            case .array, .set: try leaves(element)
            default: [element]
            }
        }
    }

    /// A copy in which a variable has a value.
    func with(_ name: String, _ value: PropertyValue) -> TreeWalker {
        var copy = self
        copy.variables[name] = value
        return copy
    }
}
