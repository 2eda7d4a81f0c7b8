internal import SQLQueries

/// The UPDATE of rows that still have the version that was read.
///
/// It changes fewer rows than requested if another writer has changed or deleted one in the meantime: this reveals conflicts.
enum SQLVersionedUpdate {
    /// Updates one row: the last two parameters are its key and the version that was read.
    static func one(_ assignments: [String], of table: SQLIdentifier) -> String {
        "UPDATE \(table) SET \(assignments.joined(separator: ", ")) \(condition(key: "?", version: "?"))"
    }

    /// Returns the statement that updates a number of rows and increments their versions. For each it takes the key, the version that was read, and
    /// the values of the columns.
    ///
    /// One statement that finds its rows by a list takes two thirds of the time of a statement for each row.
    static func many(_ count: Int, _ columns: [SQLIdentifier], of table: SQLIdentifier) -> String {
        let names = ["key", "version"] + columns.indices.map { "c\($0)" }
        let row = "(" + Array(repeating: "?", count: names.count).joined(separator: ", ") + ")"
        let rows = Array(repeating: row, count: count).joined(separator: ", ")
        let assignments = zip(columns, names.dropFirst(2)).map { "\($0) = list.\($1)" } + ["\(SQLIdentifier.version) = list.version + 1"]
        return
            "WITH list (\(names.joined(separator: ", "))) AS (VALUES \(rows)) UPDATE \(table) SET \(assignments.joined(separator: ", ")) "
            + "FROM list \(condition(key: "list.key", version: "list.version"))"
    }

    private static func condition(key: String, version: String) -> String {
        "WHERE \(SQLIdentifier.primaryKey) = \(key) AND \(SQLIdentifier.versionNumber) = \(version)"
    }
}
