import Foundation

/// Checks JSON against a definition of `Documentation/CommandOutput.schema.json`: as much of JSON Schema as that file uses.
struct SchemaCheck {
    private let definitions: [String: Any]

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appendingPathComponent("Documentation/CommandOutput.schema.json"))
        definitions = (try JSONSerialization.jsonObject(with: data) as? [String: Any])?["$defs"] as? [String: Any] ?? [:]
    }

    /// Returns what a text breaks; an empty array where it keeps the definition.
    func mistakes(_ text: String, _ definition: String) throws -> [String] {
        guard let schema = definitions[definition] as? [String: Any] else { return ["There is no definition “\(definition)”."] }
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        return mistakes(value, schema, "$")
    }

    private func mistakes(_ value: Any, _ schema: [String: Any], _ place: String) -> [String] {
        if let reference = schema["$ref"] as? String {
            return mistakes(value, definitions[String(reference.dropFirst("#/$defs/".count))] as? [String: Any] ?? ["enum": []], place)
        }
        let unknown = Set(schema.keys).subtracting([
            "type", "required", "properties", "additionalProperties", "items", "enum", "pattern", "description",
        ])
        if !unknown.isEmpty { return ["\(place): the check does not know \(unknown)"] }
        var found: [String] = []
        let types = schema["type"] as? [String] ?? (schema["type"] as? String).map { [$0] }
        if let types, !types.contains(where: { isType(value, $0) }) { return ["\(place) is not \(types): \(value)"] }
        if let allowed = schema["enum"] as? [String], !allowed.contains(value as? String ?? "") {
            found.append("\(place) is none of \(allowed): \(value)")
        }
        if let pattern = schema["pattern"] as? String, let text = value as? String,
            text.range(of: pattern, options: .regularExpression) == nil
        {
            found.append("\(place) does not match \(pattern): \(text)")
        }
        if let list = value as? [Any], let items = schema["items"] as? [String: Any] {
            for (index, element) in list.enumerated() { found += mistakes(element, items, "\(place)[\(index)]") }
        }
        guard let object = value as? [String: Any] else { return found }
        let properties = schema["properties"] as? [String: Any] ?? [:]
        for name in schema["required"] as? [String] ?? [] where object[name] == nil { found.append("\(place).\(name) is missing") }
        for (name, member) in object {
            if let schema = properties[name] as? [String: Any] {
                found += mistakes(member, schema, "\(place).\(name)")
            } else if schema["additionalProperties"] as? Bool == false {
                found.append("\(place).\(name) is not in the schema")
            }
        }
        return found
    }

    private func isType(_ value: Any, _ type: String) -> Bool {
        switch type {
        case "null": value is NSNull
        case "string": value is String
        case "array": value is [Any]
        case "object": value is [String: Any]
        case "boolean": (value as? NSNumber)?.isBoolean == true
        case "integer": (value as? NSNumber).map { !$0.isBoolean && $0.doubleValue == $0.doubleValue.rounded() } == true
        default: false
        }
    }
}

extension NSNumber {
    fileprivate var isBoolean: Bool { String(cString: objCType) == "c" }
}
