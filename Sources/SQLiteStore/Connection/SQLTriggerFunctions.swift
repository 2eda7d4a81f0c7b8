internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The SQL functions that Core Data's triggers call: a connection without them cannot write to a store with derived attributes.
enum SQLTriggerFunctions {
    /// - Throws: Code 134080 naming a function that SQLite does not take.
    static func register(on connection: SQLConnection) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        // They notify Core Data of a trigger's changes; here, rows of such entities are read again after each save.
        for name in [
            "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
            "NSCoreDataTriggerUpdateAffectedObjectValue",
        ] {
            try add(name, -1, flags, to: connection) { context, _, _ in sqlite3_result_null(context) }
        }
        try add("NSCoreDataNow", 0, SQLITE_UTF8, to: connection) { context, _, _ in
            sqlite3_result_double(context, Date().timeIntervalSinceReferenceDate)
        }
    }

    private static func add(
        _ name: String, _ count: Int32, _ flags: Int32, to connection: SQLConnection,
        _ function: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) throws {
        let code = sqlite3_create_function_v2(connection.handle, name, count, flags, nil, function, nil, nil, nil)
        if code == SQLITE_OK { return }
        throw CoreDataError.make(
            NSPersistentStoreOpenError, "The store at \(connection.path) cannot be used: SQLite does not take the function \(name).",
            reason: "SQLite says: \(String(cString: sqlite3_errmsg(connection.handle))) (\(code)).",
            next: "If a trigger of the file calls it, drop the trigger; otherwise check that the SQLite of the system is 3.31 or later.",
            info: [NSFilePathErrorKey: connection.path])
    }

    /// Registers unknown functions that the triggers of a file call, if their results are unused, so that the file can be written to. A function that
    /// computes a value stays unknown, and writing reports an error that names it.
    static func registerUnknown(by triggers: [String], on connection: SQLConnection) throws {
        var names: Set<String> = []
        for trigger in triggers {
            for match in trigger.matches(of: /\b(\w+)\s+(NSCoreData\w+)\s*\(/.ignoresCase()) {
                if match.1.lowercased() == "select" { names.insert(String(match.2).lowercased()) }
            }
        }
        // Mostly there are no such names, and the list of SQLite's functions is long.
        if names.isEmpty { return }
        let known = try connection.texts("SELECT lower(name) FROM pragma_function_list WHERE name LIKE 'NSCoreData%'", .opening)
        for name in names.subtracting(known.compactMap { $0[0] }) {
            try add(name, -1, SQLITE_UTF8, to: connection) { context, _, _ in sqlite3_result_null(context) }
        }
    }
}
