public import Foundation

/// A block in an expression. Equality is identity.
public final class ExpressionBlock: Hashable, @unchecked Sendable {
    // Unchecked: `body` never changes; it runs on the evaluating thread, as the host requests.

    /// Computes the value from the evaluated object, the values of the arguments, and the context of the evaluation.
    public let body: (Any?, [Any?], NSMutableDictionary?) throws -> Any?

    /// Wraps a closure.
    ///
    /// - Parameter body: Computes the value from the evaluated object, the values of the arguments, and the context of the evaluation.
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

/// A closure that compares the two sides of a comparison. Equality is identity.
///
/// It replaces the selectors of Apple's platforms: `NSComparisonPredicate(leftExpression:rightExpression:customComparator:)`.
public final class PredicateComparator: Hashable, @unchecked Sendable {
    // Unchecked: `matches` never changes; it runs on the evaluating thread, as the host requests.

    /// Returns whether the left value matches the right one.
    public let matches: (Any?, Any?) throws -> Bool

    /// Wraps a closure.
    ///
    /// - Parameter matches: Returns whether the left value matches the right one.
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
