internal import Foundation

/// Decompresses DEFLATE (RFC 1951), without header or checksum.
struct Inflate {
    private let input: [UInt8]
    private var position = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var output: [UInt8] = []
    /// What a few bytes must not become.
    private static let largest = 256 << 20

    private init(_ data: Data) { input = Array(data) }

    /// The data, or nil where it is none of this form.
    static func inflated(_ data: Data) -> Data? {
        var inflate = Inflate(data)
        return inflate.run() ? Data(inflate.output) : nil
    }

    private mutating func run() -> Bool {
        while true {
            guard let isLast = take(1), let kind = take(2) else { return false }
            let isDone: Bool
            switch kind {
            case 0: isDone = copyStored()
            case 1: isDone = expand(Self.fixedLengths, Self.fixedDistances)
            case 2:
                guard let (lengths, distances) = readCodes() else { return false }
                isDone = expand(lengths, distances)
            default: isDone = false
            }
            if !isDone { return false }
            if isLast == 1 { return true }
        }
    }

    private mutating func take(_ count: Int) -> Int? {
        while bitCount < count {
            guard position < input.count else { return nil }
            bits |= UInt32(input[position]) << UInt32(bitCount)
            position += 1
            bitCount += 8
        }
        let value = Int(bits & ((1 << UInt32(count)) - 1))
        bits >>= UInt32(count)
        bitCount -= count
        return value
    }

    private mutating func copyStored() -> Bool {
        bits = 0
        bitCount = 0
        guard position + 4 <= input.count else { return false }
        let length = Int(input[position]) | Int(input[position + 1]) << 8
        let check = Int(input[position + 2]) | Int(input[position + 3]) << 8
        position += 4
        guard length == ~check & 0xFFFF, position + length <= input.count, output.count + length <= Self.largest else { return false }
        output += input[position..<position + length]
        position += length
        return true
    }

    /// A Huffman code: how many symbols there are of each length, and the symbols in order.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        /// Nil for lengths that more symbols have than there are codes.
        init?(_ lengths: some Collection<Int>) {
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            var left = 1
            for length in 1..<16 {
                left = left * 2 - counts[length]
                if left < 0 { return nil }
            }
            var offsets = [Int](repeating: 0, count: 17)
            for length in 1..<16 { offsets[length + 1] = offsets[length] + counts[length] }
            symbols = [Int](repeating: 0, count: lengths.count)
            for (symbol, length) in lengths.enumerated() where length != 0 {
                symbols[offsets[length]] = symbol
                offsets[length] += 1
            }
        }
    }

    private mutating func symbol(_ code: Code) -> Int? {
        var value = 0
        var first = 0
        var index = 0
        for length in 1..<16 {
            guard let bit = take(1) else { return nil }
            value |= bit
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        return nil
    }

    private mutating func expand(_ lengths: Code, _ distances: Code) -> Bool {
        while true {
            guard let symbol = symbol(lengths) else { return false }
            if symbol < 256 {
                output.append(UInt8(symbol))
                continue
            }
            if symbol == 256 { return true }
            guard symbol - 257 < Self.lengthBases.count, let extra = take(Self.lengthBits[symbol - 257]),
                let place = self.symbol(distances), place < Self.distanceBases.count, let more = take(Self.distanceBits[place])
            else { return false }
            let length = Self.lengthBases[symbol - 257] + extra
            let distance = Self.distanceBases[place] + more
            guard distance <= output.count, output.count + length <= Self.largest else { return false }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }

    private mutating func readCodes() -> (Code, Code)? {
        guard let lengthCount = take(5).map({ $0 + 257 }), let distanceCount = take(5).map({ $0 + 1 }), let count = take(4).map({ $0 + 4 })
        else { return nil }
        var lengths = [Int](repeating: 0, count: 19)
        for index in 0..<count {
            guard let length = take(3) else { return nil }
            lengths[Self.order[index]] = length
        }
        guard let code = Code(lengths) else { return nil }
        var all: [Int] = []
        while all.count < lengthCount + distanceCount {
            guard let symbol = symbol(code) else { return nil }
            switch symbol {
            case 0..<16: all.append(symbol)
            case 16:
                guard let last = all.last, let times = take(2) else { return nil }
                all += Array(repeating: last, count: times + 3)
            case 17:
                guard let times = take(3) else { return nil }
                all += Array(repeating: 0, count: times + 3)
            default:
                guard let times = take(7) else { return nil }
                all += Array(repeating: 0, count: times + 11)
            }
        }
        guard all.count == lengthCount + distanceCount, let first = Code(all.prefix(lengthCount)),
            let second = Code(Array(all.suffix(distanceCount)))
        else { return nil }
        return (first, second)
    }

    private static let fixedLengths = Code(
        Array(repeating: 8, count: 144) + Array(repeating: 9, count: 112) + Array(repeating: 7, count: 24) + Array(repeating: 8, count: 8))!
    private static let fixedDistances = Code(Array(repeating: 5, count: 30))!
    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
    ]
    private static let lengthBits = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289,
        16385, 24577,
    ]
    private static let distanceBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
}
