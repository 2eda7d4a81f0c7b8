#if !canImport(Darwin)
public import Foundation

// Foundation has these three nodes on Apple's platforms only; elsewhere `#Predicate` writes calls that lead nowhere. With them here, a
// predicate that compares text compiles wherever this module, or CoreData, is imported.

extension PredicateExpressions {
    /// `text.localizedStandardContains(other)` in `#Predicate`.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// Whether the text contains the other.
        public typealias Output = Bool

        /// The text.
        public let root: Root
        /// What is looked for.
        public let other: Other

        /// Makes a node.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Evaluates the node as Foundation does on Apple's platforms.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try root.evaluate(bindings).localizedStandardContains(try other.evaluate(bindings))
        }
    }

    /// What `#Predicate` calls for `text.localizedStandardContains(other)`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
        StringLocalizedStandardContains(root: root, other: other)
    }

    /// `text.caseInsensitiveCompare(other)` in `#Predicate`.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// How the texts lie to each other.
        public typealias Output = ComparisonResult

        /// The text.
        public let root: Root
        /// The text it is compared with.
        public let other: Other

        /// Makes a node.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Evaluates the node as Foundation does on Apple's platforms.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).caseInsensitiveCompare(try other.evaluate(bindings))
        }
    }

    /// What `#Predicate` calls for `text.caseInsensitiveCompare(other)`.
    public static func build_caseInsensitiveCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
        StringCaseInsensitiveCompare(root: root, other: other)
    }

    /// `text.localizedCompare(other)` in `#Predicate`.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// How the texts lie to each other.
        public typealias Output = ComparisonResult

        /// The text.
        public let root: Root
        /// The text it is compared with.
        public let other: Other

        /// Makes a node.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Evaluates the node as Foundation does on Apple's platforms.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).localizedCompare(try other.evaluate(bindings))
        }
    }

    /// What `#Predicate` calls for `text.localizedCompare(other)`.
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
