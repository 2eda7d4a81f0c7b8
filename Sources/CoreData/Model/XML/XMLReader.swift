internal import Foundation

/// Parses XML strictly: elements, attributes, text, comments, and the five predefined entities.
///
/// A document type declaration is an error, so entities cannot be declared: nothing is fetched and nothing is expanded. Foundation's
/// parser would add libxml2 and 30 MB of ICU data to every program that loads this framework.
struct XMLReader {
    /// The limits of a document; a model of a thousand entities needs a hundredth of them.
    enum Limit {
        static let bytes = 64 << 20
        static let depth = 64
        static let elements = 2_000_000
    }

    struct Mistake: Error {
        let line: Int
        /// The element that contains the place.
        let element: String?
        let reason: String
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var open: [XMLElement] = []

    /// Parses a document.
    ///
    /// - Returns: The root element.
    /// - Throws: ``Mistake``.
    static func read(_ data: Data) throws -> XMLElement {
        guard data.count <= Limit.bytes else {
            throw Mistake(line: 1, element: nil, reason: "The file is larger than the \(Limit.bytes >> 20) MB that are read.")
        }
        guard String(validating: data, as: UTF8.self) != nil else {
            throw Mistake(line: 1, element: nil, reason: "The file is not encoded in UTF-8.")
        }
        var reader = XMLReader(bytes: Array(data))
        return try reader.document()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func mistake(_ reason: String) -> Mistake { Mistake(line: line, element: open.last?.name, reason: reason) }

    // MARK: Structure

    private mutating func document() throws -> XMLElement {
        _ = skip("\u{FEFF}")
        var root: XMLElement?
        var count = 0
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else {
                try text()
                continue
            }
            if skip("<!--") {
                try skipPast("-->", "comment")
            } else if skip("<?") {
                try skipPast("?>", "processing instruction")
            } else if skip("<![CDATA[") {
                try characterData()
            } else if starts("<!") {
                throw mistake("A document type is not allowed in a model.")
            } else if skip("</") {
                let name = try self.name()
                skipSpace()
                try expect(">")
                guard let element = open.popLast() else { throw mistake("</\(name)> closes nothing.") }
                guard element.name == name else {
                    throw Mistake(
                        line: line, element: element.name, reason: "</\(name)> stands where <\(element.name)> of line \(element.line) ends."
                    )
                }
                if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
            } else {
                guard root == nil else { throw mistake("There is a second root element.") }
                count += 1
                guard count <= Limit.elements else { throw mistake("There are more than \(Limit.elements) elements.") }
                let (element, isEmpty) = try startTag()
                if !isEmpty {
                    guard open.count < Limit.depth else { throw mistake("Elements nest deeper than \(Limit.depth) levels.") }
                    open.append(element)
                } else if open.isEmpty {
                    root = element
                } else {
                    open[open.count - 1].children.append(element)
                }
            }
        }
        if let unclosed = open.last { throw mistake("The file ends within <\(unclosed.name)> of line \(unclosed.line).") }
        guard let root else { throw mistake("The file has no element.") }
        return root
    }

    private mutating func startTag() throws -> (XMLElement, isEmpty: Bool) {
        position += 1
        var element = XMLElement(name: try name(), line: line)
        var names: Set<String> = []
        while true {
            let hadSpace = skipSpace()
            if skip("/>") { return (element, true) }
            if skip(">") { return (element, false) }
            guard position < bytes.count else { throw mistake("The file ends within the tag <\(element.name)>.") }
            guard hadSpace else { throw mistake("There is no space before an attribute of <\(element.name)>.") }
            let attribute = try name()
            guard names.insert(attribute).inserted else { throw mistake("<\(element.name)> has the attribute “\(attribute)” twice.") }
            skipSpace()
            try expect("=")
            skipSpace()
            element.attributes.append(XMLElement.Attribute(name: attribute, value: try quoted(attribute)))
        }
    }

    private mutating func quoted(_ attribute: String) throws -> String {
        guard position < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[position]) else {
            throw mistake("The value of “\(attribute)” is not in quotes.")
        }
        let quote = bytes[position]
        position += 1
        var value: [UInt8] = []
        while position < bytes.count, bytes[position] != quote {
            switch bytes[position] {
            case UInt8(ascii: "<"): throw mistake("There is a “<” in the value of “\(attribute)”.")
            case UInt8(ascii: "&"): value += try reference()
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                value.append(UInt8(ascii: " "))
                advance()
            default:
                value.append(bytes[position])
                advance()
            }
        }
        guard position < bytes.count else { throw mistake("The file ends within the value of “\(attribute)”.") }
        position += 1
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func text() throws {
        var value: [UInt8] = []
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            if bytes[position] == UInt8(ascii: "&") {
                value += try reference()
            } else {
                value.append(bytes[position])
                advance()
            }
        }
        try append(String(decoding: value, as: UTF8.self))
    }

    private mutating func characterData() throws {
        let start = position
        try skipPast("]]>", "character data")
        try append(String(decoding: bytes[start..<position - 3], as: UTF8.self))
    }

    private mutating func append(_ text: String) throws {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.isEmpty { return }
        guard !open.isEmpty else { throw mistake("There is text outside of the root element.") }
        open[open.count - 1].text += trimmed
    }

    // MARK: Pieces

    private mutating func reference() throws -> [UInt8] {
        let end = bytes[position...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
        guard let end else { throw mistake("There is an “&” that begins no reference.") }
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
            guard let number, let scalar = Unicode.Scalar(number), XMLReader.isAllowed(scalar) else {
                throw mistake("The reference “&\(name);” stands for nothing.")
            }
            return Array(String(scalar).utf8)
        }
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 || scalar == "\n" || scalar == "\r" || scalar == "\t"
    }

    private mutating func name() throws -> String {
        let start = position
        while position < bytes.count, XMLReader.isName(bytes[position], first: position == start) { position += 1 }
        guard position > start else { throw mistake("A name is missing.") }
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

    private mutating func advance() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
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
        if !skip(text) { throw mistake("“\(text)” is missing.") }
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
        throw mistake("The file ends within a \(what).")
    }
}
