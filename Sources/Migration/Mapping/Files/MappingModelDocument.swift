internal import Foundation
internal import PropertyLists

/// The objects of an `xcmapping.xml`: an XML store of Xcode's own objects, read as the XML that it is.
struct MappingModelDocument {
    /// An object of the file.
    struct Object {
        let type: String
        let id: String
        let line: Int
        var attributes: [String: String] = [:]
        var relationships: [String: [String]] = [:]

        /// Returns the value of an attribute; nil if it is empty.
        func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }
        func flag(_ name: String) -> Bool { ["1", "YES", "true"].contains(attributes[name] ?? "") }
        func data(_ name: String) -> Data? { text(name).flatMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) } }
    }

    private(set) var objects: [Object] = []
    private(set) var places: [String: Int] = [:]

    subscript(id: String) -> Object? { places[id].map { objects[$0] } }

    struct FormatError: Error {
        let line: Int
        let reason: String
    }

    /// The most elements that may be in each other.
    private static let depthLimit = 64
    /// More than any mapping model has.
    private static let objectLimit = 100_000

    init(_ data: Data) throws {
        do {
            var scanner = try XMLScanner(data)
            try read(&scanner)
        } catch let mistake as XMLScanner.FormatError {
            throw FormatError(line: mistake.line, reason: mistake.reason)
        }
    }

    private mutating func read(_ scanner: inout XMLScanner) throws {
        var open: [String] = []
        var object: Object?
        var property: (name: String, text: String)?
        var hasRoot = false
        while let piece = try scanner.next() {
            switch piece {
            case .documentType(let isPlain):
                guard isPlain, !hasRoot else {
                    throw FormatError(line: scanner.line, reason: "A document type that declares anything is not allowed.")
                }
            case .text(let text): property?.text += text
            case .start(let name, let attributes, let isEmpty, let line):
                if open.isEmpty {
                    guard !hasRoot, name == "database" else {
                        throw FormatError(
                            line: line, reason: hasRoot ? "There is a second root element." : "A mapping model begins with <database>.")
                    }
                    hasRoot = true
                }
                guard open.count < Self.depthLimit else {
                    throw FormatError(line: line, reason: "Elements nest deeper than \(Self.depthLimit) levels.")
                }
                if open.count == 1, name == "object" { object = try Self.object(attributes, line) }
                if open.count == 2, object != nil { property = try Self.property(name, attributes, line, &object) }
                open.append(name)
                if isEmpty { try close(name, &open, &object, &property, line) }
            case .end(let name): try close(name, &open, &object, &property, scanner.line)
            }
        }
        guard hasRoot, open.isEmpty else {
            throw FormatError(line: scanner.line, reason: open.last.map { "The file ends within <\($0)>." } ?? "The file has no element.")
        }
    }

    private static func value(_ name: String, of attributes: [XMLAttribute]) -> String? { attributes.first { $0.name == name }?.value }

    private static func object(_ attributes: [XMLAttribute], _ line: Int) throws -> Object {
        guard let type = value("type", of: attributes), let id = value("id", of: attributes), !id.isEmpty else {
            throw FormatError(line: line, reason: "An <object> has no type or no id.")
        }
        return Object(type: type.uppercased(), id: id, line: line)
    }

    /// Begins an attribute of an object, or takes a relationship.
    private static func property(
        _ name: String, _ attributes: [XMLAttribute], _ line: Int, _ object: inout Object?
    ) throws -> (name: String, text: String)? {
        guard name == "attribute" || name == "relationship" else { return nil }
        guard let key = value("name", of: attributes)?.lowercased() else {
            throw FormatError(line: line, reason: "An <\(name)> of an object has no name.")
        }
        if name == "attribute" { return (key, "") }
        object?.relationships[key] = (value("idrefs", of: attributes) ?? "").split(separator: " ").map(String.init)
        return nil
    }

    private mutating func close(
        _ name: String, _ open: inout [String], _ object: inout Object?, _ property: inout (name: String, text: String)?, _ line: Int
    ) throws {
        guard let element = open.popLast() else { throw FormatError(line: line, reason: "</\(name)> closes nothing.") }
        guard element == name else { throw FormatError(line: line, reason: "</\(name)> appears where <\(element)> ends.") }
        if open.count == 2, let ended = property {
            object?.attributes[ended.name] = Self.unescaped(ended.text.trimmingCharacters(in: .whitespacesAndNewlines))
            property = nil
        }
        guard open.count == 1, let ended = object else { return }
        object = nil
        guard places.updateValue(objects.count, forKey: ended.id) == nil else {
            throw FormatError(line: ended.line, reason: "There are two objects “\(ended.id)”.")
        }
        objects.append(ended)
        guard objects.count <= Self.objectLimit else {
            throw FormatError(line: line, reason: "There are more than \(Self.objectLimit) objects.")
        }
    }

    /// Replaces the escapes that Core Data writes for XML's special characters: a backslash, `u` and the two bytes of the UTF-16 unit, the lower one
    /// first.
    private static func unescaped(_ text: String) -> String {
        guard text.contains("\\") else { return text }
        var units: [UInt16] = []
        var rest = Array(text.utf16)[...]
        while let unit = rest.popFirst() {
            guard unit == UInt16(UInt8(ascii: "\\")), let next = rest.first else {
                units.append(unit)
                continue
            }
            if next == unit {
                units.append(unit)
                rest.removeFirst()
            } else if next == UInt16(UInt8(ascii: "u")), rest.count >= 5,
                let code = UInt16(String(decoding: rest.dropFirst().prefix(4), as: UTF16.self), radix: 16)
            {
                units.append(code.byteSwapped)
                rest = rest.dropFirst(5)
            } else {
                units.append(unit)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}
