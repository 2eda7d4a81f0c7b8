internal import CSQLite
internal import Foundation

/// A prepared statement. It belongs to its connection and is used on the same thread.
final class SQLStatement {
    let handle: OpaquePointer
    let sql: String
    private unowned let connection: SQLConnection
    /// Whether the statement is being stepped; another caller then gets another statement.
    private(set) var isInUse = false

    init(_ sql: String, connection: SQLConnection, isKept: Bool) throws {
        self.sql = sql
        self.connection = connection
        var handle: OpaquePointer?
        var text = sql
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_prepare_v3(
                    connection.handle, $0.baseAddress, Int32($0.count), isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0, &handle, nil)
            }
        }
        guard code == SQLITE_OK, let handle else {
            throw SQLError.make(
                connection.handle, code == SQLITE_OK ? SQLITE_MISUSE : code, .reading, path: connection.path, sql: sql, isPrepared: false)
        }
        self.handle = handle
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Binding, from 1

    func bind(_ value: Int64, at index: Int) { sqlite3_bind_int64(handle, Int32(index), value) }
    func bind(_ value: Double, at index: Int) { sqlite3_bind_double(handle, Int32(index), value) }
    func bindNull(at index: Int) { sqlite3_bind_null(handle, Int32(index)) }

    /// Binds a string, which SQLite copies.
    func bind(_ text: String, at index: Int) {
        var text = text
        text.withUTF8 { bytes in
            _ = sqlite3_bind_text64(
                handle, Int32(index), UnsafeRawPointer(bytes.baseAddress ?? Self.nothing).assumingMemoryBound(to: CChar.self),
                UInt64(bytes.count), Self.transient, UInt8(SQLITE_UTF8))
        }
    }

    /// Binds bytes, which SQLite copies.
    func bind(_ data: Data, at index: Int) {
        data.withUnsafeBytes { bytes in
            _ = sqlite3_bind_blob64(
                handle, Int32(index), bytes.baseAddress ?? UnsafeRawPointer(Self.nothing), UInt64(bytes.count), Self.transient)
        }
    }

    /// Makes SQLite copy the value that it is given: C spells this as the function at the address -1, which is never called.
    static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    /// An address for empty values, because nil would be NULL. Never read or written.
    nonisolated(unsafe) static let nothing = UnsafePointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

    // MARK: Running

    /// Steps to the next row. Returns false after the last one.
    @inline(__always) func step(_ action: SQLError.Action = .reading) throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code, action)
    }

    @inline(never) func failure(_ code: Int32, _ action: SQLError.Action) -> NSError {
        SQLError.make(connection.handle, code, action, path: connection.path, sql: sql)
    }

    /// Runs a statement without results, and resets it.
    func run(_ action: SQLError.Action = .writing) throws {
        let code = sqlite3_step(handle)
        if code != SQLITE_DONE && code != SQLITE_ROW {
            let error = failure(code, action)
            sqlite3_reset(handle)
            throw error
        }
        sqlite3_reset(handle)
    }

    func begin() { isInUse = true }

    /// Resets the statement and clears its bindings.
    func finish() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        isInUse = false
    }

    // MARK: Columns, from 0

    @inline(__always) func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    @inline(__always) func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }
    @inline(__always) func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

    @inline(__always) func text(_ column: Int) -> String { Self.text(handle, Int32(column)) }
    func data(_ column: Int) -> Data { Self.data(handle, Int32(column)) }

    /// The text in a column of the statement's current row; empty for NULL.
    @inline(__always) static func text(_ handle: OpaquePointer, _ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(handle, column) else { return "" }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))), as: UTF8.self)
    }

    /// Returns the bytes in a column of the statement's current row; empty for NULL.
    static func data(_ handle: OpaquePointer, _ column: Int32) -> Data {
        guard let bytes = sqlite3_column_blob(handle, column) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, column)))
    }
}
