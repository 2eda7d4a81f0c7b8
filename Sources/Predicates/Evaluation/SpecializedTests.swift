import Foundation

/// Specialized comparisons of a slot with a constant. Each returns the same result as ``ValueTest``.
enum SpecializedTests {
    /// Returns a specialized test.
    ///
    /// - Returns: A test, or nil when there is none.
    static func make(
        _ comparison: PredicateComparison, left: Operand, right: Operand, logic: NilLogic, expecting expected: Bool
    ) -> CompiledTest? {
        var comparison = comparison
        let operands: (Operand, PropertyValue)
        switch (left, right) {
        case (_, .constant(let value)): operands = (left, value)
        case (.constant(let value), .slot), (.constant(let value), .count):
            guard let mirrored = comparison.operator.mirrored else { return nil }
            comparison.operator = mirrored
            operands = (right, value)
        default: return nil
        }
        let (operand, constant) = operands
        if comparison.operator == .isIn, comparison.options.isEmpty, let elements = constant.elements {
            return membership(of: operand, in: ConstantCollection(elements), logic, expected).map(CompiledTest.closure)
        }
        if case .count(let count) = operand, constant.isNumber, case .int64(let value) = constant.canonicalForHashing {
            return IntegerBounds(comparison.operator, value).map { bounds in
                .closure { bounds.contains(Int64(try count($0))) == expected }
            }
        }
        guard case .slot(let location, let kind) = operand else { return nil }
        if constant.isNull { return null(comparison.operator, location, expected).map(CompiledTest.closure) }
        // The result for a nil slot: unknown is never the expected result.
        let onNull = logic == .threeValued ? false : (comparison.operator == .notEqual) == expected
        let slot = SlotComparison(location: location, onNull: onNull, expected: expected)
        switch (kind, constant) {
        case (.int64, _) where constant.isNumber, (.bool, _) where constant.isNumber:
            guard case .int64(let value) = constant.canonicalForHashing else { return nil }
            return SlotTest.integer(slot, comparison.operator, value).map(CompiledTest.slot)
        case (.double, _) where constant.isNumber:
            guard let value = exactDouble(constant) else { return nil }
            return SlotTest.double(slot, comparison.operator, value).map(CompiledTest.slot)
        case (.date, .date(let date)):
            return SlotTest.double(slot, comparison.operator, date.timeIntervalSinceReferenceDate).map(CompiledTest.slot)
        case (.string, .string(let text)):
            return slot.textTest(comparison, text)
        case (_, .array(let bounds)) where comparison.operator == .between && bounds.count == 2:
            return between(slot, kind, bounds[0], bounds[1]).map(CompiledTest.slot)
        default: return nil
        }
    }

    private static func null(_ operation: PredicateComparison.Operator, _ location: SlotLocation, _ expected: Bool) -> SubjectTest? {
        switch operation {
        case .equal: return { location.isNull(in: $0) == expected }
        case .notEqual: return { location.isNull(in: $0) != expected }
        default: return nil
        }
    }

    private static func exactDouble(_ constant: PropertyValue) -> Double? {
        switch constant {
        case .double(let value) where !value.isNaN: value
        case .int64(let value): Double(exactly: value)
        case .bool(let value): value ? 1 : 0
        default: nil
        }
    }

    // MARK: Collections

    private static func membership(
        of operand: Operand, in collection: ConstantCollection, _ logic: NilLogic, _ expected: Bool
    ) -> SubjectTest? {
        if operand.isMany { return nil }
        let onNull = collection.truth(of: .null, logic: logic) == Truth(expected)
        if case .slot(let location, .int64) = operand, collection.isIntegers {
            let values = collection.integers
            return { subject in
                if location.isNull(in: subject) { return onNull }
                return values.contains(subject.slots.load(fromByteOffset: location.offset, as: Int64.self)) == expected
            }
        }
        if case .slot(let location, .string) = operand, let values = collection.strings {
            return { subject in
                if location.isNull(in: subject) { return onNull }
                return values.contains(location.text(subject)) == expected
            }
        }
        let read = operand.scalar()
        let wanted = Truth(expected)
        return { collection.truth(of: try read($0), logic: logic) == wanted }
    }

    private static func between(_ slot: SlotComparison, _ kind: SlotKind, _ low: PropertyValue, _ high: PropertyValue) -> SlotTest? {
        let check: SlotTest.Check
        switch (kind, low, high) {
        case (.int64, _, _) where low.isNumber && high.isNumber:
            guard case .int64(let first) = low.canonicalForHashing, case .int64(let last) = high.canonicalForHashing else { return nil }
            check = .integer(first, last)
        case (.double, _, _) where low.isNumber && high.isNumber:
            guard let first = exactDouble(low), let last = exactDouble(high) else { return nil }
            check = .double(first, last)
        case (.date, .date(let first), .date(let last)):
            check = .double(first.timeIntervalSinceReferenceDate, last.timeIntervalSinceReferenceDate)
        default: return nil
        }
        return SlotTest(location: slot.location, check: check, onNull: slot.onNull, expected: slot.expected)
    }
}

extension PredicateComparison.Operator {
    /// The equivalent operator with the sides exchanged.
    fileprivate var mirrored: PredicateComparison.Operator? {
        switch self {
        case .equal, .notEqual: self
        case .lessThan: .greaterThan
        case .lessThanOrEqual: .greaterThanOrEqual
        case .greaterThan: .lessThan
        case .greaterThanOrEqual: .lessThanOrEqual
        default: nil
        }
    }
}
