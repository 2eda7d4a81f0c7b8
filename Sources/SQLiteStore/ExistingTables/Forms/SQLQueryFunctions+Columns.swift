internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import PropertyLists

/// The SQL functions for columns of other programs' tables.
extension SQLQueryFunctions {
    func addColumns(to connection: OpaquePointer) throws {
        // value, the number of a form, the name of the column, and the key of the row
        try add("CoreDataColumn", -1, to: connection) { context, count, values in
            guard let values, count > 2 else { return sqlite3_result_null(context) }
            let code = sqlite3_value_int(values[1])
            SQLQueryFunctions.call(context) {
                if SQLiteColumnValue.write(values[0], code: code, context) { return }
                let key = (3..<Int(count)).map { SQLFunctionValue.text(values[$0]) }.joined(separator: ", ")
                throw SQLiteColumnValue.mismatch(
                    SQLiteColumnValue.raw(values[0]), code, SQLFunctionValue.text(values[2]), key: count > 3 ? key : nil)
            }
        }
        // the values of a row
        try add("CoreDataVersion", -1, to: connection) { context, count, values in
            var version = SQLiteRowVersion()
            for index in 0..<Int(count) { version.add(values?[index]) }
            sqlite3_result_int64(context, version.number)
        }
        // the values of a row
        try add("CoreDataDigest", -1, to: connection) { context, count, values in
            var bytes: [UInt8] = []
            for index in 0..<Int(count) { SQLiteColumnValue.append(values?[index], to: &bytes) }
            SQLFunctionValue.write(SQLiteKeys.digits(SHA2.sha256(bytes).prefix(16)), context)
        }
        // the values of a key
        try add("CoreDataKey", -1, to: connection) { context, count, values in
            let parts = (0..<Int(count)).map { SQLiteColumnValue.raw(values?[$0]) }
            guard let key = SQLiteKeys.text(parts) else { return sqlite3_result_null(context) }
            SQLFunctionValue.write(key, context)
        }
        // a key, the place of the value
        try add("CoreDataKeyPart", 2, to: connection) { context, _, values in
            guard let values, sqlite3_value_type(values[0]) == SQLITE_TEXT else { return sqlite3_result_null(context) }
            let parts = SQLiteKeys.parts(SQLFunctionValue.text(values[0]))
            let place = Int(sqlite3_value_int(values[1]))
            SQLiteColumnValue.write(place < parts.count ? parts[place] : .null, context)
        }
    }
}

/// Converts values of other programs' columns.
enum SQLiteColumnValue {
    static func raw(_ value: OpaquePointer?) -> SQLiteRawValue {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
        case SQLITE_TEXT: return .text(SQLFunctionValue.text(value))
        case SQLITE_BLOB:
            guard let bytes = sqlite3_value_blob(value) else { return .blob(Data()) }
            return .blob(Data(bytes: bytes, count: Int(sqlite3_value_bytes(value))))
        default: return .null
        }
    }

    /// Appends the type, the length and the bytes of a value: of several values, each has its own place.
    static func append(_ value: OpaquePointer?, to bytes: inout [UInt8]) {
        let type = sqlite3_value_type(value)
        func append(_ word: UInt64) { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
        append(UInt64(truncatingIfNeeded: type))
        switch type {
        case SQLITE_INTEGER: append(UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT: append(sqlite3_value_double(value).bitPattern)
        case SQLITE_TEXT, SQLITE_BLOB:
            let start = type == SQLITE_TEXT ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
            let part = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
            append(UInt64(part.count))
            bytes.append(contentsOf: part)
        default: break
        }
    }

    static func write(_ value: SQLiteRawValue, _ context: OpaquePointer?) {
        switch value {
        case .null: sqlite3_result_null(context)
        case .integer(let number): sqlite3_result_int64(context, number)
        case .real(let number): sqlite3_result_double(context, number)
        case .text(let text): SQLFunctionValue.write(text, context)
        case .blob(let data): SQLFunctionValue.write(.data(data), context)
        }
    }

    /// Passes a value to SQLite in the form of the store's own columns.
    ///
    /// - Parameter code: That of a ``SQLiteColumnForm``.
    /// - Returns: Whether the value is of its kind.
    static func write(_ value: OpaquePointer?, code: Int32, _ context: OpaquePointer?) -> Bool {
        let type = sqlite3_value_type(value)
        switch (code, type) {
        case (_, SQLITE_NULL): sqlite3_result_null(context)
        case (1, SQLITE_INTEGER), (4, SQLITE_INTEGER), (4, SQLITE_FLOAT), (5, SQLITE_TEXT), (6, SQLITE_TEXT), (8, SQLITE_BLOB),
            (9, SQLITE_TEXT), (9, SQLITE_INTEGER), (9, SQLITE_FLOAT):
            sqlite3_result_value(context, value)
        case (2, SQLITE_INTEGER):
            guard (0...1).contains(sqlite3_value_int64(value)) else { return false }
            sqlite3_result_value(context, value)
        case (3, SQLITE_INTEGER), (3, SQLITE_FLOAT): sqlite3_result_double(context, sqlite3_value_double(value))
        case (4, SQLITE_TEXT):
            let text = SQLFunctionValue.text(value)
            guard isNumeral(text), let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else { return false }
            write(SQLDecimal(number), context)
        case (6, SQLITE_INTEGER), (6, SQLITE_FLOAT): SQLFunctionValue.write(SQLFunctionValue.text(value), context)
        case (7, SQLITE_TEXT):
            guard let uuid = SQLiteUUIDs.uuid(SQLFunctionValue.text(value)) else { return false }
            SQLFunctionValue.write(.uuid(uuid), context)
        case (7, SQLITE_BLOB):
            guard sqlite3_value_bytes(value) == 16 else { return false }
            sqlite3_result_value(context, value)
        case (10..., SQLITE_TEXT):
            let bytes = UnsafeRawBufferPointer(start: sqlite3_value_text(value), count: Int(sqlite3_value_bytes(value)))
            guard let seconds = try? DateText.seconds(bytes, .database) else { return false }
            sqlite3_result_double(context, seconds)
        case (11..., SQLITE_INTEGER), (11..., SQLITE_FLOAT):
            let unit = SQLiteDateForm.Unit.all[min(Int(code) - 11, 2)]
            let seconds = unit.count.seconds(sqlite3_value_double(value))
            // Infinite dates are read as the same dates as in PostgreSQL.
            let date = seconds.isFinite ? nil : seconds < 0 ? Date.distantPast : Date.distantFuture
            sqlite3_result_double(context, date?.timeIntervalSinceReferenceDate ?? seconds)
        default: return false
        }
        return true
    }

    private static func isNumeral(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte) }
    }

    private static func write(_ number: SQLDecimal, _ context: OpaquePointer?) {
        switch number {
        case .integer(let whole): sqlite3_result_int64(context, whole)
        case .real(let double): sqlite3_result_double(context, double)
        case .numeral(let digits): SQLFunctionValue.write(.data(digits), context)
        }
    }

    /// Returns the error for a value that does not have its column's form.
    static func mismatch(_ value: SQLiteRawValue, _ code: Int32, _ place: String, key: String? = nil) -> NSError {
        let row = key.map { ", in the row with the key \($0)," } ?? ""
        var mistake = ""
        if code >= 10, case .text(let text) = value {
            do throws(DateMistake) { _ = try DateText.seconds(text, .database) } catch { mistake = " " + error.description(of: text) }
        }
        return CoreDataError.make(
            NSCoreDataError, "A value of \(place) cannot be read.",
            reason:
                "The column\(row) holds \(value.shown), where \(SQLiteColumnForm.name(ofCode: code)) is expected: SQLite takes any value.\(mistake)",
            next: "Fix the row, or give the attribute another type.")
    }
}

extension SQLiteRawValue {
    /// The value in messages.
    var shown: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "the integer \(number)"
        case .real(let number): "the number \(number)"
        case .text(let text): "the text “\(text.prefix(40))”"
        case .blob(let data): "\(data.count) bytes"
        }
    }
}

/// The keys of rows that are not one integer or one text: JSON arrays. The bytes of a BLOB are an array with their digits.
enum SQLiteKeys {
    /// Returns the text of a key; nil if a part is NULL.
    static func text(_ parts: [SQLiteRawValue]) -> String? {
        var elements: [Any] = []
        for part in parts {
            switch part {
            case .null: return nil
            case .integer(let number): elements.append(NSNumber(value: number))
            // As a number, 1.0 would be the integer 1.
            case .real(let number): elements.append(["r", "\(number)"])
            case .text(let text): elements.append(text)
            case .blob(let data): elements.append(["x", digits(data)])
            }
        }
        guard let data = try? JSONSerialization.data(withJSONObject: elements, options: [.withoutEscapingSlashes]) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns bytes in hexadecimal digits.
    static func digits(_ bytes: some Sequence<UInt8>) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// Returns the parts of a key; empty for a text that is not a key.
    static func parts(_ text: String) -> [SQLiteRawValue] {
        guard let elements = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any] else { return [] }
        return elements.map { element in
            switch element {
            case let text as String: return .text(text)
            case let marked as [String] where marked.count == 2 && marked[0] == "r": return .real(Double(marked[1]) ?? .nan)
            case let marked as [String] where marked.count == 2 && marked[0] == "x":
                let digits = Array(marked[1].utf8)
                return .blob(
                    Data(
                        stride(from: 0, to: digits.count - 1, by: 2).map { place in
                            UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) ?? 0
                        }))
            case let number as NSNumber: return .integer(number.int64Value)
            default: return .null
            }
        }
    }
}

/// The version of a row: a number that is computed from its values, the same for the same values.
struct SQLiteRowVersion {
    private var sum: UInt64 = 0xCBF2_9CE4_8422_2325

    var number: Int64 { Int64(bitPattern: Self.mixed(sum)) }

    mutating func add(_ value: OpaquePointer?) {
        let type = sqlite3_value_type(value)
        add(UInt64(truncatingIfNeeded: type))
        switch type {
        case SQLITE_INTEGER: add(UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT: add(sqlite3_value_double(value).bitPattern)
        case SQLITE_TEXT, SQLITE_BLOB:
            let bytes = type == SQLITE_TEXT ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
            add(Checksum.of(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(sqlite3_value_bytes(value)))))
        default: break
        }
    }

    private mutating func add(_ word: UInt64) { sum = Self.mixed(sum ^ word) &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    /// Each bit of the result depends on each of the word (the finalizer of MurmurHash 3).
    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ (word >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        word = (word ^ (word >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return word ^ (word >> 33)
    }
}
