import Foundation
import Predicates

/// The rules of the language once more, written for clarity alone and without anything of the compiler: what it must agree with.
struct NaiveEvaluator {
    enum Answer {
        case yes, no, unknown
    }

    let row: Row

    func answer(_ tree: PredicateTree) -> Answer {
        switch tree {
        case .true: return .yes
        case .false: return .no
        case .block: return .unknown
        case .not(let part):
            switch answer(part) {
            case .yes: return .no
            case .no: return .yes
            case .unknown: return .unknown
            }
        case .and(let parts):
            let answers = parts.map(answer)
            return answers.contains(.no) ? .no : answers.contains(.unknown) ? .unknown : .yes
        case .or(let parts):
            let answers = parts.map(answer)
            return answers.contains(.yes) ? .yes : answers.contains(.unknown) ? .unknown : .no
        case .comparison(let comparison): return answer(comparison)
        }
    }

    private func value(_ expression: ExpressionTree) -> PropertyValue {
        switch expression {
        case .constant(let value): value
        case .keyPath(let keys) where keys.count == 1: row.values[keys[0]] ?? .null
        case .keyPath(let keys) where keys[0] == "boss":
            row.boss.map { NaiveEvaluator(row: $0).value(.keyPath(Array(keys.dropFirst()))) } ?? .null
        default: .null
        }
    }

    private func answer(_ comparison: PredicateComparison) -> Answer {
        if comparison.modifier != .direct, case .keyPath(let keys) = comparison.left, keys[0] == "friends" {
            var inner = comparison
            inner.modifier = .direct
            inner.left = .keyPath(Array(keys.dropFirst()))
            let answers = row.friends.map { NaiveEvaluator(row: $0).answer(inner) == .yes }
            return (comparison.modifier == .any ? answers.contains(true) : answers.allSatisfy { $0 }) ? .yes : .no
        }
        let left = value(comparison.left)
        let right = value(comparison.right)
        if comparison.left == .constant(.null) || comparison.right == .constant(.null) {
            switch comparison.operator {
            case .equal: return left == .null && right == .null ? .yes : .no
            case .notEqual: return left == .null && right == .null ? .no : .yes
            default: return .unknown
            }
        }
        if case .array(let elements) = right {
            if comparison.operator == .between {
                var low = comparison
                low.operator = .greaterThanOrEqual
                low.right = .constant(elements[0])
                var high = comparison
                high.operator = .lessThanOrEqual
                high.right = .constant(elements[1])
                return answer(.and([.comparison(low), .comparison(high)]))
            }
            let parts = elements.map { element -> Answer in
                if left == .null || element == .null { return .unknown }
                return same(left, element, comparison.options) ? .yes : .no
            }
            return parts.contains(.yes) ? .yes : parts.contains(.unknown) ? .unknown : .no
        }
        if left == .null || right == .null { return .unknown }
        return compare(left, comparison.operator, right, comparison.options) ? .yes : .no
    }

    private func fold(_ text: String, _ options: PredicateComparison.Options) -> String {
        var comparing: String.CompareOptions = []
        if options.contains(.caseInsensitive) { comparing.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { comparing.insert(.diacriticInsensitive) }
        return text.folding(options: comparing, locale: nil)
    }

    private func number(_ value: PropertyValue) -> Decimal? {
        switch value {
        case .bool(let value): value ? 1 : 0
        case .int64(let value): Decimal(value)
        case .double(let value): Decimal(string: "\(value)")
        case .decimal(let value): value
        default: nil
        }
    }

    private func same(_ left: PropertyValue, _ right: PropertyValue, _ options: PredicateComparison.Options) -> Bool {
        if let left = number(left), let right = number(right) { return left == right }
        if case .string(let left) = left, case .string(let right) = right { return fold(left, options) == fold(right, options) }
        return left == right
    }

    private func compare(
        _ left: PropertyValue, _ operation: PredicateComparison.Operator, _ right: PropertyValue, _ options: PredicateComparison.Options
    ) -> Bool {
        switch operation {
        case .equal: return same(left, right, options)
        case .notEqual: return !same(left, right, options)
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            let less: Bool
            let equal: Bool
            switch (left, right) {
            case (.string(let left), .string(let right)):
                let first = fold(left, options).precomposedStringWithCanonicalMapping.unicodeScalars
                let second = fold(right, options).precomposedStringWithCanonicalMapping.unicodeScalars
                less = first.lexicographicallyPrecedes(second)
                equal = fold(left, options) == fold(right, options)
            case (.date(let left), .date(let right)):
                less = left < right
                equal = left == right
            default:
                guard let left = number(left), let right = number(right) else { return false }
                less = left < right
                equal = left == right
            }
            switch operation {
            case .lessThan: return less
            case .lessThanOrEqual: return less || equal
            case .greaterThan: return !less && !equal
            default: return !less
            }
        default:
            guard case .string(let left) = left, case .string(let right) = right else { return false }
            // Composed and cut into characters, none of which a match may divide.
            let text = Array(fold(left, options).precomposedStringWithCanonicalMapping)
            let part = Array(fold(right, options).precomposedStringWithCanonicalMapping)
            // The empty text is in none.
            if part.isEmpty, [.beginsWith, .endsWith, .contains].contains(operation) { return false }
            switch operation {
            case .beginsWith: return text.starts(with: part)
            case .endsWith: return text.suffix(part.count) == part[...]
            case .contains:
                return text.indices.contains { text[$0...].starts(with: part) }
            default: return false
            }
        }
    }
}
