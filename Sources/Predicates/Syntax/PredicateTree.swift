public import Foundation

/// A predicate, as a tree: what a format string, a compound predicate or a builder becomes, and what every reader works from.
///
/// The tree is a value, safe to share between threads. ``PredicateTree/description`` prints it as a format string.
public indirect enum PredicateTree: Hashable, Sendable {
    /// Matches everything: `TRUEPREDICATE`.
    case `true`
    /// Matches nothing: `FALSEPREDICATE`.
    case `false`
    /// Compares two expressions.
    case comparison(PredicateComparison)
    /// Matches when every part matches; with no parts, always.
    case and([PredicateTree])
    /// Matches when some part matches; with no parts, never.
    case or([PredicateTree])
    /// Matches when its part is known not to match.
    case not(PredicateTree)
    /// A predicate that only its own code understands, such as `NSPredicate(block:)`.
    case block(PredicateBlock)

    /// A comparison, spelled shortly.
    ///
    /// - Parameters:
    ///   - left: The left side.
    ///   - operator: How the sides are compared.
    ///   - right: The right side.
    ///   - modifier: Whether the left side is a collection whose elements are compared one by one.
    ///   - options: How text is compared.
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
    /// How two values are compared.
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
        /// `MATCHES`: a regular expression matches the whole text.
        case matches
        /// `LIKE`: a pattern in which `?` stands for one character and `*` for any number matches the whole text.
        case like
        /// `BEGINSWITH`
        case beginsWith
        /// `ENDSWITH`
        case endsWith
        /// `IN`: the left side is an element of the right side, or a part of it when both are text.
        case isIn
        /// `CONTAINS`: the right side is an element of the left side, or a part of it when both are text.
        case contains
        /// `BETWEEN`: the right side holds the lowest and the highest value.
        case between
        /// A comparison known by a name only, such as `UTI-CONFORMS-TO`. It can be held and printed; compiling it is an error.
        case custom(String)
        /// A comparison by code of the host's own. It is evaluated in memory only, and no format string can hold it.
        case comparator(PredicateComparator)
    }

    /// Whether and how the elements of a collection on the left side are compared one by one.
    public enum Modifier: Hashable, Sendable {
        /// The sides are compared as they are.
        case direct
        /// `ALL`: every element must match; true of an empty collection.
        case all
        /// `ANY` or `SOME`: at least one element must match; false of an empty collection.
        case any
    }

    /// How text is compared.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Makes options from bits, the same as `NSComparisonPredicate.Options` has on Apple's platforms.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// `[c]`: upper and lower case are the same.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: letters are the same with and without their marks.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: text has been normalized beforehand; compare it as it is.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: case and marks follow the current locale.
        public static let localeSensitive = Options(rawValue: 8)
    }

    /// The left side.
    public var left: ExpressionTree
    /// How the sides are compared.
    public var `operator`: Operator
    /// The right side.
    public var right: ExpressionTree
    /// Whether the left side is a collection whose elements are compared one by one.
    public var modifier: Modifier
    /// How text is compared.
    public var options: Options

    /// Makes a comparison.
    ///
    /// - Parameters:
    ///   - left: The left side.
    ///   - operator: How the sides are compared.
    ///   - right: The right side.
    ///   - modifier: Whether the left side is a collection whose elements are compared one by one.
    ///   - options: How text is compared.
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

/// A predicate that only its own code understands. Two are equal when they hold the same predicate object.
public struct PredicateBlock: Hashable, @unchecked Sendable {
    // Unchecked: corelibs' predicates are immutable; the block inside runs on the thread that evaluates, as the host asks for it.

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
