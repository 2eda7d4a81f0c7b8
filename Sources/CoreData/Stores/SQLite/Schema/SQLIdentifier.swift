/// The name of a table, column, index or trigger, as it stands in SQL: quoted where it must be.
///
/// Names come from models, which may be hostile or merely odd; nothing else puts a name into SQL.
struct SQLIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The name itself, without quotes.
    let name: String
    /// The name as SQL takes it.
    let sql: String

    init(_ name: String) {
        self.name = name
        // No word of SQL begins with Z: such names stand plain, as Core Data writes them.
        let isPlain =
            name.utf8.first == UInt8(ascii: "Z")
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
            }
        sql = isPlain ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// The name as SQL takes it, so that it can be interpolated.
    var description: String { sql }

    /// The key of a row within its table.
    static let primaryKey = SQLIdentifier("Z_PK")
    /// The number of the row's entity.
    static let entity = SQLIdentifier("Z_ENT")
    /// The version of the row, counted up by every save.
    static let version = SQLIdentifier("Z_OPT")
    /// The version as it is read: others may have left the column empty, or have put something else into it.
    static let versionNumber = "CAST(ifnull(Z_OPT, 0) AS INTEGER)"
    /// The assignment that counts the version up.
    static let countUp = "Z_OPT = \(versionNumber) + 1"
}

/// Text as a literal of SQL.
func sqlLiteral(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
