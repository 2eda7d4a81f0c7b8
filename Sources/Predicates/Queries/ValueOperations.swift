package import Foundation

/// Exposes the evaluator's operations on values to stores that execute queries elsewhere: SQL functions that call them agree with the
/// evaluator.
package enum ValueOperations {
    /// Compares two values.
    ///
    /// - Returns: Whether the comparison is true; nil if it is unknown.
    /// - Throws: ``InvalidPredicateError`` if the values do not fit the operator.
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

    /// Performs arithmetic on two values.
    ///
    /// - Throws: ``InvalidPredicateError`` if the values do not fit the operator.
    package static func calculate(
        _ left: PropertyValue, _ operation: ExpressionTree.ArithmeticOperator, _ right: PropertyValue, clause: String
    ) throws -> PropertyValue {
        try Arithmetic.combine(operation, left, right, clause: clause)
    }

    /// Calls a function of the expression language.
    ///
    /// - Throws: ``InvalidPredicateError`` if there is no such function, or the arguments do not fit it.
    package static func call(_ name: String, _ arguments: [PropertyValue], clause: String) throws -> PropertyValue {
        try ExpressionFunction(name, argumentCount: arguments.count, clause: clause).call(arguments)
    }

    /// Calls a method like `FUNCTION(operand, 'name', …)`; the operand is the first argument.
    ///
    /// - Throws: ``InvalidPredicateError`` if there is no such method, or the arguments do not fit it.
    package static func call(method name: String, _ arguments: [PropertyValue], clause: String) throws -> PropertyValue {
        try ExpressionFunction(method: name, argumentCount: arguments.count - 1, clause: clause).call(arguments)
    }

    /// Reads a key of a value, such as the length of a string.
    ///
    /// - Throws: ``InvalidPredicateError`` if the value does not have the key.
    package static func read(_ key: String, of value: PropertyValue, clause: String) throws -> PropertyValue {
        try value.value(forKey: key, clause: clause)
    }

    /// Converts a value like `CAST`.
    ///
    /// - Throws: ``InvalidPredicateError`` if the value cannot be converted.
    package static func cast(_ value: PropertyValue, to type: String, clause: String) throws -> PropertyValue {
        try ValueConversion(type, clause: clause).convert(value)
    }

    /// Applies a collection operator of key paths, such as `@sum`, to values.
    ///
    /// - Throws: ``InvalidPredicateError`` if the values do not fit the operator.
    package static func aggregate(_ name: String, _ values: [PropertyValue], clause: String) throws -> PropertyValue {
        guard let aggregate = Aggregate(rawValue: name) else { return try call(name, [.array(values)], clause: clause) }
        return try aggregate.value(of: values, clause: clause)
    }

    /// Returns the canonical form of all values that compare as equal.
    package static func canonical(_ value: PropertyValue) -> PropertyValue { value.canonicalForHashing }
}

/// The string operators of predicates.
package enum TextOperator: Int, Sendable {
    case beginsWith, endsWith, contains, like, matches
}

/// A string operator with its right side, prepared for many left sides.
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
    /// Whether case is ignored in a search by bytes.
    private let foldsCase: Bool
    /// Whether ASCII strings can be searched unchanged.
    private let isPlain: Bool

    /// Prepares the right side of an operator.
    ///
    /// - Throws: ``InvalidPredicateError`` for an invalid regular expression.
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

    /// Returns whether a string matches, given as UTF-8.
    ///
    /// - Throws: ``InvalidPredicateError`` for a regular expression that takes too long.
    package func matches(_ text: UnsafeBufferPointer<UInt8>) throws -> Bool {
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
        case .matches(let pattern): return try pattern.matches(text)
        }
    }

    @inline(__always) private func folded(_ byte: UInt8) -> UInt8 { foldsCase && byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

    private func has(_ part: [UInt8], in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard !part.isEmpty, start >= 0, text.count - start >= part.count else { return false }
        for index in part.indices where folded(text[start + index]) != part[index] { return false }
        return true
    }

    private func contains(_ part: [UInt8], in text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = part.first else { return false }
        guard text.count >= part.count else { return false }
        for start in 0...(text.count - part.count) where folded(text[start]) == first && has(part, in: text, at: start) { return true }
        return false
    }
}

extension TextPattern {
    /// Returns the form of a string in which equal strings have equal bytes, with case and diacritics folded according to the options.
    package static func folded(_ text: String, _ options: PredicateComparison.Options) -> String {
        TextMatching.composed(TextMatching.folded(text, options))
    }

    /// Returns whether a string is certainly in composed form, so that its bytes distinguish it from other strings.
    package static func isComposed(_ text: String) -> Bool { TextMatching.isComposed(text) }
}

extension NSSortDescriptor {
    /// Returns the key path and the string order for a store that sorts; nil for a descriptor with code.
    ///
    /// - Throws: ``InvalidPredicateError`` naming a Swift key path without a name.
    package func storeOrder() throws -> (keyPath: String, ascending: Bool, order: TextOrder)? {
        guard let named = keyDescriptor, named.givenComparator == nil else { return nil }
        return (try named.keyText() ?? "", ascending, named.order)
    }
}

extension TextOrder {
    /// Returns the order of two strings.
    package func compareTexts(_ left: String, _ right: String) -> ComparisonResult { compare(.string(left), .string(right)) }
}

extension ValueOperations {
    /// Checks that a function exists.
    ///
    /// - Throws: ``InvalidPredicateError`` if it does not exist, or takes another number of arguments.
    package static func check(function name: String, argumentCount: Int, clause: String) throws {
        _ = try ExpressionFunction(name, argumentCount: argumentCount, clause: clause)
    }

    /// Checks that a method exists.
    ///
    /// - Throws: ``InvalidPredicateError`` if it does not exist, or takes another number of arguments.
    package static func check(method name: String, argumentCount: Int, clause: String) throws {
        _ = try ExpressionFunction(method: name, argumentCount: argumentCount, clause: clause)
    }
}
