internal import Foundation

extension PredicateExpressions.Equal: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .predicate(try translation.equality(lhs, rhs, wanted: !negated))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "\(translation.sourceText(lhs)) == \(translation.sourceText(rhs))" }
}

extension PredicateExpressions.NotEqual: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .predicate(try translation.equality(lhs, rhs, wanted: negated))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "\(translation.sourceText(lhs)) != \(translation.sourceText(rhs))" }
}

extension PredicateTranslation {
    /// Returns the tree that matches exactly when the sides are equal, or when they differ.
    fileprivate func equality<Left: PredicateExpression, Right: PredicateExpression>(
        _ left: Left, _ right: Right, wanted: Bool
    ) throws -> PredicateTree {
        if let tree = try truth(left, right, wanted: wanted) ?? truth(right, left, wanted: wanted) { return tree }
        if let tree = try equality(left, right, wanted: wanted) ?? equality(right, left, wanted: wanted) { return tree }
        let first = try expression(left)
        let second = try expression(right)
        let plain = PredicateTree.compare(first, wanted ? .equal : .notEqual, second)
        guard Left.Output.self is any OptionalValue.Type else { return plain }
        // Between optionals, the language's == and != are unknown if one side is nil and not a literal.
        switch (first, second) {
        case (.constant(.null), _), (_, .constant(.null)): return plain
        case (.constant, _): return wanted ? plain : .some(plain, second.isNil)
        case (_, .constant): return wanted ? plain : .some(plain, first.isNil)
        default:
            return wanted
                ? .some(plain, .every(first.isNil, second.isNil))
                : .some(plain, .every(first.isNil, second.isNotNil), .every(first.isNotNil, second.isNil))
        }
    }

    /// Translates the comparison of a condition with a known Boolean.
    private func truth<Left: PredicateExpression, Right: PredicateExpression>(
        _ left: Left, _ right: Right, wanted: Bool
    ) throws -> PredicateTree? {
        guard let value = try? right.evaluate(PredicateBindings()) else { return nil }
        if Left.Output.self == Bool.self, let value = value as? Bool {
            return try predicate(left, negated: value != wanted)
        }
        if Left.Output.self == Bool?.self, let value = value as? Bool, let truth = left as? any OptionalTruthExpression {
            // Nil equals neither.
            return try truth.predicate(by: self, whenNil: !value, negated: value != wanted)
        }
        return nil
    }

    /// Translates `a.caseInsensitiveCompare(b) == .orderedSame` and similar comparisons.
    private func equality<Left: PredicateExpression, Right: PredicateExpression>(
        _ left: Left, _ right: Right, wanted: Bool
    ) throws -> PredicateTree? {
        guard let text = left as? any TextMethodExpression,
            let result = try? right.evaluate(PredicateBindings()) as? ComparisonResult, result == .orderedSame
        else { return nil }
        return try text.equality(by: self)?.negated(!wanted)
    }
}

extension PredicateExpressions.Comparison: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let operation: PredicateComparison.Operator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqual
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqual
            }
        let tree = PredicateTree.compare(try translation.expression(lhs), operation, try translation.expression(rhs))
        return .predicate(tree.negated(negated))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        let sign =
            switch op {
            case .lessThan: "<"
            case .lessThanOrEqual: "<="
            case .greaterThan: ">"
            case .greaterThanOrEqual: ">="
            }
        return "\(translation.sourceText(lhs)) \(sign) \(translation.sourceText(rhs))"
    }
}

// MARK: Ranges

/// A range as its equivalent comparisons.
struct TranslatedRange {
    var lower: ExpressionTree?
    var upper: ExpressionTree?
    var isClosed = true

    func contains(_ element: ExpressionTree) -> PredicateTree {
        switch (lower, upper) {
        case (let lower?, let upper?) where isClosed:
            if case .constant(let lower) = lower, case .constant(let upper) = upper {
                return .compare(element, .between, .constant(.array([lower, upper])))
            }
            return .compare(element, .between, .aggregate([lower, upper]))
        case (let lower?, let upper?):
            return .every(.compare(element, .greaterThanOrEqual, lower), .compare(element, .lessThan, upper))
        case (let lower?, nil): return .compare(element, .greaterThanOrEqual, lower)
        case (nil, let upper?): return .compare(element, isClosed ? .lessThanOrEqual : .lessThan, upper)
        case (nil, nil): return .true
        }
    }
}

/// A range node.
protocol RangeNode {
    func range(by translation: PredicateTranslation) throws -> TranslatedRange?
}

/// A captured range.
protocol CapturedRange {
    func range() throws -> TranslatedRange
}

extension ClosedRange: CapturedRange {
    func range() throws -> TranslatedRange {
        TranslatedRange(lower: .constant(try PropertyValue(any: lowerBound)), upper: .constant(try PropertyValue(any: upperBound)))
    }
}

extension Range: CapturedRange {
    func range() throws -> TranslatedRange {
        TranslatedRange(
            lower: .constant(try PropertyValue(any: lowerBound)), upper: .constant(try PropertyValue(any: upperBound)), isClosed: false)
    }
}

extension PartialRangeFrom: CapturedRange {
    func range() throws -> TranslatedRange { TranslatedRange(lower: .constant(try PropertyValue(any: lowerBound))) }
}

extension PartialRangeThrough: CapturedRange {
    func range() throws -> TranslatedRange { TranslatedRange(upper: .constant(try PropertyValue(any: upperBound))) }
}

extension PartialRangeUpTo: CapturedRange {
    func range() throws -> TranslatedRange { TranslatedRange(upper: .constant(try PropertyValue(any: upperBound)), isClosed: false) }
}

extension PredicateExpressions.Value: RangeNode {
    func range(by translation: PredicateTranslation) throws -> TranslatedRange? { try (value as? any CapturedRange)?.range() }
}

extension PredicateExpressions.ClosedRange: RangeNode, SourceRepresentable {
    func range(by translation: PredicateTranslation) throws -> TranslatedRange? {
        TranslatedRange(lower: try translation.expression(lower), upper: try translation.expression(upper))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "(\(translation.sourceText(lower))...\(translation.sourceText(upper)))"
    }
}

extension PredicateExpressions.Range: RangeNode, SourceRepresentable {
    func range(by translation: PredicateTranslation) throws -> TranslatedRange? {
        TranslatedRange(lower: try translation.expression(lower), upper: try translation.expression(upper), isClosed: false)
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "(\(translation.sourceText(lower))..<\(translation.sourceText(upper)))"
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard let range = try (range as? any RangeNode)?.range(by: translation) else { throw translation.failure(self) }
        return .predicate(range.contains(try translation.expression(element)).negated(negated))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(range)).contains(\(translation.sourceText(element)))"
    }
}
