package import Foundation

/// An attribute of an XML element.
package struct XMLAttribute: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// Splits XML into tags and texts, strictly: elements, attributes, text, comments, and the five predefined entities.
///
/// No other entity is known, whatever a document type declares: nothing is fetched and nothing multiplies. The caller checks whether tags match.
/// Foundation's parser is not used, since it would bring libxml2 and 30 MB of ICU data to every program that loads this framework.
package struct XMLScanner {
    /// The maximum size of a document.
    package static let byteLimit = 64 << 20

    /// A part of a document. Comments and instructions are passed over.
    package enum Piece {
        /// The first tag of an element, or the only one, and the line on which it begins.
        case start(name: String, attributes: [XMLAttribute], isEmpty: Bool, line: Int)
        /// The last tag of an element.
        case end(name: String)
        /// Text with its references replaced. Two may follow each other.
        case text(String)
        /// A document type, plain if it has no declarations. Nothing is read of one that has declarations.
        case documentType(isPlain: Bool)
    }

    package struct FormatError: Error {
        package let line: Int
        package let reason: String
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The line of the next part.
    package private(set) var line = 1

    /// - Throws: ``FormatError`` for a document that is too large, or is not in UTF-8.
    package init(_ data: Data) throws {
        guard data.count <= Self.byteLimit else {
            throw FormatError(line: 1, reason: "The file is larger than the \(Self.byteLimit >> 20) MB that are read.")
        }
        bytes = Array(data)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw FormatError(line: 1, reason: "The file is not encoded in UTF-8.")
        }
        _ = skip("\u{FEFF}")
    }

    /// The next part; nil at the end.
    ///
    /// - Throws: ``FormatError``.
    package mutating func next() throws -> Piece? {
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else { return .text(try text()) }
            if skip("<!--") {
                try skipPast("-->", "comment")
            } else if skip("<?") {
                try skipPast("?>", "processing instruction")
            } else if skip("<![CDATA[") {
                let start = position
                try skipPast("]]>", "character data")
                return .text(String(decoding: bytes[start..<position - 3], as: UTF8.self))
            } else if starts("<!") {
                return .documentType(isPlain: skipPlainDocumentType())
            } else if skip("</") {
                let name = try self.name()
                skipSpace()
                try expect(">")
                return .end(name: name)
            } else {
                return try startTag()
            }
        }
        return nil
    }

    private func formatError(_ reason: String) -> FormatError { FormatError(line: line, reason: reason) }

    // MARK: Pieces

    /// Passes over a document type without a subset; answers whether it is one.
    private mutating func skipPlainDocumentType() -> Bool {
        guard skip("<!DOCTYPE"), let end = bytes[position...].firstIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "[") })
        else {
            return false
        }
        advance(to: end)
        return skip(">")
    }

    private mutating func startTag() throws -> Piece {
        position += 1
        let start = line
        let element = try name()
        var attributes: [XMLAttribute] = []
        var names: Set<String> = []
        while true {
            let hadSpace = skipSpace()
            if skip("/>") { return .start(name: element, attributes: attributes, isEmpty: true, line: start) }
            if skip(">") { return .start(name: element, attributes: attributes, isEmpty: false, line: start) }
            guard position < bytes.count else { throw formatError("The file ends within the tag <\(element)>.") }
            guard hadSpace else { throw formatError("There is no space before an attribute of <\(element)>.") }
            let attribute = try name()
            guard names.insert(attribute).inserted else { throw formatError("<\(element)> has the attribute “\(attribute)” twice.") }
            skipSpace()
            try expect("=")
            skipSpace()
            attributes.append(XMLAttribute(name: attribute, value: try quoted(attribute)))
        }
    }

    private mutating func quoted(_ attribute: String) throws -> String {
        guard position < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[position]) else {
            throw formatError("The value of “\(attribute)” is not in quotes.")
        }
        let quote = bytes[position]
        position += 1
        var value: [UInt8] = []
        while position < bytes.count, bytes[position] != quote {
            switch bytes[position] {
            case UInt8(ascii: "<"): throw formatError("There is a “<” in the value of “\(attribute)”.")
            case UInt8(ascii: "&"): value += try reference()
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                value.append(UInt8(ascii: " "))
                advance()
            default:
                value.append(bytes[position])
                advance()
            }
        }
        guard position < bytes.count else { throw formatError("The file ends within the value of “\(attribute)”.") }
        position += 1
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func text() throws -> String {
        var value: [UInt8] = []
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            if bytes[position] == UInt8(ascii: "&") {
                value += try reference()
            } else {
                let start = position
                advance(to: bytes[start...].firstIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") } ?? bytes.count)
                value += bytes[start..<position]
            }
        }
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func reference() throws -> [UInt8] {
        let end = bytes[position...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
        guard let end else { throw formatError("There is an “&” that begins no reference.") }
        let name = String(decoding: bytes[position + 1..<end], as: UTF8.self)
        position = end + 1
        switch name {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default:
            let number =
                name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            guard let number, let scalar = Unicode.Scalar(number), Self.isAllowed(scalar) else {
                throw formatError("The reference “&\(name);” stands for nothing.")
            }
            return Array(String(scalar).utf8)
        }
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 || scalar == "\n" || scalar == "\r" || scalar == "\t"
    }

    private mutating func name() throws -> String {
        let start = position
        while position < bytes.count, Self.isName(bytes[position], first: position == start) { position += 1 }
        guard position > start else { throw formatError("A name is missing.") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private static func isName(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: ":"), 0x80...:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !first
        default: false
        }
    }

    // MARK: Bytes

    private mutating func advance() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    private mutating func advance(to end: Int) {
        line += bytes[position..<end].count { $0 == UInt8(ascii: "\n") }
        position = end
    }

    private func starts(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard bytes.count - position >= length else { return false }
        return (0..<length).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
    }

    private mutating func skip(_ text: StaticString) -> Bool {
        guard starts(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func expect(_ text: StaticString) throws {
        if !skip(text) { throw formatError("“\(text)” is missing.") }
    }

    @discardableResult private mutating func skipSpace() -> Bool {
        let start = position
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { advance() }
        return position > start
    }

    private mutating func skipPast(_ text: StaticString, _ what: String) throws {
        while position < bytes.count {
            if skip(text) { return }
            advance()
        }
        throw formatError("The file ends within a \(what).")
    }
}
