internal import CSQLite
internal import Foundation
internal import Predicates
internal import SQLQueries

/// The values of a collection, bound to one parameter.
final class SQLArray {
    let values: [SQLValue]
    init(_ values: [SQLValue]) { self.values = values }

    /// The type of the pointer in SQLite, as a C string that is never freed.
    nonisolated(unsafe) static let type: UnsafePointer<CChar> = {
        let name: StaticString = "CoreDataArray"
        return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }()

    /// Binds the collection: SQLite owns a reference until the parameter gets another value or the statement is finalized.
    func bind(to statement: OpaquePointer, at index: Int) {
        sqlite3_bind_pointer(statement, Int32(index), Unmanaged.passRetained(self).toOpaque(), Self.type) { pointer in
            if let pointer { Unmanaged<SQLArray>.fromOpaque(pointer).release() }
        }
    }
}

/// Implements `CoreDataArray(?)`: a virtual table of the values of one parameter, so that a collection of any size is one value of one
/// statement.
enum SQLArrayTable {
    private struct Cursor {
        var base: sqlite3_vtab_cursor
        /// A retained ``SQLArray``.
        var array: UnsafeMutableRawPointer?
        var row: Int
    }

    /// Never changed once it is created; SQLite retains its address.
    nonisolated(unsafe) private static let module: UnsafeMutablePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xConnect = { connection, _, _, _, table, _ in
            let code = sqlite3_declare_vtab(connection, "CREATE TABLE x(value, pointer HIDDEN)")
            guard code == SQLITE_OK else { return code }
            let made = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
            made.initialize(to: sqlite3_vtab())
            table?.pointee = made
            return SQLITE_OK
        }
        module.pointee.xDisconnect = { table in
            table?.deallocate()
            return SQLITE_OK
        }
        module.pointee.xBestIndex = { _, info in SQLArrayTable.plan(info) }
        module.pointee.xOpen = { _, cursor in
            let made = UnsafeMutablePointer<Cursor>.allocate(capacity: 1)
            made.initialize(to: Cursor(base: sqlite3_vtab_cursor(), array: nil, row: 0))
            cursor?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }
        module.pointee.xClose = { cursor in
            guard let cursor = SQLArrayTable.cursor(cursor) else { return SQLITE_OK }
            SQLArrayTable.set(nil, cursor)
            cursor.deallocate()
            return SQLITE_OK
        }
        module.pointee.xFilter = { cursor, _, _, count, values in
            guard let cursor = SQLArrayTable.cursor(cursor) else { return SQLITE_ERROR }
            SQLArrayTable.set(count > 0 ? sqlite3_value_pointer(values?[0], SQLArray.type) : nil, cursor)
            cursor.pointee.row = 0
            return SQLITE_OK
        }
        module.pointee.xNext = { cursor in
            SQLArrayTable.cursor(cursor)?.pointee.row += 1
            return SQLITE_OK
        }
        module.pointee.xEof = { cursor in
            guard let cursor = SQLArrayTable.cursor(cursor), let array = SQLArrayTable.array(cursor) else { return 1 }
            return cursor.pointee.row < array.values.count ? 0 : 1
        }
        module.pointee.xColumn = { cursor, context, column in
            guard column == 0, let cursor = SQLArrayTable.cursor(cursor), let array = SQLArrayTable.array(cursor) else {
                sqlite3_result_null(context)
                return SQLITE_OK
            }
            array.values[cursor.pointee.row].write(context)
            return SQLITE_OK
        }
        module.pointee.xRowid = { cursor, row in
            row?.pointee = Int64(SQLArrayTable.cursor(cursor)?.pointee.row ?? 0)
            return SQLITE_OK
        }
        return module
    }()

    static func register(on connection: OpaquePointer) throws {
        try SQLQueryFunctions.check(sqlite3_create_module_v2(connection, "CoreDataArray", module, nil, nil), connection, "CoreDataArray")
    }

    /// Plans a scan, for which the parameter must be known before the first row.
    private static func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>?) -> Int32 {
        guard let info else { return SQLITE_ERROR }
        for index in 0..<Int(info.pointee.nConstraint) {
            let constraint = info.pointee.aConstraint[index]
            guard constraint.iColumn == 1, Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ else { continue }
            if constraint.usable == 0 { return SQLITE_CONSTRAINT }
            info.pointee.aConstraintUsage[index].argvIndex = 1
            info.pointee.aConstraintUsage[index].omit = 1
            info.pointee.estimatedCost = 100
            info.pointee.estimatedRows = 100
            return SQLITE_OK
        }
        return SQLITE_CONSTRAINT
    }

    /// Returns a cursor of this module: `xOpen` has made it, beginning with the fields that SQLite requires, and `xClose` frees it.
    private static func cursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<Cursor>? {
        cursor.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Cursor.self) }
    }

    // The cursor owns a reference to the array, see `set`.
    private static func array(_ cursor: UnsafeMutablePointer<Cursor>) -> SQLArray? {
        cursor.pointee.array.map { Unmanaged<SQLArray>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func set(_ pointer: UnsafeMutableRawPointer?, _ cursor: UnsafeMutablePointer<Cursor>) {
        if let pointer { _ = Unmanaged<SQLArray>.fromOpaque(pointer).retain() }
        if let old = cursor.pointee.array { Unmanaged<SQLArray>.fromOpaque(old).release() }
        cursor.pointee.array = pointer
    }
}

extension SQLValue {
    /// Passes the value to SQLite as a result.
    func write(_ context: OpaquePointer?) {
        switch self {
        case .null, .list: sqlite3_result_null(context)
        case .integer(let number): sqlite3_result_int64(context, number)
        case .real(let number): sqlite3_result_double(context, number)
        case .text(let text): SQLFunctionValue.write(text, context)
        case .blob(let data): SQLFunctionValue.write(.data(data), context)
        case .boolean(let flag): sqlite3_result_int64(context, flag ? 1 : 0)
        case .date(let date): sqlite3_result_double(context, date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): SQLFunctionValue.write(.uuid(uuid), context)
        case .exactDecimal(let number): SQLFunctionValue.write(number.description, context)
        case .decimal(let number): Self.stored(number).write(context)
        case .unlimited: sqlite3_result_int64(context, -1)
        }
    }

    /// Binds the value to a parameter, numbered from 1.
    func bind(to statement: OpaquePointer, at index: Int) {
        let place = Int32(index)
        switch self {
        case .null: sqlite3_bind_null(statement, place)
        case .integer(let number): sqlite3_bind_int64(statement, place, number)
        case .real(let number): sqlite3_bind_double(statement, place, number)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    _ = sqlite3_bind_text64(
                        statement, place, $0.baseAddress ?? SQLFunctionValue.empty, UInt64($0.count), SQLFunctionValue.transient,
                        UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let data):
            data.withUnsafeBytes { bytes in
                _ = sqlite3_bind_blob64(
                    statement, place, bytes.baseAddress ?? UnsafeRawPointer(SQLFunctionValue.empty), UInt64(bytes.count),
                    SQLFunctionValue.transient)
            }
        case .boolean(let flag): sqlite3_bind_int64(statement, place, flag ? 1 : 0)
        case .date(let date): sqlite3_bind_double(statement, place, date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): SQLValue.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }).bind(to: statement, at: index)
        case .exactDecimal(let number): SQLValue.text(number.description).bind(to: statement, at: index)
        case .decimal(let number): Self.stored(number).bind(to: statement, at: index)
        case .unlimited: sqlite3_bind_int64(statement, place, -1)
        case .list(let values): SQLArray(values).bind(to: statement, at: index)
        }
    }

    /// Returns a decimal number in the form of columns: another number that equals it, or its numeral.
    private static func stored(_ number: Decimal) -> SQLValue {
        switch ValueOperations.canonical(.decimal(number)) {
        case .int64(let number): .integer(number)
        case .double(let number): .real(number)
        default: .exactDecimal(number)
        }
    }
}
