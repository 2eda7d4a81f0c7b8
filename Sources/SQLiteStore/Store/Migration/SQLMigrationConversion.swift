internal import SQLQueries

/// The conversions of values between columns.
enum SQLMigrationConversion {
    /// The function that reads a value from its external file.
    static let inlineFunction = "CoreDataInlineValue"

    /// Returns the value of a column in another form; nil if it stays unchanged.
    static func expression(_ column: String, from old: SQLStorage, to new: SQLStorage) -> String? {
        let number: String
        if case .decimal = old {
            // Long numerals are kept as blobs.
            number = "CASE typeof(\(column)) WHEN 'blob' THEN CAST(CAST(\(column) AS TEXT) AS REAL) ELSE \(column) END"
        } else {
            number = column
        }
        switch (old, new) {
        case (.integer, .integer), (.boolean, .boolean), (.boolean, .integer), (.double, .double), (.decimal, .decimal): return nil
        case (.integer, .decimal), (.boolean, .decimal), (.double, .decimal): return nil
        case (.decimal, .integer), (.double, .integer): return "CAST(\(number) AS INTEGER)"
        case (.integer, .boolean), (.double, .boolean), (.decimal, .boolean): return "((\(number)) <> 0)"
        case (.integer, .double), (.boolean, .double), (.decimal, .double): return "CAST(\(number) AS REAL)"
        case (.data, .externalData): return "CAST(X'01' || \(column) AS BLOB)"
        case (.externalData, .data): return "\(inlineFunction)(\(column))"
        default: return nil
        }
    }
}
