/// The simplest comparisons of a slot with a constant, as plain data: nothing to retain and nothing to call, so that several of them run
/// in one closure.
struct SlotTest {
    /// The condition for a value.
    enum Check {
        /// An integer within bounds, which also expresses equal, less and greater.
        case integer(Int64, Int64)
        /// A binary number within bounds; NaN never is.
        case double(Double, Double)
        /// A string that begins with up to eight ASCII bytes, here in one word with the first byte lowest.
        case prefix(UInt64, count: Int)
    }

    let location: SlotLocation
    let check: Check
    /// The result for a nil slot.
    let onNull: Bool
    /// The result that the test looks for.
    let expected: Bool

    @inline(__always) func callAsFunction(_ subject: PredicateSubject) -> Bool {
        if location.isNull(in: subject) { return onNull }
        switch check {
        case .integer(let low, let high):
            let value = location.load(subject, Int64.self)
            return (low <= value && value <= high) == expected
        case .double(let low, let high):
            let value = location.load(subject, Double.self)
            return (low <= value && value <= high) == expected
        case .prefix(let word, let count):
            if let bytes = location.packedBytes(subject), let answer = SlotTest.quickPrefix(bytes, word, count) {
                return answer == expected
            }
            return SlotTest.hasPrefix(location.text(subject), word, count) == expected
        }
    }

    /// Returns the test for an operator on integers; nil when bounds cannot express it.
    static func integer(_ slot: SlotComparison, _ operation: PredicateComparison.Operator, _ constant: Int64) -> SlotTest? {
        IntegerBounds(operation, constant).map { bounds in
            SlotTest(
                location: slot.location, check: .integer(bounds.low, bounds.high), onNull: slot.onNull,
                expected: slot.expected == bounds.isInside)
        }
    }

    /// Returns the test for an operator on binary numbers; nil when bounds cannot express it.
    static func double(_ slot: SlotComparison, _ operation: PredicateComparison.Operator, _ constant: Double) -> SlotTest? {
        guard constant.isFinite else { return nil }
        func bounds(_ low: Double, _ high: Double, _ isInside: Bool = true) -> SlotTest {
            SlotTest(location: slot.location, check: .double(low, high), onNull: slot.onNull, expected: slot.expected == isInside)
        }
        switch operation {
        case .equal: return bounds(constant, constant)
        case .notEqual: return bounds(constant, constant, false)
        // NaN is outside of any bounds, so these two cannot be expressed by the opposite bounds.
        case .lessThanOrEqual: return bounds(-.infinity, constant)
        case .lessThan: return bounds(-.infinity, constant.nextDown)
        case .greaterThanOrEqual: return bounds(constant, .infinity)
        case .greaterThan: return bounds(constant.nextUp, .infinity)
        default: return nil
        }
    }

    /// Returns the test for a string prefix; nil when it is too long or not ASCII.
    static func prefix(_ slot: SlotComparison, _ bytes: [UInt8]) -> SlotTest? {
        guard !bytes.isEmpty, bytes.count <= 8, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        var word: UInt64 = 0
        for (index, byte) in bytes.enumerated() { word |= UInt64(byte) << UInt64(8 * index) }
        return SlotTest(
            location: slot.location, check: .prefix(word, count: bytes.count), onNull: slot.onNull, expected: slot.expected)
    }

    // MARK: Text

    @inline(__always) private static func hasPrefix(_ text: String, _ prefix: UInt64, _ count: Int) -> Bool {
        let quick = text.utf8.withContiguousStorageIfAvailable { quickPrefix($0, prefix, count) } ?? nil
        return quick ?? slowPrefix(text, prefix, count)
    }

    /// Returns whether bytes begin with an ASCII prefix; nil when a character beyond Latin might be composed with others.
    @inline(__always) private static func quickPrefix(_ bytes: UnsafeBufferPointer<UInt8>, _ prefix: UInt64, _ count: Int) -> Bool? {
        guard let base = bytes.baseAddress else { return false }
        var word: UInt64 = 0
        if bytes.count >= 8 {
            word = UInt64(littleEndian: UnsafeRawPointer(base).loadUnaligned(as: UInt64.self))
        } else {
            for index in 0..<min(count, bytes.count) { word |= UInt64(base[index]) << UInt64(8 * index) }
        }
        let mask = UInt64.max >> UInt64(64 - 8 * count)
        let difference = (word ^ prefix) & mask
        if difference != 0 {
            let byte = (word >> UInt64(difference.trailingZeroBitCount & ~7)) & 0xFF
            return byte < 0xCC ? false : nil
        }
        if bytes.count <= count { return bytes.count == count }
        // A mark after the prefix would belong to its last character; all marks begin with a byte of at least 0xCC.
        return base[count] < 0xCC ? true : nil
    }

    @inline(never) private static func slowPrefix(_ text: String, _ prefix: UInt64, _ count: Int) -> Bool {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: prefix >> UInt64(8 * $0)) }
        return TextMatching.hasPrefix(TextOperand(text, []).bytes, bytes)
    }
}

/// A comparison of an integer with a constant, as bounds.
struct IntegerBounds {
    let low: Int64
    let high: Int64
    /// Whether a number matches within the bounds; otherwise it matches outside of them.
    let isInside: Bool

    /// Creates the bounds of an operator; nil if bounds cannot express it.
    init?(_ operation: PredicateComparison.Operator, _ constant: Int64) {
        switch operation {
        case .equal: (low, high, isInside) = (constant, constant, true)
        case .notEqual: (low, high, isInside) = (constant, constant, false)
        case .lessThanOrEqual: (low, high, isInside) = (.min, constant, true)
        case .greaterThan: (low, high, isInside) = (.min, constant, false)
        case .greaterThanOrEqual: (low, high, isInside) = (constant, .max, true)
        case .lessThan: (low, high, isInside) = (constant, .max, false)
        default: return nil
        }
    }

    /// Returns whether a number matches.
    func contains(_ number: Int64) -> Bool { (low <= number && number <= high) == isInside }
}

/// The result of compiling a test: plain data where possible, so that tests can be combined, or a closure.
enum CompiledTest {
    case slot(SlotTest)
    case closure(SubjectTest)

    /// Returns a test of the elements of a collection: whether any of them succeeds, or all of them do.
    ///
    /// - Parameter visit: Visits the elements, which this test is for. It stops at the first that decides.
    func quantified(over visit: @escaping SubjectVisitor, isAll: Bool, expecting expected: Bool) -> SubjectTest {
        switch self {
        case .slot(let test):
            return { subject in
                try TimeLimit.check()
                var answer = isAll
                try visit(subject) { element in
                    if test(element) == isAll { return true }
                    answer = !isAll
                    return false
                }
                return answer == expected
            }
        case .closure(let test):
            return { subject in
                try TimeLimit.check()
                var answer = isAll
                try visit(subject) { element in
                    if try test(element) == isAll { return true }
                    answer = !isAll
                    return false
                }
                return answer == expected
            }
        }
    }

    /// Returns a visitor of those elements of a collection for which the test succeeds.
    func matching(of visit: @escaping SubjectVisitor) -> SubjectVisitor {
        switch self {
        case .slot(let test):
            return { subject, body in
                try TimeLimit.check()
                try visit(subject) { test($0) ? try body($0) : true }
            }
        case .closure(let test):
            return { subject, body in
                try TimeLimit.check()
                try visit(subject) { try test($0) ? body($0) : true }
            }
        }
    }

    /// The test as a closure.
    var closure: SubjectTest {
        switch self {
        case .slot(let test): return { test($0) }
        case .closure(let test): return test
        }
    }

    /// Combines several tests, evaluated in this order: either one that succeeds suffices, or all must succeed.
    static func junction(_ tests: [CompiledTest], sufficesOne: Bool) -> CompiledTest {
        var tests = tests
        switch tests.count {
        case 0: return .closure { _ in !sufficesOne }
        case 1: return tests[0]
        case 2...4:
            // A few tests are combined pairwise, from the end, so that the first is evaluated first.
            while tests.count > 1 {
                let last = tests.removeLast()
                tests.append(.closure(joined(tests.removeLast(), last, sufficesOne: sufficesOne)))
            }
            return tests[0]
        default:
            let closures = tests.map(\.closure)
            return .closure { subject in
                for test in closures where try test(subject) == sufficesOne { return sufficesOne }
                return !sufficesOne
            }
        }
    }

    /// Combines two tests, evaluated in this order.
    private static func joined(_ first: CompiledTest, _ second: CompiledTest, sufficesOne: Bool) -> SubjectTest {
        switch (first, second) {
        case (.slot(let first), .slot(let second)):
            return sufficesOne ? { first($0) || second($0) } : { first($0) && second($0) }
        case (.slot(let first), .closure(let second)):
            return sufficesOne ? { try first($0) || second($0) } : { try first($0) && second($0) }
        case (.closure(let first), .slot(let second)):
            return sufficesOne ? { try first($0) || second($0) } : { try first($0) && second($0) }
        case (.closure(let first), .closure(let second)):
            return sufficesOne ? { try first($0) || second($0) } : { try first($0) && second($0) }
        }
    }
}
