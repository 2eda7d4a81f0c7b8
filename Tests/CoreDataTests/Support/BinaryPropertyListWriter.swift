import Foundation

/// Writes binary property lists with the references of keyed archives, for the parts of an archive that another reader is to read.
struct BinaryPropertyListWriter {
    indirect enum Tree {
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        case date(Double)
        case data(Data)
        case string(String)
        case uid(Int)
        case array([Tree])
        case dictionary([(key: String, value: Tree)])
    }

    private var objects: [[UInt8]] = []

    static func data(_ tree: Tree) -> Data {
        var writer = BinaryPropertyListWriter()
        let root = writer.add(tree)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in writer.objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += big(UInt64(offset), 4) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        for number in [writer.objects.count, root, table] { bytes += big(UInt64(number), 8) }
        return Data(bytes)
    }

    private mutating func add(_ tree: Tree) -> Int {
        let index = objects.count
        objects.append([])
        switch tree {
        case .bool(let flag): objects[index] = [flag ? 0x09 : 0x08]
        case .integer(let number): objects[index] = Self.integer(number)
        case .real(let number): objects[index] = [0x23] + Self.big(number.bitPattern, 8)
        case .date(let seconds): objects[index] = [0x33] + Self.big(seconds.bitPattern, 8)
        case .data(let data): objects[index] = Self.header(0x40, data.count) + data
        case .string(let text):
            let units = Array(text.utf16)
            objects[index] =
                units.allSatisfy { $0 < 0x80 }
                ? Self.header(0x50, units.count) + units.map { UInt8($0) }
                : Self.header(0x60, units.count) + units.flatMap { Self.big(UInt64($0), 2) }
        case .uid(let number): objects[index] = [0x83] + Self.big(UInt64(number), 4)
        case .array(let elements):
            let indexes = elements.map { add($0) }
            objects[index] = Self.header(0xA0, elements.count) + indexes.flatMap { Self.big(UInt64($0), 4) }
        case .dictionary(let pairs):
            let keys = pairs.map { add(.string($0.key)) }
            let values = pairs.map { add($0.value) }
            objects[index] = Self.header(0xD0, pairs.count) + (keys + values).flatMap { Self.big(UInt64($0), 4) }
        }
        return index
    }

    private static func integer(_ number: Int64) -> [UInt8] { [0x13] + big(UInt64(bitPattern: number), 8) }

    private static func header(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 0x0F] + integer(Int64(count))
    }

    private static func big(_ number: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (size - 1 - $0))) }
    }
}
