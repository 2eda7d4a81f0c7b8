import Foundation

/// Splits a format string into tokens, in one pass over its bytes.
struct FormatLexer {
    private let format: String
    private let bytes: [UInt8]
    private var index = 0
    private let work = WorkCount.Running()

    init(format: String) {
        self.format = format
        bytes = Array(format.utf8)
    }

    /// Returns all tokens, the last of which is the end.
    static func tokens(of format: String) throws -> [FormatToken] {
        var lexer = FormatLexer(format: format)
        var tokens: [FormatToken] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    /// Returns the position of a byte, in characters.
    static func position(ofByte offset: Int, in format: String) -> Int {
        let end = format.utf8.index(format.startIndex, offsetBy: offset, limitedBy: format.endIndex) ?? format.endIndex
        return format.distance(from: format.startIndex, to: end)
    }

    private mutating func next() throws -> FormatToken {
        while let byte = peek(), isSpace(byte) { index += 1 }
        let start = index
        guard let byte = peek() else { return FormatToken(kind: .end, start: start) }
        let kind: FormatToken.Kind
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): kind = .literal(.string(try string(quote: byte)))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): kind = .literal(try number())
        case UInt8(ascii: ".") where isDigit(peek(1)) && !followsValue(start): kind = .literal(try number())
        case UInt8(ascii: "%"): kind = .placeholder(try placeholder())
        case UInt8(ascii: "$"): kind = .variable(try name(after: "$"))
        case UInt8(ascii: "@"): kind = .collectionOperator("@" + (try name(after: "@")))
        case UInt8(ascii: "#"): kind = .escapedIdentifier(try name(after: "#"))
        case _ where isNameByte(byte): kind = .identifier(identifier())
        default: kind = .symbol(try symbol())
        }
        return FormatToken(kind: kind, start: start)
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        work.step()
        return index + distance < bytes.count ? bytes[index + distance] : nil
    }

    private func error(_ message: String, at offset: Int, expected: String? = nil) -> InvalidPredicateError {
        InvalidPredicateError(
            kind: .syntax, message: message, format: format, position: FormatLexer.position(ofByte: offset, in: format), expected: expected)
    }

    // MARK: Names

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }

    private func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }

    private func isNameByte(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return (lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")) || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    /// Returns whether a dot directly follows a name or a bracket, and therefore continues a key path.
    private func followsValue(_ start: Int) -> Bool {
        guard start > 0 else { return false }
        let before = bytes[start - 1]
        return isNameByte(before) || isDigit(before) || before == UInt8(ascii: ")") || before == UInt8(ascii: "]")
    }

    private mutating func identifier() -> String {
        let start = index
        while let byte = peek(), isNameByte(byte) || isDigit(byte) { index += 1 }
        let name = String(decoding: bytes[start..<index], as: UTF8.self)
        // The selectors that compare with a class.
        if name == "isKindOfClass" || name == "isMemberOfClass", peek() == UInt8(ascii: ":") {
            index += 1
            return name + ":"
        }
        // The only operators with a hyphen in their names.
        guard name.utf8.count == 3, peek() == UInt8(ascii: "-"), name.uppercased() == "UTI" else { return name }
        for rest in ["-CONFORMS-TO", "-EQUALS"] {
            let end = min(index + rest.utf8.count, bytes.count)
            let found = String(decoding: bytes[index..<end], as: UTF8.self)
            guard found.uppercased() == rest, end == bytes.count || !(isNameByte(bytes[end]) || isDigit(bytes[end])) else { continue }
            index = end
            return name + found
        }
        return name
    }

    private mutating func name(after sign: String) throws -> String {
        let start = index
        index += 1
        guard let byte = peek(), isNameByte(byte) else {
            throw error("\"\(sign)\" is not followed by a name", at: start, expected: "a name")
        }
        return identifier()
    }

    // MARK: Symbols

    private static let symbols: [String] = [
        "<<", ">>", "<=", "=<", ">=", "=>", "<>", "==", "!=", "&&", "||", "**", ":=", "=", "<", ">", "!", "*", "+", "-", "/", "&", "|",
        "^", "~", "(", ")", "{", "}", "[", "]", ",", ".", ":",
    ]

    private mutating func symbol() throws -> String {
        for symbol in FormatLexer.symbols where bytes[index...].starts(with: symbol.utf8) {
            index += symbol.utf8.count
            return symbol
        }
        throw error(
            "The character \"\(Character(Unicode.Scalar(bytes[index])))\" has no meaning here", at: index,
            expected: "a name, a literal or an operator")
    }

    private mutating func placeholder() throws -> FormatToken.Placeholder {
        let start = index
        index += 1
        // Flags, width, precision and length are ignored; the argument has its own size.
        while let byte = peek(), isDigit(byte) || "+-#. hlqLztj".utf8.contains(byte) { index += 1 }
        guard let byte = peek() else {
            throw error("The format ends within a placeholder", at: start, expected: "%@, %K, %d or another placeholder")
        }
        index += 1
        switch Character(Unicode.Scalar(byte)) {
        case "@": return .value
        case "K": return .key
        case "d", "i", "D", "u", "U", "x", "X", "o", "O": return .integer
        case "f", "F", "g", "G", "e", "E", "a", "A": return .double
        case "c", "C": return .character
        case "s", "S": return .text
        case "%":
            throw error(
                "%% stands for a percent sign, which is not an operator", at: start,
                expected: "modulus:by:(…) for a remainder, or a placeholder")
        default: throw error("This placeholder is unknown", at: start, expected: "%@, %K, %d or another placeholder")
        }
    }

    // MARK: Literals

    private mutating func string(quote: UInt8) throws -> String {
        let start = index
        index += 1
        var content: [UInt8] = []
        while let byte = peek() {
            index += 1
            if byte == quote { return String(decoding: content, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\"), let escaped = peek() else {
                content.append(byte)
                continue
            }
            index += 1
            switch Character(Unicode.Scalar(escaped)) {
            case "\\", "\"", "'": content.append(escaped)
            case "n": content.append(0x0A)
            case "t": content.append(0x09)
            case "r": content.append(0x0D)
            case "u" where hexadecimal(4) != nil:
                content.append(contentsOf: String(Character(hexadecimal(4) ?? "?")).utf8)
                index += 4
            // Other escapes keep their backslash: `\*` and `\?` are for LIKE, `\d` is for MATCHES.
            default: content.append(contentsOf: [byte, escaped])
            }
        }
        throw error("This string has no end", at: start, expected: "a closing quotation mark")
    }

    private func hexadecimal(_ count: Int) -> Unicode.Scalar? {
        guard index + count <= bytes.count else { return nil }
        return UInt32(String(decoding: bytes[index..<index + count], as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
    }

    private mutating func number() throws -> PropertyValue {
        let start = index
        if bytes[index] == UInt8(ascii: "0"), let mark = peek(1), let radix = [0x78: 16, 0x6F: 8, 0x62: 2][Int(mark | 0x20)] {
            index += 2
            let digits = identifierOrDigits()
            if let value = Int64(digits, radix: radix) { return .int64(value) }
            if let value = UInt64(digits, radix: radix) { return .decimal(Decimal(value)) }
            throw error("This number cannot be read", at: start, expected: "at most 64 bits of digits of base \(radix)")
        }
        var isInteger = true
        while isDigit(peek()) { index += 1 }
        if peek() == UInt8(ascii: "."), isDigit(peek(1)) {
            isInteger = false
            index += 1
            while isDigit(peek()) { index += 1 }
        } else if peek() == UInt8(ascii: "."), !(peek(1).map { isNameByte($0) || $0 == UInt8(ascii: "@") } ?? false) {
            isInteger = false
            index += 1
        }
        if let mark = peek(), mark | 0x20 == UInt8(ascii: "e") {
            let signed = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
            if isDigit(peek(signed ? 2 : 1)) {
                isInteger = false
                index += signed ? 2 : 1
                while isDigit(peek()) { index += 1 }
            }
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if let byte = peek(), isNameByte(byte) {
            throw error("A name cannot begin with a digit", at: start, expected: "a number or a name")
        }
        if isInteger {
            if let value = Int64(text) { return .int64(value) }
            if let value = Decimal(string: text) { return .decimal(value) }
        }
        guard let value = Double(text.hasSuffix(".") ? text + "0" : text), value.isFinite else {
            throw error("This number cannot be read", at: start, expected: "a number within the range of a double")
        }
        return .double(value)
    }

    private mutating func identifierOrDigits() -> String {
        let start = index
        while let byte = peek(), isNameByte(byte) || isDigit(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }
}
