/// A rule that keeps the rows of a table distinct: a primary key, a uniqueness constraint, or an index.
package struct UniqueRule: Sendable {
    /// Its place among those of the table.
    package let number: Int
    /// The columns of which at least one must differ, including those that expressions use.
    package let columns: [String]
    /// The SQL condition of the rows that the rule applies to; nil for all rows.
    package let condition: String?
    /// The columns that the condition is about.
    package let conditionColumns: [String]
}
