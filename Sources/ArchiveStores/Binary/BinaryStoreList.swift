internal import Foundation

/// Reads the property list of a binary store, in place: objects are looked up when they are needed, and nothing recurses.
struct BinaryStoreList {
    struct Failure: Error {
        let reason: String
    }

    enum Object {
        case dictionary(keys: [Int], values: [Int])
        case array([Int])
        case text(String)
        case integer(Int64)
        case data(Range<Int>)
    }

    /// The bytes, which the caller owns.
    let bytes: UnsafeRawBufferPointer
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let table: Int
    let root: Int

    static let beginning = Array("bplist00".utf8)

    init(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count >= 40, bytes.starts(with: Self.beginning) else { throw Failure(reason: "It is not a binary property list.") }
        self.bytes = bytes
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let numbers = [8, 16, 24].map { Self.number(bytes, trailer + $0, 8) }
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), let count = numbers[0], let root = numbers[1],
            let table = numbers[2], count > 0, root < count, table >= 8, table < trailer, count <= (trailer - table) / offsetSize
        else { throw Failure(reason: "Its end is damaged, or missing.") }
        (self.count, self.root, self.table) = (count, root, table)
    }

    /// Returns a big-endian number; nil if it exceeds any index.
    private static func number(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ size: Int) -> Int? {
        var number: UInt64 = 0
        for place in start..<(start + size) { number = number << 8 | UInt64(bytes[place]) }
        return number < 1 << 48 ? Int(number) : nil
    }

    func object(_ index: Int) throws -> Object {
        guard index < count, let start = Self.number(bytes, table + index * offsetSize, offsetSize), start >= 8, start < table else {
            throw Failure(reason: "Object \(index) is outside of it.")
        }
        let marker = bytes[start]
        let low = Int(marker & 15)
        switch marker >> 4 {
        case 1:
            guard low <= 3, start + 1 + 1 << low <= table else { throw Failure(reason: "A number is damaged.") }
            var number: UInt64 = 0
            for place in 0..<(1 << low) { number = number << 8 | UInt64(bytes[start + 1 + place]) }
            return .integer(Int64(bitPattern: number))
        case 4: return .data(try body(start, low, 1))
        case 5: return .text(String(decoding: bytes[try body(start, low, 1)], as: UTF8.self))
        case 6:
            let range = try body(start, low, 2)
            let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            return .text(String(decoding: units, as: UTF16.self))
        case 0xA: return .array(try references(body(start, low, referenceSize)))
        case 0xD:
            let all = try references(body(start, low, referenceSize * 2))
            return .dictionary(keys: Array(all[..<(all.count / 2)]), values: Array(all[(all.count / 2)...]))
        default: throw Failure(reason: "It contains an object of a kind that a store does not have.")
        }
    }

    /// The bytes of an object with a count.
    private func body(_ start: Int, _ low: Int, _ unit: Int) throws -> Range<Int> {
        var (place, length) = (start + 1, low)
        if low == 15 {
            guard place < table, bytes[place] >> 4 == 1, bytes[place] & 15 <= 3 else { throw Failure(reason: "A length is damaged.") }
            let size = 1 << Int(bytes[place] & 15)
            guard place + 1 + size <= table, let number = Self.number(bytes, place + 1, size) else {
                throw Failure(reason: "A length is damaged.")
            }
            (place, length) = (place + 1 + size, number)
        }
        guard length <= (table - place) / unit else { throw Failure(reason: "An object is longer than the file.") }
        return place..<(place + length * unit)
    }

    private func references(_ range: Range<Int>) throws -> [Int] {
        try stride(from: range.lowerBound, to: range.upperBound, by: referenceSize).map { place in
            guard let index = Self.number(bytes, place, referenceSize), index < count else {
                throw Failure(reason: "An object refers to one that is not there.")
            }
            return index
        }
    }

    // MARK: Values by name

    /// Returns the values of a dictionary by their keys.
    func dictionary(_ index: Int) throws -> [String: Int] {
        guard case .dictionary(let keys, let values) = try object(index) else { throw Failure(reason: "A dictionary is expected.") }
        var result: [String: Int] = [:]
        for (key, value) in zip(keys, values) { result[try text(key)] = value }
        return result
    }

    func array(_ index: Int?) throws -> [Int] {
        guard let index, case .array(let elements) = try object(index) else { throw Failure(reason: "An array is expected.") }
        return elements
    }

    func text(_ index: Int?) throws -> String {
        guard let index, case .text(let text) = try object(index) else { throw Failure(reason: "A text is expected.") }
        return text
    }

    func integer(_ index: Int?) throws -> Int64 {
        guard let index, case .integer(let number) = try object(index) else { throw Failure(reason: "A number is expected.") }
        return number
    }

    func data(_ index: Int?) throws -> UnsafeRawBufferPointer {
        guard let index, case .data(let range) = try object(index) else { throw Failure(reason: "Data are expected.") }
        return UnsafeRawBufferPointer(rebasing: bytes[range])
    }
}

/// Writes a property list object by object, in the order of their arrival.
struct BinaryStoreListWriter {
    private let output: ArchiveOutput
    private var offsets: [Int] = []

    init(_ output: ArchiveOutput) throws {
        self.output = output
        try output.append(BinaryStoreList.beginning)
    }

    private static func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> ((size - 1 - $0) * 8)) }
    }

    private mutating func add(_ kind: UInt8, _ count: Int, _ body: UnsafeRawBufferPointer) throws -> Int {
        offsets.append(output.count)
        try output.append(count < 15 ? [kind << 4 | UInt8(count)] : [kind << 4 | 15, 0x13] + Self.bigEndian(count, 8))
        try output.append(body)
        return offsets.count - 1
    }

    mutating func add(_ data: UnsafeRawBufferPointer) throws -> Int { try add(4, data.count, data) }

    mutating func add(_ number: Int64) throws -> Int {
        offsets.append(output.count)
        try output.append([0x13] + Self.bigEndian(Int(number), 8))
        return offsets.count - 1
    }

    mutating func add(_ text: String) throws -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return try Array(text.utf8).withUnsafeBytes { try add(5, $0.count, $0) } }
        return try text.utf16.flatMap { Self.bigEndian(Int($0), 2) }.withUnsafeBytes { try add(6, $0.count / 2, $0) }
    }

    mutating func add(_ elements: [Int]) throws -> Int {
        try elements.flatMap { Self.bigEndian($0, 4) }.withUnsafeBytes { try add(0xA, elements.count, $0) }
    }

    mutating func add(_ pairs: [(key: String, value: Int)]) throws -> Int {
        let keys = try pairs.map { try add($0.key) }
        return try (keys + pairs.map(\.value)).flatMap { Self.bigEndian($0, 4) }.withUnsafeBytes { try add(0xD, pairs.count, $0) }
    }

    /// Ends the list, whose root is the object added last.
    func finish() throws {
        let table = output.count
        for offset in offsets { try output.append(Self.bigEndian(offset, 8)) }
        let numbers = [offsets.count, offsets.count - 1, table].flatMap { Self.bigEndian($0, 8) }
        try output.append([0, 0, 0, 0, 0, 0, 8, 4] + numbers)
    }
}
