extension ExpressionTree {
    /// Replaces parts of the expression.
    ///
    /// - Parameter replacement: Returns the replacement of a part, or nil to visit the parts of that part; called from the outside
    ///   inwards. It is also called for the collection of a `SUBQUERY` and the expressions of a condition, but not for the expressions in
    ///   the predicate of a `SUBQUERY`.
    /// - Returns: The expression.
    /// - Throws: The errors of `replacement`.
    public func replacing(_ replacement: (ExpressionTree) throws -> ExpressionTree?) rethrows -> ExpressionTree {
        if let replaced = try replacement(self) { return replaced }
        return try rebuilt(
            { try $0.replacing(replacement) },
            { condition, variable in variable == nil ? try condition.replacingExpressions(replacement) : condition })
    }

    /// Returns an expression of the same kind with other parts.
    ///
    /// - Parameters:
    ///   - part: Returns the new part for each part.
    ///   - condition: Returns the new predicate for each predicate; for a `SUBQUERY`, its second argument is the variable bound in it.
    func rebuilt(
        _ part: (ExpressionTree) throws -> ExpressionTree, _ condition: (PredicateTree, _ variable: String?) throws -> PredicateTree
    ) rethrows -> ExpressionTree {
        switch self {
        case .constant, .numberedConstant, .evaluatedObject, .variable, .keyPath, .anyKey: return self
        case .navigation(let base, let keys): return try part(base).appending(keys)
        case .aggregate(let elements): return .aggregate(try elements.map(part))
        case .arithmetic(let operation, let left, let right): return .arithmetic(operation, try part(left), try part(right))
        case .negated(let operand): return .negated(try part(operand))
        case .complement(let operand): return .complement(try part(operand))
        case .function(let name, let arguments): return .function(name, try arguments.map(part))
        case .method(let operand, let name, let arguments): return .method(try part(operand), name, try arguments.map(part))
        case .element(let collection, .at(let index)): return .element(try part(collection), .at(try part(index)))
        case .element(let collection, let index): return .element(try part(collection), index)
        case .subquery(let collection, let variable, let predicate):
            return .subquery(try part(collection), variable: variable, try condition(predicate, variable))
        case .setOperation(let operation, let left, let right): return .setOperation(operation, try part(left), try part(right))
        case .conditional(let predicate, let value, let otherwise):
            return .conditional(try condition(predicate, nil), try part(value), try part(otherwise))
        case .cast(let value, let type): return .cast(try part(value), type)
        case .assignment(let name, let value): return .assignment(name, try part(value))
        case .fetch(let request, let context, let countOnly):
            return .fetch(try part(request), context: try part(context), countOnly: countOnly)
        case .block(let block, let arguments): return .block(block, try arguments.map(part))
        }
    }
}

extension PredicateTree {
    /// Replaces parts of the predicate's expressions, like ``ExpressionTree/replacing(_:)``.
    ///
    /// - Parameter replacement: Returns the replacement of a part, or nil to visit the parts of that part.
    /// - Returns: The predicate.
    /// - Throws: The errors of `replacement`.
    public func replacingExpressions(_ replacement: (ExpressionTree) throws -> ExpressionTree?) rethrows -> PredicateTree {
        try rebuilt { try $0.replacing(replacement) }
    }

    /// Returns a predicate of the same kind with other expressions.
    func rebuilt(_ expression: (ExpressionTree) throws -> ExpressionTree) rethrows -> PredicateTree {
        switch self {
        case .true, .false, .block: return self
        case .comparison(var comparison):
            comparison.left = try expression(comparison.left)
            comparison.right = try expression(comparison.right)
            return .comparison(comparison)
        case .and(let parts): return .and(try parts.map { try $0.rebuilt(expression) })
        case .or(let parts): return .or(try parts.map { try $0.rebuilt(expression) })
        case .not(let part): return .not(try part.rebuilt(expression))
        }
    }
}
