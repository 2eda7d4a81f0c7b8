#if PostgreSQL
internal import Foundation

/// The form of strings in columns. PostgreSQL's text cannot contain U+0000.
///
/// U+0000 and U+0001 are written as U+0001 followed by U+0001 or U+0002: every string has one form, in which strings compare, and contain each
/// other, as they do themselves.
enum PostgreSQLText {
    /// Returns the string of a column's bytes.
    static func decoded(_ bytes: UnsafeRawBufferPointer) -> String {
        guard isEscaped(bytes) else { return String(decoding: bytes, as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                plain.append(byte == 2 ? 1 : byte == 1 ? 0 : byte)
                isEscaped = false
            } else if byte == 1 {
                isEscaped = true
            } else {
                plain.append(byte)
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// Whether the bytes of a column have another form than the string.
    @inline(__always) static func isEscaped(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        return memchr(start, 1, bytes.count) != nil
    }

    /// Appends the column's bytes of a string, after their number.
    static func appendField(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            if isPlain(utf8) {
                bytes.append(bigEndian: UInt32(truncatingIfNeeded: utf8.count))
                return bytes.append(contentsOf: utf8)
            }
            BinaryValue.text(String(decoding: utf8, as: UTF8.self)).appendField(to: &bytes)
        }
    }

    @inline(__always) private static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = utf8.baseAddress else { return true }
        return memchr(start, 0, utf8.count) == nil && memchr(start, 1, utf8.count) == nil
    }

    /// Appends the column's bytes of a string.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            if isPlain(utf8) { return bytes.append(contentsOf: utf8) }
            for byte in utf8 {
                switch byte {
                case 0: bytes += [1, 1]
                case 1: bytes += [1, 2]
                default: bytes.append(byte)
                }
            }
        }
    }
}
#endif
