import Foundation

/// The result of a comparison in SQL's three-valued logic.
enum Truth {
    case yes
    case no
    /// One side is nil.
    case unknown

    init(_ value: Bool) {
        self = value ? .yes : .no
    }

    /// Returns the conjunction of both results.
    func and(_ other: Truth) -> Truth {
        switch (self, other) {
        case (.no, _), (_, .no): .no
        case (.yes, .yes): .yes
        default: .unknown
        }
    }
}

extension PropertyValue {
    /// Returns whether two values compare as equal: numbers by value, strings by canonical equivalence, other values within their type.
    func isNumericallyEqual(_ other: PropertyValue) -> Bool {
        switch (self, other) {
        case (.int64(let left), .int64(let right)): return left == right
        case (.string(let left), .string(let right)): return left == right
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.isNumericallyEqual($1) }
        case (.set(let left), .set(let right)):
            return left.count == right.count && left.allSatisfy { element in right.contains { $0.isNumericallyEqual(element) } }
        default:
            if isNumber, other.isNumber { return order(to: other) == .orderedSame }
            return self == other
        }
    }

    /// Returns the order of two values; nil when they cannot be ordered.
    func order(to other: PropertyValue) -> ComparisonResult? {
        switch (self, other) {
        case (.int64(let left), .int64(let right)): return ordered(left, right)
        case (.double(let left), .double(let right)): return left.isNaN || right.isNaN ? nil : ordered(left, right)
        case (.string(let left), .string(let right)): return TextMatching.order(left, right)
        case (.date(let left), .date(let right)):
            return ordered(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.data(let left), .data(let right)):
            return left == right ? .orderedSame : left.lexicographicallyPrecedes(right) ? .orderedAscending : .orderedDescending
        case (.uuid(let left), .uuid(let right)): return ordered(left.uuidString, right.uuidString)
        case (.url(let left), .url(let right)): return ordered(left.absoluteString, right.absoluteString)
        case (.bool(let left), _): return PropertyValue.int64(left ? 1 : 0).order(to: other)
        case (_, .bool(let right)): return order(to: .int64(right ? 1 : 0))
        case (.int64(let left), .double(let right)): return PropertyValue.order(left, right)
        case (.double(let left), .int64(let right)): return PropertyValue.order(right, left)?.reversed
        case (.decimal(let left), .decimal(let right)): return ordered(left, right)
        case (.decimal(let left), .int64(let right)): return ordered(left, Decimal(right))
        case (.int64(let left), .decimal(let right)): return ordered(Decimal(left), right)
        case (.decimal(let left), .double(let right)): return PropertyValue.order(left, right)
        case (.double(let left), .decimal(let right)): return PropertyValue.order(right, left)?.reversed
        default: return nil
        }
    }

    var isNumber: Bool {
        switch self {
        case .bool, .int64, .double, .decimal: true
        default: false
        }
    }

    /// The elements, if the value is a collection.
    var elements: [PropertyValue]? {
        switch self {
        case .array(let values): values
        case .set(let values): Array(values)
        default: nil
        }
    }

    /// Compares exactly, even if converting the integer would round it.
    private static func order(_ left: Int64, _ right: Double) -> ComparisonResult? {
        if right.isNaN { return nil }
        if right >= 0x1p63 { return .orderedAscending }
        if right < -0x1p63 { return .orderedDescending }
        let whole = right.rounded(.towardZero)
        let result = ordered(left, Int64(whole))
        return result == .orderedSame ? ordered(0, right - whole) : result
    }

    /// Compares a binary number as the shortest decimal that is read as it, so that 0.1 equals 0.1.
    private static func order(_ left: Decimal, _ right: Double) -> ComparisonResult? {
        if right.isNaN { return nil }
        // Bounded: a fraction, of which each has its opposite.
        if abs(right) > 1e120 { return right > 0 ? .orderedAscending : .orderedDescending }
        guard let decimal = Decimal(string: right.description) else { return nil }
        return ordered(left, decimal)
    }
}

private func ordered<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
    left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
}

extension ComparisonResult {
    /// The result with the sides exchanged.
    var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}
