internal import Foundation
internal import JSONReading
internal import Predicates
internal import RemoteStore

/// Reads a resource as values, for saved and conflicting resources.
struct ResourceValues {
    let shapes: ItemShapes?
    private let plans: [String: ResourcePlan]

    init(service plans: [String: ResourcePlan], shapes: ItemShapes? = nil) {
        self.plans = plans
        self.shapes = shapes
    }

    /// Returns the values of a resource. Unreadable values are left out, and are then unknown.
    ///
    /// - Parameters:
    ///   - entity: The entity of the object. The resource's plan may have subentities with properties of their own.
    ///   - isWhole: Whether missing values are nil if the style omits nil; otherwise they are unknown.
    func values(_ json: JSONValue, of entity: String, _ plan: ResourcePlan, isWhole: Bool = true) -> [String: ResourceValue] {
        var values: [String: ResourceValue] = [:]
        let own = plan.propertiesOfKinds[entity]
        for property in plan.properties.values where own?.contains(property.name) ?? true {
            guard let path = property.path, isWhole && plan.style.omitsNil || json.value(at: path) != nil else { continue }
            let json = json.value(at: path) ?? .null
            switch property.kind {
            case .attribute(let type, let transform):
                if let value = ValueReader.value(json, type, transform, property) { values[property.name] = .value(value) }
            case .composite: continue
            case .toOne(let reference):
                if json.isNull || isEmpty(json, reference) {
                    values[property.name] = .one(nil)
                } else if let found = self.reference(json, reference), !isMistaken(found, reference) {
                    values[property.name] = .one(found)
                }
            case .toMany(let reference, _, true):
                let found = references(json, property)
                if !found.contains(where: { isMistaken($0, reference) }) { values[property.name] = .many(found) }
            case .toMany: continue
            }
        }
        return values
    }

    /// Returns the identifier of a resource; nil if it has none.
    func identifier(_ json: JSONValue, _ plan: ResourcePlan) -> ResourceID? {
        let parts = plan.identity.map { path in
            path.hasPrefix("@")
                ? nil : json.value(at: JSONPath(path)).flatMap { ResourceID($0, plan.identity.count > 1 ? nil : plan.identifier) }
        }
        let known = parts.compactMap { $0 }
        guard known.count == parts.count else { return nil }
        return known.count == 1 ? known[0] : .composite(known)
    }

    /// Returns the version of a resource; nil if it has none.
    func version(_ json: JSONValue, _ plan: ResourcePlan) -> ResourceVersion? {
        switch plan.version {
        case .none, .eTag: nil
        case .number(let path): json.value(at: path)?.integer.map { .number($0) }
        case .tag(let path): json.value(at: path).map { .tag($0.string ?? $0.description) }
        }
    }

    /// Returns whether the form of a reference differs from that of its destination's identifier, so that it leads to no object.
    private func isMistaken(_ found: ResourceReference, _ reference: PropertyPlan.Reference) -> Bool {
        guard let destination = shapes?.destination(found.entity ?? reference.entity) else { return false }
        return IdentifierForms(of: found.id).contradicts(destination.forms.rows)
    }

    private func isEmpty(_ json: JSONValue, _ reference: PropertyPlan.Reference) -> Bool {
        if case .typed(let data, _, _) = reference.style { json.value(at: data)?.isNull ?? false } else { false }
    }

    /// Returns the references of a list.
    func references(_ json: JSONValue?, _ property: PropertyPlan) -> [ResourceReference] {
        guard case .toMany(let reference, _, _) = property.kind, let json else { return [] }
        if case .typed(let data, let type, let id) = reference.style, !data.isEmpty {
            let inner = PropertyPlan.Reference(
                entity: reference.entity, hasSubentities: reference.hasSubentities, style: .typed(data: "", type: type, id: id),
                isWhole: false)
            return (json.value(at: data)?.array ?? []).compactMap { self.reference($0, inner) }
        }
        return (json.array ?? []).compactMap { self.reference($0, reference) }
    }

    /// Returns a reference; nil if there is none.
    func reference(_ json: JSONValue, _ reference: PropertyPlan.Reference) -> ResourceReference? {
        switch reference.style {
        case .identifier, .object:
            let destination = plans[reference.entity]
            if json.object != nil, let destination { return identifier(json, destination).map { ResourceReference($0) } }
            return ResourceID(json, plans.referenceKind(of: reference.entity)).map { ResourceReference($0) }
        case .typed, .link, .pointer:
            guard let shapes else { return ReferenceReader.plain(json, reference, plans) }
            return ReferenceReader(shapes: shapes).reference(json, reference)
        }
    }
}

extension ReferenceReader {
    /// Returns a reference, read without the shapes of other resources.
    static func plain(_ json: JSONValue, _ reference: PropertyPlan.Reference, _ plans: [String: ResourcePlan]) -> ResourceReference? {
        let kind = plans.referenceKind(of: reference.entity)
        switch reference.style {
        case .typed(let data, _, let id): return json.value(at: data + id).flatMap { ResourceID($0, kind) }.map { ResourceReference($0) }
        case .pointer(let id, _): return json.value(at: id).flatMap { ResourceID($0, kind) }.map { ResourceReference($0) }
        case .link(let template):
            return json.string.flatMap { identifier(in: $0, template) }.map { ResourceReference(ResourceID(key: $0, kind)) }
        case .identifier, .object: return ResourceID(json, kind).map { ResourceReference($0) }
        }
    }
}

extension [String: ResourcePlan] {
    /// Returns the kind of identifiers in references to an entity, or to the one that it inherits from.
    func referenceKind(of entity: String) -> WebResource.IdentifierKind? {
        (self[entity] ?? values.first { $0.propertiesOfKinds[entity] != nil })?.referenceKind
    }
}
