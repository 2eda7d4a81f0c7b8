extension PredicateTree {
    /// Whether the condition of a `SUBQUERY` depends on variables and constants only, not on the evaluated object: then it is a test of the elements
    /// themselves. It is also false if it contains another `SUBQUERY`, whose condition may refer to the variables of both.
    var concernsVariablesOnly: Bool {
        switch self {
        case .true, .false: true
        case .block: false
        case .not(let part): part.concernsVariablesOnly
        case .and(let parts), .or(let parts): parts.allSatisfy(\.concernsVariablesOnly)
        case .comparison(let comparison): comparison.left.concernsVariablesOnly && comparison.right.concernsVariablesOnly
        }
    }
}

extension ExpressionTree {
    /// See ``PredicateTree/concernsVariablesOnly``.
    fileprivate var concernsVariablesOnly: Bool {
        switch self {
        case .evaluatedObject, .keyPath, .anyKey, .subquery, .block: false
        case .conditional(let condition, _, _): condition.concernsVariablesOnly && parts.allSatisfy(\.concernsVariablesOnly)
        default: parts.allSatisfy(\.concernsVariablesOnly)
        }
    }
}
