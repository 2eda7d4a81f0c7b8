import Foundation
import Predicates

/// What values are worth to each other, told plainly.
enum Comparing {
    static func fold(_ text: String, _ options: PredicateComparison.Options) -> String {
        var comparing: String.CompareOptions = []
        if options.contains(.caseInsensitive) { comparing.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { comparing.insert(.diacriticInsensitive) }
        if comparing.isEmpty { return text }
        return text.folding(options: comparing, locale: options.contains(.localeSensitive) ? .current : nil)
    }

    /// Folded, composed and cut into characters, none of which a match may divide.
    static func characters(_ text: String, _ options: PredicateComparison.Options) -> [Character] {
        Array(fold(text, options).precomposedStringWithCanonicalMapping)
    }

    static func like(_ text: Substring, _ pattern: Substring) -> Bool {
        guard let sign = pattern.first else { return text.isEmpty }
        switch sign {
        case "*": return like(text, pattern.dropFirst()) || (!text.isEmpty && like(text.dropFirst(), pattern))
        case "?": return !text.isEmpty && like(text.dropFirst(), pattern.dropFirst())
        case "\\" where pattern.count > 1:
            return text.first == pattern.dropFirst().first && like(text.dropFirst(), pattern.dropFirst(2))
        default: return text.first == sign && like(text.dropFirst(), pattern.dropFirst())
        }
    }

    static func matches(_ text: String, _ pattern: String, _ options: PredicateComparison.Options) throws -> Bool {
        let folds = options.subtracting(.caseInsensitive)
        let (text, pattern) = (fold(text, folds), fold(pattern, folds))
        let expression = try NSRegularExpression(
            pattern: pattern, options: options.contains(.caseInsensitive) ? [.caseInsensitive] : [])
        let whole = NSRange(location: 0, length: text.utf16.count)
        return expression.matches(in: text, range: whole).contains { $0.range == whole }
    }

    static func same(_ left: PropertyValue, _ right: PropertyValue, _ options: PredicateComparison.Options) -> Bool {
        if isNumber(left), isNumber(right) { return order(left, right, []) == 0 }
        if case .string(let left) = left, case .string(let right) = right { return fold(left, options) == fold(right, options) }
        return left == right
    }

    static func isNumber(_ value: PropertyValue) -> Bool {
        switch value {
        case .bool, .int64, .double, .decimal: true
        default: false
        }
    }

    private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int { left < right ? -1 : left == right ? 0 : 1 }

    private static func decimal(_ value: PropertyValue) -> Decimal? {
        switch value {
        case .bool(let value): value ? 1 : 0
        case .int64(let value): Decimal(value)
        case .double(let value): Decimal(string: "\(value)")
        case .decimal(let value): value
        default: nil
        }
    }

    /// Less than, equal to or greater than zero; nil when the two have no order.
    static func order(_ left: PropertyValue, _ right: PropertyValue, _ options: PredicateComparison.Options) -> Int? {
        switch (left, right) {
        case (.string(let left), .string(let right)):
            let first = fold(left, options).precomposedStringWithCanonicalMapping.unicodeScalars
            let second = fold(right, options).precomposedStringWithCanonicalMapping.unicodeScalars
            return first.elementsEqual(second) ? 0 : first.lexicographicallyPrecedes(second) ? -1 : 1
        case (.date(let left), .date(let right)):
            return sign(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.data(let left), .data(let right)):
            return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        case (.uuid(let left), .uuid(let right)): return sign(left.uuidString, right.uuidString)
        case (.url(let left), .url(let right)): return sign(left.absoluteString, right.absoluteString)
        case (.double(let left), .double(let right)): return left.isNaN || right.isNaN ? nil : sign(left, right)
        default:
            guard isNumber(left), isNumber(right) else { return nil }
            for (value, direction) in [(left, 1), (right, -1)] {
                guard case .double(let number) = value else { continue }
                if number.isNaN { return nil }
                // Beyond what a decimal can hold.
                if abs(number) > 1e120 { return number > 0 ? direction : -direction }
                // A whole number is compared with what the binary number really is.
                let other = direction == 1 ? right : left
                if case .decimal = other { continue }
                guard let first = decimal(other), let whole = Decimal(string: String(format: "%.0f", number.rounded(.towardZero))) else {
                    return nil
                }
                let fraction = number - number.rounded(.towardZero)
                let result = whole == first ? sign(fraction, 0) : sign(whole, first)
                return result * direction
            }
            guard let first = decimal(left), let second = decimal(right) else { return nil }
            return sign(first, second)
        }
    }
}
