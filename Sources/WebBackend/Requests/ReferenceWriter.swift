internal import Foundation
internal import JSONReading
internal import Predicates
internal import RemoteStore

/// Writes references to other resources in the form of the service.
struct ReferenceWriter {
    let plans: [String: ResourcePlan]
    let values: ValueWriter

    /// Returns a reference as JSON.
    ///
    /// - Throws: Code 134070 for a reference that the style cannot write.
    func json(_ reference: ResourceReference, _ property: PropertyPlan, of entity: String) throws -> JSONValue {
        let described: PropertyPlan.Reference
        switch property.kind {
        case .toOne(let reference), .toMany(let reference, _, _): described = reference
        case .attribute, .composite: return values.json(reference.id, nil)
        }
        let destination = reference.entity ?? described.entity
        let type = plans[destination]?.type ?? destination
        let id = values.json(reference.id, plans[destination]?.identifier)
        switch described.style {
        case .identifier: return id
        case .object(let path):
            var json = JSONValue.null
            json.set(id, at: path)
            return json
        case .typed(let data, let typePath, let idPath):
            var json = JSONValue.null
            json.set(.string(values.text(reference.id)), at: data + idPath)
            json.set(.string(type), at: data + typePath)
            return json
        case .link(let template):
            guard let template else {
                throw WebBackendError.unwritable(property.name, entity, "The description has no template for the address of a resource.")
            }
            return .string(
                try Template(template).filled { place in
                    guard let text = PercentEncoding.component(values.text(reference.id, part: Int(place.split(separator: ".").last ?? "")))
                    else { throw WebBackendError.path(values.text(reference.id), property.name) }
                    return text
                })
        case .pointer(let path, let constants):
            var json = JSONValue.null
            for (key, text) in constants.sorted(by: { $0.key < $1.key }) {
                json.set(.string(text.replacing("{type}", with: type)), at: JSONPath(key))
            }
            json.set(id, at: path)
            return json
        }
    }

    /// Returns the identifier in a value of a predicate.
    func json(_ value: PropertyValue, _ property: PropertyPlan, of entity: String) throws -> JSONValue {
        switch value {
        case .int64(let number): try json(ResourceReference(.integer(number)), property, of: entity)
        case .string(let text): try json(ResourceReference(.string(text)), property, of: entity)
        case .uuid(let uuid): try json(ResourceReference(.uuid(uuid)), property, of: entity)
        default: .null
        }
    }

    /// Returns the JSON of a missing reference: null, or the object around it.
    func none(_ property: PropertyPlan) -> JSONValue {
        guard case .toOne(let described) = property.kind, case .typed(let data, _, _) = described.style, !data.isEmpty else { return .null }
        var json = JSONValue.null
        json.set(.null, at: data)
        return json
    }
}

extension JSONValue {
    /// Returns the value at a path; nil if there is none.
    func value(at path: JSONPath) -> JSONValue? {
        var current = self
        for step in path.steps {
            let next: JSONValue? =
                switch step {
                case .key(let key): current[key]
                case .element(let index): current[index]
                }
            guard let next else { return nil }
            current = next
        }
        return current
    }

    /// Sets the value at a path, and creates objects on the way. Elements of arrays are not created.
    mutating func set(_ value: JSONValue, at path: JSONPath) {
        switch path.steps.first {
        case nil: self = value
        // It is the only element: descriptions with other elements are refused.
        case .element?: self = .array(value.isNull ? [] : [value])
        case .key(let key)?:
            if path.steps.count == 1 {
                self[key] = value
                return
            }
            var inner = self[key] ?? .null
            inner.set(value, at: JSONPath(steps: Array(path.steps.dropFirst())))
            self[key] = inner
        }
    }
}
