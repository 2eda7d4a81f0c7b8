extension PredicateTree {
    /// Replaces variables by values.
    ///
    /// - Parameter values: The values by the names of the variables, without their dollar signs.
    /// - Returns: The tree; variables without a value stay, and a `SUBQUERY`'s own variable is never replaced inside it.
    public func substituting(_ values: [String: ExpressionTree]) -> PredicateTree {
        if values.isEmpty { return self }
        switch self {
        case .true, .false, .block:
            return self
        case .comparison(var comparison):
            comparison.left = comparison.left.substituting(values)
            comparison.right = comparison.right.substituting(values)
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map { $0.substituting(values) })
        case .or(let parts): return .or(parts.map { $0.substituting(values) })
        case .not(let part): return .not(part.substituting(values))
        }
    }
}

extension ExpressionTree {
    /// Replaces variables by values.
    ///
    /// - Parameter values: The values by the names of the variables, without their dollar signs.
    /// - Returns: The expression; variables without a value stay, and a `SUBQUERY`'s own variable is never replaced inside it.
    public func substituting(_ values: [String: ExpressionTree]) -> ExpressionTree {
        if values.isEmpty { return self }
        func replaced(_ expression: ExpressionTree) -> ExpressionTree { expression.substituting(values) }
        switch self {
        case .constant, .evaluatedObject, .keyPath, .anyKey: return self
        case .variable(let name): return values[name] ?? self
        case .navigation(let base, let keys): return replaced(base).appending(keys)
        case .aggregate(let elements): return .aggregate(elements.map(replaced))
        case .arithmetic(let operation, let left, let right): return .arithmetic(operation, replaced(left), replaced(right))
        case .negated(let operand): return .negated(replaced(operand))
        case .complement(let operand): return .complement(replaced(operand))
        case .function(let name, let arguments): return .function(name, arguments.map(replaced))
        case .method(let operand, let name, let arguments): return .method(replaced(operand), name, arguments.map(replaced))
        case .element(let collection, .at(let index)): return .element(replaced(collection), .at(replaced(index)))
        case .element(let collection, let index): return .element(replaced(collection), index)
        case .subquery(let collection, let variable, let condition):
            var inner = values
            inner[variable] = nil
            return .subquery(replaced(collection), variable: variable, condition.substituting(inner))
        case .setOperation(let operation, let left, let right): return .setOperation(operation, replaced(left), replaced(right))
        case .conditional(let condition, let value, let otherwise):
            return .conditional(condition.substituting(values), replaced(value), replaced(otherwise))
        case .cast(let value, let type): return .cast(replaced(value), type)
        case .assignment(let name, let value): return .assignment(name, replaced(value))
        case .fetch(let request, let context, let countOnly):
            return .fetch(replaced(request), context: replaced(context), countOnly: countOnly)
        case .block(let block, let arguments): return .block(block, arguments.map(replaced))
        }
    }
}
