/// Names the rows of a table or a view that has no key: by a digest of all columns, and their number among equal rows.
///
/// The name is the same in each run and program, and another one as soon as a value changes: the place of a row in the file of the database, which
/// changes with each update and with maintenance, is no name. Which of several equal rows is which nobody can tell.
enum RowDigest<Dialect: TableDialect> {
    /// The column that is added to those of the table.
    static var column: CatalogueColumn<Dialect> {
        CatalogueColumn(name: MappingKey.allColumns, type: Dialect.digestType, isRequired: true, source: .expression)
    }

    /// Returns what selects the rows of a table or view, with that column.
    ///
    /// Rows are told apart within those with the same digest and the same values, although the digest would do: a condition about one of these values
    /// is then applied before the rows are numbered, by an index where there is one.
    ///
    /// - Parameter sql: The name in SQL.
    static func rows(of relation: CatalogueRelation<Dialect>, _ sql: String) -> String {
        let row = "\"#\""
        let digest = Dialect.digest(of: relation.columns, in: row)
        let values = relation.columns.filter { Dialect.isComparable($0.type) }.map { "\(row).\(TableNames.identifier($0.name))" }
        return "(SELECT \(row).*, \(digest) || '-' || row_number() OVER (PARTITION BY \(([digest] + values).joined(separator: ", "))) "
            + "AS \(TableNames.identifier(MappingKey.allColumns)) FROM \(sql) AS \(row))"
    }
}
