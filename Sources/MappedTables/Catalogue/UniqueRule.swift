/// A rule that keeps the rows of a table apart: a primary key, a uniqueness constraint, an index.
package struct UniqueRule: Sendable {
    /// Its place among those of the table.
    package let number: Int
    /// The columns that must differ in one of them, with those of which expressions are made.
    package let columns: [String]
    /// SQL that says for which rows the rule is; nil for all.
    package let condition: String?
    /// The columns that the condition is about.
    package let conditionColumns: [String]
}
