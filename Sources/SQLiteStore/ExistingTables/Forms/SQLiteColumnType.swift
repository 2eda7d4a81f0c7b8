internal import Foundation
internal import PropertyLists
internal import SQLQueries

/// The type of a column of another program's table: its declaration, and the appearance of its values if the declaration is ambiguous.
struct SQLiteColumnType: Sendable {
    /// The conversion that SQLite applies to values that are put into a column, according to its declared type.
    enum Affinity: Sendable {
        case integer, real, numeric, text, none

        /// The rules of SQLite, in their order.
        init(declared: String) {
            let type = declared.uppercased()
            self =
                if type.contains("INT") {
                    .integer
                } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                    .text
                } else if type.isEmpty || type.contains("BLOB") {
                    .none
                } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
                    .real
                } else { .numeric }
        }
    }

    /// The table and the column, for messages.
    let place: String
    /// The declared type; empty for none.
    let declared: String
    let affinity: Affinity
    /// Whether SQLite itself takes no value of another kind.
    let isStrict: Bool
    /// Whether the column is the number of the row.
    var isRowNumber = false
    /// Whether an index begins with the column.
    var isIndexed = false
    /// The collation of the column, in capitals; nil if it is unknown.
    var collation: String?
    /// Whether the column is known to compare texts by their bytes.
    var isBinary: Bool { collation == "BINARY" }
    /// Whether texts are compared by a collation that only the program has which made the table.
    var hasUnknownCollation = false
    /// Whether a condition must state that texts are compared by their bytes: the column has an unknown collation, or belongs to a view and has the
    /// collation of another column.
    var needsCollation: Bool { hasUnknownCollation || (collation == nil && !isRowNumber && affinity == .text) }
    /// Whether a rule of the table declares that values are JSON.
    var isJSON = false
    /// The appearance of some values.
    var values = SQLiteColumnValues()

    /// The declared type in capitals, without its parentheses.
    var word: String {
        let word = declared.uppercased().prefix { $0 != "(" }
        return word.trimmingCharacters(in: .whitespaces)
    }

    /// The number in the parentheses of the declared type.
    var length: Int? {
        guard let start = declared.firstIndex(of: "(") else { return nil }
        return Int(declared[start...].dropFirst().prefix { $0.isNumber })
    }

    var isDeclaredDate: Bool {
        ["DATE", "DATETIME", "SMALLDATETIME"].contains(word) || word.hasPrefix("TIMESTAMP") || word.hasPrefix("DATETIME")
    }
    var isDeclaredBoolean: Bool { ["BOOLEAN", "BOOL"].contains(word) }
    var isDeclaredDecimal: Bool { ["DECIMAL", "NUMERIC", "NUMBER", "MONEY", "DEC"].contains(word) }
    var isDeclaredJSON: Bool { isJSON || word == "JSON" || word == "JSONB" }
    /// Declared by name, or a text with the length of a UUID all of whose values are UUIDs.
    var isDeclaredUUID: Bool {
        if ["UUID", "GUID", "UNIQUEIDENTIFIER"].contains(word) { return true }
        return ["CHAR", "CHARACTER", "NCHAR"].contains(word) && (length == 32 || length == 36)
    }
}

/// The appearance of some values of a column.
struct SQLiteColumnValues: Sendable {
    /// How many values there are of each kind.
    var integers = 0
    var reals = 0
    var texts = 0
    var blobs = 0
    /// Whether all integers are 0 or 1.
    var areFlags = true
    /// The largest number, without its sign.
    var largest = 0.0
    /// Whether all texts are UUIDs, and all blobs have the size of one.
    var areUUIDs = true
    /// The form of the first text that is a date; nil if a text is not a date.
    var date: DateStyle?
    var areDates = true
    /// The first text, for the case of letters in UUIDs.
    var firstText: String?

    var count: Int { integers + reals + texts + blobs }
    var numbers: Int { integers + reals }

    mutating func add(_ value: SQLiteRawValue) {
        switch value {
        case .null: return
        case .integer(let number):
            integers += 1
            if number != 0, number != 1 { areFlags = false }
            largest = max(largest, Double(number).magnitude)
        case .real(let number):
            reals += 1
            areFlags = false
            // Infinite numbers do not reveal the unit.
            if number.isFinite { largest = max(largest, number.magnitude) }
        case .text(let text):
            texts += 1
            firstText = firstText ?? text
            if SQLiteUUIDs.uuid(text) == nil { areUUIDs = false }
            if let style = DateStyle(of: text) {
                // A value with a time is more specific than a day.
                if date == nil || (date?.isDay ?? false) { date = style }
            } else {
                areDates = false
            }
        case .blob(let data):
            blobs += 1
            if data.count != 16 { areUUIDs = false }
        }
    }
}

/// A value as SQLite has it.
enum SQLiteRawValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
}

/// UUIDs as tables have them: as text with or without hyphens, or as bytes.
enum SQLiteUUIDs {
    /// Returns the UUID of a text; nil for another text.
    static func uuid(_ text: String) -> UUID? {
        if text.utf8.count == 36 { return UUID(uuidString: text) }
        guard text.utf8.count == 32, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let letters = Array(text)
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(letters[$0]) }
        return UUID(uuidString: parts.joined(separator: "-"))
    }
}
