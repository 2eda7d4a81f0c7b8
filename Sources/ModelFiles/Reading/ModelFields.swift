internal import Foundation
internal import ObjectGraph
internal import Predicates
internal import PropertyLists

/// The attributes of an XML element while it is read. Attributes that no reader has taken are preserved.
struct ModelFields {
    let element: XMLElement
    let file: String?
    private(set) var rest: [String: String]

    init(_ element: XMLElement, file: String?) {
        self.element = element
        self.file = file
        rest = Dictionary(element.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    func malformed(_ reason: String) -> NSError {
        let name = element["name"].map { " “\($0)”" } ?? ""
        return ModelFileError.malformed(file, line: element.line, element: "<\(element.name)>\(name)", reason)
    }

    mutating func text(_ name: String) -> String? { rest.removeValue(forKey: name) }

    /// Preserves a value that a reader has taken.
    mutating func keep(_ name: String, _ value: String) { rest[name] = value }

    mutating func required(_ name: String) throws -> String {
        guard let value = text(name), !value.isEmpty else { throw malformed("The attribute “\(name)” is missing.") }
        return value
    }

    func expect(_ name: String, _ value: String) throws {
        guard let found = rest[name] else { throw malformed("The attribute “\(name)” is missing: this is not a model of Xcode's.") }
        guard found == value else { throw malformed("The \(name) is “\(found)”, not “\(value)”.") }
    }

    mutating func flag(_ name: String) throws -> Bool { try optionalFlag(name) ?? false }

    mutating func optionalFlag(_ name: String) throws -> Bool? {
        guard let value = text(name) else { return nil }
        switch value.uppercased() {
        case "YES", "TRUE", "1": return true
        case "NO", "FALSE", "0": return false
        default: throw malformed("“\(name)” is YES or NO, not “\(value)”.")
        }
    }

    mutating func count(_ name: String, upTo limit: Int = Int(Int32.max)) throws -> Int? {
        guard let value = text(name) else { return nil }
        guard let number = Int(value), number >= 0, number <= limit else {
            throw malformed("“\(name)” is a number, not “\(value)”.")
        }
        return number
    }

    mutating func number(_ name: String) throws -> Double? {
        guard let value = text(name) else { return nil }
        guard let number = Double(value), number.isFinite else { throw malformed("“\(name)” is a number, not “\(value)”.") }
        return number
    }

    mutating func predicate(_ name: String) throws -> NSPredicate? {
        guard let format = text(name), !format.isEmpty else { return nil }
        do {
            return try NSPredicate(parsing: format)
        } catch { throw malformed("“\(name)” does not parse. \(error)") }
    }

    mutating func expression(_ name: String) throws -> Predicates.NSExpression? {
        guard let format = text(name), !format.isEmpty else { return nil }
        do {
            return try Predicates.NSExpression(parsing: format)
        } catch { throw malformed("“\(name)” does not parse. \(error)") }
    }

    /// Throws an error for an attribute that no reader has taken.
    func finish() throws {
        if let left = rest.keys.sorted().first { throw malformed("The attribute “\(left)” is not known here.") }
    }
}
