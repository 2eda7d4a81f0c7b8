import Foundation

/// Decodes XML property lists to the table of a ``BinaryPropertyList``, for keyed archives in XML.
///
/// It reads lists that archivers write: no internal subset of a document type, no dates, which archives hold as objects. Nothing here recurses.
struct XMLPropertyList {
    typealias FormatError = BinaryPropertyList.FormatError
    private typealias Node = BinaryPropertyList.Node

    private var scanner: XMLScanner
    private var nodes: [Node] = []
    /// The open collections, the innermost last.
    private var open: [(isDictionary: Bool, elements: [Int], keys: [Int])] = []

    /// - Throws: ``BinaryPropertyList/FormatError`` when the data is not an XML property list.
    static func read(_ data: Data) throws -> BinaryPropertyList {
        do {
            var reader = XMLPropertyList(scanner: try XMLScanner(data))
            let root = try reader.document()
            return BinaryPropertyList(nodes: reader.nodes, root: root, byteCount: data.count)
        } catch let mistake as XMLScanner.FormatError {
            throw FormatError(reason: mistake.reason)
        }
    }

    private init(scanner: XMLScanner) { self.scanner = scanner }

    private mutating func document() throws -> Int {
        guard case .start("plist", _, _, _) = try tag() else { throw FormatError(reason: "It is not a property list.") }
        var root: Int?
        while root == nil {
            guard nodes.count < BinaryPropertyList.nodeLimit else { throw FormatError(reason: "It holds too many objects.") }
            let finished: Node?
            switch try tag() {
            case .start(let name, _, let isEmpty, _): finished = try element(name, isEmpty: isEmpty)
            case .end(let name): finished = try close(name)
            case .text, .documentType: throw FormatError(reason: "It has text where a tag was expected.")
            }
            if let finished { root = try add(finished) }
        }
        guard let root, case .end("plist") = try tag() else { throw FormatError(reason: "It holds more than one object.") }
        return root
    }

    /// The next tag, over space and the document type.
    private mutating func tag() throws -> XMLScanner.Piece {
        while let piece = try scanner.next() {
            switch piece {
            case .start, .end: return piece
            case .text(let text):
                guard text.allSatisfy(\.isWhitespace) else { throw FormatError(reason: "It has text where a tag was expected.") }
            case .documentType(let isPlain):
                guard isPlain else { throw FormatError(reason: "Its document type has a subset.") }
            }
        }
        throw FormatError(reason: "It ends too early.")
    }

    /// The text up to the end of the element.
    private mutating func content(of name: String) throws -> String {
        var content = ""
        while let piece = try scanner.next() {
            switch piece {
            case .text(let text): content += text
            case .end(name): return content
            default: throw FormatError(reason: "The element “\(name)” is not ended.")
            }
        }
        throw FormatError(reason: "It ends too early.")
    }

    /// Adds a node to the open collection; returns its number if there is none.
    private mutating func add(_ node: Node) throws -> Int? {
        nodes.append(node)
        let index = nodes.count - 1
        guard let current = open.indices.last else { return index }
        guard !open[current].isDictionary || open[current].keys.count == open[current].elements.count + 1 else {
            throw FormatError(reason: "A dictionary holds a value without a key.")
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
            guard try isEmpty || content(of: name).isEmpty else { throw FormatError(reason: "A Boolean has a text.") }
            return .bool(name == "true")
        case "key":
            let key = isEmpty ? "" : try content(of: name)
            guard let current = open.indices.last, open[current].isDictionary, open[current].keys.count == open[current].elements.count
            else {
                throw FormatError(reason: "A key is outside of a dictionary, or has no value.")
            }
            nodes.append(.string(key))
            open[current].keys.append(nodes.count - 1)
            return nil
        case "string": return .string(isEmpty ? "" : try content(of: name))
        case "integer":
            let text = isEmpty ? "" : try content(of: name)
            if let number = Int64(text) { return .integer(number) }
            guard let number = UInt64(text) else { throw FormatError(reason: "“\(text.prefix(40))” is not an integer.") }
            return .unsigned(number)
        case "real":
            guard let number = isEmpty ? nil : Double(try content(of: name)) else {
                throw FormatError(reason: "A real number cannot be read.")
            }
            return .real(number)
        case "data":
            let digits = isEmpty ? "" : try content(of: name)
            guard let data = Data(base64Encoded: String(digits.filter { !$0.isWhitespace })) else {
                throw FormatError(reason: "Data is not in Base64.")
            }
            return .data(data)
        default: throw FormatError(reason: "There is no kind of object “\(name.prefix(40))”.")
        }
    }

    /// Ends the innermost collection. A dictionary that contains only `CF$UID` is a reference.
    private mutating func close(_ name: String) throws -> Node {
        guard let last = open.popLast(), name == (last.isDictionary ? "dict" : "array") else {
            throw FormatError(reason: "The end of “\(name.prefix(40))” is in the wrong place.")
        }
        guard last.isDictionary else { return .array(last.elements) }
        guard last.keys.count == last.elements.count else { throw FormatError(reason: "A key has no value.") }
        if last.keys.count == 1, case .string("CF$UID") = nodes[last.keys[0]] {
            guard case .integer(let number) = nodes[last.elements[0]], let index = Int(exactly: number), index >= 0 else {
                throw FormatError(reason: "A reference is not a number.")
            }
            return .uid(index)
        }
        return .dictionary(zip(last.keys, last.elements).map { ($0, $1) })
    }
}
