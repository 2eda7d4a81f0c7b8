internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import Predicates
internal import RemoteStore

/// Reads values of types that JSON lacks, and values with a transform.
enum ValueReader {
    /// Sets an attribute. Returns whether it can hold the value.
    static func set(_ json: JSONValue, _ property: PropertyPlan, _ column: ResourceColumn, _ writer: ResourceRowWriter) throws -> Bool {
        guard case .attribute(let type, let transform) = property.kind, let value = value(json, type, transform, property) else {
            return false
        }
        return writer.set(.value(value), column)
    }

    /// Sets a composite attribute. Returns whether it can hold the value.
    static func set(
        _ json: JSONValue, _ elements: [PropertyPlan], _ column: ResourceColumn, _ writer: ResourceRowWriter
    ) throws -> Bool {
        if json.isNull { return writer.setNull(column) }
        guard let values = composite(json, elements) else { return false }
        return writer.set(.value(.object(ObjectReference(values as NSDictionary))), column)
    }

    private static func composite(_ json: JSONValue, _ elements: [PropertyPlan]) -> [String: Any]? {
        guard json.object != nil else { return nil }
        var values: [String: Any] = [:]
        for element in elements {
            guard let path = element.path, let json = json.value(at: path), !json.isNull else { continue }
            switch element.kind {
            case .attribute(let type, let transform):
                guard let value = value(json, type, transform, element) else { return nil }
                values[element.name] = value.any
            case .composite(let inner):
                guard let inner = composite(json, inner) else { return nil }
                values[element.name] = inner
            case .toOne, .toMany: continue
            }
        }
        return values
    }

    /// Returns the value of an attribute; nil if it cannot hold the value.
    static func value(_ json: JSONValue, _ type: NSAttributeType, _ transform: ValueTransform, _ property: PropertyPlan) -> PropertyValue? {
        if json.isNull { return .null }
        switch transform {
        case .byType:
            if type == .dateAttributeType, let wrapping = property.dateWrapping, let inner = json[wrapping.key] {
                return date(inner, property)
            }
            return plain(json, type, property)
        case .date: return date(json, property)
        case .enumeration(let names):
            let key = json.string ?? json.description
            return names[key].flatMap { text($0, type) }
        case .enumerationOfJSON(let names):
            // Text and number are both read.
            let other = json.string ?? JSONValue.string(json.description).description
            return (names[json.description] ?? names[other]).flatMap { text($0, type) }
        case .scaled(let factor):
            guard let number = json.double else { return nil }
            let scaled = number * factor
            if type == .doubleAttributeType || type == .floatAttributeType { return .double(scaled) }
            if type == .decimalAttributeType {
                // Decimal arithmetic: a product of doubles would have other digits.
                guard case .decimal(let whole)? = decimal(json.description), case .decimal(let unit)? = decimal("\(factor)") else {
                    return nil
                }
                return .decimal(whole * unit)
            }
            // Bounded: within 9e18.
            return abs(scaled.rounded()) < 9e18 ? .int64(Int64(scaled.rounded())) : nil
        case .text: return text(json.string ?? json.description, type)
        case .json: return .string(json.description)
        case .relativeURL(let base):
            guard let text = json.string else { return nil }
            let whole = text.contains("://") ? text : base + text
            return type == .stringAttributeType ? .string(whole) : URL(string: whole).map { .url($0) }
        case .joined(let separator):
            guard let elements = json.array else { return nil }
            return .string(elements.map { $0.string ?? $0.description }.joined(separator: separator))
        case .wrapped(let key, _, let inner): return json[key].flatMap { value($0, type, inner, property) }
        }
    }

    private static func date(_ json: JSONValue, _ property: PropertyPlan) -> PropertyValue? {
        let seconds: Double?
        if var text = json.string {
            seconds = text.withUTF8 { property.dates.seconds(UnsafeRawBufferPointer($0)) }
        } else {
            seconds = json.double.flatMap { property.dates.seconds($0) }
        }
        return seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    }

    private static func plain(_ json: JSONValue, _ type: NSAttributeType, _ property: PropertyPlan) -> PropertyValue? {
        switch type {
        case .dateAttributeType: return date(json, property)
        case .binaryDataAttributeType: return json.string.flatMap { Data(base64Encoded: $0) }.map { .data($0) }
        case .UUIDAttributeType: return json.string.flatMap { UUID(uuidString: $0) }.map { .uuid($0) }
        case .URIAttributeType: return json.string.flatMap { URL(string: $0) }.map { .url($0) }
        case .decimalAttributeType:
            switch json {
            case .decimal(let text): return decimal(text)
            case .string(let text): return decimal(text)
            case .integer(let number): return .decimal(Decimal(number))
            case .number: return decimal(json.description)
            default: return nil
            }
        case .transformableAttributeType: return json.foundation.flatMap { try? PropertyValue(any: $0) }
        case .stringAttributeType: return json.string.map { .string($0) }
        case .booleanAttributeType: return boolean(json).map { .bool($0) }
        case .doubleAttributeType, .floatAttributeType: return json.double.map { .double($0) }
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return json.integer.map { .int64($0) }
        default: return nil
        }
    }

    /// Returns a Boolean. Some services write it as the number 0 or 1, or as the text of that.
    private static func boolean(_ json: JSONValue) -> Bool? {
        if let flag = json.bool { return flag }
        switch json.string ?? json.integer.map({ "\($0)" }) {
        case "0": return false
        case "1": return true
        default: return nil
        }
    }

    private static func decimal(_ text: String) -> PropertyValue? {
        Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .decimal($0) }
    }

    /// Returns the value of a text, by the type of an attribute.
    private static func text(_ text: String, _ type: NSAttributeType) -> PropertyValue? {
        switch type {
        case .stringAttributeType: .string(text)
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: Int64(text).map { .int64($0) }
        case .doubleAttributeType, .floatAttributeType: Double(text).flatMap { $0.isNaN ? nil : .double($0) }
        case .booleanAttributeType: ["true": true, "1": true, "false": false, "0": false][text.lowercased()].map { .bool($0) }
        case .decimalAttributeType: decimal(text)
        case .URIAttributeType: URL(string: text).map { .url($0) }
        case .UUIDAttributeType: UUID(uuidString: text).map { .uuid($0) }
        default: nil
        }
    }
}
