internal import Foundation

extension PredicateExpressions.Conjunction: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let left = try translation.predicate(lhs, negated: negated)
        let right = try translation.predicate(rhs, negated: negated)
        return .predicate(negated ? .some(left, right) : .every(left, right))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "\(translation.sourceText(lhs)) && \(translation.sourceText(rhs))" }
}

extension PredicateExpressions.Disjunction: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let left = try translation.predicate(lhs, negated: negated)
        let right = try translation.predicate(rhs, negated: negated)
        return .predicate(negated ? .every(left, right) : .some(left, right))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "(\(translation.sourceText(lhs)) || \(translation.sourceText(rhs)))" }
}

extension PredicateExpressions.Negation: TranslatableExpression, SourceRepresentable {
    // A NOT in the language is unknown for unknown, while Swift has two results: the negation is moved inwards, to where nil is handled.
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .predicate(try translation.predicate(wrapped, negated: !negated))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "!\(translation.sourceText(wrapped))" }
}

extension PredicateExpressions.Conditional: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard Output.self == Bool.self else {
            return .expression(
                .conditional(
                    try translation.predicate(test), try translation.expression(trueBranch), try translation.expression(falseBranch)))
        }
        return .predicate(
            .some(
                .every(try translation.predicate(test), try translation.predicate(trueBranch, negated: negated)),
                .every(try translation.predicate(test, negated: true), try translation.predicate(falseBranch, negated: negated))))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(test)) ? \(translation.sourceText(trueBranch)) : \(translation.sourceText(falseBranch))"
    }
}

// MARK: Optionals

/// A node whose result is an optional Boolean.
protocol OptionalTruthExpression {
    /// Returns the tree that matches exactly when the result, with `whenNil` in place of nil, is true, or false when `negated`. Returns
    /// nil when there is no such tree.
    func predicate(by translation: PredicateTranslation, whenNil: Bool, negated: Bool) throws -> PredicateTree?
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let base = try translation.expression(wrapped)
        translation.bind(variable, to: base, name: translation.sourceText(wrapped) + "?")
        let value = try translation.expression(transform)
        if value.isNil(where: base) { return .expression(value) }
        return .expression(.conditional(base.isNotNil, value, .constant(.null)))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        translation.bind(variable, to: .constant(.null), name: translation.sourceText(wrapped) + "?")
        return translation.sourceText(transform)
    }
}

extension PredicateExpressions.OptionalFlatMap: OptionalTruthExpression {
    func predicate(by translation: PredicateTranslation, whenNil: Bool, negated: Bool) throws -> PredicateTree? {
        guard RHS.Output.self == Bool.self else { return nil }
        let base = try translation.expression(wrapped)
        translation.bind(variable, to: base, name: translation.sourceText(wrapped) + "?")
        let condition = try translation.predicate(transform, negated: negated)
        return whenNil != negated ? .some(base.isNil, condition) : .every(base.isNotNil, condition)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let otherwise = try translation.expression(rhs)
        if Output.self == Bool.self, case .constant(.bool(let whenNil)) = otherwise, let truth = lhs as? any OptionalTruthExpression,
            let tree = try truth.predicate(by: translation, whenNil: whenNil, negated: negated)
        {
            return .predicate(tree)
        }
        let value = try translation.expression(lhs)
        return .expression(.conditional(value.isNotNil, value, otherwise))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "(\(translation.sourceText(lhs)) ?? \(translation.sourceText(rhs)))" }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression, SourceRepresentable {
    // If Foundation throws, nil is not found.
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .expression(try translation.expression(inner))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "\(translation.sourceText(inner))!" }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated { .expression(.constant(.null)) }

    func sourceText(by translation: PredicateTranslation) -> String { "nil" }
}

extension ExpressionTree {
    /// Returns whether the expression is certainly nil if `base` is, like a path that continues from it.
    func isNil(where base: ExpressionTree) -> Bool {
        if self == base { return true }
        switch self {
        case .keyPath(let keys):
            guard case .keyPath(let start) = base, keys.starts(with: start) else { return false }
            return !keys.dropFirst(start.count).contains { $0.hasPrefix("@") }
        case .navigation(let start, let keys):
            if keys.contains(where: { $0.hasPrefix("@") }) { return false }
            guard case .navigation(let other, let first) = base else { return start.isNil(where: base) }
            return start == other && keys.starts(with: first)
        case .arithmetic(_, let left, let right): return left.isNil(where: base) || right.isNil(where: base)
        case .negated(let operand): return operand.isNil(where: base)
        default: return false
        }
    }
}

// MARK: Expressions within predicates

// Foundation on Linux has no node for a nested predicate.

extension PredicateExpressions.ExpressionEvaluate: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard let inner = try? expression.evaluate(PredicateBindings()) else {
            throw translation.failure(self, "the expression must be known beforehand")
        }
        repeat translation.bind(
            each inner.variable, to: try translation.expression(each input), name: translation.sourceText(each input))
        return .expression(try translation.expression(inner.expression))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        var inputs: [String] = []
        repeat inputs.append(translation.sourceText(each input))
        return "\(translation.sourceText(expression)).evaluate(\(inputs.joined(separator: ", ")))"
    }
}
