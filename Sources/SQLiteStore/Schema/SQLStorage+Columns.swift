internal import SQLQueries

/// The columns of Core Data's layout. A boolean is 0 or 1; a date is seconds since 2001; a UUID is its 16 bytes; a decimal number is an integer or a
/// floating-point number if these are exact, otherwise a blob with its numeral; the first byte of external data states whether the value follows (1),
/// or the name of a file (2).
extension SQLStorage {
    /// The declared type of the column.
    var columnType: String {
        switch self {
        case .integer, .boolean: "INTEGER"
        case .double: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .text, .uri: "VARCHAR"
        case .data, .externalData, .uuid, .transformable, .composite: "BLOB"
        }
    }

    /// The rank of the column in its table.
    var rank: Int {
        switch self {
        case .integer, .boolean: 0
        case .double, .date: 1
        case .decimal: 2
        case .text, .uri: 3
        case .data, .externalData, .uuid, .transformable, .composite: 4
        }
    }
}
