/// A JSON value that was read completely, or that will be written.
///
/// Strings are equal if they have the same bytes; Unicode equivalence does not count. Equal numbers are of the same case.
package indirect enum JSONValue: Sendable {
    case object(JSONObject)
    case array([JSONValue])
    case string(String)
    /// A number that is written as an integer and fits.
    case integer(Int64)
    /// Another number, which a double represents with all its digits.
    case number(Double)
    /// The text of a number with more digits than an integer or a double can hold, or beyond their range.
    case decimal(String)
    case bool(Bool)
    case null

    // MARK: Access

    /// The members of an object.
    package var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// The elements of an array.
    package var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }

    /// The text of a string.
    package var string: String? { if case .string(let string) = self { string } else { nil } }

    package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

    package var isNull: Bool { self == .null }

    /// The number, if it is an integer that fits.
    package var integer: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number):
            // Not `Int64(exactly:)`, which needs C's mathematics library. 0x1p63 is the first number that does not fit.
            number >= -0x1p63 && number < 0x1p63 && Double(Int64(number)) == number ? Int64(number) : nil
        default: nil
        }
    }

    /// The number as the nearest double; nil if it exceeds the range of doubles.
    package var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        case .decimal(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }

    /// The value of a key of an object; nil if it has none, or the value is not an object. Setting nil removes the key.
    ///
    /// Setting replaces a value of another kind by an object.
    package subscript(key: String) -> JSONValue? {
        get { object?[key] }
        set {
            var object = object ?? JSONObject()
            self = .null
            object[key] = newValue
            self = .object(object)
        }
    }

    /// The element of an array at an index; nil if there is none, or the value is not an array.
    package subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

extension JSONValue: Hashable {
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.object(let left), .object(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.string(let left), .string(let right)), (.decimal(let left), .decimal(let right)): left.utf8.elementsEqual(right.utf8)
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.null, .null): true
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .object(let object): hasher.combine(object)
        case .array(let array): hasher.combine(array)
        // Canonically equivalent strings have the same hash, which is allowed.
        case .string(let text), .decimal(let text): hasher.combine(text)
        case .integer(let integer): hasher.combine(integer)
        case .number(let number): hasher.combine(number)
        case .bool(let bool): hasher.combine(bool)
        case .null: hasher.combine(0)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { JSONObject.Member(key: $0.0, value: $0.1) }))
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON, or the error if it cannot be written.
    package var description: String {
        do { return String(decoding: try serialized(), as: UTF8.self) } catch { return "(\(error.reason))" }
    }
}
