/// Identifies the rows of a table or a view without a key: by a digest of all columns, and a number among equal rows.
///
/// The identity is the same in each run and program, and changes as soon as a value does. The place of a row in the database file changes with each
/// update and with maintenance, so it is not an identity. Equal rows cannot be told apart.
enum RowDigest<Dialect: TableDialect> {
    /// The column that is added to those of the table.
    static var column: CatalogueColumn<Dialect> {
        CatalogueColumn(name: MappingKey.allColumns, type: Dialect.digestType, isRequired: true, source: .expression)
    }

    /// Returns the SQL that selects the rows of a table or view, with that column.
    ///
    /// Rows are numbered within those with the same digest and the same values, although the digest would suffice: a condition about one of these
    /// values is then applied before the rows are numbered, with an index if there is one.
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
