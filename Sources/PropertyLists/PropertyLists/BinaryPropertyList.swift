package import Foundation

/// Decodes binary property lists to a table of objects that refer to each other by index.
///
/// Foundation's decoder on Linux has no public form for the references between the objects of a keyed archive, and its unarchiver stops
/// the program at an unknown class. This decoder does not recurse, and validates all data against the size of the file.
package struct BinaryPropertyList: Sendable {
    package enum Node: Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        /// An integer beyond the range of `integer`.
        case unsigned(UInt64)
        case real(Double)
        case date(Double)
        case data(Data)
        case string(String)
        /// A reference to an object of a keyed archive.
        case uid(Int)
        case array([Int])
        /// The indices of keys and values.
        case dictionary([(key: Int, value: Int)])
    }

    package struct FormatError: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// The maximum size; a model of a thousand entities has some hundred thousand objects.
    package static let byteLimit = 64 << 20
    package static let nodeLimit = 4_000_000

    package let nodes: [Node]
    package let root: Int
    /// The size of the file, which limits the amount of data decoded from it.
    package let byteCount: Int

    /// Creates a table decoded from another format.
    init(nodes: [Node], root: Int, byteCount: Int) {
        self.nodes = nodes
        self.root = root
        self.byteCount = byteCount
    }

    package static func isOne(_ data: Data) -> Bool { data.starts(with: Array("bplist00".utf8)) }

    package init(_ data: Data) throws {
        guard data.count <= Self.byteLimit else {
            throw FormatError(reason: "It is larger than the \(Self.byteLimit >> 20) MB that are read.")
        }
        guard Self.isOne(data), data.count >= 40 else { throw FormatError(reason: "It is not a binary property list.") }
        let bytes = [UInt8](data)
        byteCount = bytes.count
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        let referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.number(bytes, trailer + 8, 8), let root = Self.number(bytes, trailer + 16, 8),
            let table = Self.number(bytes, trailer + 24, 8),
            count > 0, count <= Self.nodeLimit, root < count, table >= 8, table < trailer, count <= (trailer - table) / offsetSize
        else { throw FormatError(reason: "Its last 32 bytes do not fit its size.") }
        var decoder = Decoder(bytes: bytes, end: table, referenceSize: referenceSize, count: count, budget: bytes.count * 9)
        nodes = try (0..<count).map { index in
            guard let offset = Self.number(bytes, table + index * offsetSize, offsetSize), offset >= 8, offset < table else {
                throw FormatError(reason: "Object \(index) is outside of it.")
            }
            return try decoder.node(at: offset)
        }
        self.root = root
    }

    /// Returns a big-endian number of `size` bytes; nil if it exceeds any index.
    fileprivate static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
        var value: UInt64 = 0
        for index in start..<start + size { value = value << 8 | UInt64(bytes[index]) }
        return Int(exactly: value)
    }

    /// Decodes objects.
    private struct Decoder {
        let bytes: [UInt8]
        let end: Int
        let referenceSize: Int
        let count: Int
        /// The remaining budget. Objects may overlap, so that a small file could refer to a long one a million times; without overlap, an
        /// object costs one unit for each byte and eight more for each reference.
        var budget: Int

        mutating func node(at offset: Int) throws -> Node {
            let marker = bytes[offset]
            let low = Int(marker & 0x0F)
            switch marker >> 4 {
            case 0x0:
                switch marker {
                case 0x08: return .bool(false)
                case 0x09: return .bool(true)
                case 0x00: return .null
                default: throw FormatError(reason: "There is no kind of object \(marker).")
                }
            case 0x1:
                let start = try range(offset + 1, 1 << low)
                guard low <= 4 else { throw FormatError(reason: "A number has \(1 << low) bytes.") }
                let value = try number(start.suffix(8))
                guard low == 4 else { return .integer(Int64(bitPattern: value)) }
                // Only numbers beyond the signed range are written with 16 bytes.
                guard try number(start.prefix(8)) == 0 else { throw FormatError(reason: "A number is larger than any that is known.") }
                return Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
            case 0x2:
                let start = try range(offset + 1, 1 << low)
                switch low {
                case 2: return .real(Double(Float(bitPattern: UInt32(try number(start)))))
                case 3: return .real(Double(bitPattern: try number(start)))
                default: throw FormatError(reason: "A number has \(1 << low) bytes.")
                }
            case 0x3:
                let seconds = Double(bitPattern: try number(try range(offset + 1, 8)))
                guard low == 3, seconds.isFinite else { throw FormatError(reason: "A date is not a point in time.") }
                return .date(seconds)
            case 0x4: return .data(Data(bytes[try body(offset, low, 1)]))
            case 0x5, 0x7:
                guard let text = String(validating: bytes[try body(offset, low, 1)], as: UTF8.self) else {
                    throw FormatError(reason: "A text is not valid.")
                }
                return .string(text)
            case 0x6:
                let range = try body(offset, low, 2)
                let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map { start in
                    UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
                }
                guard let text = String(validating: units, as: UTF16.self) else { throw FormatError(reason: "A text is not valid.") }
                return .string(text)
            case 0x8:
                guard let value = Int(exactly: try number(try range(offset + 1, low + 1))) else {
                    throw FormatError(reason: "A reference is too large.")
                }
                return .uid(value)
            case 0xA, 0xC: return .array(try references(try body(offset, low, referenceSize)))
            case 0xD:
                let range = try body(offset, low, referenceSize * 2)
                let middle = range.lowerBound + range.count / 2
                let keys = try references(range.lowerBound..<middle)
                let values = try references(middle..<range.upperBound)
                return .dictionary(zip(keys, values).map { ($0, $1) })
            default: throw FormatError(reason: "There is no kind of object \(marker).")
            }
        }

        /// Returns the range of an object's body, whose length is in its first bytes.
        private mutating func body(_ offset: Int, _ low: Int, _ unit: Int) throws -> Range<Int> {
            guard low == 0xF else { return try range(offset + 1, low * unit) }
            let size = try range(offset + 1, 1)
            let marker = bytes[size.lowerBound]
            guard marker >> 4 == 1, marker & 0x0F <= 3 else { throw FormatError(reason: "The size of an object is not a number.") }
            let digits = try range(offset + 2, 1 << Int(marker & 0x0F))
            let count = try number(digits)
            guard count <= UInt64(bytes.count) else { throw FormatError(reason: "An object is larger than the file.") }
            return try range(digits.upperBound, Int(count) * unit)
        }

        private mutating func range(_ start: Int, _ length: Int) throws -> Range<Int> {
            guard start >= 0, length >= 0, start <= end, length <= end - start else {
                throw FormatError(reason: "An object goes on beyond its end.")
            }
            try spend(length)
            return start..<start + length
        }

        private mutating func spend(_ amount: Int) throws {
            budget -= amount
            guard budget >= 0 else { throw FormatError(reason: "Its objects are larger than it is.") }
        }

        private func number(_ range: Range<Int>) throws -> UInt64 {
            guard range.count <= 8 else { throw FormatError(reason: "A number has \(range.count) bytes.") }
            return bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
        }

        private mutating func references(_ range: Range<Int>) throws -> [Int] {
            try spend(range.count / referenceSize * 8)
            return try stride(from: range.lowerBound, to: range.upperBound, by: referenceSize).map { start in
                guard let index = BinaryPropertyList.number(bytes, start, referenceSize), index < count else {
                    throw FormatError(reason: "An object refers to one that is not there.")
                }
                return index
            }
        }
    }
}
