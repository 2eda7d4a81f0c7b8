#if PostgreSQL
import BenchmarkPostgreSQL
import Foundation
import PlainItems

extension PlainItem: ReadableItem {}

/// libpq by hand: one connection, prepared statements, the binary format.
// Used by one thread at a time.
final class HandwrittenClient: @unchecked Sendable {
    private let handle: OpaquePointer

    struct Failure: Error, CustomStringConvertible { let description: String }

    init(_ url: String) throws {
        guard let handle = PQconnectdb(url) else { throw Failure(description: "There is no memory.") }
        self.handle = handle
        guard PQstatus(handle) == CONNECTION_OK else { throw failure() }
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    private func failure() -> Failure { Failure(description: String(cString: PQerrorMessage(handle))) }

    func execute(_ script: String) throws {
        let result = PQexec(handle, script)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN else { throw failure() }
    }

    func prepare(_ name: String, _ sql: String) throws {
        let result = PQprepare(handle, name, sql, 0, nil)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure() }
    }

    /// Executes a prepared statement with integers, and returns the number of rows that it has changed.
    func execute(_ name: String, _ numbers: [Int]) throws -> Int {
        let words = numbers.map { UInt64(bitPattern: Int64($0)).bigEndian }
        return try words.withUnsafeBytes { bytes in
            let pointers = numbers.indices.map { bytes.baseAddress?.assumingMemoryBound(to: CChar.self).advanced(by: $0 * 8) }
            let result = PQexecPrepared(
                handle, name, Int32(numbers.count), pointers.map { $0.map { UnsafePointer($0) } }, numbers.map { _ in 8 },
                numbers.map { _ in 1 }, 1)
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure() }
            return Int(String(cString: PQcmdTuples(result))) ?? 0
        }
    }

    /// Returns the integer that a query finds.
    func integer(_ sql: String) throws -> Int {
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK, PQntuples(result) == 1 else { throw failure() }
        return Int(String(cString: PQgetvalue(result, 0, 0))) ?? 0
    }

    /// Reads items: a Swift object with stored properties for each row.
    func items(_ table: String) throws -> [PlainItem] {
        let columns = (0..<5).map { "i\($0)" } + (0..<5).map { "t\($0)" }
        let result = PQexecParams(handle, "SELECT \(columns.joined(separator: ", ")) FROM \(table)", 0, nil, nil, nil, nil, 1)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw failure() }
        func integer(_ row: Int32, _ column: Int32) -> Int {
            let bytes = UnsafeRawPointer(PQgetvalue(result, row, column)!)
            return Int(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        }
        func text(_ row: Int32, _ column: Int32) -> String {
            let bytes = UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
            return String(decoding: bytes, as: UTF8.self)
        }
        return (0..<PQntuples(result)).map { row in
            let item = PlainItem()
            (item.i0, item.i1, item.i2, item.i3, item.i4) = (
                integer(row, 0), integer(row, 1), integer(row, 2), integer(row, 3), integer(row, 4)
            )
            (item.t0, item.t1, item.t2, item.t3, item.t4) = (
                text(row, 5), text(row, 6), text(row, 7), text(row, 8), text(row, 9)
            )
            return item
        }
    }

    /// Copies items into a table with the columns of the store, in one transaction.
    func copy(_ values: [Values], into table: String) throws {
        var bytes: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
        func append(_ word: some FixedWidthInteger) { withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) } }
        func append(_ number: Int) {
            append(Int32(8))
            append(Int64(number))
        }
        func append(_ text: String) {
            append(Int32(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
        try execute("BEGIN")
        try execute("COPY \(table) (id, entity, version, i0, i1, i2, i3, i4, t0, t1, t2, t3, t4) FROM STDIN (FORMAT binary)")
        func put() throws {
            let sent = bytes.withUnsafeBytes { PQputCopyData(handle, $0.baseAddress!.assumingMemoryBound(to: CChar.self), Int32($0.count)) }
            guard sent == 1 else { throw failure() }
            bytes.removeAll(keepingCapacity: true)
        }
        for (index, value) in values.enumerated() {
            append(Int16(13))
            append(index + 1)
            append(Int32(4))
            append(Int32(1))
            append(1)
            for number in [value.i0, value.i1, value.i2, value.i3, value.i4] { append(number) }
            for text in [value.t0, value.t1, value.t2, value.t3, value.t4] { append(text) }
            if bytes.count > 1 << 16 { try put() }
        }
        append(Int16(-1))
        try put()
        guard PQputCopyEnd(handle, nil) == 1 else { throw failure() }
        while let result = PQgetResult(handle) {
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure() }
        }
        try execute("COMMIT")
    }
}
#endif
