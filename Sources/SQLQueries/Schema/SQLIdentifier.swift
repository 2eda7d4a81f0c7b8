/// The name of a table, column, index or trigger in SQL, quoted if needed.
///
/// Names come from models, which may be malicious or unusual; SQL contains names in no other way.
package struct SQLIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The name, without quotes.
    package let name: String
    /// The name in SQL.
    package let sql: String

    init(_ name: String) {
        self.name = name
        // No SQL keyword begins with Z: such names are not quoted, like Core Data's.
        let isPlain =
            name.utf8.first == UInt8(ascii: "Z")
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
            }
        sql = isPlain ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// The name in SQL, for interpolation.
    package var description: String { sql }

    /// The column of a row's key within its table.
    package static let primaryKey = SQLIdentifier("Z_PK")
    /// The column of a row's entity number.
    package static let entity = SQLIdentifier("Z_ENT")
    /// The column of a row's version, which every save increments.
    package static let version = SQLIdentifier("Z_OPT")
    /// The version as it is read: others may have left the column empty, or stored another value.
    package static let versionNumber = "CAST(ifnull(Z_OPT, 0) AS INTEGER)"
    /// The assignment that increments the version.
    package static let countUp = "Z_OPT = \(versionNumber) + 1"
}

/// Returns a string as an SQL literal.
package func sqlLiteral(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
