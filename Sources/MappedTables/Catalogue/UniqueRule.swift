/// A rule that keeps the rows of a table apart: a primary key, a uniqueness constraint, an index.
package struct UniqueRule: Sendable {
    /// Its place among those of the table.
    package let number: Int
    /// The columns that must differ in one of them, with those of which expressions are made.
    package let columns: [String]
    /// The SQL condition of the rows that the rule applies to; nil for all rows.
    package let condition: String?
    /// The columns that the condition is about.
    package let conditionColumns: [String]
}
