import BenchmarkSQLite
import Foundation

/// A minimal wrapper of SQLite's C API, for handwritten fast code.
final class RawConnection {
    let database: OpaquePointer

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(_ path: String) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
            throw Failure(description: "SQLite cannot open “\(path)”: \(String(cString: sqlite3_errmsg(opened)))")
        }
        database = opened
        try execute("PRAGMA journal_mode=WAL")
        try execute("PRAGMA synchronous=NORMAL")
    }

    deinit { sqlite3_close_v2(database) }

    var failure: Failure { Failure(description: "SQLite says: \(String(cString: sqlite3_errmsg(database)))") }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    func prepare(_ sql: String) throws -> RawStatement {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK, let statement else {
            throw failure
        }
        return RawStatement(statement)
    }

    func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN IMMEDIATE")
        try body()
        try execute("COMMIT")
    }

    /// Runs a statement without results.
    @inline(__always) func run(_ statement: RawStatement) throws {
        guard sqlite3_step(statement.pointer) == SQLITE_DONE else { throw failure }
        statement.reset()
    }
}

/// A prepared statement, with a buffer for its strings.
///
/// Strings are copied to one scratch buffer and bound statically: SQLite allocates and frees nothing for them.
final class RawStatement {
    let pointer: OpaquePointer
    private let scratch = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 8)
    private var used = 0

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit {
        sqlite3_finalize(pointer)
        scratch.deallocate()
    }

    /// Steps the statement, and returns whether there is a row.
    @inline(__always) func next() -> Bool { sqlite3_step(pointer) == SQLITE_ROW }

    @inline(__always) func reset() {
        sqlite3_reset(pointer)
        used = 0
    }

    @inline(__always) func bind(_ number: Int, at place: Int32) { sqlite3_bind_int64(pointer, place, Int64(number)) }
    @inline(__always) func bind(key: Int64, at place: Int32) { sqlite3_bind_int64(pointer, place, key) }

    @inline(__always) func bind(_ text: String, at place: Int32) {
        var text = text
        text.withUTF8 { bytes in
            precondition(used + bytes.count <= 1 << 16, "The texts of one statement take more than the scratch buffer has.")
            let copy = scratch + used
            if let base = bytes.baseAddress { copy.copyMemory(from: base, byteCount: bytes.count) }
            // No destructor: the string is static for SQLite.
            sqlite3_bind_text(pointer, place, copy.assumingMemoryBound(to: CChar.self), Int32(bytes.count), nil)
            used += bytes.count
        }
    }

    @inline(__always) func number(_ column: Int32) -> Int { Int(sqlite3_column_int64(pointer, column)) }
    @inline(__always) func key(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    @inline(__always) func text(_ column: Int32) -> String {
        let start = sqlite3_column_text(pointer, column)
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column))), as: UTF8.self)
    }
}
