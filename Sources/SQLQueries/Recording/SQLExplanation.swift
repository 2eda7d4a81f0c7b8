/// The steps of a database for a fetch.
package struct SQLExplanation: Sendable {
    package let sql: String
    /// The bound values, as text.
    package let values: [String]
    /// The lines of the database's plan, indented by their nesting.
    package let steps: [String]

    package init(sql: String, values: [String], steps: [String]) { (self.sql, self.values, self.steps) = (sql, values, steps) }
}
