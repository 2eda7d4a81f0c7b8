package import Foundation

/// Encodes binary property lists: equal lists always produce equal bytes.
///
/// Foundation encodes the keys of a dictionary in an order that changes between runs, and has no public form for the references of keyed
/// archives.
package struct BinaryPropertyListWriter {
    /// A value of a property list.
    package indirect enum Node {
        case integer(Int64)
        case unsigned(UInt64)
        case real(Double)
        case flag(Bool)
        case text(String)
        case data(Data)
        /// The index of an object in a keyed archive.
        case reference(Int)
        case array([Node])
        /// A dictionary, whose keys are encoded in this order.
        case dictionary([(String, Node)])
    }

    private enum Entry {
        case plain(Data)
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var entries: [Entry] = []
    private var known: [Data: Int] = [:]

    /// Encodes a property list.
    package static func data(of node: Node) -> Data {
        var writer = BinaryPropertyListWriter()
        let root = writer.add(node)
        return writer.data(root: root)
    }

    private mutating func add(_ node: Node) -> Int {
        switch node {
        case .array(let elements):
            let index = reserve()
            entries[index] = .array(elements.map { add($0) })
            return index
        case .dictionary(let pairs):
            let index = reserve()
            let keys = pairs.map { add(.text($0.0)) }
            entries[index] = .dictionary(keys: keys, values: pairs.map { add($0.1) })
            return index
        default:
            let bytes = Self.bytes(of: node)
            if let index = known[bytes] { return index }
            entries.append(.plain(bytes))
            known[bytes] = entries.count - 1
            return entries.count - 1
        }
    }

    private mutating func reserve() -> Int {
        entries.append(.array([]))
        return entries.count - 1
    }

    // MARK: Bytes

    private func data(root: Int) -> Data {
        let width = Self.width(entries.count)
        var data = Data("bplist00".utf8)
        var offsets: [Int] = []
        func add(_ indexes: [Int]) { for index in indexes { data += Self.bigEndian(UInt64(index), width) } }
        for entry in entries {
            offsets.append(data.count)
            switch entry {
            case .plain(let bytes): data += bytes
            case .array(let elements):
                data += Self.head(0xA0, elements.count)
                add(elements)
            case .dictionary(let keys, let values):
                data += Self.head(0xD0, keys.count)
                add(keys)
                add(values)
            }
        }
        let table = data.count
        let offsetWidth = Self.width(table)
        for offset in offsets { data += Self.bigEndian(UInt64(offset), offsetWidth) }
        data += Data([0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(width)])
        for number in [entries.count, root, table] { data += Self.bigEndian(UInt64(number), 8) }
        return data
    }

    private static func bytes(of node: Node) -> Data {
        switch node {
        case .integer(let number) where number < 0: return Data([0x13]) + bigEndian(UInt64(bitPattern: number), 8)
        case .integer(let number): return integer(UInt64(number))
        case .unsigned(let number): return integer(number)
        case .real(let number): return Data([0x23]) + bigEndian(number.bitPattern, 8)
        case .flag(let flag): return Data([flag ? 0x09 : 0x08])
        case .text(let text) where text.utf8.allSatisfy({ $0 < 0x80 }): return head(0x50, text.utf8.count) + Data(text.utf8)
        case .text(let text): return text.utf16.reduce(into: head(0x60, text.utf16.count)) { $0 += bigEndian(UInt64($1), 2) }
        case .data(let data): return head(0x40, data.count) + data
        case .reference(let number):
            let width = width(number)
            return Data([0x80 | UInt8(width - 1)]) + bigEndian(UInt64(number), width)
        case .array, .dictionary: return Data()
        }
    }

    /// Encodes a non-negative integer. A value beyond eight signed bytes takes sixteen.
    private static func integer(_ number: UInt64) -> Data {
        if number > UInt64(Int64.max) { return Data([0x14]) + Data(count: 8) + bigEndian(number, 8) }
        let width = width(Int(number))
        return Data([0x10 | UInt8(width.trailingZeroBitCount)]) + bigEndian(number, width)
    }

    /// Encodes the type and length of an object; a large length follows as an integer.
    private static func head(_ kind: UInt8, _ count: Int) -> Data {
        count < 15 ? Data([kind | UInt8(count)]) : Data([kind | 0x0F]) + integer(UInt64(count))
    }

    /// Returns the number of bytes for integers up to `number`: 1, 2, 4 or 8.
    private static func width(_ number: Int) -> Int { number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8 }

    private static func bigEndian(_ number: UInt64, _ width: Int) -> Data {
        Data((0..<width).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (width - 1 - $0))) })
    }
}
