internal import Foundation

/// Reads binary property lists into a table of objects that refer to each other by index.
///
/// Foundation's reader on Linux has no public form for the references between the objects of a keyed archive, and a class it does not
/// know stops the program in its unarchiver. Nothing here recurses, and whatever a file says is checked against its size.
struct BinaryPropertyList {
    enum Node {
        case null
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        case date(Double)
        case data(Data)
        case string(String)
        /// A reference to an object of a keyed archive.
        case uid(Int)
        case array([Int])
        /// Pairs of keys and values.
        case dictionary([(key: Int, value: Int)])
    }

    struct Mistake: Error {
        let reason: String
    }

    /// What is read at most: a model of a thousand entities has some hundred thousand objects.
    static let byteLimit = 64 << 20
    static let nodeLimit = 4_000_000

    let nodes: [Node]
    let root: Int

    static func isOne(_ data: Data) -> Bool { data.starts(with: Array("bplist00".utf8)) }

    init(_ data: Data) throws {
        guard data.count <= Self.byteLimit else { throw Mistake(reason: "It is larger than the \(Self.byteLimit >> 20) MB that are read.") }
        guard Self.isOne(data), data.count >= 40 else { throw Mistake(reason: "It is no binary property list.") }
        let bytes = [UInt8](data)
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        let referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.number(bytes, trailer + 8, 8), let root = Self.number(bytes, trailer + 16, 8),
            let table = Self.number(bytes, trailer + 24, 8),
            count > 0, count <= Self.nodeLimit, root < count, table >= 8, table < trailer, count <= (trailer - table) / offsetSize
        else { throw Mistake(reason: "Its last 32 bytes do not fit its size.") }
        var decoder = Decoder(bytes: bytes, end: table, referenceSize: referenceSize, count: count)
        nodes = try (0..<count).map { index in
            guard let offset = Self.number(bytes, table + index * offsetSize, offsetSize), offset >= 8, offset < table else {
                throw Mistake(reason: "Object \(index) lies outside of it.")
            }
            return try decoder.node(at: offset)
        }
        self.root = root
    }

    /// A number of `size` bytes, the largest first; nil where it is larger than any index.
    fileprivate static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
        var value: UInt64 = 0
        for index in start..<start + size { value = value << 8 | UInt64(bytes[index]) }
        return Int(exactly: value)
    }

    /// Reads one object.
    private struct Decoder {
        let bytes: [UInt8]
        let end: Int
        let referenceSize: Int
        let count: Int
        /// Objects may overlap, so that a small file could name a long one a million times.
        var budget = BinaryPropertyList.byteLimit * 2

        mutating func node(at offset: Int) throws -> Node {
            let marker = bytes[offset]
            let low = Int(marker & 0x0F)
            switch marker >> 4 {
            case 0x0:
                switch marker {
                case 0x08: return .bool(false)
                case 0x09: return .bool(true)
                case 0x00: return .null
                default: throw Mistake(reason: "There is no kind of object \(marker).")
                }
            case 0x1:
                let start = try range(offset + 1, 1 << low)
                guard low <= 4 else { throw Mistake(reason: "A number has \(1 << low) bytes.") }
                var value: UInt64 = 0
                for byte in bytes[start] { value = value << 8 | UInt64(byte) }
                return .integer(Int64(bitPattern: value))
            case 0x2:
                let start = try range(offset + 1, 1 << low)
                switch low {
                case 2: return .real(Double(Float(bitPattern: UInt32(try number(start)))))
                case 3: return .real(Double(bitPattern: try number(start)))
                default: throw Mistake(reason: "A number has \(1 << low) bytes.")
                }
            case 0x3: return .date(Double(bitPattern: try number(try range(offset + 1, 8))))
            case 0x4: return .data(Data(bytes[try body(offset, low, 1)]))
            case 0x5, 0x7:
                guard let text = String(validating: bytes[try body(offset, low, 1)], as: UTF8.self) else {
                    throw Mistake(reason: "A text is not valid.")
                }
                return .string(text)
            case 0x6:
                let range = try body(offset, low, 2)
                let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
                    UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
                }
                guard let text = String(validating: units, as: UTF16.self) else { throw Mistake(reason: "A text is not valid.") }
                return .string(text)
            case 0x8:
                guard let value = Int(exactly: try number(try range(offset + 1, low + 1))) else {
                    throw Mistake(reason: "A reference is too large.")
                }
                return .uid(value)
            case 0xA, 0xC: return .array(try references(try body(offset, low, referenceSize)))
            case 0xD:
                let range = try body(offset, low, referenceSize * 2)
                let middle = range.lowerBound + range.count / 2
                let keys = try references(range.lowerBound..<middle)
                let values = try references(middle..<range.upperBound)
                return .dictionary(zip(keys, values).map { ($0, $1) })
            default: throw Mistake(reason: "There is no kind of object \(marker).")
            }
        }

        /// Where the body of an object lies, of as many units as its first bytes say.
        private mutating func body(_ offset: Int, _ low: Int, _ unit: Int) throws -> Range<Int> {
            guard low == 0xF else { return try range(offset + 1, low * unit) }
            let size = try range(offset + 1, 1)
            let marker = bytes[size.lowerBound]
            guard marker >> 4 == 1, marker & 0x0F <= 3 else { throw Mistake(reason: "The size of an object is no number.") }
            let digits = try range(offset + 2, 1 << Int(marker & 0x0F))
            let count = try number(digits)
            guard count <= UInt64(bytes.count) else { throw Mistake(reason: "An object is larger than the file.") }
            return try range(digits.upperBound, Int(count) * unit)
        }

        private mutating func range(_ start: Int, _ length: Int) throws -> Range<Int> {
            guard start >= 0, length >= 0, start <= end, length <= end - start else {
                throw Mistake(reason: "An object goes on beyond its end.")
            }
            budget -= length
            guard budget >= 0 else { throw Mistake(reason: "Its objects are larger than it is.") }
            return start..<start + length
        }

        private func number(_ range: Range<Int>) throws -> UInt64 {
            guard range.count <= 8 else { throw Mistake(reason: "A number has \(range.count) bytes.") }
            return bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
        }

        private func references(_ range: Range<Int>) throws -> [Int] {
            try stride(from: range.lowerBound, to: range.upperBound, by: referenceSize).map { start in
                guard let index = BinaryPropertyList.number(bytes, start, referenceSize), index < count else {
                    throw Mistake(reason: "An object refers to one that is not there.")
                }
                return index
            }
        }
    }
}
