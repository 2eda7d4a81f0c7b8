#if !canImport(Darwin)
public import Foundation

// Foundation has these three nodes on Apple's platforms only; elsewhere `#Predicate` generates calls to missing functions. They are
// declared here, so that a predicate that compares strings compiles wherever this module, or CoreData, is imported.

/// A method of a text that takes another text and that `#Predicate` may call.
public protocol PredicateTextMethod: Sendable {
    /// The result of the method.
    associatedtype Output
    /// The name of the method.
    static var name: String { get }
    /// Calls the method as Foundation does on Apple's platforms.
    static func call(_ root: some StringProtocol, _ other: some StringProtocol) -> Output
}

extension PredicateExpressions {
    /// A call of a method of a text with another text in `#Predicate`.
    public struct TextMethodCall<Method: PredicateTextMethod, Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The result of the method.
        public typealias Output = Method.Output

        /// The string.
        public let root: Root
        /// The other text.
        public let other: Other

        /// Creates a node.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Evaluates the node as Foundation does on Apple's platforms.
        public func evaluate(_ bindings: PredicateBindings) throws -> Output {
            Method.call(try root.evaluate(bindings), try other.evaluate(bindings))
        }
    }

    /// Whether a text contains another, as users perceive it.
    public enum LocalizedStandardContains: PredicateTextMethod {
        /// The name of the method.
        public static var name: String { "localizedStandardContains" }
        /// Whether the first text contains the second.
        public static func call(_ root: some StringProtocol, _ other: some StringProtocol) -> Bool { root.localizedStandardContains(other) }
    }

    /// The order of two texts, ignoring case.
    public enum CaseInsensitiveCompare: PredicateTextMethod {
        /// The name of the method.
        public static var name: String { "caseInsensitiveCompare" }
        /// Returns the order of the first text relative to the second.
        public static func call(_ root: some StringProtocol, _ other: some StringProtocol) -> ComparisonResult {
            root.caseInsensitiveCompare(other)
        }
    }

    /// The order of two texts in the language of the user.
    public enum LocalizedCompare: PredicateTextMethod {
        /// The name of the method.
        public static var name: String { "localizedCompare" }
        /// Returns the order of the first text relative to the second.
        public static func call(_ root: some StringProtocol, _ other: some StringProtocol) -> ComparisonResult {
            root.localizedCompare(other)
        }
    }

    /// `text.localizedStandardContains(other)` in `#Predicate`.
    public typealias StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression> =
        TextMethodCall<LocalizedStandardContains, Root, Other> where Root.Output: StringProtocol, Other.Output: StringProtocol
    /// `text.caseInsensitiveCompare(other)` in `#Predicate`.
    public typealias StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression> =
        TextMethodCall<CaseInsensitiveCompare, Root, Other> where Root.Output: StringProtocol, Other.Output: StringProtocol
    /// `text.localizedCompare(other)` in `#Predicate`.
    public typealias StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression> =
        TextMethodCall<LocalizedCompare, Root, Other> where Root.Output: StringProtocol, Other.Output: StringProtocol

    /// Builds the expression for `text.localizedStandardContains(other)` in `#Predicate`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { .init(root: root, other: other) }

    /// Creates the node of `text.caseInsensitiveCompare(other)`; called by `#Predicate`.
    public static func build_caseInsensitiveCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> { .init(root: root, other: other) }

    /// Builds the expression for `text.localizedCompare(other)` in `#Predicate`.
    public static func build_localizedCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> { .init(root: root, other: other) }
}

extension PredicateExpressions.TextMethodCall: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.TextMethodCall: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.TextMethodCall: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif
