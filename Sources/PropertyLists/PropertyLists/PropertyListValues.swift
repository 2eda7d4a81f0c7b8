package import Foundation

/// Reads property lists of external origin: metadata of stores, versions of models.
///
/// Foundation's reader makes a value of each reference, so that a few bytes may become more values than memory can hold; it recurses, and makes
/// objects of references that are not values. So binary lists are read here, with a limit, and those in XML are checked before Foundation reads them.
package enum PropertyListValues {
    /// The deepest nesting, and the most values.
    package static let depthLimit = 100
    package static let valueLimit = 1_000_000

    /// Reads a list whose root is a dictionary, in binary form or in XML.
    ///
    /// - Throws: ``BinaryPropertyList/FormatError`` for anything else, and for a list that exceeds the limits.
    package static func dictionary(_ data: Data) throws -> [String: Any] {
        let found: Any
        if BinaryPropertyList.isOne(data) {
            let list = try BinaryPropertyList(data)
            var budget = valueLimit
            found = try value(list.root, in: list, depth: 0, &budget)
        } else {
            found = try values(xml: data)
        }
        guard let dictionary = found as? [String: Any] else { throw BinaryPropertyList.FormatError(reason: "It is not a dictionary.") }
        return dictionary
    }

    /// - Parameter budget: The number of values that may still follow.
    private static func value(_ index: Int, in list: BinaryPropertyList, depth: Int, _ budget: inout Int) throws -> Any {
        budget -= 1
        guard depth < depthLimit, budget > 0 else {
            throw BinaryPropertyList.FormatError(reason: "It has more than \(valueLimit) values, or nests deeper than \(depthLimit).")
        }
        switch list.nodes[index] {
        case .bool(let flag): return NSNumber(value: flag)
        case .integer(let number): return NSNumber(value: number)
        case .unsigned(let number): return NSNumber(value: number)
        case .real(let number): return NSNumber(value: number)
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .string(let text): return text
        case .array(let elements): return try elements.map { try value($0, in: list, depth: depth + 1, &budget) }
        case .dictionary(let pairs):
            var values: [String: Any] = [:]
            for (key, element) in pairs {
                guard let name = try value(key, in: list, depth: depth + 1, &budget) as? String else {
                    throw BinaryPropertyList.FormatError(reason: "A key is no text.")
                }
                values[name] = try value(element, in: list, depth: depth + 1, &budget)
            }
            return values
        case .null, .uid: throw BinaryPropertyList.FormatError(reason: "It has something other than values.")
        }
    }

    private static func values(xml data: Data) throws -> Any {
        guard data.count <= BinaryPropertyList.byteLimit, let text = String(data: data, encoding: .utf8),
            text.utf8.first(where: { !" \t\r\n\u{FEFF}".utf8.contains($0) }) == UInt8(ascii: "<")
        else { throw BinaryPropertyList.FormatError(reason: "It is not a property list, in binary form or in XML.") }
        guard !text.contains("CF$UID"), depth(of: text) <= depthLimit else {
            throw BinaryPropertyList.FormatError(reason: "It has something other than values, or nests deeper than \(depthLimit).")
        }
        do { return try PropertyListSerialization.propertyList(from: data, format: nil) } catch {
            throw BinaryPropertyList.FormatError(reason: "It is not a property list: \(error.localizedDescription)")
        }
    }

    /// Returns how deep a list is nested at most.
    private static func depth(of text: String) -> Int {
        var (depth, deepest) = (0, 0)
        for part in text.utf8.split(separator: 0x3C) {
            switch part.prefix(4) {
            case let name where name.elementsEqual("dict".utf8) || name.elementsEqual("arra".utf8): depth += 1
            case let name where name.elementsEqual("/dic".utf8) || name.elementsEqual("/arr".utf8): depth -= 1
            default: break
            }
            deepest = max(deepest, depth)
        }
        return deepest
    }
}
