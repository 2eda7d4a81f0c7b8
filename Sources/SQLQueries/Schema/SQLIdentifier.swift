/// The name of a table, column, index or trigger in SQL, quoted if needed.
///
/// Names come from models, which may be malicious or unusual; SQL contains names only in this form.
package struct SQLIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The name, without quotes.
    package let name: String
    /// The name in SQL.
    package let sql: String

    /// Creates a name, which is quoted unless it needs no quotes.
    ///
    /// - Parameter isPlain: Whether the database reads the name without quotes as the same: it is not a keyword, and its case is kept. Names
    ///   with other characters than ASCII letters, digits and underscores are quoted all the same.
    package init(_ name: String, isPlain: Bool) {
        self.name = name
        let needsQuotes =
            !isPlain || name.isEmpty
            || !name.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
            }
        sql = needsQuotes ? "\"" + name.replacing("\"", with: "\"\"") + "\"" : name
    }

    /// The name in SQL, for interpolation.
    package var description: String { sql }
}

/// The columns that every row has, whatever its entity.
package struct SQLIdentityColumns: Sendable {
    /// The column of a row's key within its table.
    package let key: SQLIdentifier
    /// The column of a row's entity number.
    package let entity: SQLIdentifier
    /// The column of a row's version, which every save increments.
    package let version: SQLIdentifier

    package init(key: SQLIdentifier, entity: SQLIdentifier, version: SQLIdentifier) {
        self.key = key
        self.entity = entity
        self.version = version
    }

    /// All of them, in the order of a row's first columns.
    var all: [SQLIdentifier] { [key, entity, version] }
}

/// The kind of the keys of an entity's rows.
package enum SQLKeyKind: Sendable {
    case integer, text, uuid
}

/// Returns a string as an SQL literal.
package func sqlLiteral(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
