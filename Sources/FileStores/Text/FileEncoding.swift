internal import Foundation

/// The encoding of a text file.
public enum FileEncoding: String, Hashable, Sendable, CaseIterable {
    /// UTF-8.
    case utf8
    /// UTF-16 with the low byte first, as in Excel's “Unicode text”.
    case utf16LittleEndian
    /// UTF-16 with the high byte first.
    case utf16BigEndian
    /// ISO 8859-1.
    case latin1
    /// Windows-1252: ISO 8859-1 with quotation marks, dashes and the euro sign.
    case windows1252

    /// The byte order mark of the encoding.
    var byteOrderMark: [UInt8] {
        switch self {
        case .utf8: [0xEF, 0xBB, 0xBF]
        case .utf16LittleEndian: [0xFF, 0xFE]
        case .utf16BigEndian: [0xFE, 0xFF]
        case .latin1, .windows1252: []
        }
    }

    /// Returns the encoding of a byte order mark; nil if there is none.
    static func marked(_ bytes: UnsafeRawBufferPointer) -> FileEncoding? {
        [.utf8, .utf16LittleEndian, .utf16BigEndian].first { bytes.starts(with: $0.byteOrderMark) }
    }
}

/// The encoding of a file's text.
struct TextForm: Hashable, Sendable {
    var encoding: FileEncoding
    var hasByteOrderMark: Bool

    /// Converts the bytes of a file to UTF-8.
    ///
    /// - Parameters:
    ///   - memory: The bytes, which the result owns or frees.
    ///   - known: The encoding; nil for that of the byte order mark, or UTF-8 without one.
    /// - Throws: ``TextMistake`` for bytes that are invalid in the encoding.
    static func read(_ memory: UnsafeMutableRawPointer, count: Int, known: FileEncoding?) throws(TextMistake) -> (TextBytes, TextForm) {
        let bytes = UnsafeRawBufferPointer(start: memory, count: count)
        let marked = marked(bytes)
        let form = TextForm(encoding: known ?? marked ?? .utf8, hasByteOrderMark: marked != nil && marked == (known ?? marked))
        if let known, let marked, known != marked, known != .latin1, known != .windows1252 {
            memory.deallocate()
            throw TextMistake(
                offset: 0, text: TextBytes([]), expected: "text in \(known.rawValue), found the byte order mark of \(marked.rawValue)")
        }
        let skipped = form.hasByteOrderMark ? form.encoding.byteOrderMark.count : 0
        if form.encoding == .utf8 {
            let text = TextBytes(owning: memory, skipping: skipped, count: count)
            if let wrong = UTF8Check.firstMistake(text.buffer) {
                throw TextMistake(offset: wrong, text: text, expected: "UTF-8, found the byte 0x\(String(text.buffer[wrong], radix: 16))")
            }
            return (text, form)
        }
        defer { memory.deallocate() }
        return (try form.transcoded(UnsafeRawBufferPointer(rebasing: bytes[skipped...])), form)
    }

    private static func marked(_ bytes: UnsafeRawBufferPointer) -> FileEncoding? { FileEncoding.marked(bytes) }

    private func transcoded(_ bytes: UnsafeRawBufferPointer) throws(TextMistake) -> TextBytes {
        var utf8: [UInt8] = []
        utf8.reserveCapacity(bytes.count + bytes.count / 2)
        switch encoding {
        case .utf8: utf8 += bytes
        case .latin1: for byte in bytes { utf8 += String(Unicode.Scalar(byte)).utf8 }
        case .windows1252:
            for byte in bytes {
                if byte < 0x80 { utf8.append(byte) } else { utf8 += String(Windows1252.scalar(byte)).utf8 }
            }
        case .utf16LittleEndian, .utf16BigEndian:
            let (low, high) = encoding == .utf16LittleEndian ? (0, 1) : (1, 0)
            var index = 0
            while index + 1 < bytes.count {
                let unit = UInt16(bytes[index + low]) | UInt16(bytes[index + high]) << 8
                index += 2
                if unit < 0x80 {
                    utf8.append(UInt8(unit))
                } else if let scalar = Unicode.Scalar(unit) {
                    utf8 += String(scalar).utf8
                } else {
                    let next = index + 1 < bytes.count ? UInt16(bytes[index + low]) | UInt16(bytes[index + high]) << 8 : 0
                    guard unit < 0xDC00, next & 0xFC00 == 0xDC00,
                        let scalar = Unicode.Scalar(0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(next & 0x3FF)))
                    else {
                        throw TextMistake(offset: utf8.count, text: TextBytes(utf8), expected: "UTF-16, found half of a surrogate pair")
                    }
                    index += 2
                    utf8 += String(scalar).utf8
                }
            }
            if index < bytes.count {
                throw TextMistake(offset: utf8.count, text: TextBytes(utf8), expected: "UTF-16, found an odd number of bytes")
            }
        }
        return TextBytes(utf8)
    }

    /// Converts UTF-8 to the bytes of a file.
    ///
    /// - Throws: ``TextMistake`` for a character that the encoding lacks.
    func encoded(_ utf8: [UInt8]) throws(TextMistake) -> [UInt8] {
        let mark = hasByteOrderMark ? encoding.byteOrderMark : []
        if encoding == .utf8 { return mark.isEmpty ? utf8 : mark + utf8 }
        var bytes = mark
        bytes.reserveCapacity(utf8.count * 2)
        var offset = 0
        for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
            switch encoding {
            case .utf8: bytes += String(scalar).utf8
            case .latin1, .windows1252:
                guard let byte = encoding == .latin1 ? UInt8(exactly: scalar.value) : Windows1252.byte(scalar) else {
                    throw TextMistake(
                        offset: offset, text: TextBytes(utf8), expected: "text that \(encoding.rawValue) has, found “\(scalar)”")
                }
                bytes.append(byte)
            case .utf16LittleEndian, .utf16BigEndian:
                for unit in String(scalar).utf16 {
                    let (low, high) = (UInt8(unit & 0xFF), UInt8(unit >> 8))
                    bytes += encoding == .utf16LittleEndian ? [low, high] : [high, low]
                }
            }
            offset += UTF8.width(scalar)
        }
        return bytes
    }
}

/// The error for text that is invalid in its encoding.
struct TextMistake: Error {
    let offset: Int
    let text: TextBytes
    let expected: String
}

/// The characters from 0x80 to 0x9F of Windows-1252. The five undefined ones are the control characters of ISO 8859-1, so every byte survives a round
/// trip.
private enum Windows1252 {
    private static let high: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D, 0x8F,
        0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D, 0x17E, 0x178,
    ]

    static func scalar(_ byte: UInt8) -> Unicode.Scalar {
        guard 0x80...0x9F ~= byte, let scalar = Unicode.Scalar(high[Int(byte) - 0x80]) else { return Unicode.Scalar(byte) }
        return scalar
    }

    static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
        if scalar.value < 0x80 || 0xA0...0xFF ~= scalar.value { return UInt8(scalar.value) }
        return high.firstIndex(of: scalar.value).map { UInt8($0 + 0x80) }
    }
}

/// Validates UTF-8.
package enum UTF8Check {
    /// Returns the place of the first byte that is not UTF-8; nil if all are.
    package static func firstMistake(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let count = bytes.count
        var index = 0
        while index < count {
            // Most text is ASCII.
            if count - index >= 8, base.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
                index += 8
                continue
            }
            let lead = bytes[index]
            if lead < 0x80 {
                index += 1
                continue
            }
            func follows(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
                index + offset < count && range ~= bytes[index + offset]
            }
            switch lead {
            case 0xC2...0xDF where follows(1): index += 2
            case 0xE0 where follows(1, 0xA0...0xBF) && follows(2), 0xED where follows(1, 0x80...0x9F) && follows(2),
                0xE1...0xEC where follows(1) && follows(2), 0xEE...0xEF where follows(1) && follows(2):
                index += 3
            case 0xF0 where follows(1, 0x90...0xBF) && follows(2) && follows(3),
                0xF4 where follows(1, 0x80...0x8F) && follows(2) && follows(3),
                0xF1...0xF3 where follows(1) && follows(2) && follows(3):
                index += 4
            default: return index
            }
        }
        return nil
    }
}
