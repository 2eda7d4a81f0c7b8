internal import Foundation
internal import PropertyLists

/// Reads the metadata of a binary store, which are a binary property list of their own.
enum BinaryStoreMetadata {
    private struct NoValue: Error {}

    /// - Throws: An error for a list that is damaged, or that contains something other than values.
    static func read(_ data: Data) throws -> [String: Any] {
        let list = try BinaryPropertyList(data)
        var budget = 1_000_000
        guard let found = try value(list.root, in: list, depth: 0, &budget) as? [String: Any] else { throw NoValue() }
        return found
    }

    /// - Parameter budget: How many values may still come: a damaged list may name one many times.
    private static func value(_ index: Int, in list: BinaryPropertyList, depth: Int, _ budget: inout Int) throws -> Any {
        budget -= 1
        guard depth < 100, budget > 0, list.nodes.indices.contains(index) else { throw NoValue() }
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
                guard let name = try value(key, in: list, depth: depth + 1, &budget) as? String else { throw NoValue() }
                values[name] = try value(element, in: list, depth: depth + 1, &budget)
            }
            return values
        case .null, .uid: throw NoValue()
        }
    }
}
