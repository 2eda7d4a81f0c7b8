internal import CSQLite
internal import Foundation

/// The SQL functions that Core Data's triggers call: a connection without them could not write to a store that has derived attributes.
enum SQLFunctions {
    static func register(on connection: SQLConnection) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        // They tell Core Data what a trigger has changed; here the rows of such entities are read again after each save.
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

    /// Makes functions of Core Data that the triggers of a file call and that are not known here, so that the file can be written to: those
    /// whose result nobody uses do nothing. One that computes something stays unknown, and writing is an error that names it.
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
