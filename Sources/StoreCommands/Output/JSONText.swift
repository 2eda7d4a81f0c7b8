internal import Foundation
internal import JSONReading

/// A JSON value that keeps the order of members.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number as its digits.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A member of an object.
    package struct Member: Hashable, Sendable {
        package let name: String
        package let value: JSONValue

        package init(name: String, value: JSONValue) { (self.name, self.value) = (name, value) }
    }

    /// Compares strings by their bytes, as stores compare unique values: for `String`, “é” as one scalar and as two is equal.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Returns an object.
    package static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    package static func count(_ number: Int) -> JSONValue { .integer(Int64(number)) }

    /// Returns a floating-point number, or text if JSON has no such number.
    package static func real(_ number: Double) -> JSONValue {
        if !number.isFinite { return .string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity") }
        if let whole = Int64(exactly: number), whole.magnitude < 1 << 53 { return .integer(whole) }
        return .number("\(number)")
    }

    /// The member of an object; nil if there is none.
    package subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
    }

    /// Converts a parsed value.
    init(_ read: JSONReading.JSONValue) {
        self =
            switch read {
            case .object(let object): .object(object.members.map { Member(name: $0.key, value: JSONValue($0.value)) })
            case .array(let elements): .array(elements.map { JSONValue($0) })
            case .string(let text): .string(text)
            case .integer(let number): .integer(number)
            case .number(let number): .number("\(number)")
            case .decimal(let digits): .number(digits)
            case .bool(let flag): .bool(flag)
            case .null: .null
            }
    }

    /// Returns the text.
    ///
    /// - Parameter indent: Whether members and elements are on separate lines.
    package func text(indent: Bool = true) -> String {
        var text = ""
        write(to: &text, indent ? 0 : nil)
        return text
    }

    private func write(to text: inout String, _ depth: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .integer(let number): text += "\(number)"
        case .number(let digits): text += digits
        case .string(let string): Self.write(string, to: &text)
        case .array(let elements):
            Self.list("[", "]", elements.count, depth, &text) { index, text, depth in elements[index].write(to: &text, depth) }
        case .object(let members):
            Self.list("{", "}", members.count, depth, &text) { index, text, depth in
                Self.write(members[index].name, to: &text)
                text += depth == nil ? ":" : ": "
                members[index].value.write(to: &text, depth)
            }
        }
    }

    private static func list(
        _ start: String, _ end: String, _ count: Int, _ depth: Int?, _ text: inout String, _ element: (Int, inout String, Int?) -> Void
    ) {
        text += start
        let inner = depth.map { $0 + 1 }
        for index in 0..<count {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: "  ", count: inner) }
            element(index, &text, inner)
        }
        if count > 0, let depth { text += "\n" + String(repeating: "  ", count: depth) }
        text += end
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default:
                // Terminals interpret control characters of both ranges, and characters that change the direction of text.
                if DisplayText.isUnsafe(scalar) {
                    for unit in String(scalar).utf16 { text += "\\u" + hex(unit) }
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        }
        text += "\""
    }

    private static func hex(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
