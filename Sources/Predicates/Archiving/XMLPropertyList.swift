import Foundation

/// Decodes XML property lists to the table of a ``BinaryPropertyList``, for keyed archives in XML.
///
/// It supports the output of archivers: UTF-8, no internal subset of the document type, no dates, which archives contain as objects. It
/// does not recurse.
struct XMLPropertyList {
    typealias Mistake = BinaryPropertyList.Mistake
    private typealias Node = BinaryPropertyList.Node

    private let bytes: [UInt8]
    private var place = 0
    private var nodes: [Node] = []
    /// The open collections, the innermost last.
    private var open: [(isDictionary: Bool, elements: [Int], keys: [Int])] = []

    /// - Throws: ``BinaryPropertyList/Mistake`` when the data is not an XML property list.
    static func read(_ data: Data) throws -> BinaryPropertyList {
        guard data.count <= BinaryPropertyList.byteLimit else {
            throw Mistake(reason: "It is larger than the \(BinaryPropertyList.byteLimit >> 20) MB that are read.")
        }
        var reader = XMLPropertyList(bytes: [UInt8](data))
        let root = try reader.document()
        return BinaryPropertyList(nodes: reader.nodes, root: root, byteCount: reader.bytes.count)
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func document() throws -> Int {
        guard try tag().name == "plist" else { throw Mistake(reason: "It is no property list.") }
        var root: Int?
        while root == nil {
            guard nodes.count < BinaryPropertyList.nodeLimit else { throw Mistake(reason: "It holds too many objects.") }
            let tag = try tag()
            if let finished = try tag.isEnd ? close(tag.name) : element(tag.name, isEmpty: tag.isEmpty) { root = try add(finished) }
        }
        let end = try tag()
        guard let root, end.name == "plist", end.isEnd else { throw Mistake(reason: "It holds more than one object.") }
        return root
    }

    /// Adds a node to the open collection; returns its index when there is none.
    private mutating func add(_ node: Node) throws -> Int? {
        nodes.append(node)
        let index = nodes.count - 1
        guard let current = open.indices.last else { return index }
        guard !open[current].isDictionary || open[current].keys.count == open[current].elements.count + 1 else {
            throw Mistake(reason: "A dictionary holds a value without a key.")
        }
        open[current].elements.append(index)
        return nil
    }

    /// Parses an element after its start tag. Returns nil for an element that is still open, and for a key.
    private mutating func element(_ name: String, isEmpty: Bool) throws -> Node? {
        switch name {
        case "dict", "array":
            open.append((name == "dict", [], []))
            return isEmpty ? try close(name) : nil
        case "true", "false":
            guard try isEmpty || content(of: name).isEmpty else { throw Mistake(reason: "A Boolean has a text.") }
            return .bool(name == "true")
        case "key":
            let key = isEmpty ? "" : try content(of: name)
            guard let current = open.indices.last, open[current].isDictionary, open[current].keys.count == open[current].elements.count
            else {
                throw Mistake(reason: "A key stands outside of a dictionary, or has no value.")
            }
            nodes.append(.string(key))
            open[current].keys.append(nodes.count - 1)
            return nil
        case "string": return .string(isEmpty ? "" : try content(of: name))
        case "integer":
            let text = isEmpty ? "" : try content(of: name)
            if let number = Int64(text) { return .integer(number) }
            guard let number = UInt64(text) else { throw Mistake(reason: "“\(text.prefix(40))” is no integer.") }
            return .unsigned(number)
        case "real":
            guard let number = isEmpty ? nil : Double(try content(of: name)) else { throw Mistake(reason: "A real number cannot be read.") }
            return .real(number)
        case "data":
            let digits = isEmpty ? "" : try content(of: name)
            guard let data = Data(base64Encoded: String(digits.filter { !$0.isWhitespace })) else {
                throw Mistake(reason: "Data is not in Base64.")
            }
            return .data(data)
        default: throw Mistake(reason: "There is no kind of object “\(name.prefix(40))”.")
        }
    }

    /// Ends the innermost collection. A dictionary that contains only `CF$UID` is a reference.
    private mutating func close(_ name: String) throws -> Node {
        guard let last = open.popLast(), name == (last.isDictionary ? "dict" : "array") else {
            throw Mistake(reason: "The end of “\(name.prefix(40))” stands in the wrong place.")
        }
        guard last.isDictionary else { return .array(last.elements) }
        guard last.keys.count == last.elements.count else { throw Mistake(reason: "A key has no value.") }
        if last.keys.count == 1, case .string("CF$UID") = nodes[last.keys[0]] {
            guard case .integer(let number) = nodes[last.elements[0]], let index = Int(exactly: number), index >= 0 else {
                throw Mistake(reason: "A reference is no number.")
            }
            return .uid(index)
        }
        return .dictionary(zip(last.keys, last.elements).map { ($0, $1) })
    }

    // MARK: Characters

    private func starts(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= bytes.count - place else { return false }
        return text.withUTF8Buffer { bytes[place..<place + count].elementsEqual($0) }
    }

    /// Skips to the end of the next occurrence of a string.
    private mutating func skip(past text: StaticString) throws {
        let first = text.utf8Start.pointee
        while true {
            guard let next = bytes[place...].firstIndex(of: first) else { throw Mistake(reason: "It ends too early.") }
            place = next
            if starts(text) { break }
            place += 1
        }
        place += text.utf8CodeUnitCount
    }

    /// Parses the next tag, skipping space, comments, instructions and the document type.
    private mutating func tag() throws -> (name: String, isEnd: Bool, isEmpty: Bool) {
        while place < bytes.count {
            // Most tags are neither.
            let next = place + 1 < bytes.count && bytes[place] == UInt8(ascii: "<") ? bytes[place + 1] : 0
            if bytes[place] == 0x20 || (0x09...0x0D).contains(bytes[place]) {
                place += 1
            } else if next != UInt8(ascii: "?"), next != UInt8(ascii: "!") {
                break
            } else if starts("<?") {
                try skip(past: "?>")
            } else if starts("<!--") {
                try skip(past: "-->")
            } else if starts("<!DOCTYPE") {
                let start = place
                try skip(past: ">")
                guard !bytes[start..<place].contains(UInt8(ascii: "[")) else { throw Mistake(reason: "Its document type has a subset.") }
            } else {
                break
            }
        }
        guard starts("<") else { throw Mistake(reason: "It has text where a tag was expected.") }
        let start = place + 1
        try skip(past: ">")
        var text = bytes[start..<place - 1]
        let isEnd = text.first == UInt8(ascii: "/")
        if isEnd { text = text.dropFirst() }
        let isEmpty = !isEnd && text.last == UInt8(ascii: "/")
        if isEmpty { text = text.dropLast() }
        // Attributes follow the name; only the version of the list has any.
        return (String(decoding: text.prefix { $0 > 0x20 }, as: UTF8.self), isEnd, isEmpty)
    }

    /// Parses the text up to the end of the element, and replaces its character references.
    private mutating func content(of name: String) throws -> String {
        var text: [UInt8] = []
        while place < bytes.count {
            if place + 1 < bytes.count, bytes[place + 1] == UInt8(ascii: "!"), starts("<![CDATA[") {
                let start = place + 9
                place = start
                try skip(past: "]]>")
                text += bytes[start..<place - 3]
            } else if bytes[place] == UInt8(ascii: "<") {
                let end = try tag()
                guard end.isEnd, end.name == name else { throw Mistake(reason: "The element “\(name)” is not ended.") }
                guard let text = String(validating: text, as: UTF8.self) else { throw Mistake(reason: "A text is not valid.") }
                return text
            } else if bytes[place] == UInt8(ascii: "&") {
                let start = place + 1
                try skip(past: ";")
                text += try character(String(decoding: bytes[start..<place - 1].prefix(12), as: UTF8.self)).utf8
            } else {
                let end = bytes[place...].firstIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") } ?? bytes.count
                text += bytes[place..<end]
                place = end
            }
        }
        throw Mistake(reason: "It ends too early.")
    }

    private func character(_ name: String) throws -> String {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let digits = name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            guard let scalar = digits.flatMap(Unicode.Scalar.init) else { throw Mistake(reason: "There is no character “\(name)”.") }
            return String(scalar)
        }
    }
}
