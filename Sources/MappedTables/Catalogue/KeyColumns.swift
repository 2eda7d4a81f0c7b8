package import SQLQueries

/// Columns that identify a row: those of its own key, or those with the key of another row.
///
/// An integer, a UUID or a text is a key in itself, if the database has these types. Every other key is the text of a JSON array; it is part of the
/// object's URI, and the same in each run.
package struct KeyColumns<Dialect: TableDialect>: Sendable {
    package let columns: [CatalogueColumn<Dialect>]
    package let kind: SQLKeyKind
    /// Whether a key is the column's own value.
    package let isPlain: Bool
    /// The key that the columns refer to, if the database treats different spellings as equal; otherwise nil.
    private let spelling: Spelling?

    /// The key of another row, which is looked up: an object has one key, even if the rows that refer to it spell it differently.
    private struct Spelling: Sendable {
        /// The table in SQL.
        let table: String
        let columns: [CatalogueColumn<Dialect>]
        /// The SQL that selects the key from the table named `k`.
        let selected: String
        let written: @Sendable (String) -> [(column: String, value: String)]
    }

    /// - Parameters:
    ///   - target: The key that the columns refer to; nil for a row's own.
    ///   - table: The table of that key in SQL.
    package init(_ columns: [CatalogueColumn<Dialect>], target: KeyColumns<Dialect>? = nil, in table: String? = nil) {
        self.columns = columns
        (kind, isPlain) = Dialect.kind(of: columns, target: target)
        if let target, let table, target.columns.count == columns.count, target.columns.contains(where: Dialect.hasSpellings) {
            spelling = Spelling(
                table: table, columns: target.columns, selected: target.selected(of: "k"), written: { target.written($0) })
        } else {
            spelling = nil
        }
    }

    /// Whether keys of the columns are looked up in the table that they refer to.
    package var isLookedUp: Bool { spelling != nil }

    /// Whether the columns, made for that target, hold keys of its rows as the target itself has them.
    package func canRefer(to target: Self) -> Bool {
        kind == target.kind && isPlain == target.isPlain && columns.count == target.columns.count
    }

    /// Returns the name of a column in SQL.
    package func name(_ column: CatalogueColumn<Dialect>, of table: String?) -> String {
        (table.map { $0 + "." } ?? "") + TableNames.identifier(column.name).sql
    }

    /// Returns the SQL that selects the key; it is NULL if a column is.
    package func selected(of table: String?) -> String {
        let own = Dialect.selected(self, of: table)
        guard let spelling else { return own }
        let conditions = zip(columns, spelling.columns).map { column, target in
            Dialect.equal(name(column, of: table), column, "k.\(TableNames.identifier(target.name))", as: target)
        }
        let sql =
            "coalesce((SELECT \(spelling.selected) FROM \(spelling.table) AS k WHERE \(conditions.joined(separator: " AND ")) LIMIT 1), \(own))"
        return Dialect.compared(sql, kind)
    }

    /// Returns the value of each column, from a parameter with a key.
    package func written(_ parameter: String) -> [(column: String, value: String)] { Dialect.written(self, parameter) }

    /// The condition that a row has the key of a parameter.
    package func equal(_ parameter: String, of table: String?) -> String {
        comparisons(with: parameter, of: table).map { Dialect.equal($0.name, $0.column, $0.value, as: $0.target) }.joined(
            separator: " AND ")
    }

    /// Returns each column, the value that it is compared with from a key parameter, and the column whose rules apply to the comparison.
    package func comparisons(
        with parameter: String, of table: String?
    ) -> [(name: String, column: CatalogueColumn<Dialect>, value: String, target: CatalogueColumn<Dialect>)] {
        let values = spelling?.written(parameter) ?? written(parameter)
        let targets = spelling?.columns ?? columns
        return columns.indices.map { (name(columns[$0], of: table), columns[$0], values[$0].value, targets[$0]) }
    }

    /// The condition that columns have a key that another table's columns have.
    package func refers(of table: String, to target: Self, of other: String) -> String {
        zip(columns, target.columns).map { column, key in
            Dialect.equal(name(column, of: table), column, target.name(key, of: other), as: key)
        }.joined(separator: " AND ")
    }
}
