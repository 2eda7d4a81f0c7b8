public import Foundation

/// A custom kind of predicate that can be converted to a tree.
///
/// Conform a subclass of `NSPredicate` to it, and ``Foundation/NSPredicate/tree()`` converts it, alone or within a compound predicate.
public protocol PredicateConvertible {
    /// Returns the tree.
    ///
    /// - Throws: An error when there is none.
    func predicateTree() throws -> PredicateTree
}

extension NSPredicate {
    /// Converts a predicate of any kind to a tree.
    ///
    /// Compound predicates are converted part by part. A block, and a subclass that is not ``PredicateConvertible``, becomes an opaque
    /// ``PredicateTree/block(_:)``.
    ///
    /// - Returns: The tree.
    /// - Throws: The ``InvalidPredicateError`` of a format that could not be parsed, in this predicate or a part.
    public func tree() throws -> PredicateTree {
        try tree(depth: 0)
    }

    /// The format string of a predicate of any kind: `predicateFormat` of a compound predicate is wrong in Foundation on Linux.
    ///
    /// For a predicate whose format could not be parsed, the error's message.
    public var formatString: String {
        do {
            return try tree().description
        } catch {
            return "\(error)"
        }
    }

    /// The error of a predicate, or a part, that could not be parsed; or nil.
    public var parseError: InvalidPredicateError? {
        do {
            _ = try tree()
            return nil
        } catch {
            return error as? InvalidPredicateError
        }
    }

    private func tree(depth: Int) throws -> PredicateTree {
        guard depth <= PredicateLimits.nesting else {
            throw InvalidPredicateError(kind: .tooDeep, message: "The predicate nests deeper than \(PredicateLimits.nesting) levels")
        }
        switch self {
        case let predicate as any PredicateConvertible:
            return try predicate.predicateTree()
        case let compound as NSCompoundPredicate:
            let parts = try compound.subpredicates.map { try $0.tree(depth: depth + 1) }
            switch compound.compoundPredicateType {
            case .not:
                guard parts.count == 1 else {
                    throw InvalidPredicateError(kind: .unsupported, message: "A NOT predicate has \(parts.count) parts instead of one")
                }
                return .not(parts[0])
            case .and: return parts.count == 1 ? parts[0] : parts.isEmpty ? .true : .and(parts)
            case .or: return parts.count == 1 ? parts[0] : parts.isEmpty ? .false : .or(parts)
            @unknown default: throw InvalidPredicateError(kind: .unsupported, message: "A compound predicate is of an unknown type")
            }
        case _ where type(of: self) != NSPredicate.self: return .block(PredicateBlock(self))
        case _ where isEqual(NSPredicate(value: true)): return .true
        case _ where isEqual(NSPredicate(value: false)): return .false
        default: return .block(PredicateBlock(self))
        }
    }

    /// Converts variables to expressions.
    static func expressions(_ variables: [String: Any]) throws -> [String: ExpressionTree] {
        try variables.mapValues { value in
            if let expression = value as? ExpressionTree { return expression }
            if let convertible = value as? any ExpressionConvertible { return convertible.expressionTree }
            return .constant(try PropertyValue(plain: value))
        }
    }
}
