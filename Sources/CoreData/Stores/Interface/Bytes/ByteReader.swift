internal import Foundation

/// Reads bytes that ``ByteWriter`` has written, or that somebody has cut or altered: whatever they are, it reads nothing beyond their end.
///
/// It does not own the bytes: they must stay where they are while it is used.
@_spi(Stores) public struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    /// Where the next value begins.
    public private(set) var position = 0

    /// Reads from the beginning of bytes.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// How many bytes are left.
    @inline(__always) public var remaining: Int { bytes.count &- position }

    /// The error of bytes that say something impossible.
    static func damaged(_ reason: String) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "Bytes of a store cannot be read.", reason: reason,
            next: "Restore what they were read from.")
    }

    @inline(never) private func ended(_ count: Int) -> NSError {
        Self.damaged("\(count) bytes are wanted at \(position), and there are \(remaining).")
    }

    /// The next byte.
    @inline(__always) public mutating func byte() throws -> UInt8 {
        guard remaining >= 1 else { throw ended(1) }
        let byte = bytes[position]
        position &+= 1
        return byte
    }

    /// The next number of eight bytes.
    @inline(__always) public mutating func fixed() throws -> UInt64 {
        guard remaining >= 8 else { throw ended(8) }
        let number = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        position &+= 8
        return UInt64(littleEndian: number)
    }

    /// The next number that is short where it is small.
    @inline(__always) public mutating func short() throws -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            if shift == 63, byte > 1 { throw Self.damaged("A number at \(position) is too large.") }
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
            shift &+= 7
        }
    }

    /// The next number that is short where it is near zero.
    @inline(__always) public mutating func signed() throws -> Int64 {
        let number = try short()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// How many of something come next, each of which takes a byte at least.
    @inline(__always) public mutating func count() throws -> Int {
        let number = try short()
        guard number <= UInt64(remaining) else { throw Self.damaged("\(number) of something are announced at \(position), more than there can be.") }
        return Int(number)
    }

    /// So many bytes.
    @inline(__always) public mutating func bytes(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw ended(count) }
        defer { position &+= count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position &+ count])
    }

    /// Bytes that have their number before them.
    @inline(__always) public mutating func countedBytes() throws -> UnsafeRawBufferPointer { try bytes(count()) }

    /// A text.
    public mutating func text() throws -> String {
        let bytes = try countedBytes()
        let text = String(decoding: bytes, as: UTF8.self)
        // What is no UTF-8 is mended when it is decoded, and longer or shorter then.
        guard text.utf8.count == bytes.count else { throw Self.damaged("A text before \(position) is no UTF-8.") }
        return text
    }
}
