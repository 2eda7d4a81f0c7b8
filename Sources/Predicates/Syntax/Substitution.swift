extension PredicateTree {
    /// Replaces variables by values.
    ///
    /// - Parameter values: The values by variable name, without the dollar sign.
    /// - Returns: The tree; variables without a value are kept, and the variable of a `SUBQUERY` is never replaced inside it.
    public func substituting(_ values: [String: ExpressionTree]) -> PredicateTree {
        values.isEmpty ? self : rebuilt { $0.substituting(values) }
    }
}

extension ExpressionTree {
    /// Replaces variables by values.
    ///
    /// - Parameter values: The values by variable name, without the dollar sign.
    /// - Returns: The expression; variables without a value are kept, and the variable of a `SUBQUERY` is never replaced inside it.
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
