internal import Foundation

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard Base.Output.self is any StringProtocol.Type, Prefix.Output.self is any StringProtocol.Type else {
            throw translation.failure(self, "only a text can be asked how it begins")
        }
        return try translation.comparison(base, .beginsWith, prefix, negated: negated)
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(base)).starts(with: \(translation.sourceText(prefix)))"
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        guard Base.Output.self is any StringProtocol.Type, Other.Output.self is any StringProtocol.Type else {
            throw translation.failure(self, "only a text can be asked for a part of it")
        }
        return try translation.comparison(base, .contains, other, negated: negated)
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(base)).contains(\(translation.sourceText(other)))"
    }
}

extension PredicateExpressions.StringContainsRegex: SourceRepresentable {
    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(subject)).contains(\(translation.sourceText(regex)))"
    }
}

extension PredicateTranslation {
    /// Returns a comparison of the translations of two nodes.
    fileprivate func comparison(
        _ left: some PredicateExpression, _ operation: PredicateComparison.Operator, _ right: some PredicateExpression,
        options: PredicateComparison.Options = [], negated: Bool
    ) throws -> Translated {
        .predicate(PredicateTree.compare(try expression(left), operation, try expression(right), options: options).negated(negated))
    }
}

// MARK: Methods of text

/// The methods of text that have a counterpart.
enum TextMethod: String {
    case localizedStandardContains
    case caseInsensitiveCompare
    case localizedCompare

    /// How the counterpart compares texts.
    fileprivate var options: PredicateComparison.Options {
        switch self {
        case .localizedStandardContains: [.caseInsensitive, .diacriticInsensitive, .localeSensitive]
        case .caseInsensitiveCompare: .caseInsensitive
        case .localizedCompare: .localeSensitive
        }
    }
}

/// A node that calls a method of a text with another text.
///
/// Of the results of comparing two texts, only equality has a counterpart: the predicate language orders text by code points, these methods by the
/// rules of a language.
protocol TextMethodExpression: TranslatableExpression, SourceRepresentable, PredicateExpression {
    associatedtype Root: PredicateExpression
    associatedtype Other: PredicateExpression
    var root: Root { get }
    var other: Other { get }
    /// The name of the method.
    static var name: String { get }
}

extension TextMethodExpression {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        switch TextMethod(rawValue: Self.name) {
        case .localizedStandardContains?:
            return try translation.comparison(
                root, .contains, other, options: TextMethod.localizedStandardContains.options, negated: negated)
        case .caseInsensitiveCompare?, .localizedCompare?:
            throw translation.failure(
                self, "only == and != with ComparisonResult.orderedSame have one, as the language orders text by code points")
        case nil: throw translation.failure(self, "the language has no such method")
        }
    }

    /// Returns the tree that matches exactly when the texts are equal, for a method that compares them.
    func equality(by translation: PredicateTranslation) throws -> PredicateTree? {
        guard let method = TextMethod(rawValue: Self.name), method != .localizedStandardContains else { return nil }
        return .compare(try translation.expression(root), .equal, try translation.expression(other), options: method.options)
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        "\(translation.sourceText(root)).\(Self.name)(\(translation.sourceText(other)))"
    }
}

#if canImport(Darwin)
extension PredicateExpressions.StringLocalizedStandardContains: TextMethodExpression {
    static var name: String { "localizedStandardContains" }
}
extension PredicateExpressions.StringCaseInsensitiveCompare: TextMethodExpression { static var name: String { "caseInsensitiveCompare" } }
extension PredicateExpressions.StringLocalizedCompare: TextMethodExpression { static var name: String { "localizedCompare" } }
#else
extension PredicateExpressions.TextMethodCall: TextMethodExpression { static var name: String { Method.name } }
#endif
