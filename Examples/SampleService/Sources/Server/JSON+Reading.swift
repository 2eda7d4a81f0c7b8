internal import Foundation

extension JSON: Decodable {
    /// Reads a document; nil where it is none.
    init?(parsing data: Data) {
        guard let value = try? JSONDecoder().decode(JSON.self, from: data) else { return nil }
        self = value
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// A member of an object; nil where there is none.
    subscript(name: String) -> JSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// Whether a value is less than another: null, booleans, numbers, texts, and nothing at the end.
    static func isOrdered(_ left: JSON?, _ right: JSON?) -> Bool {
        switch (left, right) {
        case (.integer(let left)?, .integer(let right)?): left < right
        case (.boolean(let left)?, .boolean(let right)?): !left && right
        case (.string(let left)?, .string(let right)?): left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
        default:
            if let left = left?.double, let right = right?.double { left < right } else { rank(left) < rank(right) }
        }
    }

    private var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    private static func rank(_ value: JSON?) -> Int {
        switch value {
        case .null?: 0
        case .boolean?: 1
        case .integer?, .number?: 2
        case .string?: 3
        case .array?, .object?: 4
        case nil: 5
        }
    }
}

extension JSON: ExpressibleByIntegerLiteral {
    init(integerLiteral value: Int) { self = .integer(value) }
}
