extension ExpressionTree {
    /// Replaces parts of the expression.
    ///
    /// - Parameter replacement: What stands for a part, or nil to look at the parts of that part. It is asked from the outside inwards. Whatever
    ///   a `SUBQUERY` or a condition is about is asked too; what the predicate inside a `SUBQUERY` is about is not.
    /// - Returns: The expression.
    /// - Throws: What `replacement` throws.
    public func replacing(_ replacement: (ExpressionTree) throws -> ExpressionTree?) rethrows -> ExpressionTree {
        if let replaced = try replacement(self) { return replaced }
        func inner(_ expression: ExpressionTree) throws -> ExpressionTree { try expression.replacing(replacement) }
        switch self {
        case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: return self
        case .navigation(let base, let keys): return .navigation(try inner(base), keys)
        case .aggregate(let elements): return .aggregate(try elements.map(inner))
        case .arithmetic(let operation, let left, let right): return .arithmetic(operation, try inner(left), try inner(right))
        case .negated(let operand): return .negated(try inner(operand))
        case .complement(let operand): return .complement(try inner(operand))
        case .function(let name, let arguments): return .function(name, try arguments.map(inner))
        case .method(let operand, let name, let arguments): return .method(try inner(operand), name, try arguments.map(inner))
        case .element(let collection, .at(let index)): return .element(try inner(collection), .at(try inner(index)))
        case .element(let collection, let index): return .element(try inner(collection), index)
        case .subquery(let collection, let variable, let condition):
            return .subquery(try inner(collection), variable: variable, condition)
        case .setOperation(let operation, let left, let right): return .setOperation(operation, try inner(left), try inner(right))
        case .conditional(let condition, let value, let otherwise):
            return .conditional(try condition.replacingExpressions(replacement), try inner(value), try inner(otherwise))
        case .cast(let value, let type): return .cast(try inner(value), type)
        case .assignment(let name, let value): return .assignment(name, try inner(value))
        case .fetch(let request, let context, let countOnly):
            return .fetch(try inner(request), context: try inner(context), countOnly: countOnly)
        case .block(let block, let arguments): return .block(block, try arguments.map(inner))
        }
    }
}

extension PredicateTree {
    /// Replaces parts of the predicate's expressions, as ``ExpressionTree/replacing(_:)``.
    ///
    /// - Parameter replacement: What stands for a part, or nil to look at the parts of that part.
    /// - Returns: The predicate.
    /// - Throws: What `replacement` throws.
    public func replacingExpressions(_ replacement: (ExpressionTree) throws -> ExpressionTree?) rethrows -> PredicateTree {
        switch self {
        case .true, .false, .block: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.replacing(replacement)
            comparison.right = try comparison.right.replacing(replacement)
            return .comparison(comparison)
        case .and(let parts): return .and(try parts.map { try $0.replacingExpressions(replacement) })
        case .or(let parts): return .or(try parts.map { try $0.replacingExpressions(replacement) })
        case .not(let part): return .not(try part.replacingExpressions(replacement))
        }
    }
}
