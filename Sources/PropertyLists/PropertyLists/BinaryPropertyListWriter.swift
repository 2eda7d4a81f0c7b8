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
        case plain([UInt8])
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var entries: [Entry] = []
    private var known: [[UInt8]: Int] = [:]

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
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for entry in entries {
            offsets.append(bytes.count)
            switch entry {
            case .plain(let plain): bytes += plain
            case .array(let elements):
                bytes += Self.head(0xA0, elements.count)
                for index in elements { Self.add(UInt64(index), width, to: &bytes) }
            case .dictionary(let keys, let values):
                bytes += Self.head(0xD0, keys.count)
                for index in keys { Self.add(UInt64(index), width, to: &bytes) }
                for index in values { Self.add(UInt64(index), width, to: &bytes) }
            }
        }
        let table = bytes.count
        let offsetWidth = Self.width(table)
        for offset in offsets { Self.add(UInt64(offset), offsetWidth, to: &bytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(width)]
        for number in [entries.count, root, table] { Self.add(UInt64(number), 8, to: &bytes) }
        return Data(bytes)
    }

    private static func bytes(of node: Node) -> [UInt8] {
        switch node {
        case .integer(let number) where number < 0: return bytes(0x13, UInt64(bitPattern: number), 8)
        case .integer(let number): return integer(UInt64(number))
        case .unsigned(let number): return integer(number)
        case .real(let number): return bytes(0x23, number.bitPattern, 8)
        case .flag(let flag): return [flag ? 0x09 : 0x08]
        case .text(let text):
            let units = Array(text.utf8)
            if isASCII(units) { return head(0x50, units.count) + units }
            var bytes = head(0x60, text.utf16.count)
            for unit in text.utf16 { add(UInt64(unit), 2, to: &bytes) }
            return bytes
        case .data(let data): return head(0x40, data.count) + data
        case .reference(let number):
            let width = width(number)
            return bytes(0x80 | UInt8(width - 1), UInt64(number), width)
        case .array, .dictionary: return []
        }
    }

    /// Encodes a non-negative integer. A value beyond eight signed bytes takes sixteen.
    private static func integer(_ number: UInt64) -> [UInt8] {
        if number > UInt64(Int64.max) { return [0x14] + [UInt8](repeating: 0, count: 8) + bytes(nil, number, 8) }
        let width = width(Int(number))
        return bytes(0x10 | UInt8(width.trailingZeroBitCount), number, width)
    }

    /// Encodes the type and length of an object; a large length follows as an integer.
    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 0x0F] + integer(UInt64(count))
    }

    /// Returns the number of bytes for integers up to `number`: 1, 2, 4 or 8.
    private static func width(_ number: Int) -> Int { number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8 }

    /// Returns a byte and a number after it.
    private static func bytes(_ head: UInt8?, _ number: UInt64, _ width: Int) -> [UInt8] {
        var bytes = head.map { [$0] } ?? []
        add(number, width, to: &bytes)
        return bytes
    }

    // The following two are called for each reference and each text of a model: plain loops are fast without optimization, too.

    /// Appends the lowest bytes of a number, the highest of them first.
    private static func add(_ number: UInt64, _ width: Int, to bytes: inout [UInt8]) {
        var left = UInt64(width)
        while left > 0 {
            left &-= 1
            bytes.append(UInt8(truncatingIfNeeded: number &>> (left &* 8)))
        }
    }

    private static func isASCII(_ units: [UInt8]) -> Bool {
        units.withUnsafeBufferPointer { units in
            guard let start = units.baseAddress else { return true }
            var (index, all) = (0, 0 as UInt8)
            while index < units.count {
                all |= start[index]
                index &+= 1
            }
            return all < 0x80
        }
    }
}
