internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The SQL functions, collations and the virtual table of queries, which call the evaluator's operations.
///
/// A function cannot throw. It keeps its error here, and reports a failure to SQLite; the caller of the statement takes the error.
// Used by one connection, on the same thread.
final class SQLQueryFunctions {
    /// Returns whether a statement may call functions: the names of all of them, and of the collations and the table, begin alike.
    static func areNamed(in sql: String) -> Bool { sql.withCString { strstr($0, "CoreData") != nil } }

    private var error: (any Error)?

    /// Returns and clears the error of the last failing function.
    func takeError() -> (any Error)? {
        defer { error = nil }
        return error
    }

    typealias Arguments = UnsafeMutablePointer<OpaquePointer?>
    typealias Function = @convention(c) (OpaquePointer?, Int32, Arguments?) -> Void
    typealias Final = @convention(c) (OpaquePointer?) -> Void

    /// Registers everything with a connection.
    init(on connection: OpaquePointer) throws {
        try addTextFunctions(to: connection)
        try addNumberFunctions(to: connection)
        try addAggregates(to: connection)
        try addComposites(to: connection)
        try SQLTextCollation.register(on: connection)
        try SQLArrayTable.register(on: connection)
    }

    /// Registers a function.
    ///
    /// - Parameters:
    ///   - count: The number of arguments; -1 for any number.
    ///   - isPure: Whether equal arguments produce equal results.
    func add(_ name: String, _ count: Int32, isPure: Bool = true, to connection: OpaquePointer, _ function: Function) throws {
        // For queries only: triggers and views of a file cannot call the functions.
        let flags = SQLITE_UTF8 | SQLITE_DIRECTONLY | (isPure ? SQLITE_DETERMINISTIC : 0)
        let own = Unmanaged.passRetained(self).toOpaque()
        let code = sqlite3_create_function_v2(connection, name, count, flags, own, function, nil, nil, Self.release)
        try Self.check(code, connection, name)
    }

    /// Registers an aggregate function.
    func add(_ name: String, _ count: Int32, to connection: OpaquePointer, step: Function, final: Final) throws {
        let own = Unmanaged.passRetained(self).toOpaque()
        let code = sqlite3_create_function_v2(
            connection, name, count, SQLITE_UTF8 | SQLITE_DIRECTONLY, own, nil, step, final, Self.release)
        try Self.check(code, connection, name)
    }

    // With each function SQLite owns a reference to this object, which it hands to the calls as their user data, and releases by `release`.
    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
        if let pointer { Unmanaged<SQLQueryFunctions>.fromOpaque(pointer).release() }
    }

    static func check(_ code: Int32, _ connection: OpaquePointer, _ name: String) throws {
        if code == SQLITE_OK { return }
        throw CoreDataError.make(
            NSPersistentStoreOpenError, "The store cannot be queried: SQLite does not take the function \(name).",
            reason: String(cString: sqlite3_errmsg(connection)), next: "Check that the SQLite of the system is 3.31 or later.")
    }

    /// Runs the body of a function, and reports its error to the statement.
    static func call(_ context: OpaquePointer?, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            if let own = sqlite3_user_data(context) { Unmanaged<SQLQueryFunctions>.fromOpaque(own).takeUnretainedValue().error = error }
            sqlite3_result_error(context, "\(error)", -1)
        }
    }
}

/// Converts values between SQLite and the evaluator.
enum SQLFunctionValue {
    /// Returns an argument as the kind of a ``SQLKind/code``.
    static func read(_ value: OpaquePointer?, _ code: UInt8 = UInt8(ascii: "n")) -> PropertyValue {
        let type = sqlite3_value_type(value)
        if type == SQLITE_NULL { return .null }
        switch code {
        case UInt8(ascii: "t"): return .string(text(value))
        case UInt8(ascii: "d"): return .date(Date(timeIntervalSinceReferenceDate: sqlite3_value_double(value)))
        case UInt8(ascii: "x"): return .data(data(value))
        case UInt8(ascii: "b"): return .bool(sqlite3_value_int64(value) != 0)
        case UInt8(ascii: "u"):
            let bytes = data(value)
            return bytes.count == 16 ? .uuid(bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }) : .data(bytes)
        case UInt8(ascii: "l"): return URL(string: text(value)).map(PropertyValue.url) ?? .string(text(value))
        default:
            switch type {
            case SQLITE_INTEGER: return .int64(sqlite3_value_int64(value))
            case SQLITE_FLOAT: return .double(sqlite3_value_double(value))
            default: return .decimal(Decimal(string: text(value)) ?? .nan)
            }
        }
    }

    static func text(_ value: OpaquePointer?) -> String {
        guard let bytes = sqlite3_value_text(value) else { return "" }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }

    private static func data(_ value: OpaquePointer?) -> Data {
        guard let bytes = sqlite3_value_blob(value) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_value_bytes(value)))
    }

    /// Passes a value to SQLite as a result: decimal numbers as text.
    static func write(_ value: PropertyValue, _ context: OpaquePointer?) {
        switch value {
        case .bool(let flag): sqlite3_result_int64(context, flag ? 1 : 0)
        case .int64(let number): sqlite3_result_int64(context, number)
        case .double(let number): sqlite3_result_double(context, number)
        case .decimal(let number): write(number.description, context)
        case .string(let text): write(text, context)
        case .date(let date): sqlite3_result_double(context, date.timeIntervalSinceReferenceDate)
        case .url(let url): write(url.absoluteString, context)
        case .data(let data): data.withUnsafeBytes { write(blob: $0, context) }
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { write(blob: $0, context) }
        case .null, .object, .array, .set: sqlite3_result_null(context)
        }
    }

    static func write(_ truth: Bool?, _ context: OpaquePointer?) {
        if let truth { sqlite3_result_int(context, truth ? 1 : 0) } else { sqlite3_result_null(context) }
    }

    static func write(_ text: String, _ context: OpaquePointer?) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_result_text64(context, $0.baseAddress ?? empty, UInt64($0.count), transient, UInt8(SQLITE_UTF8))
            }
        }
    }

    private static func write(blob bytes: UnsafeRawBufferPointer, _ context: OpaquePointer?) {
        sqlite3_result_blob64(context, bytes.baseAddress ?? UnsafeRawPointer(empty), UInt64(bytes.count), transient)
    }

    /// Makes SQLite copy the value that it is given: C spells this as the function at the address -1, which is never called.
    static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
    /// An address for empty values, because nil would be NULL. Never read or freed.
    nonisolated(unsafe) static let empty = UnsafePointer(UnsafeMutablePointer<CChar>.allocate(capacity: 1))
}
