internal import Foundation

/// A filter of a list of records: `year=1970`, `min_year=1970`, `not_title="Help!"`, `in_year=1970,1971`, `contains_any_tags=["a"]`.
struct RecordFilter {
    private enum Kind: String, CaseIterable {
        case containsAny = "contains_any_"
        case not = "not_"
        case lessThan = "lt_"
        case greaterThan = "gt_"
        case minimum = "min_"
        case maximum = "max_"
        case isIn = "in_"
        case equal = ""
    }

    private let kind: Kind
    private let field: String
    private let value: JSON
    private let values: [JSON]

    /// Reads a filter; nil for a parameter that is none.
    init?(_ name: String, _ text: String) {
        guard let kind = Kind.allCases.first(where: { name.hasPrefix($0.rawValue) }), !name.hasPrefix("_") else { return nil }
        self.kind = kind
        field = String(name.dropFirst(kind.rawValue.count))
        value = JSON(parsing: Data(text.utf8)) ?? .string(text)
        if case .array(let values) = JSON(parsing: Data((kind == .containsAny ? text : "[\(text)]").utf8)) {
            self.values = values
        } else {
            values = text.split(separator: ",").map { .string(String($0)) }
        }
    }

    /// Whether a record is one of the list.
    func matches(_ record: JSON) -> Bool {
        let found = record[field]
        return switch kind {
        case .equal: found == value
        case .not: found != value
        case .lessThan: JSON.isOrdered(found, value)
        case .greaterThan: JSON.isOrdered(value, found)
        case .minimum: !JSON.isOrdered(found, value)
        case .maximum: !JSON.isOrdered(value, found)
        case .isIn: values.contains { $0 == found }
        case .containsAny: if case .array(let elements)? = found { values.contains { elements.contains($0) } } else { false }
        }
    }

    /// Whether a record comes before another by keys such as `-year`.
    static func isOrdered(_ left: JSON, _ right: JSON, by keys: [String]) -> Bool {
        for key in keys {
            let name = key.hasPrefix("-") ? String(key.dropFirst()) : key
            let (first, second) = key.hasPrefix("-") ? (right[name], left[name]) : (left[name], right[name])
            if JSON.isOrdered(first, second) { return true }
            if JSON.isOrdered(second, first) { return false }
        }
        return false
    }
}
