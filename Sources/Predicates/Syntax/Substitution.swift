extension PredicateTree {
    /// Replaces variables by values.
    ///
    /// - Parameter values: The values by the names of the variables, without their dollar signs.
    /// - Returns: The tree; variables without a value stay, and a `SUBQUERY`'s own variable is never replaced inside it.
    public func substituting(_ values: [String: ExpressionTree]) -> PredicateTree {
        values.isEmpty ? self : rebuilt { $0.substituting(values) }
    }
}

extension ExpressionTree {
    /// Replaces variables by values.
    ///
    /// - Parameter values: The values by the names of the variables, without their dollar signs.
    /// - Returns: The expression; variables without a value stay, and a `SUBQUERY`'s own variable is never replaced inside it.
    public func substituting(_ values: [String: ExpressionTree]) -> ExpressionTree {
        if values.isEmpty { return self }
        if case .variable(let name) = self { return values[name] ?? self }
        return rebuilt(
            { $0.substituting(values) },
            { condition, variable in
                guard let variable else { return condition.substituting(values) }
                var inner = values
                inner[variable] = nil
                return condition.substituting(inner)
            })
    }
}
