#if !canImport(Darwin)
public import Foundation

// Foundation has these three nodes on Apple's platforms only; elsewhere `#Predicate` generates calls to missing functions. They are
// declared here, so that a predicate that compares strings compiles wherever this module, or CoreData, is imported.

extension PredicateExpressions {
    /// The node of `text.localizedStandardContains(other)` in `#Predicate`.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// Whether the string contains the other.
        public typealias Output = Bool

        /// The string.
        public let root: Root
        /// The string to search for.
        public let other: Other

        /// Creates a node.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Evaluates the node like Foundation on Apple's platforms.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try root.evaluate(bindings).localizedStandardContains(try other.evaluate(bindings))
        }
    }

    /// Creates the node of `text.localizedStandardContains(other)`; called by `#Predicate`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
        StringLocalizedStandardContains(root: root, other: other)
    }

    /// The node of `text.caseInsensitiveCompare(other)` in `#Predicate`.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The order of the strings.
        public typealias Output = ComparisonResult

        /// The string.
        public let root: Root
        /// The string to compare with.
        public let other: Other

        /// Creates a node.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Evaluates the node like Foundation on Apple's platforms.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).caseInsensitiveCompare(try other.evaluate(bindings))
        }
    }

    /// Creates the node of `text.caseInsensitiveCompare(other)`; called by `#Predicate`.
    public static func build_caseInsensitiveCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
        StringCaseInsensitiveCompare(root: root, other: other)
    }

    /// The node of `text.localizedCompare(other)` in `#Predicate`.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The order of the strings.
        public typealias Output = ComparisonResult

        /// The string.
        public let root: Root
        /// The string to compare with.
        public let other: Other

        /// Creates a node.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Evaluates the node like Foundation on Apple's platforms.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).localizedCompare(try other.evaluate(bindings))
        }
    }

    /// Creates the node of `text.localizedCompare(other)`; called by `#Predicate`.
    public static func build_localizedCompare<Root, Other>(_ root: Root, _ other: Other) -> StringLocalizedCompare<Root, Other> {
        StringLocalizedCompare(root: root, other: other)
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif
