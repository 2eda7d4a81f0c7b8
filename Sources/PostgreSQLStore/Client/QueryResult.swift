#if PostgreSQL
internal import CPostgreSQL
internal import Foundation

/// The result of one statement: rows in the binary format, or the number of rows that were changed.
// Immutable.
final class QueryResult: @unchecked Sendable {
    /// libpq's result, which only this object frees.
    private let result: OpaquePointer
    let rowCount: Int
    let columnCount: Int

    init(_ result: OpaquePointer) {
        self.result = result
        rowCount = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    deinit { PQclear(result) }

    /// The number of rows that the statement has inserted, updated or deleted.
    var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The type of a column, by its number in the catalogue.
    func type(of column: Int) -> UInt32 { PQftype(result, Int32(truncatingIfNeeded: column)) }

    @inline(__always) func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(result, Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column)) != 0
    }

    /// The bytes of a value, which live as long as the result.
    @inline(__always) func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
        return UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }

    /// An integer of any size; 0 for a value of another size.
    @inline(__always) func integer(_ row: Int, _ column: Int) -> Int64 {
        let bytes = bytes(row, column)
        switch bytes.count {
        case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case 1: return Int64(bytes[0])
        default: return 0
        }
    }

    /// The string of a text in the form of ``PostgreSQLText``.
    func text(_ row: Int, _ column: Int) -> String { PostgreSQLText.decoded(bytes(row, column)) }
    /// Returns an unconverted text, for columns and names of other programs.
    func verbatim(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }
    func data(_ row: Int, _ column: Int) -> Data { Data(bytes(row, column)) }
}
#endif
