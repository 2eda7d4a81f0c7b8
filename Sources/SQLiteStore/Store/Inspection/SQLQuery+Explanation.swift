internal import SQLQueries

extension SQLQuery {
    /// Returns how a connection executes the query.
    ///
    /// - Parameter sql: The statement, as the connection takes it.
    func explanation(_ sql: String, over connection: SQLConnection) throws -> SQLExplanation {
        let statement = try SQLStatement("EXPLAIN QUERY PLAN " + sql, connection: connection, isKept: false)
        try bind(to: statement.handle)
        var depths: [Int64: Int] = [:]
        var steps: [String] = []
        while try statement.step() {
            let depth = depths[statement.int64(1)].map { $0 + 1 } ?? 0
            depths[statement.int64(0)] = depth
            steps.append(String(repeating: "  ", count: depth) + statement.text(3))
        }
        return try SQLExplanation(sql: sql, values: plan.bindings.map { try values.value(of: $0).shown }, steps: steps)
    }
}
