package import SQLQueries

/// Columns that name a row: those of its own key, or those with the key of another row.
///
/// An integer, a UUID and a text are keys by themselves, as far as the database has these types. Every other key is the text of a JSON array;
/// it is what the URI of an object contains, and the same in each run.
package struct KeyColumns<Dialect: TableDialect>: Sendable {
    package let columns: [CatalogueColumn<Dialect>]
    package let kind: SQLKeyKind
    /// Whether a key is the column's own value.
    package let isPlain: Bool

    /// - Parameter target: The key that the columns refer to; nil for a row's own.
    package init(_ columns: [CatalogueColumn<Dialect>], target: KeyColumns<Dialect>? = nil) {
        self.columns = columns
        (kind, isPlain) = Dialect.kind(of: columns, target: target)
    }

    /// Whether the columns, made for that target, hold keys of its rows as the target itself has them.
    package func canRefer(to target: Self) -> Bool {
        kind == target.kind && isPlain == target.isPlain && columns.count == target.columns.count
    }

    /// Returns the name of a column in SQL.
    package func name(_ column: CatalogueColumn<Dialect>, of table: String?) -> String {
        (table.map { $0 + "." } ?? "") + TableNames.identifier(column.name).sql
    }

    /// Returns what selects the key; it is NULL where a column is.
    package func selected(of table: String?) -> String { Dialect.selected(self, of: table) }

    /// Returns the value of each column, from a parameter with a key.
    package func written(_ parameter: String) -> [(column: String, value: String)] { Dialect.written(self, parameter) }

    /// The condition that a row has the key of a parameter.
    package func equal(_ parameter: String, of table: String?) -> String {
        zip(columns, written(parameter)).map { "\(name($0, of: table)) = \($1.value)" }.joined(separator: " AND ")
    }
}
