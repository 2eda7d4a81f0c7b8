internal import JSONReading
internal import ObjectGraph

/// Converts values in files to values of properties.
enum ExchangeValue {
    typealias Mistake = AttributeValue.Mistake

    /// Returns the value of an attribute; nil for none: see ``AttributeValue/value(_:of:inTables:)``.
    static func value(_ value: ExchangeRecord.Value, of attribute: NSAttributeDescription, inTables: Bool = false) throws -> Any? {
        switch value {
        case .json(let json): try AttributeValue.value(json, of: attribute, inTables: inTables)
        case .text(nil): nil
        case .text(.some(let text)): try AttributeValue.value(text, of: attribute, inTables: inTables)
        }
    }

    /// Returns the keys of related objects; empty if there are none.
    static func references(_ value: ExchangeRecord.Value, of relationship: NSRelationshipDescription) throws -> [String] {
        var json: JSONReading.JSONValue
        switch value {
        case .json(let value): json = value
        case .text(nil): return []
        case .text(.some(let text)):
            json = .string(text)
            if relationship.isToMany {
                do throws(JSONError) { json = try JSONReading.JSONValue(parsing: Array(text.utf8)) } catch {
                    throw Mistake(message: "Expected a list of URIs such as [\"Track/p1\"], found \(AttributeValue.shown(text)).")
                }
            }
        }
        if json.isNull { return [] }
        if relationship.isToMany {
            let texts = json.array?.map(\.string)
            guard let texts, !texts.contains(nil) else {
                throw Mistake(message: "Expected a list of URIs, found \(AttributeValue.shown("\(json)")).")
            }
            return texts.compactMap { $0 }
        }
        guard let text = json.string else { throw Mistake(message: "Expected a URI, found \(AttributeValue.shown("\(json)")).") }
        return [text]
    }
}
