import Foundation

/// A slot to compare with a constant.
struct SlotComparison {
    let location: SlotLocation
    /// The result for a nil slot.
    let onNull: Bool
    /// The result that the test looks for.
    let expected: Bool

    /// Returns a test that compares strings by `==` and by the order of their composed form.
    private func orderTest(_ operation: PredicateComparison.Operator, _ constant: String) -> SubjectTest? {
        let location = location
        let onNull = onNull
        let expected = expected
        switch operation {
        case .equal, .notEqual:
            let isEqualExpected = (operation == .equal) == expected
            return { location.isNull(in: $0) ? onNull : (location.text($0) == constant) == isEqualExpected }
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            return { subject in
                if location.isNull(in: subject) { return onNull }
                let order = TextMatching.order(location.text(subject), constant)
                switch operation {
                case .lessThan: return (order == .orderedAscending) == expected
                case .lessThanOrEqual: return (order != .orderedDescending) == expected
                case .greaterThan: return (order == .orderedDescending) == expected
                default: return (order != .orderedAscending) == expected
                }
            }
        default: return nil
        }
    }

    /// Returns a test for a string operator, with the constant prepared.
    func textTest(_ comparison: PredicateComparison, _ constant: String) -> CompiledTest? {
        let options = comparison.options
        if options.isEmpty, let test = orderTest(comparison.operator, constant) { return .closure(test) }
        let operand = TextOperand(constant, options)
        let matches: (TextOperand, TextOperand) -> Bool
        switch comparison.operator {
        case .beginsWith:
            if options.isEmpty, let test = SlotTest.prefix(self, operand.bytes) { return .slot(test) }
            matches = { TextMatching.hasPrefix($0.bytes, $1.bytes) }
        case .endsWith: matches = { TextMatching.hasSuffix($0.bytes, $1.bytes) }
        case .contains: matches = { TextMatching.contains($0.bytes, $1.bytes) }
        case .equal where !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]): matches = { $0.bytes == $1.bytes }
        default: return nil
        }
        let location = location
        let onNull = onNull
        let expected = expected
        if comparison.operator == .contains, operand.bytes.allSatisfy({ $0 < 0x80 }) {
            let foldsCase = options.contains(.caseInsensitive)
            return .closure { subject in
                if location.isNull(in: subject) { return onNull }
                let text = location.text(subject)
                if let answer = TextMatching.containsWithin(text, operand.bytes, foldsCase: foldsCase) { return answer == expected }
                return matches(TextOperand(text, options), operand) == expected
            }
        }
        return .closure { subject in
            if location.isNull(in: subject) { return onNull }
            return matches(TextOperand(location.text(subject), options), operand) == expected
        }
    }
}

extension SlotLocation {
    /// Reads a slot that is not nil.
    @inline(__always) func load<Value>(_ subject: PredicateSubject, _ type: Value.Type) -> Value {
        subject.slots.load(fromByteOffset: offset, as: Value.self)
    }
}
