import Foundation

/// Compares two values whose types are known at run time only: the general case, with which every specialized test agrees.
struct ValueTest {
    let operation: PredicateComparison.Operator
    let options: PredicateComparison.Options
    let logic: NilLogic
    /// Whether one side is the literal nil, which tests whether the other has a value.
    let asksForNil: Bool
    /// The clause, for messages.
    let clause: String
    /// The pattern of LIKE or MATCHES, if it is constant.
    private var likePattern: LikePattern?
    private var matchPattern: MatchPattern?
    /// The last pattern, if it is not constant: rows often have the same one.
    private let lastPattern = LastPattern()

    init(_ comparison: PredicateComparison, logic: NilLogic, constantRight: PropertyValue?) throws {
        operation = comparison.operator
        options = comparison.options
        self.logic = logic
        clause = comparison.clause
        asksForNil = comparison.left == .constant(.null) || comparison.right == .constant(.null)
        if case .string(let pattern)? = constantRight {
            if operation == .like { likePattern = LikePattern(pattern, options) }
            if operation == .matches { matchPattern = try MatchPattern(pattern, options, clause: clause) }
        }
    }

    func callAsFunction(_ left: PropertyValue, _ right: PropertyValue) throws -> Truth {
        let truth = try compare(left, right)
        guard logic == .twoValued, truth == .unknown else { return truth }
        return Truth(operation == .notEqual)
    }

    private func compare(_ left: PropertyValue, _ right: PropertyValue) throws -> Truth {
        switch operation {
        case .equal, .notEqual: return equality(left, right)
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: return order(left, right, operation)
        case .between:
            if right.isNull { return .unknown }
            guard let bounds = right.elements, bounds.count == 2 else {
                throw unsupported("BETWEEN needs a lowest and a highest value, found \(right.typeName)")
            }
            return order(left, bounds[0], .greaterThanOrEqual).and(order(left, bounds[1], .lessThanOrEqual))
        case .isIn: return try membership(of: left, in: right)
        case .contains: return try membership(of: right, in: left)
        case .beginsWith: return try text(left, right) { TextMatching.hasPrefix($0.bytes, $1.bytes) }
        case .endsWith: return try text(left, right) { TextMatching.hasSuffix($0.bytes, $1.bytes) }
        case .like, .matches: return try pattern(left, right)
        case .custom(let name):
            guard let test = ClassTest(rawValue: name) else { throw unsupported("\(name) cannot be evaluated") }
            return try test(left, right, clause: clause)
        case .comparator(let comparator): return Truth(try comparator.matches(left.any, right.any))
        }
    }

    private func equality(_ left: PropertyValue, _ right: PropertyValue) -> Truth {
        let wanted = operation == .equal
        if left.isNull || right.isNull {
            if asksForNil || logic == .twoValued { return Truth((left.isNull && right.isNull) == wanted) }
            return .unknown
        }
        return Truth(isNumericallyEqual(left, right) == wanted)
    }

    private func isNumericallyEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
        if !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]), case .string(let left) = left,
            case .string(let right) = right
        {
            return TextMatching.folded(left, options) == TextMatching.folded(right, options)
        }
        return left.isNumericallyEqual(right)
    }

    private func order(_ left: PropertyValue, _ right: PropertyValue, _ operation: PredicateComparison.Operator) -> Truth {
        if left.isNull || right.isNull {
            // In memory, nil equals nil, and an operator that includes equality is true.
            guard logic == .twoValued, left.isNull, right.isNull, self.operation != .between else { return .unknown }
            return Truth(operation == .lessThanOrEqual || operation == .greaterThanOrEqual)
        }
        var result = left.order(to: right)
        if !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]), case .string(let left) = left,
            case .string(let right) = right
        {
            result = PropertyValue.string(TextMatching.folded(left, options)).order(to: .string(TextMatching.folded(right, options)))
        }
        guard let result else { return .no }
        switch operation {
        case .lessThan: return Truth(result == .orderedAscending)
        case .lessThanOrEqual: return Truth(result != .orderedDescending)
        case .greaterThan: return Truth(result == .orderedDescending)
        default: return Truth(result != .orderedAscending)
        }
    }

    /// Implements SQL's rule: nil is in no collection, and a value not found in a collection that contains nil is unknown.
    private func membership(of element: PropertyValue, in collection: PropertyValue) throws -> Truth {
        if case .string(let text) = collection {
            if element.isNull { return .unknown }
            guard case .string(let part) = element else { return .no }
            return Truth(TextMatching.contains(TextOperand(text, options).bytes, TextOperand(part, options).bytes))
        }
        if collection.isNull { return .unknown }
        guard let elements = collection.elements else {
            throw unsupported("\(collection.typeName) is neither a collection nor a string")
        }
        if logic == .twoValued, element.isNull { return Truth(elements.contains(.null)) }
        if elements.isEmpty { return .no }
        if element.isNull { return .unknown }
        if elements.contains(where: { isNumericallyEqual($0, element) }) { return .yes }
        return elements.contains(.null) ? .unknown : .no
    }

    private func text(
        _ left: PropertyValue, _ right: PropertyValue, _ matches: (TextOperand, TextOperand) -> Bool
    ) throws -> Truth {
        guard let (left, right) = try strings(left, right) else { return .unknown }
        return Truth(matches(TextOperand(left, options), TextOperand(right, options)))
    }

    private func pattern(_ left: PropertyValue, _ right: PropertyValue) throws -> Truth {
        guard let (text, pattern) = try strings(left, right) else { return .unknown }
        if operation == .like { return Truth((likePattern ?? LikePattern(pattern, options)).matches(text)) }
        return Truth(try (matchPattern ?? lastPattern.made(pattern, options, clause: clause)).matches(text))
    }

    /// Returns both sides as strings; nil when one is nil.
    private func strings(_ left: PropertyValue, _ right: PropertyValue) throws -> (String, String)? {
        if left.isNull || right.isNull { return nil }
        guard case .string(let first) = left, case .string(let second) = right else {
            let other = if case .string = left { right } else { left }
            throw unsupported("\(operation.keyword) compares text, found \(other.typeName)")
        }
        return (first, second)
    }

    private func unsupported(_ reason: String) -> InvalidPredicateError {
        InvalidPredicateError(kind: .unsupported, message: "\(reason), in the clause \(clause)")
    }
}

/// Caches one regular expression. A compiled predicate is used on one thread at a time, so it needs no lock.
private final class LastPattern {
    private var text = ""
    private var pattern: MatchPattern?

    func made(_ text: String, _ options: PredicateComparison.Options, clause: String) throws -> MatchPattern {
        if let pattern, text == self.text { return pattern }
        let made = try MatchPattern(text, options, clause: clause)
        self.text = text
        pattern = made
        return made
    }
}
