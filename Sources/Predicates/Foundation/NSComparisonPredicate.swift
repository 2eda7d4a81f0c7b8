public import Foundation

/// A predicate that compares two expressions.
///
/// It has the name and the members of Apple's class. The class of that name in Foundation on Linux is not usable and cannot be
/// subclassed; a file that also imports Foundation resolves the ambiguity with `typealias NSComparisonPredicate =
/// Predicates.NSComparisonPredicate`.
///
/// An instance is immutable and may be used on any thread. A subclass may override ``FormatPredicate/evaluate(with:)``, which fetches do not
/// call: they compile the comparison.
///
/// Follows `NSComparisonPredicate` in Apple's documentation of Foundation.
open class NSComparisonPredicate: FormatPredicate {
    override init(_ evaluator: PredicateEvaluator) { super.init(evaluator) }

    /// Creates a comparison.
    ///
    /// - Parameters:
    ///   - lhs: The left side.
    ///   - rhs: The right side.
    ///   - modifier: The way to compare the elements of a collection on the left side.
    ///   - type: The operator. ``Operator/customSelector`` is an error when evaluated, because there is nothing to call: use
    ///     ``init(leftExpression:rightExpression:modifier:customComparator:)``.
    ///   - options: The options for comparing strings.
    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier, type: Operator, options: Options = []
    ) {
        super.init(Self.evaluator(left: lhs, right: rhs, modifier: modifier, operator: type.treeOperator, options: options))
    }

    /// Creates a comparison by a closure; Apple's class takes a selector instead.
    ///
    /// - Parameters:
    ///   - lhs: The left side.
    ///   - rhs: The right side.
    ///   - modifier: The way to compare the elements of a collection on the left side.
    ///   - comparator: Returns whether a left value matches a right one; either may be nil.
    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier = .direct,
        customComparator comparator: @escaping (Any?, Any?) throws -> Bool
    ) {
        super.init(
            Self.evaluator(left: lhs, right: rhs, modifier: modifier, operator: .comparator(PredicateComparator(comparator)), options: []))
    }

    /// Decodes a comparison from an archive of ``FormatPredicate/encode(with:)``.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    private static func evaluator(
        left: NSExpression, right: NSExpression, modifier: Modifier, operator: PredicateComparison.Operator, options: Options
    ) -> PredicateEvaluator {
        PredicateEvaluator(
            InvalidPredicateError.catching {
                .comparison(
                    PredicateComparison(
                        left: try left.tree(), operator: `operator`, right: try right.tree(), modifier: modifier.treeModifier,
                        options: PredicateComparison.Options(rawValue: Int(truncatingIfNeeded: options.rawValue))))
            })
    }

    /// The comparison. Stops the program when there is none, because a side or a format could not be parsed.
    private var comparison: PredicateComparison {
        switch evaluator.result {
        case .success(.comparison(let comparison)): return comparison
        case .success(let tree): stopProgram("\(tree) is not a comparison")
        case .failure(let error): stopProgram("\(error)")
        }
    }

    /// The left side.
    open var leftExpression: NSExpression { NSExpression(tree: comparison.left) }

    /// The right side.
    open var rightExpression: NSExpression { NSExpression(tree: comparison.right) }

    /// The way to compare the elements of a collection on the left side.
    open var comparisonPredicateModifier: Modifier {
        switch comparison.modifier {
        case .direct: .direct
        case .all: .all
        case .any: .any
        }
    }

    /// The operator.
    open var predicateOperatorType: Operator { Operator(comparison.operator) }

    /// The options for comparing strings.
    open var options: Options { Options(rawValue: UInt(truncatingIfNeeded: comparison.options.rawValue)) }

    /// The closure that compares, if there is one; Apple's class has a selector.
    public var customComparator: ((Any?, Any?) throws -> Bool)? {
        if case .comparator(let comparator) = comparison.operator { return comparator.matches }
        return nil
    }

    /// The ways to compare the elements of a collection on the left side.
    public enum Modifier: UInt, Sendable {
        /// The sides are compared directly.
        case direct = 0
        /// `ALL`: every element must match.
        case all = 1
        /// `ANY`: some element must match.
        case any = 2

        fileprivate var treeModifier: PredicateComparison.Modifier {
            switch self {
            case .direct: .direct
            case .all: .all
            case .any: .any
            }
        }
    }

    /// The options for comparing strings.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The raw value.
        public let rawValue: UInt

        /// Creates options from a raw value.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// `[c]`: ignores case.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: ignores diacritics.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the strings are normalized already.
        public static let normalized = Options(rawValue: 4)
    }

    /// The comparison operators.
    public enum Operator: UInt, Sendable {
        /// `<`
        case lessThan = 0
        /// `<=`
        case lessThanOrEqualTo = 1
        /// `>`
        case greaterThan = 2
        /// `>=`
        case greaterThanOrEqualTo = 3
        /// `==`
        case equalTo = 4
        /// `!=`
        case notEqualTo = 5
        /// `MATCHES`
        case matches = 6
        /// `LIKE`
        case like = 7
        /// `BEGINSWITH`
        case beginsWith = 8
        /// `ENDSWITH`
        case endsWith = 9
        /// `IN`
        case `in` = 10
        /// A custom comparator, or a comparison known by name only.
        case customSelector = 11
        /// `CONTAINS`
        case contains = 99
        /// `BETWEEN`
        case between = 100

        init(_ operation: PredicateComparison.Operator) {
            switch operation {
            case .lessThan: self = .lessThan
            case .lessThanOrEqual: self = .lessThanOrEqualTo
            case .greaterThan: self = .greaterThan
            case .greaterThanOrEqual: self = .greaterThanOrEqualTo
            case .equal: self = .equalTo
            case .notEqual: self = .notEqualTo
            case .matches: self = .matches
            case .like: self = .like
            case .beginsWith: self = .beginsWith
            case .endsWith: self = .endsWith
            case .isIn: self = .in
            case .contains: self = .contains
            case .between: self = .between
            case .custom, .comparator: self = .customSelector
            }
        }

        var treeOperator: PredicateComparison.Operator {
            switch self {
            case .lessThan: .lessThan
            case .lessThanOrEqualTo: .lessThanOrEqual
            case .greaterThan: .greaterThan
            case .greaterThanOrEqualTo: .greaterThanOrEqual
            case .equalTo: .equal
            case .notEqualTo: .notEqual
            case .matches: .matches
            case .like: .like
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .in: .isIn
            case .customSelector: .custom("CUSTOMSELECTOR")
            case .contains: .contains
            case .between: .between
            }
        }
    }
}
