internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import Predicates
internal import PropertyLists
internal import RemoteStore

/// Writes values of properties in the form of the service.
struct ValueWriter {
    let plans: [String: ResourcePlan]

    /// Returns the value of an attribute as JSON.
    ///
    /// - Throws: Code 134070 for a value that the transform cannot write.
    func json(_ value: PropertyValue, _ property: PropertyPlan?, of entity: String) throws -> JSONValue {
        guard let property, case .attribute(let type, let transform) = property.kind else { return try plain(value, nil, "", entity) }
        if value.isNull { return .null }
        return try json(value, type, transform, property, entity)
    }

    private func json(
        _ value: PropertyValue, _ type: NSAttributeType, _ transform: ValueTransform, _ property: PropertyPlan, _ entity: String
    ) throws -> JSONValue {
        switch transform {
        case .byType: return try plain(value, property, property.name, entity)
        case .date:
            guard case .date(let date) = value else { throw unwritable(property, entity, "It is no date.") }
            return try json(date, property, entity)
        case .enumeration(let names), .enumerationOfJSON(let names):
            guard let found = words(value, transform)?.first else {
                throw unwritable(
                    property, entity,
                    "The service has no name for “\(text(value))”; it has: \(names.values.sorted().joined(separator: ", ")).")
            }
            return found
        case .scaled(let factor):
            guard let number = value.doubleValue, factor != 0 else { throw unwritable(property, entity, "It is no number.") }
            let scaled = number / factor
            // A whole number in the service becomes whole again, in spite of rounding errors of the product.
            let whole = scaled.rounded()
            // Bounded: a fraction, of which each has its opposite.
            let isWhole = abs(scaled - whole) <= 4 * scaled.ulp && abs(scaled) < 1e15
            return isWhole ? .integer(Int64(whole)) : .number(scaled)
        case .text: return .string(text(value))
        case .json:
            guard case .string(let text) = value, let parsed = try? JSONValue(parsing: Array(text.utf8)) else {
                throw unwritable(property, entity, "It is no JSON.")
            }
            return parsed
        case .relativeURL(let base):
            let text = text(value)
            return .string(text.hasPrefix(base) ? String(text.dropFirst(base.count)) : text)
        case .joined(let separator):
            guard case .string(let text) = value else { throw unwritable(property, entity, "It is no string.") }
            return .array(
                text.isEmpty ? [] : text.split(separator: separator, omittingEmptySubsequences: false).map { .string(String($0)) })
        case .wrapped(let key, let constants, let inner):
            return Self.wrapped(try json(value, type, inner, property, entity), key, constants)
        }
    }

    /// Returns the service's words for a value of an enumeration; nil for the value of another attribute.
    func words(_ value: PropertyValue, _ transform: ValueTransform) -> [JSONValue]? {
        switch transform {
        case .wrapped(let key, let constants, let inner): words(value, inner)?.map { Self.wrapped($0, key, constants) }
        default:
            transform.enumerated.map { enumerated in
                let text = text(value)
                return enumerated.filter { $0.value == text }.map(\.word)
            }
        }
    }

    private static func wrapped(_ json: JSONValue, _ key: String, _ constants: [String: String]) -> JSONValue {
        var object = JSONObject()
        for (name, text) in constants.sorted(by: { $0.key < $1.key }) { object[name] = .string(text) }
        object[key] = json
        return .object(object)
    }

    private func json(_ date: Date, _ property: PropertyPlan, _ entity: String) throws -> JSONValue {
        guard let json = property.dates.json(date) else {
            throw unwritable(property, entity, "Its form has no date that is \(date.timeIntervalSinceReferenceDate) seconds from 2001.")
        }
        return json
    }

    private func unwritable(_ property: PropertyPlan, _ entity: String, _ reason: String) -> NSError {
        WebBackendError.unwritable(property.name, entity, reason)
    }

    private func plain(_ value: PropertyValue, _ property: PropertyPlan?, _ name: String, _ entity: String) throws -> JSONValue {
        switch value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .int64(let number):
            if case .attribute(.booleanAttributeType, _)? = property?.kind { return .bool(number != 0) }
            return .integer(number)
        case .double(let number):
            guard number.isFinite else { throw WebBackendError.unwritable(name, entity, "JSON has no infinite numbers.") }
            return .number(number)
        case .decimal(let number):
            guard !number.isNaN else { throw WebBackendError.unwritable(name, entity, "It is not a number.") }
            return .decimal(number.description)
        case .string(let text): return .string(text)
        case .date(let date):
            guard let property else { return .string(DateText.text(date)) }
            let json = try json(date, property, entity)
            guard let wrapping = property.dateWrapping else { return json }
            return Self.wrapped(json, wrapping.key, wrapping.constants)
        case .data(let data): return .string(data.base64EncodedString())
        case .uuid(let uuid): return .string(uuid.uuidString.lowercased())
        case .url(let url): return .string(url.absoluteString)
        case .array(let elements): return .array(try elements.map { try plain($0, nil, name, entity) })
        case .set(let elements): return .array(try elements.map { try plain($0, nil, name, entity) })
        case .object(let object):
            guard let any = value.any, let json = JSONValue(any: any) else {
                throw WebBackendError.unwritable(name, entity, "JSON has no form for a \(type(of: object.object)).")
            }
            return json
        }
    }

    /// Returns a value as text, without a specific form.
    func text(_ value: PropertyValue) -> String {
        switch value {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .bool(let flag): flag ? "true" : "false"
        case .double(let number): "\(number)"
        case .decimal(let number): number.description
        case .uuid(let uuid): uuid.uuidString.lowercased()
        case .url(let url): url.absoluteString
        case .date(let date): DateText.text(date)
        default: ""
        }
    }

    /// Returns an identifier as JSON.
    ///
    /// - Parameter kind: The kind of the resource's identifiers. Unsigned numbers that exceed a signed 64-bit integer are kept as their digits.
    func json(_ id: ResourceID, _ kind: WebResource.IdentifierKind?) -> JSONValue {
        switch id {
        case .integer(let number): .integer(number)
        case .string(let text): kind == .integer && ResourceID(large: text) != nil ? .decimal(text) : .string(text)
        case .uuid(let uuid): .string(uuid.uuidString.lowercased())
        case .composite(let parts): .array(parts.map { json($0, nil) })
        }
    }

    /// Returns an identifier, or a part of a composite one, for the place of a template: `{SELF}`, `{SELF.0}`.
    func json(_ id: ResourceID, at place: String, _ property: PropertyPlan?, of plan: ResourcePlan) -> JSONValue {
        guard case .composite(let parts) = id, let part = place.split(separator: ".").last.flatMap({ Int($0) }),
            parts.indices.contains(part)
        else { return json(id, property, of: plan) }
        return json(parts[part], nil)
    }

    /// Returns an identifier as JSON: that of the resource itself, or of the object that a property refers to.
    func json(_ id: ResourceID, _ property: PropertyPlan?, of plan: ResourcePlan) -> JSONValue {
        switch property?.kind {
        case .toOne(let reference)?, .toMany(let reference, _, _)?: json(id, plans[reference.entity]?.identifier)
        case .attribute?, .composite?, nil: json(id, plan.identifier)
        }
    }

    /// Returns an identifier as text, or a part of a composite one.
    func text(_ id: ResourceID, part: Int? = nil) -> String {
        switch id {
        case .composite(let parts):
            if let part { return parts.indices.contains(part) ? text(parts[part]) : "" }
            return parts.map { text($0) }.joined(separator: "/")
        case .uuid(let uuid): return uuid.uuidString.lowercased()
        default: return id.description
        }
    }

    /// Returns JSON as text for an address, with the quotation marks of the filters.
    static func text(_ json: JSONValue, _ quoting: FilterStyle.Quoting) -> String {
        guard case .string(let text) = json else {
            return json.description
        }
        switch quoting {
        case .bare: return text
        case .bareUnlessAmbiguous: return (try? JSONValue(parsing: Array(text.utf8))) == nil ? text : json.description
        case .json: return json.description
        case .singleQuoted: return "'" + text.replacing("'", with: "''") + "'"
        case .backslashed(let quote):
            return "\(quote)" + text.replacing("\\", with: "\\\\").replacing("\(quote)", with: "\\\(quote)") + "\(quote)"
        }
    }
}

extension PropertyValue {
    /// The value as a number; nil for values of other types.
    var doubleValue: Double? {
        switch self {
        case .int64(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue
        case .bool(let flag): flag ? 1 : 0
        default: nil
        }
    }
}
