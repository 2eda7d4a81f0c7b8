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
}
