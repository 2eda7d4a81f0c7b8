internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import PropertyLists

/// Converts text and JSON from files and queries to values of attributes.
enum AttributeValue {
    /// A mistake in a value.
    struct Mistake: Error {
        let message: String
    }

    /// Returns the attribute's value for a text.
    ///
    /// - Parameter inTables: Whether it is for the tables of another program, where transformable attributes have JSON. In other stores, only programs
    ///   can create their values.
    /// - Throws: ``Mistake`` for an invalid value of the attribute's type.
    static func value(_ text: String, of attribute: NSAttributeDescription, inTables: Bool = false) throws -> Any? {
        guard attribute.attributeType == .transformableAttributeType && inTables else {
            return try value(json(text, attribute), of: attribute)
        }
        do throws(JSONError) { return json(try JSONReading.JSONValue(parsing: Array(text.utf8))) } catch {
            throw Mistake(message: "Expected JSON, found \(shown(text)). \(error.reason).")
        }
    }

    /// Returns the attribute's value for JSON; nil for null.
    ///
    /// - Throws: ``Mistake`` for an invalid value of the attribute's type.
    static func value(_ json: JSONReading.JSONValue, of attribute: NSAttributeDescription, inTables: Bool) throws -> Any? {
        attribute.attributeType == .transformableAttributeType && inTables ? self.json(json) : try value(json, of: attribute)
    }

    private static func json(_ json: JSONReading.JSONValue) -> Any? { json.isNull ? nil : ValueText.foundation(json) }

    /// Returns a CSV text as JSON for an attribute's type.
    private static func json(_ text: String, _ attribute: NSAttributeDescription) throws -> JSONReading.JSONValue {
        switch attribute.attributeType {
        case .booleanAttributeType:
            switch text {
            case "true", "1": return .bool(true)
            case "false", "0": return .bool(false)
            default: return .string(text)
            }
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
            .decimalAttributeType, .compositeAttributeType:
            // Text that is not JSON is a special value such as NaN, or a mistake.
            return (try? JSONReading.JSONValue(parsing: Array(text.utf8))) ?? .string(text)
        default: return .string(text)
        }
    }

    private static func value(_ json: JSONReading.JSONValue, of attribute: NSAttributeDescription) throws -> Any? {
        if json.isNull { return nil }
        func expected(_ what: String) -> Mistake { Mistake(message: "Expected \(what), found \(shown("\(json)")).") }
        func text(_ what: String) throws -> String {
            guard let text = json.string else { throw expected(what) }
            return text
        }
        switch attribute.attributeType {
        case .booleanAttributeType:
            guard let flag = json.bool else { throw expected("true or false") }
            return NSNumber(value: flag)
        case .integer16AttributeType: return try integer(json, Int16.self, expected)
        case .integer32AttributeType: return try integer(json, Int32.self, expected)
        case .integer64AttributeType: return try integer(json, Int64.self, expected)
        case .doubleAttributeType, .floatAttributeType:
            guard let number = json.double ?? special(json) else { throw expected("a number") }
            return attribute.attributeType == .floatAttributeType ? NSNumber(value: Float(number)) : NSNumber(value: number)
        case .decimalAttributeType:
            guard let number = decimal(json) else { throw expected("a decimal number") }
            return number
        case .stringAttributeType: return try text("text")
        case .dateAttributeType:
            let text = try text("a date")
            do throws(DateMistake) {
                return try DateText.date(text, .iso8601)
            } catch {
                throw Mistake(message: "\(error.description(of: text)) Expected a date such as \(DateNotation.iso8601.examples).")
            }
        case .binaryDataAttributeType:
            guard let data = Data(base64Encoded: try text("bytes in Base64")) else { throw expected("bytes in Base64") }
            return data
        case .UUIDAttributeType:
            guard let uuid = UUID(uuidString: try text("a UUID")) else { throw expected("a UUID") }
            return uuid
        case .URIAttributeType:
            guard let url = URL(string: try text("a URI")) else { throw expected("a URI") }
            return url
        case .compositeAttributeType:
            guard let composite = attribute as? NSCompositeAttributeDescription, let object = json.object else {
                throw expected("an object with the elements")
            }
            var values: [String: Any] = [:]
            var names: Set<String> = []
            for member in object.members {
                guard names.insert(member.key).inserted else { throw Mistake(message: "The element “\(member.key)” is there twice.") }
                guard let element = composite.elements.first(where: { $0.name == member.key }) else {
                    throw Mistake(message: "The attribute has no element “\(member.key)”.")
                }
                values[member.key] = try value(member.value, of: element)
            }
            return values
        default: throw Mistake(message: "Values of this type cannot be imported.")
        }
    }

    private static func integer<Number: FixedWidthInteger>(
        _ json: JSONReading.JSONValue, _ type: Number.Type, _ expected: (String) -> Mistake
    ) throws -> NSNumber {
        guard let integer = json.integer, Number(exactly: integer) != nil else {
            throw expected("a whole number from \(Number.min) to \(Number.max)")
        }
        return NSNumber(value: integer)
    }

    /// Returns the number of a text for which JSON has no digits.
    private static func special(_ json: JSONReading.JSONValue) -> Double? {
        switch json.string {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: nil
        }
    }

    private static func decimal(_ json: JSONReading.JSONValue) -> NSDecimalNumber? {
        let digits: String
        switch json {
        case .integer(let number): digits = "\(number)"
        case .number(let number): digits = "\(number)"
        case .decimal(let text): digits = text
        case .string("NaN"): return .notANumber
        default: return nil
        }
        return Decimal(string: digits).map { NSDecimalNumber(decimal: $0) }
    }

    static func shown(_ text: String) -> String {
        let line = DisplayText.cut(DisplayText.line(text), to: 60)
        return line.hasPrefix("\"") || line.hasPrefix("{") || line.hasPrefix("[") ? line : "“\(line)”"
    }
}
