extension PredicateTree {
    /// Returns the height of the tree, counted up to a limit, so that no tree can overflow the stack.
    func height(limit: Int) -> Int {
        guard limit > 0 else { return 1 }
        switch self {
        case .true, .false, .block: return 1
        case .not(let part): return 1 + part.height(limit: limit - 1)
        case .and(let parts), .or(let parts): return 1 + parts.reduce(0) { max($0, $1.height(limit: limit - 1)) }
        case .comparison(let comparison):
            return 1 + max(comparison.left.height(limit: limit - 1), comparison.right.height(limit: limit - 1))
        }
    }
}

extension ExpressionTree {
    /// Returns the height of the tree, counted up to a limit.
    func height(limit: Int) -> Int {
        guard limit > 0 else { return 1 }
        switch self {
        case .constant(let value), .numberedConstant(let value, _): return value.height(limit: limit)
        case .subquery(let collection, _, let condition):
            return 1 + max(collection.height(limit: limit - 1), condition.height(limit: limit - 1))
        case .conditional(let condition, let value, let otherwise):
            return 1 + max(condition.height(limit: limit - 1), value.height(limit: limit - 1), otherwise.height(limit: limit - 1))
        default: return 1 + parts.reduce(0) { max($0, $1.height(limit: limit - 1)) }
        }
    }

    /// The direct subexpressions.
    var parts: [ExpressionTree] {
        switch self {
        case .constant, .numberedConstant, .evaluatedObject, .variable, .keyPath, .anyKey: []
        case .navigation(let part, _), .negated(let part), .complement(let part), .cast(let part, _), .assignment(_, let part): [part]
        case .aggregate(let parts), .function(_, let parts), .block(_, let parts): parts
        case .arithmetic(_, let left, let right), .setOperation(_, let left, let right): [left, right]
        case .method(let operand, _, let arguments): [operand] + arguments
        case .element(let collection, .at(let index)): [collection, index]
        case .element(let collection, _), .subquery(let collection, _, _): [collection]
        case .conditional(_, let value, let otherwise): [value, otherwise]
        case .fetch(let request, let context, _): [request, context]
        }
    }
}

extension PropertyValue {
    /// Returns the nesting depth of collections in the value, counted up to a limit.
    func height(limit: Int) -> Int {
        guard limit > 0 else { return 1 }
        switch self {
        case .array(let values): return 1 + values.reduce(0) { max($0, $1.height(limit: limit - 1)) }
        case .set(let values): return 1 + values.reduce(0) { max($0, $1.height(limit: limit - 1)) }
        default: return 1
        }
    }
}
