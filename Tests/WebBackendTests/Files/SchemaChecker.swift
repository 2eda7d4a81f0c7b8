import Foundation
import JSONReading

/// Checks values by a JSON Schema, of which it knows the keywords that the schema of descriptions has.
struct SchemaChecker {
    private struct Unknown: Error { let keyword: String }

    private let root: JSONValue
    private static let keywords: Set<String> = [
        "$schema", "$defs", "$ref", "title", "description", "default", "type", "enum", "anyOf", "allOf", "not", "properties",
        "additionalProperties",
        "required", "items",
        "pattern", "minimum", "maximum", "minLength", "maxLength", "minProperties", "maxProperties",
    ]

    init(_ text: String) throws {
        root = try JSONValue(parsing: Array(text.utf8))
        try Self.checkKeywords(root)
    }

    /// Every keyword must be one that is checked below.
    private static func checkKeywords(_ schema: JSONValue) throws {
        guard let object = schema.object else { return }
        for member in object {
            guard keywords.contains(member.key) else { throw Unknown(keyword: member.key) }
            switch member.key {
            case "$defs", "properties": for inner in member.value.object ?? [:] { try checkKeywords(inner.value) }
            case "anyOf", "allOf": for inner in member.value.array ?? [] { try checkKeywords(inner) }
            case "not", "items", "additionalProperties": try checkKeywords(member.value)
            default: break
            }
        }
    }

    /// Returns why a value is not what the schema has; nil where it is.
    func violation(_ value: JSONValue) -> String? { violation(value, root, "") }

    private func violation(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> String? {
        if let allowed = schema.bool { return allowed ? nil : "\(place): nothing is allowed" }
        if let name = schema["$ref"]?.string {
            guard let definition = root["$defs"]?[String(name.dropFirst("#/$defs/".count))] else { return "\(name) is not defined" }
            if let reason = violation(value, definition, place) { return reason }
        }
        if let types = schema["type"] {
            let names = types.array?.compactMap(\.string) ?? [types.string ?? ""]
            guard names.contains(where: { isOf(value, $0) }) else { return "\(place): not of \(names)" }
        }
        if let values = schema["enum"]?.array, !values.contains(value) { return "\(place): none of \(schema["enum"]!)" }
        if let forms = schema["anyOf"]?.array {
            let reasons = forms.map { violation(value, $0, place) }
            if !reasons.contains(nil) { return reasons.compactMap { $0 }.joined(separator: "; ") }
        }
        for form in schema["allOf"]?.array ?? [] { if let reason = violation(value, form, place) { return reason } }
        if let form = schema["not"], violation(value, form, place) == nil { return "\(place): not allowed" }
        return objectViolation(value, schema, place) ?? scalarViolation(value, schema, place)
    }

    private func objectViolation(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> String? {
        if let elements = value.array, let items = schema["items"] {
            for (index, element) in elements.enumerated() {
                if let reason = violation(element, items, place + "[\(index)]") { return reason }
            }
        }
        guard let object = value.object else { return nil }
        let keys = Set(object.keys)
        for required in schema["required"]?.array ?? [] where !keys.contains(required.string ?? "") { return "\(place): no \(required)" }
        if let minimum = schema["minProperties"]?.integer, keys.count < minimum { return "\(place): too few keys" }
        if let maximum = schema["maxProperties"]?.integer, keys.count > maximum { return "\(place): too many keys" }
        for member in object {
            let form = schema["properties"]?[member.key] ?? schema["additionalProperties"] ?? true
            if let reason = violation(member.value, form, place + "." + member.key) { return reason }
        }
        return nil
    }

    private func scalarViolation(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> String? {
        if let number = value.double {
            if let minimum = schema["minimum"]?.double, number < minimum { return "\(place): too small" }
            if let maximum = schema["maximum"]?.double, number > maximum { return "\(place): too large" }
        }
        if let text = value.string {
            if let minimum = schema["minLength"]?.integer, text.unicodeScalars.count < minimum { return "\(place): too short" }
            if let maximum = schema["maxLength"]?.integer, text.unicodeScalars.count > maximum { return "\(place): too long" }
            if let pattern = schema["pattern"]?.string, text.range(of: pattern, options: .regularExpression) == nil {
                return "\(place): not \(pattern)"
            }
        }
        return nil
    }

    private func isOf(_ value: JSONValue, _ type: String) -> Bool {
        switch type {
        case "object": value.object != nil
        case "array": value.array != nil
        case "string": value.string != nil
        case "boolean": value.bool != nil
        case "null": value.isNull
        case "integer": value.integer != nil
        case "number": value.double != nil
        default: false
        }
    }
}
