internal import Foundation

/// Reads bytes written by ``ByteWriter``, including truncated or altered ones: it never reads beyond their end.
///
/// It does not own the bytes: they must stay valid while it is used.
@_spi(Stores) public struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the next value.
    public private(set) var position = 0

    /// Creates a reader at the start of bytes.
    public init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The number of bytes left.
    @inline(__always) public var remaining: Int { bytes.count &- position }

    /// Returns the error of damaged bytes.
    static func damaged(_ reason: String) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "Bytes of a store cannot be read.", reason: reason,
            next: "Restore what they were read from.")
    }

    @inline(never) private func ended(_ count: Int) -> NSError {
        Self.damaged("\(count) bytes are wanted at \(position), and there are \(remaining).")
    }

    /// Reads a byte.
    @inline(__always) public mutating func byte() throws -> UInt8 {
        guard remaining >= 1 else { throw ended(1) }
        let byte = bytes[position]
        position &+= 1
        return byte
    }

    /// Reads an eight-byte integer.
    @inline(__always) public mutating func fixed() throws -> UInt64 {
        guard remaining >= 8 else { throw ended(8) }
        let number = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        position &+= 8
        return UInt64(littleEndian: number)
    }

    /// Reads a variable-length integer.
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

    /// Reads a signed variable-length integer.
    @inline(__always) public mutating func signed() throws -> Int64 {
        let number = try short()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// Reads a count of items of at least one byte each.
    @inline(__always) public mutating func count() throws -> Int {
        let number = try short()
        guard number <= UInt64(remaining) else {
            throw Self.damaged("\(number) of something are announced at \(position), more than there can be.")
        }
        return Int(number)
    }

    /// Reads a number of bytes.
    @inline(__always) public mutating func bytes(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw ended(count) }
        defer { position &+= count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position &+ count])
    }

    /// Reads bytes preceded by their count.
    @inline(__always) public mutating func countedBytes() throws -> UnsafeRawBufferPointer { try bytes(count()) }

    /// Reads a string.
    public mutating func text() throws -> String {
        let bytes = try countedBytes()
        let text = String(decoding: bytes, as: UTF8.self)
        // Invalid UTF-8 is repaired by decoding, which changes its length.
        guard text.utf8.count == bytes.count else { throw Self.damaged("A text before \(position) is not UTF-8.") }
        return text
    }
}
