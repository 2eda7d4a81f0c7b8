internal import Foundation

/// The texts of an XML store. Apple's framework writes a backslash twice, and characters that XML reserves as `\u`, followed by the four hexadecimal digits of
/// the UTF-16 code unit, its lower byte first: `&` is `\u2600`. Here that is also the form of the characters that XML cannot hold.
enum XMLStoreText {
    /// Escapes a name for the value of an XML attribute.
    static func inAttribute(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 != 0x26 && $0 != 0x3C && $0 != 0x22 }) { return text }
        return text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: "\"", with: "&quot;")
    }

    private static let hexadecimal = Array("0123456789abcdef".utf8)

    /// Whether a byte of UTF-8 is written unchanged.
    private static let isPlain: [Bool] = (0...255).map { byte in
        switch UInt8(byte) {
        case 0x09, 0x0A: true
        case 0..<0x20, 0x26, 0x3C, 0x3E, 0x5C, 0x7F, 0xEF: false
        default: true
        }
    }

    /// Writes a text.
    static func write(_ text: UnsafeBufferPointer<UInt8>, to output: ArchiveOutput) throws {
        try isPlain.withUnsafeBufferPointer { isPlain in
            var start = 0
            var index = 0
            while index < text.count {
                let byte = text[index]
                if isPlain[Int(byte)] {
                    index += 1
                    continue
                }
                // U+FFFE and U+FFFF are no characters of XML.
                let isNone = byte == 0xEF && index + 2 < text.count && text[index + 1] == 0xBF && text[index + 2] >= 0xBE
                if byte == 0xEF, !isNone {
                    index += 3
                    continue
                }
                try output.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[start..<index]))
                if byte == 0x5C {
                    try output.append([0x5C, 0x5C])
                } else {
                    let unit = isNone ? 0xFFC0 | UInt16(text[index + 2] & 0x3F) : UInt16(byte)
                    let digits = [unit >> 4 & 15, unit & 15, unit >> 12, unit >> 8 & 15].map { hexadecimal[Int($0)] }
                    try output.append([0x5C, 0x75] + digits)
                }
                index += isNone ? 3 : 1
                start = index
            }
            try output.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[start...]))
        }
    }

    /// A mistake in a text: its offset, and a description.
    struct Mistake: Error {
        let offset: Int
        let reason: String
    }

    /// Returns a text without the escapes of XML: references and line ends; ``withoutEscapes(_:)`` does the rest.
    ///
    /// - Parameter isSection: Whether the text is a CDATA section, which has no references.
    static func withoutReferences(_ text: UnsafeRawBufferPointer, isSection: Bool) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            switch text[index] {
            case 0x0D:
                result.append(0x0A)
                index += index + 1 < text.count && text[index + 1] == 0x0A ? 2 : 1
            case 0x26 where !isSection:
                guard let end = text[index...].prefix(12).firstIndex(of: 0x3B) else {
                    throw Mistake(offset: index, reason: "“&” is followed by no “;”.")
                }
                let name = String(decoding: text[(index + 1)..<end], as: UTF8.self)
                guard let scalar = scalar(of: name) else { throw Mistake(offset: index, reason: "There is no entity “&\(name);”.") }
                result.append(contentsOf: Array(String(Character(scalar)).utf8))
                index = end + 1
            default:
                result.append(text[index])
                index += 1
            }
        }
        return result
    }

    private static func scalar(of name: String) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init)
        }
    }

    /// Returns a text without the escapes of the store.
    static func withoutEscapes(_ text: UnsafeRawBufferPointer) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == 0x5C, index + 1 < text.count else {
                result.append(text[index])
                index += 1
                continue
            }
            if text[index + 1] == 0x5C {
                result.append(0x5C)
                index += 2
            } else if let unit = unit(text, index) {
                var value = UInt32(unit)
                let start = index
                index += 6
                if unit & 0xFC00 == 0xD800 {
                    guard let low = self.unit(text, index), low & 0xFC00 == 0xDC00 else {
                        throw Mistake(offset: start, reason: "There is the first half of a character without the second.")
                    }
                    value = 0x10000 + (value & 0x3FF) << 10 + UInt32(low & 0x3FF)
                    index += 6
                }
                guard let scalar = Unicode.Scalar(value) else {
                    throw Mistake(offset: start, reason: "There is the second half of a character without the first.")
                }
                result.append(contentsOf: Array(String(Character(scalar)).utf8))
            } else {
                // A backslash that was added by editing the file.
                result.append(0x5C)
                index += 1
            }
        }
        return result
    }

    /// Returns the code unit of an escape; nil if there is none.
    private static func unit(_ text: UnsafeRawBufferPointer, _ index: Int) -> UInt16? {
        guard index + 6 <= text.count, text[index] == 0x5C, text[index + 1] == 0x75 else { return nil }
        var digits: UInt16 = 0
        for byte in text[(index + 2)..<(index + 6)] {
            switch byte {
            case 0x30...0x39: digits = digits << 4 | UInt16(byte - 0x30)
            case 0x41...0x46: digits = digits << 4 | UInt16(byte - 0x37)
            case 0x61...0x66: digits = digits << 4 | UInt16(byte - 0x57)
            default: return nil
            }
        }
        return digits.byteSwapped
    }
}
