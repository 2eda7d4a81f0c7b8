#if PostgreSQL
internal import Foundation

/// The types of parameters and columns, by their numbers in PostgreSQL's catalogue.
enum PostgreSQLType {
    static let boolean: UInt32 = 16
    static let bytes: UInt32 = 17
    static let integer: UInt32 = 20
    static let smallInteger: UInt32 = 21
    static let mediumInteger: UInt32 = 23
    static let text: UInt32 = 25
    static let float: UInt32 = 700
    static let double: UInt32 = 701
    static let date: UInt32 = 1184
    static let numeric: UInt32 = 1700
    static let uuid: UInt32 = 2950

    /// Returns the type of an array.
    static func array(of element: UInt32) -> UInt32 {
        switch element {
        case boolean: 1000
        case bytes: 1001
        case integer: 1016
        case double: 1022
        case date: 1185
        case numeric: 1231
        case uuid: 2951
        default: 1009
        }
    }
}

/// A value as PostgreSQL's binary format has it.
enum BinaryValue: Sendable {
    case null(UInt32)
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case numeric(Decimal)
    case text(String)
    /// Text that is sent unchanged, while ``text(_:)`` has the form of ``PostgreSQLText``.
    case verbatim(String)
    /// Microseconds since 2000.
    case date(Int64)
    case bytes(Data)
    case uuid(UUID)
    /// An array of values of one type.
    case array([BinaryValue], of: UInt32)

    var type: UInt32 {
        switch self {
        case .null(let type): type
        case .boolean: PostgreSQLType.boolean
        case .integer: PostgreSQLType.integer
        case .double: PostgreSQLType.double
        case .numeric: PostgreSQLType.numeric
        case .text, .verbatim: PostgreSQLType.text
        case .date: PostgreSQLType.date
        case .bytes: PostgreSQLType.bytes
        case .uuid: PostgreSQLType.uuid
        case .array(_, let element): PostgreSQLType.array(of: element)
        }
    }

    /// An array of keys.
    static func keys(_ keys: [Int64]) -> BinaryValue { .array(keys.map(BinaryValue.integer), of: PostgreSQLType.integer) }

    /// Appends the bytes of the value, without their number; returns false for NULL, which has none.
    func append(to buffer: inout [UInt8]) -> Bool {
        switch self {
        case .null: return false
        case .boolean(let flag): buffer.append(flag ? 1 : 0)
        case .integer(let number): buffer.append(bigEndian: UInt64(bitPattern: number))
        case .double(let number): buffer.append(bigEndian: number.bitPattern)
        case .numeric(let number): buffer += BinaryNumeric.bytes(of: number)
        case .text(let text): PostgreSQLText.append(text, to: &buffer)
        case .verbatim(let text): buffer.append(contentsOf: text.utf8)
        case .date(let microseconds): buffer.append(bigEndian: UInt64(bitPattern: microseconds))
        case .bytes(let data): buffer.append(contentsOf: data)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { buffer.append(contentsOf: $0) }
        case .array(let elements, let type):
            buffer.append(bigEndian: UInt32(elements.isEmpty ? 0 : 1))
            buffer.append(bigEndian: UInt32(1))
            buffer.append(bigEndian: type)
            if elements.isEmpty { break }
            buffer.append(bigEndian: UInt32(elements.count))
            buffer.append(bigEndian: UInt32(1))
            for element in elements { element.appendField(to: &buffer) }
        }
        return true
    }

    /// Appends the number of bytes, or -1 for NULL, and the bytes.
    func appendField(to buffer: inout [UInt8]) {
        let place = buffer.count
        buffer.append(bigEndian: UInt32.max)
        guard append(to: &buffer) else { return }
        let size = UInt32(truncatingIfNeeded: buffer.count - place - 4).bigEndian
        withUnsafeBytes(of: size) { bytes in for (offset, byte) in bytes.enumerated() { buffer[place + offset] = byte } }
    }
}

extension [UInt8] {
    /// Appends a field of eight bytes, after their number.
    @inline(__always) mutating func appendField(_ word: UInt64) {
        Swift.withUnsafeBytes(of: (UInt64(8).bigEndian, word.bigEndian)) { append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[4...])) }
    }

    /// Appends the bytes of an integer, the most significant first.
    @inline(__always) mutating func append<Word: FixedWidthInteger>(bigEndian word: Word) {
        Swift.withUnsafeBytes(of: word.bigEndian) { append(contentsOf: $0) }
    }
}

/// The parameters of a statement, packed.
struct Parameters: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var types: [UInt32] = []
    /// The place and the number of bytes of each value; nil for NULL.
    private(set) var places: [(start: Int, count: Int)?] = []

    init() {}

    init(_ values: [BinaryValue]) {
        types.reserveCapacity(values.count)
        places.reserveCapacity(values.count)
        // Most values are numbers and dates.
        bytes.reserveCapacity(8 * values.count)
        for value in values { append(value) }
    }

    mutating func append(_ value: BinaryValue) {
        let start = bytes.count
        types.append(value.type)
        places.append(value.append(to: &bytes) ? (start, bytes.count - start) : nil)
    }

    /// Calls `body` with the parameters as libpq takes them: number, pointers, numbers of bytes, formats.
    func withPointers<Result>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) throws -> Result
    ) rethrows -> Result {
        let count = places.count
        return try bytes.withUnsafeBytes { buffer in
            try withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { pointers in
                try withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * count) { numbers in
                    let (lengths, formats) = (numbers.baseAddress!, numbers.baseAddress! + count)
                    // libpq takes a null pointer for NULL, and reads nothing of a value without bytes.
                    let base = buffer.baseAddress ?? UnsafeRawPointer(lengths)
                    for (index, place) in places.enumerated() {
                        let start = place.map { (base + $0.start).assumingMemoryBound(to: CChar.self) }
                        (pointers.baseAddress! + index).initialize(to: start)
                        (lengths + index).initialize(to: Int32(truncatingIfNeeded: place?.count ?? 0))
                        (formats + index).initialize(to: 1)
                    }
                    return try body(Int32(count), pointers.baseAddress, lengths, formats)
                }
            }
        }
    }
}
#endif
