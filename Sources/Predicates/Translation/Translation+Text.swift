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

/// A node that compares the order of two strings.
///
/// Only equality has a counterpart: the language orders strings by code points, these methods by locale.
protocol TextOrderExpression {
    /// Returns the tree that matches exactly when the strings are equal.
    func sameness(by translation: PredicateTranslation) throws -> PredicateTree
}

/// The reason why the order of strings has no counterpart.
private let onlySameness = "only == and != with ComparisonResult.orderedSame have one, as the language orders text by code points"

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatableExpression, WrittenExpression, TextOrderExpression {
    func sameness(by translation: PredicateTranslation) throws -> PredicateTree {
        .compare(try translation.expression(root), .equal, try translation.expression(other), options: .caseInsensitive)
    }

    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        throw translation.failure(self, onlySameness)
    }

    func written(by translation: PredicateTranslation) -> String {
        "\(translation.written(root)).caseInsensitiveCompare(\(translation.written(other)))"
    }
}

extension PredicateExpressions.StringLocalizedCompare: TranslatableExpression, WrittenExpression, TextOrderExpression {
    func sameness(by translation: PredicateTranslation) throws -> PredicateTree {
        .compare(try translation.expression(root), .equal, try translation.expression(other), options: .localeSensitive)
    }

    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        throw translation.failure(self, onlySameness)
    }

    func written(by translation: PredicateTranslation) -> String {
        "\(translation.written(root)).localizedCompare(\(translation.written(other)))"
    }
}
