internal import CSQLite
internal import Foundation

/// The SQL functions that Core Data's triggers call: a connection without them cannot write to a store with derived attributes.
enum SQLTriggerFunctions {
    static func register(on connection: SQLConnection) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        // They notify Core Data of a trigger's changes; here, rows of such entities are read again after each save.
        for name in [
            "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
            "NSCoreDataTriggerUpdateAffectedObjectValue",
        ] {
            sqlite3_create_function_v2(
                connection.handle, name, -1, flags, nil, { context, _, _ in sqlite3_result_null(context) }, nil, nil, nil)
        }
        sqlite3_create_function_v2(
            connection.handle, "NSCoreDataNow", 0, SQLITE_UTF8, nil,
            { context, _, _ in sqlite3_result_double(context, Date().timeIntervalSinceReferenceDate) }, nil, nil, nil)
    }

    /// Registers unknown functions that the triggers of a file call, so that the file can be written to, if their results are unused. A
    /// function that computes a value stays unknown, and writing reports an error that names it.
    static func registerUnknown(on connection: SQLConnection) throws {
        var names: Set<String> = []
        for row in try connection.texts("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%NSCoreData%'", .opening) {
            for match in (row[0] ?? "").matches(of: /\b(\w+)\s+(NSCoreData\w+)\s*\(/.ignoresCase()) {
                if match.1.lowercased() == "select" { names.insert(String(match.2).lowercased()) }
            }
        }
        // Mostly there are none, and the list of SQLite's functions is long.
        if names.isEmpty { return }
        let known = try connection.texts("SELECT lower(name) FROM pragma_function_list WHERE name LIKE 'NSCoreData%'", .opening)
        for name in names.subtracting(known.compactMap { $0[0] }) {
            sqlite3_create_function_v2(
                connection.handle, name, -1, SQLITE_UTF8, nil, { context, _, _ in sqlite3_result_null(context) }, nil, nil, nil)
        }
    }
}
