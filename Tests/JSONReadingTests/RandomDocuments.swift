import TestSupport

/// Makes random documents, and damages them.
struct RandomDocuments {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func one<Element>(of list: [Element]) -> Element { list.randomElement(using: &random)! }

    /// A document that RFC 8259 allows, without a key that an object has twice.
    mutating func document() -> [UInt8] { Array((space() + value(number(0...6)) + space()).utf8) }

    private mutating func space() -> String { number(0...4) > 0 ? "" : one(of: [" ", "\n", "\r\n  ", "\t", "             "]) }

    private mutating func value(_ depth: Int) -> String {
        switch number(0...(depth > 0 ? 9 : 6)) {
        case 0: one(of: ["true", "false", "null"])
        case 1...3: numeral()
        case 4...6: string()
        case 7, 8: object(depth)
        default: array(depth)
        }
    }

    private mutating func object(_ depth: Int) -> String {
        var keys: Set<String> = []
        var members: [String] = []
        for _ in 0..<number(0...5) {
            let key = number(0...2) > 0 ? "\"" + one(of: ["id", "name", "title of the thing", "a", "größe"]) + "\"" : string()
            // Equal keys may be written in two ways; a number in the key tells them apart.
            let name = keys.insert(key).inserted && key.count < 25 && !key.contains("\\") ? key : "\"\(members.count)\(key.dropFirst())"
            members.append(space() + name + space() + ":" + space() + value(depth - 1) + space())
        }
        return "{" + (members.isEmpty ? space() : members.joined(separator: ",")) + "}"
    }

    private mutating func array(_ depth: Int) -> String {
        var elements: [String] = []
        for _ in 0..<number(0...5) { elements.append(space() + value(depth - 1) + space()) }
        return "[" + (elements.isEmpty ? space() : elements.joined(separator: ",")) + "]"
    }

    private mutating func numeral() -> String {
        let sign = number(0...3) == 0 ? "-" : ""
        func digits(_ count: Int, _ random: inout SeededGenerator) -> String {
            String((0..<count).map { _ in "0123456789".randomElement(using: &random)! })
        }
        let integer = number(0...4) == 0 ? "0" : String(number(1...9)) + digits(number(0...8), &random)
        switch number(0...5) {
        case 0, 1: return sign + integer
        case 2: return sign + one(of: ["9223372036854775807", "123456789012345678", "1000000", "4294967296"])
        case 3: return sign + integer + "." + digits(number(1...9), &random)
        default:
            let exponent = one(of: ["e", "E"]) + one(of: ["", "+", "-"]) + digits(number(1...2), &random)
            return sign + integer + (number(0...1) == 0 ? "" : "." + digits(number(1...6), &random)) + exponent
        }
    }

    private mutating func string() -> String {
        var text = "\""
        for _ in 0..<number(0...8) {
            switch number(0...9) {
            case 0...4: text += one(of: ["a", "word ", "0123456789", "Core Data", "}{][,:", "/", "\u{7F}"])
            case 5: text += one(of: ["\\n", "\\t", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r"])
            case 6: text += one(of: ["\\u00e9", "\\u20AC", "\\ud83d\\ude00", "\\uDBFF\\uDFFF", "\\u0000", "\\u001f", "\\uFFFF"])
            default:
                let scalar = Unicode.Scalar(UInt32(number(0x80...0x10FFFF))) ?? "é"
                text += one(of: ["é", "€", "日本語", "😀", "e\u{301}", "\u{2028}", String(scalar)])
            }
        }
        return text + "\""
    }

    /// Damages a document in one to three places.
    mutating func damage(_ document: [UInt8]) -> [UInt8] {
        var bytes = document
        for _ in 0..<number(1...3) where !bytes.isEmpty {
            let place = number(0...bytes.count - 1)
            switch number(0...7) {
            case 0: bytes[place] ^= 1 << UInt8(number(0...7))
            case 1: bytes[place] = UInt8(number(0...255))
            case 2: bytes[place] = one(of: Array("{}[]:,\"\\0123456789-+.eEtfn u/\n".utf8))
            case 3: bytes.insert(one(of: Array("{}[]:,\"\\0123456789-+.eEtfn u/\n".utf8)), at: place)
            case 4: bytes.remove(at: place)
            case 5: bytes.removeSubrange(place..<min(bytes.count, place + number(1...12)))
            case 6: bytes.removeSubrange(place...)
            default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + number(1...12))], at: number(0...bytes.count))
            }
        }
        return bytes
    }
}
