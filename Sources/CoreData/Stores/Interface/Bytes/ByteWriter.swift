internal import Foundation

/// Bytes that grow at their end, for what is to be written to a disk or sent.
///
/// It owns its memory, and is used by one thread at a time. Numbers lie little-endian; whole numbers of any size take as few bytes as they need.
@_spi(Stores) public struct ByteWriter: ~Copyable {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    /// How many bytes there are.
    public private(set) var count = 0

    /// No bytes yet.
    ///
    /// - Parameter capacity: room for so many before more memory is taken.
    public init(capacity: Int = 256) {
        self.capacity = max(capacity, 64)
        start = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit { start.deallocate() }

    /// The bytes, which are there until more is written.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The bytes as data of their own.
    public var data: Data { Data(bytes: start, count: count) }

    /// Takes back all that was written after a place. Memory is kept.
    public mutating func truncate(to count: Int) { self.count = min(count, self.count) }

    @inline(never) private mutating func grow(_ additional: Int) {
        capacity = max(capacity * 2, count + additional)
        let new = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        new.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = new
    }

    /// Sees to it that so many bytes can be written.
    @inline(__always) mutating func reserve(_ additional: Int) {
        if count &+ additional > capacity { grow(additional) }
    }

    // MARK: Where there is room

    @inline(__always) mutating func put(_ byte: UInt8) {
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    @inline(__always) mutating func put(fixed number: UInt64) {
        start.storeBytes(of: number.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= 8
    }

    /// Takes ten bytes at most.
    @inline(__always) mutating func put(short number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            put(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        put(UInt8(truncatingIfNeeded: rest))
    }

    /// A number near zero is short, whatever its sign.
    @inline(__always) mutating func put(signed number: Int64) { put(short: UInt64(bitPattern: number << 1) ^ UInt64(bitPattern: number >> 63)) }

    @inline(__always) mutating func put(_ bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress { (start + count).copyMemory(from: base, byteCount: bytes.count) }
        count &+= bytes.count
    }

    // MARK: Anywhere

    /// Adds a byte.
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        put(byte)
    }

    /// Adds a number of eight bytes.
    public mutating func append(fixed number: UInt64) {
        reserve(8)
        put(fixed: number)
    }

    /// Adds a number that is short where it is small.
    public mutating func append(short number: UInt64) {
        reserve(10)
        put(short: number)
    }

    /// Adds a number that is short where it is near zero.
    public mutating func append(signed number: Int64) {
        reserve(10)
        put(signed: number)
    }

    /// Adds bytes as they are.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        put(bytes)
    }

    /// Adds bytes with their number before them.
    public mutating func append(counted bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count &+ 10)
        put(short: UInt64(bytes.count))
        put(bytes)
    }

    /// Adds a text with its length before it.
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(counted: UnsafeRawBufferPointer($0)) }
    }

    /// Writes over eight bytes that are there, such as a length that is known only afterwards.
    public mutating func replace(fixed number: UInt64, at place: Int) {
        precondition(place >= 0 && place + 8 <= count, "There are no eight bytes at \(place).")
        start.storeBytes(of: number.littleEndian, toByteOffset: place, as: UInt64.self)
    }
}
