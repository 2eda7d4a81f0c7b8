internal import Foundation

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression, WrittenExpression {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard Base.Output.self is any StringProtocol.Type, Prefix.Output.self is any StringProtocol.Type else {
            throw translation.failure(self, "only a text can be asked how it begins")
        }
        let tree = PredicateTree.compare(try translation.expression(base), .beginsWith, try translation.expression(prefix))
        return .predicate(tree.negated(negated))
    }

    func written(by translation: PredicateTranslation) -> String {
        "\(translation.written(base)).starts(with: \(translation.written(prefix)))"
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression, WrittenExpression {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard Base.Output.self is any StringProtocol.Type, Other.Output.self is any StringProtocol.Type else {
            throw translation.failure(self, "only a text can be asked for a part of it")
        }
        let tree = PredicateTree.compare(try translation.expression(base), .contains, try translation.expression(other))
        return .predicate(tree.negated(negated))
    }

    func written(by translation: PredicateTranslation) -> String {
        "\(translation.written(base)).contains(\(translation.written(other)))"
    }
}

extension PredicateExpressions.StringContainsRegex: WrittenExpression {
    func written(by translation: PredicateTranslation) -> String {
        "\(translation.written(subject)).contains(\(translation.written(regex)))"
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression, WrittenExpression {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let tree = PredicateTree.compare(
            try translation.expression(root), .contains, try translation.expression(other),
            options: [.caseInsensitive, .diacriticInsensitive, .localeSensitive])
        return .predicate(tree.negated(negated))
    }

    func written(by translation: PredicateTranslation) -> String {
        "\(translation.written(root)).localizedStandardContains(\(translation.written(other)))"
    }
}

/// A node that says how two texts lie to each other. It has a counterpart only where the answer is compared with a constant.
protocol TextOrderExpression {
    /// The comparison that says that the texts lie so.
    func comparison(by translation: PredicateTranslation, _ operation: PredicateComparison.Operator) throws -> PredicateTree
}

extension TextOrderExpression {
    /// The answer as a number, where it is not compared with a constant.
    fileprivate func number(by translation: PredicateTranslation) throws -> ExpressionTree {
        .conditional(
            try comparison(by: translation, .equal), .constant(.int64(0)),
            .conditional(try comparison(by: translation, .lessThan), .constant(.int64(-1)), .constant(.int64(1))))
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatableExpression, WrittenExpression, TextOrderExpression {
    func comparison(by translation: PredicateTranslation, _ operation: PredicateComparison.Operator) throws -> PredicateTree {
        .compare(try translation.expression(root), operation, try translation.expression(other), options: .caseInsensitive)
    }

    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .expression(try number(by: translation))
    }

    func written(by translation: PredicateTranslation) -> String {
        "\(translation.written(root)).caseInsensitiveCompare(\(translation.written(other)))"
    }
}

extension PredicateExpressions.StringLocalizedCompare: TranslatableExpression, WrittenExpression, TextOrderExpression {
    func comparison(by translation: PredicateTranslation, _ operation: PredicateComparison.Operator) throws -> PredicateTree {
        .compare(try translation.expression(root), operation, try translation.expression(other), options: .localeSensitive)
    }

    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .expression(try number(by: translation))
    }

    func written(by translation: PredicateTranslation) -> String {
        "\(translation.written(root)).localizedCompare(\(translation.written(other)))"
    }
}
