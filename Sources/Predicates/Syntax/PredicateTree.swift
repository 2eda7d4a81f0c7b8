public import Foundation

/// A predicate as a tree: the representation of format strings, compound predicates and builders, for all code that processes predicates.
///
/// The tree is a value and may be shared between threads. ``PredicateTree/description`` prints it as a format string.
public indirect enum PredicateTree: Hashable, Sendable {
    /// Matches everything: `TRUEPREDICATE`.
    case `true`
    /// Matches nothing: `FALSEPREDICATE`.
    case `false`
    /// Compares two expressions.
    case comparison(PredicateComparison)
    /// Matches when every part matches; always for no parts.
    case and([PredicateTree])
    /// Matches when a part matches; never for no parts.
    case or([PredicateTree])
    /// Matches when its part is known not to match.
    case not(PredicateTree)
    /// An opaque predicate, such as `NSPredicate(block:)`.
    case block(PredicateBlock)

    /// Returns a comparison.
    ///
    /// - Parameters:
    ///   - left: The left side.
    ///   - operator: The operator.
    ///   - right: The right side.
    ///   - modifier: The way to compare the elements of a collection on the left side.
    ///   - options: The options for comparing strings.
    /// - Returns: The tree.
    public static func compare(
        _ left: ExpressionTree, _ operator: PredicateComparison.Operator, _ right: ExpressionTree,
        modifier: PredicateComparison.Modifier = .direct, options: PredicateComparison.Options = []
    ) -> PredicateTree {
        .comparison(PredicateComparison(left: left, operator: `operator`, right: right, modifier: modifier, options: options))
    }
}

/// A comparison of two expressions.
public struct PredicateComparison: Hashable, Sendable {
    /// The comparison operators.
    public enum Operator: Hashable, Sendable {
        /// `<`
        case lessThan
        /// `<=`
        case lessThanOrEqual
        /// `>`
        case greaterThan
        /// `>=`
        case greaterThanOrEqual
        /// `==`
        case equal
        /// `!=`
        case notEqual
        /// `MATCHES`: a regular expression matches the whole string.
        case matches
        /// `LIKE`: a pattern with `?` for one character and `*` for any number matches the whole string.
        case like
        /// `BEGINSWITH`
        case beginsWith
        /// `ENDSWITH`
        case endsWith
        /// `IN`: the left side is an element of the right side, or a substring of it when both are strings.
        case isIn
        /// `CONTAINS`: the right side is an element of the left side, or a substring of it when both are strings.
        case contains
        /// `BETWEEN`: the right side holds the lower and the upper bound.
        case between
        /// A comparison known by name only, such as `UTI-CONFORMS-TO`. It can be parsed and printed; compiling it is an error.
        case custom(String)
        /// A comparison by a closure. It is evaluated in memory only, and format strings cannot represent it.
        case comparator(PredicateComparator)
    }

    /// The ways to compare the elements of a collection on the left side.
    public enum Modifier: Hashable, Sendable {
        /// The sides are compared directly.
        case direct
        /// `ALL`: every element must match; true of an empty collection.
        case all
        /// `ANY` or `SOME`: at least one element must match; false of an empty collection.
        case any
    }

    /// The options for comparing strings.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The raw value.
        public let rawValue: Int

        /// Creates options from a raw value, with the bits of `NSComparisonPredicate.Options` on Apple's platforms.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// `[c]`: ignores case.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: ignores diacritics.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the strings are normalized already and compared unchanged.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: case and diacritics follow the current locale.
        public static let localeSensitive = Options(rawValue: 8)
    }

    /// The left side.
    public var left: ExpressionTree
    /// The operator.
    public var `operator`: Operator
    /// The right side.
    public var right: ExpressionTree
    /// The way to compare the elements of a collection on the left side.
    public var modifier: Modifier
    /// The options for comparing strings.
    public var options: Options

    /// Creates a comparison.
    ///
    /// - Parameters:
    ///   - left: The left side.
    ///   - operator: The operator.
    ///   - right: The right side.
    ///   - modifier: The way to compare the elements of a collection on the left side.
    ///   - options: The options for comparing strings.
    public init(
        left: ExpressionTree, operator: Operator, right: ExpressionTree, modifier: Modifier = .direct, options: Options = []
    ) {
        self.left = left
        self.operator = `operator`
        self.right = right
        self.modifier = modifier
        self.options = options
    }
}

/// An opaque predicate. Equality is the identity of the predicate object.
public struct PredicateBlock: Hashable, @unchecked Sendable {
    // Unchecked: corelibs' predicates are immutable; a block runs on the evaluating thread, as the host requests.

    /// The predicate.
    public let predicate: NSPredicate

    /// Wraps a predicate.
    public init(_ predicate: NSPredicate) {
        self.predicate = predicate
    }

    /// Compares by identity.
    public static func == (left: PredicateBlock, right: PredicateBlock) -> Bool {
        left.predicate === right.predicate
    }

    /// Hashes by identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(predicate))
    }
}
