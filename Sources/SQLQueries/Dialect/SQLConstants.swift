internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The aspects of a constant's value that the SQL depends on: its kind, and the spelling of strings.
package struct SQLConstantClass: Hashable {
    package enum Kind: UInt8 {
        case null, integer, real, notANumber, decimal, longDecimal, text, date, data, uuid, url, object, entity, list
    }

    /// The kinds of a list's elements.
    package struct Elements: OptionSet, Hashable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let null = Elements(rawValue: 1)
        package static let number = Elements(rawValue: 2)
        /// A decimal number that no binary one equals.
        package static let longDecimal = Elements(rawValue: 4)
        package static let text = Elements(rawValue: 8)
        package static let date = Elements(rawValue: 16)
        package static let data = Elements(rawValue: 32)
        package static let uuid = Elements(rawValue: 64)
        package static let url = Elements(rawValue: 128)
        package static let object = Elements(rawValue: 256)
        package static let entity = Elements(rawValue: 512)
        package static let other = Elements(rawValue: 1024)
        /// A string with more spellings than are listed.
        package static let manySpellings = Elements(rawValue: 2048)
        package static let any = Elements(rawValue: 4096)
        /// A decimal number, which has different arithmetic.
        package static let decimal = Elements(rawValue: 8192)
        package static let notANumber = Elements(rawValue: 16384)
        /// The collection is unordered.
        package static let unordered = Elements(rawValue: 32768)
    }

    package internal(set) var kind: Kind
    /// The number of spellings of a string, up to ``TextSpellings/limit``; 0 for more.
    package internal(set) var spellings: UInt8 = 1
    /// Whether an integer that a count is compared with is 0.
    package internal(set) var isZero = false
    /// Whether all spellings of a string begin with the same bytes; for a pattern, all matching strings.
    package internal(set) var hasPrefix = false
    package internal(set) var elements: Elements = []

    /// - Parameter detail: The aspect that may matter. If it is not the spelling of strings, they count as having any number of spellings.
    init(_ value: PropertyValue, _ detail: PredicateShape.Detail) {
        let isSpelled = detail == .spelling
        switch value {
        case .null: kind = .null
        case .bool: kind = .integer
        case .int64(let number):
            kind = .integer
            isZero = detail == .zero && number == 0
        case .double(let number): kind = number.isNaN ? .notANumber : .real
        case .decimal(let number):
            if number.isNaN {
                kind = .notANumber
            } else if case .decimal = ValueOperations.canonical(value) {
                kind = .longDecimal
            } else {
                kind = .decimal
            }
        case .string(let text):
            kind = .text
            (spellings, hasPrefix) = isSpelled ? TextSpellings.spellingClass(of: text) : (0, false)
            if detail == .pattern { hasPrefix = TextSpellings.prefix(ofPattern: text) != nil }
        case .date: kind = .date
        case .data: kind = .data
        case .uuid: kind = .uuid
        case .url: kind = .url
        case .object(let reference): kind = reference.object is NSEntityDescription ? .entity : .object
        case .array(let values):
            kind = .list
            for value in values { elements.formUnion(Self.element(value, isSpelled: isSpelled)) }
        case .set(let values):
            kind = .list
            elements = .unordered
            for value in values { elements.formUnion(Self.element(value, isSpelled: isSpelled)) }
        }
    }

    private static func element(_ value: PropertyValue, isSpelled: Bool) -> Elements {
        switch value {
        case .bool, .int64: return [.any, .number]
        case .string(let text):
            return !isSpelled || TextSpellings.spellingClass(of: text).count == 0 ? [.any, .text, .manySpellings] : [.any, .text]
        default: break
        }
        let element = SQLConstantClass(value, isSpelled ? .spelling : .none)
        switch element.kind {
        case .null: return [.any, .null]
        case .integer, .real: return [.any, .number]
        case .decimal: return [.any, .number, .decimal]
        case .longDecimal: return [.any, .number, .decimal, .longDecimal]
        case .notANumber: return [.any, .notANumber]
        case .text: return [.any, .text]
        case .date: return [.any, .date]
        case .data: return [.any, .data]
        case .uuid: return [.any, .uuid]
        case .url: return [.any, .url]
        case .object: return [.any, .object]
        case .entity: return [.any, .entity]
        case .list: return [.any, .other]
        }
    }

    /// Appends the class to the shape of a request.
    static func write(_ value: PropertyValue, _ detail: PredicateShape.Detail, _ key: inout [UInt8]) {
        let found = SQLConstantClass(value, detail)
        key.append(found.kind.rawValue)
        switch found.kind {
        case .integer: key.append(found.isZero ? 1 : 0)
        case .text:
            key.append(found.spellings)
            key.append(found.hasPrefix ? 1 : 0)
        case .list:
            key.append(UInt8(truncatingIfNeeded: found.elements.rawValue))
            key.append(UInt8(truncatingIfNeeded: found.elements.rawValue >> 8))
        default: break
        }
    }
}

/// Lists the canonically equivalent spellings of a string, which predicates treat as equal and databases do not.
enum TextSpellings {
    /// The maximum number of spellings to list.
    static let limit = 16

    /// The ASCII characters to which some other character is equivalent: the Kelvin sign, the Greek question mark, the varia.
    private static let equivalents: [UInt8: String] = [
        UInt8(ascii: "K"): "\u{212A}", UInt8(ascii: ";"): "\u{37E}", UInt8(ascii: "`"): "\u{1FEF}",
    ]

    private static func hasTwin(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "K") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "`")
    }

    /// Returns the number of spellings, rounded up to a power of two, or 0 if there are too many; and whether all have a common prefix.
    static func spellingClass(of text: String) -> (count: UInt8, hasPrefix: Bool) {
        if text.utf8.allSatisfy({ $0 < 0x80 && !hasTwin($0) }) { return (1, !text.isEmpty) }
        let hasPrefix = prefix(of: text) != nil
        guard let all = all(of: text) else { return (0, hasPrefix) }
        var count = 1
        while count < all.count { count *= 2 }
        return (UInt8(count), hasPrefix)
    }

    /// Returns all spellings; nil if there are too many, or they are unknown.
    static func all(of text: String) -> [String]? {
        // Most texts, such as identifiers.
        if text.utf8.allSatisfy({ $0 < 0x80 && !hasTwin($0) }) { return [text] }
        var spellings = [""]
        for character in text {
            let own = self.all(of: character)
            guard !own.isEmpty, spellings.count * own.count <= limit else { return nil }
            spellings = spellings.flatMap { start in own.map { start + $0 } }
        }
        return spellings
    }

    /// Returns the spellings of one character; empty if they are unknown.
    private static func all(of character: Character) -> [String] {
        let text = String(character)
        if let byte = character.asciiValue { return equivalents[byte].map { [text, $0] } ?? [text] }
        let composed = text.precomposedStringWithCanonicalMapping.unicodeScalars
        let decomposed = text.decomposedStringWithCanonicalMapping.unicodeScalars
        // Latin and Cyrillic letters with one mark have two spellings, those without have one.
        guard composed.count == 1, let scalar = composed.first, decomposed.count <= 2 else { return [] }
        switch scalar.value {
        case 0xC5: return ["\u{C5}", "A\u{30A}", "\u{212B}"]
        case 0xB7: return ["\u{B7}", "\u{387}"]
        case 0xC0...0x24F, 0x400...0x4FF:
            if decomposed.count == 1 { return [text] }
            // A letter whose base has two spellings has more.
            guard let base = decomposed.first, !(base.isASCII && hasTwin(UInt8(base.value))) else { return [] }
            return [String(String.UnicodeScalarView(composed)), String(String.UnicodeScalarView(decomposed))]
        default: return []
        }
    }

    /// Returns the ASCII prefix of all spellings; nil for none.
    static func prefix(of text: String) -> String? {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte >= 0x80 || hasTwin(byte) { break }
            bytes.append(byte)
        }
        // A mark after the last character belongs to it: the two may have a composed spelling.
        if bytes.count < text.utf8.count, !bytes.isEmpty { bytes.removeLast() }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the ASCII prefix of all strings that match a LIKE pattern; nil for none.
    static func prefix(ofPattern pattern: String) -> String? {
        prefix(of: String(decoding: pattern.utf8.prefix { !"*?\\".utf8.contains($0) }, as: UTF8.self))
    }

    /// Returns the smallest string after all strings with an ASCII prefix.
    static func after(_ prefix: String) -> String {
        var bytes = Array(prefix.utf8)
        guard let last = bytes.popLast() else { return prefix }
        // U+0080 follows the last ASCII character.
        bytes += last < 0x7F ? [last + 1] : [0xC2, 0x80]
        return String(decoding: bytes, as: UTF8.self)
    }
}
