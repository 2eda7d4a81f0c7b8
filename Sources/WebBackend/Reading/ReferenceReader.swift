internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import RemoteStore

/// The shapes of all resources of a service, by entity and by type.
final class ItemShapes: Sendable {
    private let byEntity: [String: ItemPlan]
    private let byType: [String: ItemPlan]
    /// The shapes for entities without a plan of their own.
    private let inherited: [String: ItemPlan]

    init(_ service: ServicePlan) {
        let own = service.plans.mapValues { ItemPlan($0) }
        byEntity = own
        inherited = service.inherited.compactMapValues { own[$0.entity] }
        byType = Dictionary(byEntity.values.map { ($0.plan.type, $0) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(entity: String) -> ItemPlan? { byEntity[entity] }
    /// Returns the shape of the destinations of references to an entity, even if it has no plan of its own.
    func destination(_ entity: String) -> ItemPlan? { byEntity[entity] ?? inherited[entity] }
    /// Returns the shape of resources of a type.
    func ofType(_ type: String) -> ItemPlan? { byType[type] }
}

/// Reads references with more parts than an identifier.
struct ReferenceReader {
    let shapes: ItemShapes

    /// Returns the reference in a value; nil if the value has none.
    ///
    /// - Parameter isInData: Whether the value was extracted from its wrapping object.
    func reference(_ value: JSONValue, _ reference: PropertyPlan.Reference, isInData: Bool = false) -> ResourceReference? {
        let kind = shapes.destination(reference.entity)?.plan.referenceKind
        switch reference.style {
        case .identifier, .object: return ResourceID(value, kind).map { ResourceReference($0) }
        case .typed(let data, let typePath, let idPath):
            let inner = isInData ? value : value.value(at: data)
            guard let type = inner?.value(at: typePath)?.string else { return nil }
            let known = shapes.ofType(type)
            return inner?.value(at: idPath).flatMap { ResourceID($0, known?.plan.referenceKind ?? kind) }.map {
                ResourceReference($0, entity: reference.hasSubentities ? known?.plan.entity : nil)
            }
        case .pointer(let path, _): return value.value(at: path).flatMap { ResourceID($0, kind) }.map { ResourceReference($0) }
        case .link(let template):
            if let text = value.string, let template, template.contains("{SELF.") {
                guard let parts = Self.parts(of: text, Template(template)), let plan = shapes[reference.entity]?.plan,
                    parts.count == plan.identity.count
                else { return nil }
                let ids = parts.enumerated().map { part, text in ResourceID(key: text, self.kind(ofPart: part, plan)) }
                return ResourceReference(.composite(ids))
            }
            guard let text = value.string, let found = Self.identifier(in: text, template) else { return nil }
            return ResourceReference(ResourceID(key: found, kind))
        }
    }

    /// Returns the kind of a part of a composite identifier: that of the attribute at its path, or of the parent's identifier.
    func kind(ofPart part: Int, _ plan: ResourcePlan) -> WebResource.IdentifierKind {
        guard plan.identity.indices.contains(part) else { return .string }
        let text = plan.identity[part]
        guard text.hasPrefix("@") else {
            let path = JSONPath(text)
            let isInteger = plan.properties.values.contains { property in
                guard property.path == path, case .attribute(let type, _) = property.kind else { return false }
                return [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType].contains(type)
            }
            return isInteger ? .integer : .string
        }
        let place = String(text.dropFirst())
        guard case .toOne(let parent)? = plan.properties[CallPlan.keyPath(place)]?.kind, let parentPlan = shapes[parent.entity]?.plan,
            parentPlan !== plan
        else { return .string }
        if parentPlan.identity.count == 1, let kind = parentPlan.identifier { return kind }
        return kind(ofPart: place.split(separator: ".").last.flatMap { Int($0) } ?? 0, parentPlan)
    }

    /// Returns the texts of an address in the places of a template; nil if the text between them differs. Parameters count if the template has some.
    static func parts(of address: String, _ template: Template) -> [String]? {
        let hasQuery = template.parts.contains { if case .text(let text) = $0 { text.contains("?") } else { false } }
        var rest = address.prefix { ($0 != "?" || hasQuery) && $0 != "#" }
        var found: [String] = []
        for (index, part) in template.parts.enumerated() {
            switch part {
            case .text(let text):
                // The text before the first place may start anywhere: addresses may be absolute or relative.
                guard let range = rest.range(of: text), index == 0 || range.lowerBound == rest.startIndex else { return nil }
                rest = rest[range.upperBound...]
            case .place:
                let end = rest.firstIndex { $0 == "/" || hasQuery && "?&".contains($0) } ?? rest.endIndex
                guard end > rest.startIndex, let text = String(rest[..<end]).removingPercentEncoding else { return nil }
                found.append(text)
                rest = rest[end...]
            }
        }
        return found
    }

    /// Returns the identifier in an address: the text in the place of `{SELF}` in a template, or the last component.
    static func identifier(in address: String, _ template: String?) -> String? {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        if let template {
            guard let open = template.range(of: "{SELF}") else { return nil }
            let before = template[..<open.lowerBound]
            let after = template[open.upperBound...]
            guard let start = path.range(of: before)?.upperBound else { return nil }
            let rest = path[start...]
            let end = after.isEmpty ? rest.firstIndex(of: "/") ?? rest.endIndex : rest.range(of: after)?.lowerBound
            guard let end, end > rest.startIndex else { return nil }
            return String(rest[..<end]).removingPercentEncoding
        }
        return path.split(separator: "/").last.flatMap { String($0).removingPercentEncoding }
    }
}

extension ResourceID {
    /// Creates an identifier from text.
    init(key: String, _ kind: WebResource.IdentifierKind?) {
        switch kind {
        case .integer?: self = Int64(key).map { .integer($0) } ?? .string(key)
        case .uuid?: self = UUID(uuidString: key).map { .uuid($0) } ?? .string(key)
        case .string?, nil: self = .string(key)
        }
    }

    /// Creates an identifier from JSON; nil if the value is not one.
    init?(_ value: JSONValue, _ kind: WebResource.IdentifierKind?) {
        switch value {
        case .integer(let number): self = kind == .string ? .string("\(number)") : .integer(number)
        case .decimal(let text):
            if kind == .string { self = .string(text) } else if let id = ResourceID(large: text) { self = id } else { return nil }
        case .number(let number):
            guard let whole = UInt64(exactly: number), let id = ResourceID(large: "\(whole)") else { return nil }
            self = id
        case .string(let text) where !text.isEmpty: self.init(key: text, kind)
        default: return nil
        }
    }
}
