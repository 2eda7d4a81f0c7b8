import Foundation

/// A predicate that compares two expressions.
///
/// It has the name and the members of Apple's class. Foundation on Linux has a class of that name too, which can do nothing and cannot be
/// subclassed; a file that imports Foundation besides says which it means: `typealias NSComparisonPredicate = Predicates.NSComparisonPredicate`.
///
/// An instance never changes and may be used on any thread.
///
/// Follows `NSComparisonPredicate` in Apple's documentation of Foundation.
public final class NSComparisonPredicate: FormatPredicate {
    /// Makes a comparison.
    ///
    /// - Parameters:
    ///   - lhs: The left side.
    ///   - rhs: The right side.
    ///   - modifier: Whether and how the elements of a collection on the left are compared one by one.
    ///   - type: How the sides are compared. ``Operator/customSelector`` has nothing to call and is an error when evaluating:
    ///     use ``init(leftExpression:rightExpression:modifier:customComparator:)``.
    ///   - options: How text is compared.
    public convenience init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier, type: Operator, options: Options = []
    ) {
        self.init(left: lhs, right: rhs, modifier: modifier, operator: type.treeOperator, options: options)
    }

    /// Makes a comparison by code, where Apple's class takes a selector.
    ///
    /// - Parameters:
    ///   - lhs: The left side.
    ///   - rhs: The right side.
    ///   - modifier: Whether and how the elements of a collection on the left are compared one by one.
    ///   - comparator: Answers whether a left value matches a right one; either may be nil.
    public convenience init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier = .direct,
        customComparator comparator: @escaping (Any?, Any?) throws -> Bool
    ) {
        self.init(left: lhs, right: rhs, modifier: modifier, operator: .comparator(PredicateComparator(comparator)), options: [])
    }

    private convenience init(
        left: NSExpression, right: NSExpression, modifier: Modifier, operator: PredicateComparison.Operator, options: Options
    ) {
        self.init(
            PredicateEvaluator(
                InvalidPredicateError.catching {
                    .comparison(
                        PredicateComparison(
                            left: try left.tree(), operator: `operator`, right: try right.tree(), modifier: modifier.treeModifier,
                            options: PredicateComparison.Options(rawValue: Int(truncatingIfNeeded: options.rawValue))))
                }))
    }

    /// The comparison. Stops the program when there is none, because a side or a format could not be read.
    private var comparison: PredicateComparison {
        switch evaluator.result {
        case .success(.comparison(let comparison)): return comparison
        case .success(let tree): preconditionFailure("\(tree) is no comparison")
        case .failure(let error): preconditionFailure("\(error)")
        }
    }

    /// The left side.
    public var leftExpression: NSExpression { NSExpression(tree: comparison.left) }

    /// The right side.
    public var rightExpression: NSExpression { NSExpression(tree: comparison.right) }

    /// Whether and how the elements of a collection on the left are compared one by one.
    public var comparisonPredicateModifier: Modifier {
        switch comparison.modifier {
        case .direct: .direct
        case .all: .all
        case .any: .any
        }
    }

    /// How the sides are compared.
    public var predicateOperatorType: Operator { Operator(comparison.operator) }

    /// How text is compared.
    public var options: Options { Options(rawValue: UInt(truncatingIfNeeded: comparison.options.rawValue)) }

    /// The code that compares, when there is some, where Apple's class has a selector.
    public var customComparator: ((Any?, Any?) throws -> Bool)? {
        if case .comparator(let comparator) = comparison.operator { return comparator.matches }
        return nil
    }

    /// Whether and how the elements of a collection on the left are compared one by one.
    public enum Modifier: UInt, Sendable {
        /// The sides are compared as they are.
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

    /// How text is compared.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Makes options from bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// `[c]`: upper and lower case are the same.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: letters are the same with and without their marks.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: text has been normalized beforehand.
        public static let normalized = Options(rawValue: 4)
    }

    /// How the sides are compared.
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
        /// Code of the host's own, or a comparison known by name only.
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
