package import Foundation
internal import ObjectGraph
internal import StoreCommands

/// Converts values for pages. They are short in tables, so that a page stays small for any store.
enum Cells {
    /// The maximum number of characters of a text in a table.
    static let textInTable = 160
    /// The maximum number of characters of a text on the page of an object.
    static let textOfObject = 20_000
    /// The maximum number of bytes that are shown as digits.
    private static let shownBytes = 256
    /// Whole numbers up to this one are exact in JavaScript.
    private static let exact: UInt64 = 1 << 53

    /// Returns a value.
    ///
    /// - Parameters:
    ///   - attribute: The attribute of the value; nil for a number of related objects.
    ///   - limit: The maximum number of characters of a text.
    static func json(_ value: Any?, _ attribute: NSAttributeDescription?, limit: Int) -> JSONValue {
        guard let value, !(value is NSNull) else { return .null }
        if let data = value as? Data { return .members(["bytes": .count(data.count)]) }
        guard let attribute else { return .integer((value as? NSNumber)?.int64Value ?? Int64(value as? Int ?? 0)) }
        switch ValueText.json(value, attribute) {
        case .string(let text): return cut(text, limit)
        case .integer(let number) where number.magnitude > exact: return .string("\(number)")
        // Decimal numbers keep their digits as text.
        case .number(let digits): return .string(digits)
        case .object, .array: return cut(ValueText.json(value, attribute).text(indent: false), limit)
        case let other: return other
        }
    }

    private static func cut(_ text: String, _ limit: Int) -> JSONValue {
        // Counting the bytes takes constant time.
        guard text.utf8.count > limit, text.count > limit else { return .string(text) }
        return .members(["cut": .string(String(text.prefix(limit))), "length": .count(text.count)])
    }

    /// Returns the first bytes as digits, and the kind of picture.
    static func json(_ data: Data) -> JSONValue {
        .members([
            "bytes": .count(data.count), "hex": .string(data.prefix(shownBytes).map { byte in hex(byte) }.joined()),
            "picture": (PictureKind(data)?.rawValue).map(JSONValue.string),
        ])
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}

/// The kinds of picture that a page shows. Others, such as SVG, may contain scripts.
package enum PictureKind: String, Sendable {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webp = "image/webp"

    /// Recognises a picture by its first bytes.
    package init?(_ data: Data) {
        let start = [UInt8](data.prefix(12))
        if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if start.starts(with: Array("GIF87a".utf8)) || start.starts(with: Array("GIF89a".utf8)) {
            self = .gif
        } else if start.count == 12, start.starts(with: Array("RIFF".utf8)), start[8...].elementsEqual(Array("WEBP".utf8)) {
            self = .webp
        } else {
            return nil
        }
    }
}
