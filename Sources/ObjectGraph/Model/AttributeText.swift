internal import Foundation
internal import Predicates

/// Converts attribute types and values to and from their spelling in model files.
package enum AttributeText {
    /// The spellings of the types.
    package static let types: [(name: String, type: NSAttributeType)] = [
        ("Integer 16", .integer16AttributeType), ("Integer 32", .integer32AttributeType), ("Integer 64", .integer64AttributeType),
        ("Decimal", .decimalAttributeType), ("Double", .doubleAttributeType), ("Float", .floatAttributeType),
        ("String", .stringAttributeType), ("Boolean", .booleanAttributeType), ("Date", .dateAttributeType),
        ("Binary", .binaryDataAttributeType), ("UUID", .UUIDAttributeType), ("URI", .URIAttributeType),
        ("Transformable", .transformableAttributeType), ("Composite", .compositeAttributeType), ("Undefined", .undefinedAttributeType),
        ("Object ID", .objectIDAttributeType),
    ]

    package static func type(named name: String) -> NSAttributeType? { types.first { $0.name == name }?.type }
    package static func name(of type: NSAttributeType) -> String { types.first { $0.type == type }!.name }

    /// Parses a value of a type; nil for an invalid string.
    package static func value(_ text: String, type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType: return whole(text).flatMap { Int16(exactly: $0) }.map { Int($0) }
        case .integer32AttributeType: return whole(text).flatMap { Int32(exactly: $0) }.map { Int($0) }
        case .integer64AttributeType: return whole(text)
        case .decimalAttributeType: return decimal(text)
        case .doubleAttributeType: return Double(text).flatMap { $0.isFinite ? $0 : nil }
        case .floatAttributeType: return Float(text).flatMap { $0.isFinite ? $0 : nil }
        case .booleanAttributeType:
            switch text.uppercased() {
            case "YES", "TRUE", "1": return true
            case "NO", "FALSE", "0": return false
            default: return nil
            }
        case .stringAttributeType: return text
        case .dateAttributeType:
            return Double(text).flatMap { $0.isFinite ? Date(timeIntervalSinceReferenceDate: $0) : nil }
        case .UUIDAttributeType: return UUID(uuidString: text)
        case .URIAttributeType: return URL(string: text)
        case .binaryDataAttributeType, .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType,
            .compositeAttributeType:
            return nil
        }
    }

    /// Returns the spelling of a value of a type; nil if model files have none.
    package static func text(_ value: Any, type: NSAttributeType) -> String? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number(value).map { "\($0)" }
        case .booleanAttributeType: number(value).map { $0 == 0 ? "NO" : "YES" }
        case .decimalAttributeType: decimalValue(value).map { "\($0)" }
        case .doubleAttributeType: real(value).map { "\($0)" }
        case .floatAttributeType: real(value).map { "\(Float($0))" }
        case .dateAttributeType: (value as? Date).map { seconds($0.timeIntervalSinceReferenceDate) }
        case .stringAttributeType: value as? String
        case .UUIDAttributeType: (value as? UUID)?.uuidString
        case .URIAttributeType: (value as? URL)?.absoluteString
        case .binaryDataAttributeType, .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType,
            .compositeAttributeType:
            nil
        }
    }

    /// Returns seconds, without a fraction if it is zero, like Xcode.
    static func seconds(_ value: Double) -> String { Int64(exactly: value).map(String.init) ?? "\(value)" }

    static func real(_ value: Any) -> Double? {
        switch AttributeCheck.conform(value, to: prototype(.doubleAttributeType)) {
        case .double(let number): number
        default: nil
        }
    }

    static func number(_ value: Any) -> Int64? {
        switch AttributeCheck.conform(value, to: prototype(.integer64AttributeType)) {
        case .integer(let number): number
        default: nil
        }
    }

    static func decimalValue(_ value: Any) -> Decimal? {
        switch AttributeCheck.conform(value, to: prototype(.decimalAttributeType)) {
        case .box(let box): box.value as? Decimal
        default: nil
        }
    }

    /// Returns a value in the form that an attribute stores, for any number class.
    package static func normal(_ value: Any, type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType, .stringAttributeType, .URIAttributeType, .UUIDAttributeType, .dateAttributeType:
            guard AttributeCheck.conform(value, to: prototype(type)) != nil else { return nil }
            return text(value, type: type).flatMap { self.value($0, type: type) }
        default: return value
        }
    }

    private static func prototype(_ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.attributeType = type
        return attribute
    }

    /// Xcode keeps the string that was typed: “0.0” may be the default of an integer attribute.
    private static func whole(_ text: String) -> Int? {
        Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
    }

    private static func decimal(_ text: String) -> Decimal? {
        guard Double(text)?.isFinite == true else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }
}
