internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import Predicates
internal import RemoteStore

/// Writes changes in the form of the service's resources.
struct BodyWriter {
    let plan: ResourcePlan
    let saving: SavingStyle
    let values: ValueWriter
    let references: ReferenceWriter

    init(_ plan: ResourcePlan, _ saving: SavingStyle, _ service: ServicePlan) {
        self.plan = plan
        self.saving = saving
        values = ValueWriter(plans: service.plans)
        references = ReferenceWriter(plans: service.plans, values: values)
    }

    /// Returns the resource of a change: the changed properties, over the service's current resource if that was read.
    ///
    /// Unchanged values come from that read, and not from the program, because others may have changed them since.
    ///
    /// - Throws: Code 134070 for a value that cannot be sent.
    func resource(_ change: BackendChange, current: JSONValue?) throws -> JSONValue {
        var json = saving.replacesWholeResources ? current ?? .object(JSONObject()) : .object(JSONObject())
        let isMerged = change.kind == .update && saving.replacesWholeResources && current != nil
        for holder in holders(of: change) { if let known = current?.value(at: holder), known.object != nil { json.set(known, at: holder) } }
        for (name, value) in change.values.sorted(by: { $0.key < $1.key }) {
            guard let property = plan.properties[name], let path = property.path, !property.isReadOnly else { continue }
            if isMerged, !change.changedProperties.contains(name) {
                try keep(property, at: path, of: &json)
                continue
            }
            switch (property.kind, value) {
            case (.composite(let elements), .value(let value)): try set(value, elements, at: path, of: &json)
            case (_, .value(.null)) where property.isAttribute:
                // A new resource has no value to remove.
                if change.kind == .insert, saving.removal != nil { continue }
                json.set(try removal(), at: path)
            case (_, .value(let value)): json.set(try values.json(value, property, of: plan.entity), at: path)
            case (_, .one(nil)):
                // A list stays a list without its only element.
                json.set(saving.removal == nil || property.isOnlyElement ? references.none(property) : try removal(), at: path)
            case (_, .one(let reference?)): json.set(try references.json(reference, property, of: plan.entity), at: path)
            case (_, .many(let list)): json.set(try self.list(list, property), at: path)
            }
        }
        for (name, list) in change.lists.sorted(by: { $0.key < $1.key }) {
            guard let property = plan.properties[name], let path = property.path, !property.isReadOnly else { continue }
            json.set(try self.list(members(list, property, path, current), property), at: path)
        }
        if let kinds = plan.kinds, change.kind == .insert || saving.replacesWholeResources,
            let value = kinds.entities.filter({ $0.value == change.entity }).keys.min()
        {
            json.set(.string(value), at: kinds.path)
        }
        if change.kind == .insert, let id = change.id, sendsIdentityInBody, json.value(at: JSONPath(plan.identity[0])) == nil {
            json.set(values.json(id, plan.identifier), at: JSONPath(plan.identity[0]))
        }
        if case .field = saving.precondition, let version = change.version {
            switch (plan.version, version) {
            case (.tag(let path), .tag(let tag)): json.set(.string(tag), at: path)
            case (.number(let path), .number(let number)): json.set(.integer(number), at: path)
            default: break
            }
        }
        return json
    }

    /// Keeps the service's value, except that an embedded resource becomes a reference that the service can read.
    private func keep(_ property: PropertyPlan, at path: JSONPath, of json: inout JSONValue) throws {
        guard case .toOne(let reference) = property.kind, let known = json.value(at: path), known.object != nil else { return }
        switch reference.style {
        case .identifier, .object:
            guard let found = ResourceValues(service: values.plans).reference(known, reference) else { return }
            json.set(try references.json(found, property, of: plan.entity), at: path)
        case .typed, .link, .pointer: return
        }
    }

    /// Whether the body is the only place for the identifier of a new resource, which the store has made.
    private var sendsIdentityInBody: Bool {
        guard saving.identity == .newUUID, plan.identity.count == 1, let action = saving.createIdentified ?? saving.create else {
            return false
        }
        let texts = [action.path, Array(action.query.values).joined(), Array(saving.constants.values).joined()]
        return !texts.contains { text in Template(text).places.contains { $0.hasPrefix("SELF") } }
    }

    /// Returns the whole body of a request with a resource.
    func body(_ resource: JSONValue, _ id: ResourceID?) throws -> JSONValue {
        var body = JSONValue.object(JSONObject())
        body.set(resource, at: saving.item)
        try addConstants(to: &body, id)
        return body
    }

    /// Adds the constants of a body.
    func addConstants(to body: inout JSONValue, _ id: ResourceID?) throws {
        for (path, template) in saving.constants.sorted(by: { $0.key < $1.key }) {
            let template = Template(template)
            if id == nil, template.places.contains("SELF") { continue }
            let text = template.filled { place in
                let text = place == "type" ? plan.type : id.map { values.text($0) } ?? ""
                // The place is within quotation marks.
                return String(JSONValue.string(text).description.dropFirst().dropLast())
            }
            body.set(try JSONValue(parsing: Array(text.utf8)), at: JSONPath(path))
        }
    }

    private func removal() throws -> JSONValue {
        guard let removal = saving.removal else { return .null }
        return try JSONValue(parsing: Array(removal.utf8))
    }

    private func set(_ value: PropertyValue, _ elements: [PropertyPlan], at path: JSONPath, of json: inout JSONValue) throws {
        guard let parts = value.any as? [String: Any] else {
            json.set(.null, at: path)
            return
        }
        for element in elements {
            guard let own = element.path else { continue }
            let part = try parts[element.name].map { try PropertyValue(any: $0) } ?? .null
            if case .composite(let inner) = element.kind {
                try set(part, inner, at: path + own, of: &json)
            } else {
                json.set(try values.json(part, element, of: plan.entity), at: path + own)
            }
        }
    }

    // MARK: Lists

    private func list(_ members: [ResourceReference], _ property: PropertyPlan) throws -> JSONValue {
        guard case .toMany(let reference, _, _) = property.kind else { return .null }
        let elements = try members.map { try references.json($0, property, of: plan.entity) }
        guard case .typed(let data, _, _) = reference.style, !data.isEmpty else { return .array(elements) }
        var json = JSONValue.null
        json.set(.array(elements.compactMap { $0.value(at: data) }), at: data)
        return json
    }

    /// Returns all members of a changed list: the service's members, if they were read, with the change applied.
    private func members(
        _ list: BackendChange.ListChange, _ property: PropertyPlan, _ path: JSONPath, _ current: JSONValue?
    ) throws -> [ResourceReference] {
        guard let there = current?.value(at: path), list.members == nil || !there.isNull else { return list.members ?? list.added }
        let known = ResourceValues(service: values.plans).references(there, property)
        let forms = OtherForms((list.removed + list.added).map(\.id), of: property.destination ?? property.name)
        if let other = known.lazy.compactMap({ forms.contradiction($0.id) }).first { throw other.error }
        let removed = Set(list.removed.map(\.id))
        if let members = list.members {
            // The order is the one that the program has set, without the members that others have removed, and followed by those that others have added.
            let (knownIDs, own) = (Set(known.map(\.id)), Set(members.map(\.id)).union(removed))
            let added = Set(list.added.map(\.id))
            return members.filter { knownIDs.contains($0.id) || added.contains($0.id) } + known.filter { !own.contains($0.id) }
        }
        let kept = known.filter { !removed.contains($0.id) }
        let keptIDs = Set(kept.map(\.id))
        return kept + list.added.filter { !keptIDs.contains($0.id) }
    }

    /// Returns whether a change can only be written over the service's current resource.
    func needsCurrent(_ change: BackendChange) -> Bool {
        change.kind == .update
            && (saving.replacesWholeResources || change.lists.values.contains { $0.members == nil } || !holders(of: change).isEmpty)
    }

    /// Returns the objects within a resource of which a change has only a part. The rest must be read first, because a service may replace the whole
    /// object.
    func holders(of change: BackendChange) -> Set<JSONPath> {
        guard change.kind == .update, !saving.replacesWholeResources, !plan.mergesObjects else { return [] }
        return Set(
            change.changedProperties.compactMap { name in
                plan.properties[name].flatMap { property in property.isReadOnly ? nil : property.holder }
            })
    }
}
