internal import Foundation
internal import Predicates

/// A growing buffer of bytes to be written to a disk or sent.
///
/// It owns its memory, and is used by one thread at a time. Integers are little-endian; variable-length integers take as few bytes as
/// they need.
@_spi(Stores) public struct ByteWriter: ~Copyable {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    /// The number of bytes.
    public private(set) var count = 0

    /// Creates an empty buffer.
    ///
    /// - Parameter capacity: The number of bytes to allocate initially.
    public init(capacity: Int = 256) {
        self.capacity = max(capacity, 64)
        start = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit { start.deallocate() }

    /// Calls `body` with the bytes, which are valid until more are written.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A copy of the bytes.
    public var data: Data { Data(bytes: start, count: count) }

    /// Removes all bytes after an offset. The capacity is kept.
    public mutating func truncate(to count: Int) { self.count = min(count, self.count) }

    @inline(never) private mutating func grow(_ additional: Int) {
        capacity = max(capacity * 2, count + additional)
        let new = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        new.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = new
    }

    /// Reserves space for additional bytes.
    @inline(__always) mutating func reserve(_ additional: Int) {
        if count &+ additional > capacity { grow(additional) }
    }

    // MARK: Within the reserved space

    @inline(__always) mutating func put(_ byte: UInt8) {
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    @inline(__always) mutating func put(fixed number: UInt64) {
        start.storeBytes(of: number.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= 8
    }

    /// Writes at most ten bytes.
    @inline(__always) mutating func put(short number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            put(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        put(UInt8(truncatingIfNeeded: rest))
    }

    /// Encodes a number near zero in few bytes, whatever its sign.
    @inline(__always) mutating func put(signed number: Int64) {
        put(short: UInt64(bitPattern: number << 1) ^ UInt64(bitPattern: number >> 63))
    }

    @inline(__always) mutating func put(_ bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress { (start + count).copyMemory(from: base, byteCount: bytes.count) }
        count &+= bytes.count
    }

    // MARK: With reservation

    /// Appends a byte.
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        put(byte)
    }

    /// Appends an eight-byte integer.
    public mutating func append(fixed number: UInt64) {
        reserve(8)
        put(fixed: number)
    }

    /// Appends a variable-length integer.
    public mutating func append(short number: UInt64) {
        reserve(10)
        put(short: number)
    }

    /// Appends a signed variable-length integer.
    public mutating func append(signed number: Int64) {
        reserve(10)
        put(signed: number)
    }

    /// Appends bytes.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        put(bytes)
    }

    /// Appends bytes preceded by their count.
    public mutating func append(counted bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count &+ 10)
        put(short: UInt64(bytes.count))
        put(bytes)
    }

    /// Appends a string preceded by its length.
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }

    /// Overwrites an eight-byte integer, such as a length that was not known before.
    public mutating func replace(fixed number: UInt64, at place: Int) {
        stopProgram(unless: place >= 0 && place + 8 <= count, "There are no eight bytes at \(place).")
        start.storeBytes(of: number.littleEndian, toByteOffset: place, as: UInt64.self)
    }
}
