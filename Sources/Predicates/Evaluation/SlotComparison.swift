/// A slot about to be compared with a constant of its own type.
struct SlotComparison {
    let location: SlotLocation
    /// The answer for a nil slot.
    let onNull: Bool
    /// The answer that the test looks for.
    let expected: Bool

    /// Compares by `<` and `==`. One closure an operator, as a closure within a closure would double the cost.
    @inline(__always) func test<Value: Comparable>(_ operation: PredicateComparison.Operator, _ constant: Value) -> SubjectTest? {
        let location = location
        let onNull = onNull
        switch (operation, expected) {
        case (.equal, true), (.notEqual, false):
            return { location.isNull(in: $0) ? onNull : location.load($0, Value.self) == constant }
        case (.equal, false), (.notEqual, true):
            return { location.isNull(in: $0) ? onNull : location.load($0, Value.self) != constant }
        case (.lessThan, true): return { location.isNull(in: $0) ? onNull : location.load($0, Value.self) < constant }
        case (.lessThanOrEqual, true): return { location.isNull(in: $0) ? onNull : location.load($0, Value.self) <= constant }
        case (.greaterThan, true): return { location.isNull(in: $0) ? onNull : location.load($0, Value.self) > constant }
        case (.greaterThanOrEqual, true): return { location.isNull(in: $0) ? onNull : location.load($0, Value.self) >= constant }
        // Not the opposite operator: what is no number is neither less nor greater.
        case (.lessThan, false): return { location.isNull(in: $0) ? onNull : !(location.load($0, Value.self) < constant) }
        case (.lessThanOrEqual, false): return { location.isNull(in: $0) ? onNull : !(location.load($0, Value.self) <= constant) }
        case (.greaterThan, false): return { location.isNull(in: $0) ? onNull : !(location.load($0, Value.self) > constant) }
        case (.greaterThanOrEqual, false): return { location.isNull(in: $0) ? onNull : !(location.load($0, Value.self) >= constant) }
        default: return nil
        }
    }

    /// Compares with two constants.
    @inline(__always) func between<Value: Comparable>(_ low: Value, _ high: Value) -> SubjectTest {
        let location = location
        let onNull = onNull
        let expected = expected
        return { subject in
            if location.isNull(in: subject) { return onNull }
            let value = location.load(subject, Value.self)
            return (low <= value && value <= high) == expected
        }
    }

    /// Compares text by the text operators, with the constant made ready beforehand.
    func textTest(_ comparison: PredicateComparison, _ constant: String) -> SubjectTest? {
        let options = comparison.options
        let operand = TextOperand(constant, options)
        let matches: (TextOperand, TextOperand) -> Bool
        switch comparison.operator {
        case .beginsWith:
            if options.isEmpty, let test = prefixTest(operand.bytes) { return test }
            matches = { TextMatching.hasPrefix($0.bytes, $1.bytes) }
        case .endsWith: matches = { TextMatching.hasSuffix($0.bytes, $1.bytes) }
        case .contains: matches = { TextMatching.contains($0.bytes, $1.bytes) }
        case .equal where !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]): matches = { $0.bytes == $1.bytes }
        default: return nil
        }
        let location = location
        let onNull = onNull
        let expected = expected
        return { subject in
            if location.isNull(in: subject) { return onNull }
            return matches(TextOperand(location.load(subject, String.self), options), operand) == expected
        }
    }

    /// Compares the beginning of text byte by byte where that is certain to be right, which for an ASCII prefix is nearly always.
    private func prefixTest(_ prefix: [UInt8]) -> SubjectTest? {
        guard !prefix.isEmpty, prefix.allSatisfy({ $0 < 0x80 }) else { return nil }
        let location = location
        let onNull = onNull
        let expected = expected
        return { subject in
            if location.isNull(in: subject) { return onNull }
            let text = location.load(subject, String.self)
            let quick = text.utf8.withContiguousStorageIfAvailable { SlotComparison.hasPrefix($0, prefix) } ?? nil
            return (quick ?? TextMatching.hasPrefix(TextOperand(text, []).bytes, prefix)) == expected
        }
    }

    /// Whether bytes begin with an ASCII prefix, or nil when a character beyond Latin could be composed into another.
    @inline(__always) private static func hasPrefix(_ bytes: UnsafeBufferPointer<UInt8>, _ prefix: [UInt8]) -> Bool? {
        for index in 0..<prefix.count {
            if index == bytes.count { return false }
            let byte = bytes[index]
            if byte != prefix[index] { return byte < 0xCC ? false : nil }
        }
        // A mark after the prefix would belong to its last character; all marks begin with 0xCC or a greater byte.
        return prefix.count == bytes.count || bytes[prefix.count] < 0xCC ? true : nil
    }
}

extension SlotLocation {
    /// Reads a slot that is not nil.
    @inline(__always) func load<Value>(_ subject: PredicateSubject, _ type: Value.Type) -> Value {
        subject.slots.load(fromByteOffset: offset, as: Value.self)
    }
}
