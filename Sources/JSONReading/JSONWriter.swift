/// Writes JSON, from successive calls or from whole values.
///
/// Commas, colons and line breaks are added automatically. For an object, call ``key(_:)`` and write a value in turn. Only required escapes are
/// written.
package struct JSONWriter {
    /// The form of values.
    package struct Options: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Each member and element has a line of its own, indented by two spaces.
        package static let prettyPrinted = Options(rawValue: 1)
        /// The members of values are sorted by the bytes of their keys.
        package static let sortedKeys = Options(rawValue: 2)
    }

    /// The bytes that were written so far.
    package private(set) var bytes: [UInt8] = []
    private let options: Options
    private var depth = 0
    /// Whether the next key or element is the first of its object or array.
    private var isFirst = true
    /// Whether a key was written without its value.
    private var isBehindKey = false

    package init(options: Options = []) { self.options = options }

    // MARK: Structure

    package mutating func beginObject() { begin(UInt8(ascii: "{")) }

    package mutating func endObject() { end(UInt8(ascii: "}")) }

    package mutating func beginArray() { begin(UInt8(ascii: "[")) }

    package mutating func endArray() { end(UInt8(ascii: "]")) }

    /// Writes a key. Its value must follow.
    package mutating func key(_ key: String) {
        separate()
        quote(key)
        bytes.append(UInt8(ascii: ":"))
        if options.contains(.prettyPrinted) { bytes.append(UInt8(ascii: " ")) }
        isBehindKey = true
    }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        depth += 1
        isFirst = true
    }

    private mutating func end(_ bracket: UInt8) {
        depth -= 1
        if !isFirst { breakLine() }
        bytes.append(bracket)
        isFirst = false
    }

    private mutating func separate() {
        if isBehindKey {
            isBehindKey = false
            return
        }
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        if depth > 0 { breakLine() }
        isFirst = false
    }

    private mutating func breakLine() {
        guard options.contains(.prettyPrinted) else { return }
        bytes.append(0x0A)
        bytes.append(contentsOf: repeatElement(0x20, count: 2 * depth))
    }

    // MARK: Values

    package mutating func string(_ string: String) {
        separate()
        quote(string)
    }

    package mutating func integer(_ integer: Int64) { raw(integer.description.utf8) }

    /// Writes a number so that reading it returns the same double.
    ///
    /// - Throws: If it is infinite or not a number, for which JSON has no text.
    package mutating func number(_ number: Double) throws(JSONError) {
        guard number.isFinite else { throw error("JSON has no text for \(number)") }
        raw(number.description.utf8)
    }

    /// Writes the text of a number.
    ///
    /// - Throws: If the text is not a valid JSON number.
    package mutating func decimal(_ text: String) throws(JSONError) {
        let utf8 = Array(text.utf8)
        let isNumber = utf8.withUnsafeBytes { text in
            guard var scanner = try? JSONScanner(text), (try? scanner.readNumber()) != nil else { return false }
            return scanner.position == text.count && text.first != 0x20
        }
        guard isNumber, let first = utf8.first, first == UInt8(ascii: "-") || first >= UInt8(ascii: "0") else {
            throw error("“\(text)” is not a number as JSON has it")
        }
        raw(utf8)
    }

    package mutating func bool(_ bool: Bool) { raw((bool ? "true" : "false").utf8) }

    package mutating func null() { raw("null".utf8) }

    /// Writes a value that is JSON already.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// Writes a value.
    ///
    /// - Throws: If it contains a number for which JSON has no text.
    package mutating func value(_ value: JSONValue) throws(JSONError) {
        switch value {
        case .object(let object):
            beginObject()
            for member in options.contains(.sortedKeys) ? object.sorted() : object.members {
                key(member.key)
                try self.value(member.value)
            }
            endObject()
        case .array(let elements):
            beginArray()
            for element in elements { try self.value(element) }
            endArray()
        case .string(let string): self.string(string)
        case .integer(let integer): self.integer(integer)
        case .number(let number): try self.number(number)
        case .decimal(let text): try decimal(text)
        case .bool(let bool): self.bool(bool)
        case .null: null()
        }
    }

    /// Returns an error at the end of the bytes that were written so far.
    private func error(_ reason: String) -> JSONError {
        let line = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return JSONError(reason, offset: bytes.count, line: line.count, column: (line.last?.count ?? 0) + 1)
    }

    private mutating func quote(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { text in
            var written = 0
            for (index, byte) in text.enumerated() where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes.append(contentsOf: text[written..<index])
                escape(byte)
                written = index + 1
            }
            bytes.append(contentsOf: text[written...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }
}

extension JSONValue {
    /// Returns the value as JSON.
    ///
    /// - Throws: If it contains a number for which JSON has no text: an infinite one, or an invalid decimal.
    package func serialized(_ options: JSONWriter.Options = []) throws(JSONError) -> [UInt8] {
        var writer = JSONWriter(options: options)
        try writer.value(self)
        return writer.bytes
    }
}
