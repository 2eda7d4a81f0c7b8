package import Foundation

extension UUID {
    /// Creates a UUID from a string: always the same for the same string (FNV-1a, marked as a UUID of version 8).
    ///
    /// A store derives its UUID from its URL or file, so that the URIs of its objects are the same in every process.
    package init(derivedFrom text: String) {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for byte in text.utf8 { hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b }
        var bytes = withUnsafeBytes(of: hash.bigEndian) { Array($0) }
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
