public import Foundation

/// Code within an expression. Two are equal when they are the same block.
public final class ExpressionBlock: Hashable, @unchecked Sendable {
    // Unchecked: `body` never changes; it runs on the thread that evaluates, as the host asks for it.

    /// Computes the value from the evaluated object, the values of the arguments, and whatever the evaluation was given besides.
    public let body: (Any?, [Any?], NSMutableDictionary?) throws -> Any?

    /// Wraps code.
    ///
    /// - Parameter body: Computes the value from the evaluated object, the values of the arguments, and whatever the evaluation was given besides.
    public init(_ body: @escaping (Any?, [Any?], NSMutableDictionary?) throws -> Any?) {
        self.body = body
    }

    /// Compares by identity.
    public static func == (left: ExpressionBlock, right: ExpressionBlock) -> Bool {
        left === right
    }

    /// Hashes by identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// Code that compares the two sides of a comparison. Two are equal when they are the same code.
///
/// It stands for the selectors of Apple's platforms: `NSComparisonPredicate(leftExpression:rightExpression:customComparator:)`.
public final class PredicateComparator: Hashable, @unchecked Sendable {
    // Unchecked: `matches` never changes; it runs on the thread that evaluates, as the host asks for it.

    /// Answers whether the left value matches the right one.
    public let matches: (Any?, Any?) throws -> Bool

    /// Wraps code.
    ///
    /// - Parameter matches: Answers whether the left value matches the right one.
    public init(_ matches: @escaping (Any?, Any?) throws -> Bool) {
        self.matches = matches
    }

    /// Compares by identity.
    public static func == (left: PredicateComparator, right: PredicateComparator) -> Bool {
        left === right
    }

    /// Hashes by identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
