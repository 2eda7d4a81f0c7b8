/// A 64-bit checksum that detects torn and damaged records. It does not protect against attackers.
@_spi(Stores) public enum Checksum {
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always) private static func mixed(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        let product = (sum ^ word) &* factor
        return product ^ (product >> 29)
    }

    /// Returns the checksum of bytes: four parallel sums over words of eight bytes, and the length.
    public static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var (a, b, c, d): (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
        var place = 0
        while place &+ 32 <= bytes.count {
            a = mixed(a, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
            b = mixed(b, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place &+ 8, as: UInt64.self)))
            c = mixed(c, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place &+ 16, as: UInt64.self)))
            d = mixed(d, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place &+ 24, as: UInt64.self)))
            place &+= 32
        }
        while place < bytes.count {
            a = mixed(a, UInt64(bytes[place]) | 0x100)
            place &+= 1
        }
        return mixed(mixed(mixed(mixed(a, b), c), d), UInt64(bytes.count))
    }
}
