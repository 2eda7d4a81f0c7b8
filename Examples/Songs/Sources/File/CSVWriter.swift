internal import Foundation

/// Writes records according to RFC 4180: quoted where needed, and as ``CSVParser`` parses them.
struct CSVWriter {
    /// Whether lines end with CRLF instead of LF.
    var usesCarriageReturns = false

    /// The bytes of a line end.
    var lineEnd: [UInt8] { usesCarriageReturns ? [13, 10] : [10] }

    /// Returns the bytes of a record with its line end.
    func line(_ fields: [CSVField]) -> Data {
        var bytes: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(field, to: &bytes)
        }
        bytes += lineEnd
        return Data(bytes)
    }

    // Bytes, not characters: to Swift, CR LF is one character, and so is a quote with a combining accent.
    private func append(_ field: CSVField, to bytes: inout [UInt8]) {
        let text = field.text.utf8
        guard field.isQuoted || text.contains(where: { [Self.quote, UInt8(ascii: ","), 10, 13].contains($0) }) else {
            bytes += text
            return
        }
        bytes.append(Self.quote)
        for byte in text {
            if byte == Self.quote { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(Self.quote)
    }

    private static let quote = UInt8(ascii: "\"")
}
