package import Foundation

/// What the evaluator makes of values, for stores whose questions are answered elsewhere: an SQL function that calls these agrees with the
/// evaluator because it is the evaluator.
package enum ValueOperations {
    /// Compares two values.
    ///
    /// - Returns: Whether the comparison holds; nil where that is unknown.
    /// - Throws: ``InvalidPredicateError`` where the values do not fit the operator.
    package static func compare(
        _ left: PropertyValue, _ operation: PredicateComparison.Operator, _ right: PropertyValue, clause: String
    ) throws -> Bool? {
        let comparison = PredicateComparison(left: .evaluatedObject, operator: operation, right: .evaluatedObject)
        switch try ValueTest(comparison, logic: .threeValued, constantRight: nil)(left, right) {
        case .yes: return true
        case .no: return false
        case .unknown: return nil
        }
    }

    /// Calculates with two values.
    ///
    /// - Throws: ``InvalidPredicateError`` where the values do not fit the operator.
    package static func calculate(
        _ left: PropertyValue, _ operation: ExpressionTree.ArithmeticOperator, _ right: PropertyValue, clause: String
    ) throws -> PropertyValue {
        try Arithmetic.combine(operation, left, right, clause: clause)
    }

    /// Calls a function of the expression language.
    ///
    /// - Throws: ``InvalidPredicateError`` where there is no such function, or the arguments do not fit it.
    package static func call(_ name: String, _ arguments: [PropertyValue], clause: String) throws -> PropertyValue {
        try ExpressionFunction(name, argumentCount: arguments.count, clause: clause).call(arguments)
    }

    /// Calls a method as `FUNCTION(operand, 'name', …)` does; the operand is the first argument.
    ///
    /// - Throws: ``InvalidPredicateError`` where there is no such method, or the arguments do not fit it.
    package static func call(method name: String, _ arguments: [PropertyValue], clause: String) throws -> PropertyValue {
        try ExpressionFunction(method: name, argumentCount: arguments.count - 1, clause: clause).call(arguments)
    }

    /// Reads a key that values have, such as the length of a text.
    ///
    /// - Throws: ``InvalidPredicateError`` where the value has no such key.
    package static func read(_ key: String, of value: PropertyValue, clause: String) throws -> PropertyValue {
        try value.value(forKey: key, clause: clause)
    }

    /// Converts a value as `CAST` does.
    ///
    /// - Throws: ``InvalidPredicateError`` where the value cannot become that.
    package static func cast(_ value: PropertyValue, to type: String, clause: String) throws -> PropertyValue {
        try ValueConversion(type, clause: clause).convert(value)
    }

    /// What a collection operator of key paths, such as `@sum`, makes of values.
    ///
    /// - Throws: ``InvalidPredicateError`` where the values do not fit the operator.
    package static func aggregate(_ name: String, _ values: [PropertyValue], clause: String) throws -> PropertyValue {
        guard let aggregate = Aggregate(rawValue: name) else { return try call(name, [.array(values)], clause: clause) }
        return try aggregate.value(of: values, clause: clause)
    }

    /// The value in the one form that all values of the same worth have.
    package static func byWorth(_ value: PropertyValue) -> PropertyValue { value.hashedByWorth }
}

/// A text operator of predicates.
package enum TextOperator: Int, Sendable {
    case beginsWith, endsWith, contains, like, matches
}

/// A text operator with its right side, made ready for many left sides.
package struct TextPattern {
    private enum Kind {
        case beginsWith([UInt8])
        case endsWith([UInt8])
        case contains([UInt8])
        case like(LikePattern)
        case matches(MatchPattern)
    }
    private let kind: Kind
    private let options: PredicateComparison.Options
    /// Whether case counts for nothing in what is searched byte by byte.
    private let foldsCase: Bool
    /// Whether ASCII text can be searched as it is.
    private let isPlain: Bool

    /// Makes the right side of an operator ready.
    ///
    /// - Throws: ``InvalidPredicateError`` for a regular expression that is not valid.
    package init(_ operation: TextOperator, _ text: String, _ options: PredicateComparison.Options, clause: String) throws {
        self.options = options
        foldsCase = options.contains(.caseInsensitive)
        func bytes() -> [UInt8] { TextOperand(text, options).bytes }
        switch operation {
        case .beginsWith: kind = .beginsWith(bytes())
        case .endsWith: kind = .endsWith(bytes())
        case .contains: kind = .contains(bytes())
        case .like: kind = .like(LikePattern(text, options))
        case .matches: kind = .matches(try MatchPattern(text, options, clause: clause))
        }
        isPlain = text.utf8.allSatisfy { $0 < 0x80 }
    }

    /// Whether a text matches, given as UTF-8.
    package func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if isPlain, text.allSatisfy({ $0 < 0x80 }) {
            switch kind {
            case .beginsWith(let part): return has(part, in: text, at: 0)
            case .endsWith(let part): return has(part, in: text, at: text.count - part.count)
            case .contains(let part): return contains(part, in: text)
            case .like, .matches: break
            }
        }
        let text = String(decoding: text, as: UTF8.self)
        switch kind {
        case .beginsWith(let part): return TextMatching.hasPrefix(TextOperand(text, options).bytes, part)
        case .endsWith(let part): return TextMatching.hasSuffix(TextOperand(text, options).bytes, part)
        case .contains(let part): return TextMatching.contains(TextOperand(text, options).bytes, part)
        case .like(let pattern): return pattern.matches(text)
        case .matches(let pattern): return pattern.matches(text)
        }
    }

    @inline(__always) private func folded(_ byte: UInt8) -> UInt8 { foldsCase && byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    private func has(_ part: [UInt8], in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard start >= 0, text.count - start >= part.count else { return false }
        for index in part.indices where folded(text[start + index]) != part[index] { return false }
        return true
    }

    private func contains(_ part: [UInt8], in text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = part.first else { return true }
        guard text.count >= part.count else { return false }
        for start in 0...(text.count - part.count) where folded(text[start]) == first && has(part, in: text, at: start) { return true }
        return false
    }
}

extension TextPattern {
    /// Text in the form in which equal texts have equal bytes, case and marks folded as the options ask.
    package static func folded(_ text: String, _ options: PredicateComparison.Options) -> String {
        TextMatching.composed(TextMatching.folded(text, options))
    }

    /// Whether text is written in composed form certainly, so that its bytes tell it from any other but odd spellings.
    package static func isComposed(_ text: String) -> Bool { TextMatching.isComposed(text) }
}

extension NSSortDescriptor {
    /// What a store that sorts by itself must know: the key path and how text is ordered; nil for a descriptor that only code understands.
    ///
    /// - Throws: ``InvalidPredicateError`` naming a key path of Swift that has no name.
    package func storeOrder() throws -> (keyPath: String, ascending: Bool, order: TextOrder)? {
        guard let named = keyDescriptor, named.givenComparator == nil else { return nil }
        return (try named.keyText() ?? "", ascending, named.order)
    }
}

extension TextOrder {
    /// How two texts lie to each other.
    package func compareTexts(_ left: String, _ right: String) -> ComparisonResult { compare(.string(left), .string(right)) }
}

extension ValueOperations {
    /// Finds out whether there is a function.
    ///
    /// - Throws: ``InvalidPredicateError`` where there is none, or it takes another number of arguments.
    package static func check(function name: String, argumentCount: Int, clause: String) throws {
        _ = try ExpressionFunction(name, argumentCount: argumentCount, clause: clause)
    }

    /// Finds out whether there is a method.
    ///
    /// - Throws: ``InvalidPredicateError`` where there is none, or it takes another number of arguments.
    package static func check(method name: String, argumentCount: Int, clause: String) throws {
        _ = try ExpressionFunction(method: name, argumentCount: argumentCount, clause: clause)
    }
}
