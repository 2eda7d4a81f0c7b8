extension ExpressionTree {
    /// Replaces parts of the expression.
    ///
    /// - Parameter replacement: What stands for a part, or nil to look at the parts of that part. It is asked from the outside inwards. Whatever
    ///   a `SUBQUERY` or a condition is about is asked too; what the predicate inside a `SUBQUERY` is about is not.
    /// - Returns: The expression.
    /// - Throws: What `replacement` throws.
    public func replacing(_ replacement: (ExpressionTree) throws -> ExpressionTree?) rethrows -> ExpressionTree {
        if let replaced = try replacement(self) { return replaced }
        return try rebuilt(
            { try $0.replacing(replacement) },
            { condition, variable in variable == nil ? try condition.replacingExpressions(replacement) : condition })
    }

    /// The same kind of expression of other parts.
    ///
    /// - Parameters:
    ///   - part: Makes each part anew.
    ///   - condition: Makes each predicate within anew; of a `SUBQUERY`, it is told the variable that has a meaning of its own inside.
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
    /// Replaces parts of the predicate's expressions, as ``ExpressionTree/replacing(_:)``.
    ///
    /// - Parameter replacement: What stands for a part, or nil to look at the parts of that part.
    /// - Returns: The predicate.
    /// - Throws: What `replacement` throws.
    public func replacingExpressions(_ replacement: (ExpressionTree) throws -> ExpressionTree?) rethrows -> PredicateTree {
        try rebuilt { try $0.replacing(replacement) }
    }

    /// The same kind of predicate over other expressions.
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
