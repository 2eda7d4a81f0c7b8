internal import ObjectGraph
internal import RemoteStore

/// Checks whether references lead to resources.
enum ReferenceCheck {
    static let name = "references"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        guard let list = sample.lists.first else { return [] }
        return sample.properties(of: sample.plan.entity).flatMap { property -> [Trial] in
            guard let entity = property.destination, let destination = survey.sample(of: entity, in: sample.backend.service) else {
                return []
            }
            var seen: Set<ResourceID> = []
            let strangers = sample.resources.flatMap { owner in
                (owner.values[property.name]?.ids ?? []).filter { destination[$0] == nil && seen.insert($0).inserted }.map { (owner, $0) }
            }
            // An incomplete sample tells little about references out of it.
            return strangers.prefix(2).map { owner, id -> Trial in
                if let other = destination.resources.first(where: { $0.id.isSame(as: id) }) {
                    return Trial("\(property.name) \(id)", list.call, .relationship) { _ in
                        [inOtherForm(property, owner, id, other.id, destination, list.request, list, sample)]
                    }
                }
                return Trial("\(property.name) \(id)", list.call, .relationship) { probe in
                    try await looked(property, owner, id, destination, list, sample, probe)
                }
            }
        }
    }

    private static func inOtherForm(
        _ property: PropertyPlan, _ owner: TrialResource, _ id: ResourceID, _ other: ResourceID, _ destination: EntitySample,
        _ request: String,
        _ list: ListReading, _ sample: EntitySample
    ) -> CapabilityFinding {
        sample.finding(
            .relationship, name, list.call, property.name, claim: sample.claims.property(property.name, orStyle: "references"),
            seen:
                "\(owner.id) refers to “\(id)”, which is \(id.formName), and “\(destination.plan.entity)” itself has “\(other)”, which is \(other.formName).",
            request: request, advice: "Write \(other.cure(for: id)) for “\(destination.plan.entity)”.")
    }

    private static func looked(
        _ property: PropertyPlan, _ owner: TrialResource, _ id: ResourceID, _ destination: EntitySample, _ list: ListReading,
        _ sample: EntitySample, _ probe: ServiceProbe
    ) async throws -> [CapabilityFinding] {
        func dangling(_ seen: String, _ request: String) -> [CapabilityFinding] {
            [
                sample.finding(
                    .relationship, name, list.call, property.name, claim: sample.claims.property(property.name, orStyle: "references"),
                    seen: "\(owner.id) refers to \(id): \(seen)", request: request,
                    advice: "Reading the object fails. Have the service keep its references, or leave the relationship out (ignored).")
            ]
        }
        guard let call = destination.one,
            let request = destination.request(
                call, given: TrialResource(id, entity: destination.plan.entity))
        else {
            guard destination.isWhole else { throw Trial.Untried(reason: "“\(destination.plan.entity)” has no call for one resource.") }
            return dangling("the list of “\(destination.plan.entity)” does not have it.", destination.lists.first?.request ?? "")
        }
        let answer = try await probe.ask(request, destination.plan, call)
        if let other = answer.resources.first(where: { $0.id != id && $0.id.isSame(as: id) }) {
            return [inOtherForm(property, owner, id, other.id, destination, answer.request, list, sample)]
        }
        guard answer.resources.contains(where: { $0.id == id }) else {
            return dangling("there is no such “\(destination.plan.entity)”.", answer.request)
        }
        guard destination.isWhole, let other = destination.lists.first else { return [] }
        destination.doubt()
        return [
            destination.finding(
                .paging, name, other.call, "all pages", claim: destination.claims.call(other.call),
                seen: "\(id), to which “\(property.name)” of “\(sample.plan.entity)” \(owner.id) refers, exists and is not in the list.",
                request: other.request,
                advice: "Name what tells the last page (next, hasMore, total), or a path whose list leaves nothing out.")
        ]
    }
}

/// Checks whether the list of a to-many relationship agrees with the other end.
enum ListOfReferencesCheck {
    static let name = "both ends"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        guard let list = sample.lists.first, let entity = sample.backend.service.model.entitiesByName[sample.plan.entity] else { return [] }
        return sample.properties(of: sample.plan.entity).compactMap { property in
            guard case .toMany(_, _, true) = property.kind, let relationship = entity.relationshipsByName[property.name],
                let inverse = relationship.inverseRelationship?.name, let name = property.destination,
                let destination = survey.sample(of: name, in: sample.backend.service), !destination.resources.isEmpty
            else { return nil }
            return Trial(property.name, list.call, property.embeds ? .embedding : .relationship) { _ in
                compared(property, inverse, destination, list, sample)
            }
        }
    }

    private static func compared(
        _ property: PropertyPlan, _ inverse: String, _ destination: EntitySample, _ list: ListReading, _ sample: EntitySample
    ) -> [CapabilityFinding] {
        for owner in sample.resources {
            guard case .many(let references)? = owner.values[property.name] else { continue }
            let ids = Set(references.map(\.id))
            let missing = destination.resources.filter { $0.values[inverse]?.ids?.contains(owner.id) ?? false && !ids.contains($0.id) }
            let wrong = references.compactMap { destination[$0.id] }.filter {
                $0.values[inverse]?.ids.map { !$0.contains(owner.id) } ?? false
            }
            guard let first = missing.first ?? wrong.first else { continue }
            let seen =
                missing.isEmpty
                ? "\(owner.id) has \(first.id), of which “\(inverse)” is \(first.values[inverse]?.shown ?? "?")."
                : "\(owner.id) has \(ids.count) without \(first.id), of which “\(inverse)” is \(owner.id)."
            return [
                sample.finding(
                    property.embeds ? .embedding : .relationship, name, list.call, property.name,
                    claim: sample.claims.property(property.name, orStyle: "lists"), seen: seen, request: list.request,
                    advice: "Say wholeList: false where the list is cut, or leave it out: then the other end is asked for.")
            ]
        }
        return []
    }
}

/// Checks whether the list of an owner has the resources that belong to it.
enum OwnedListCheck {
    static let name = "lists of an owner"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        sample.plan.calls.compactMap { call in
            let required = call.endpoint.parameters.filter(\.isRequired)
            guard call.call.returns != .one, !required.isEmpty else { return nil }
            let asked = required.compactMap(\.keyPaths.first).joined(separator: ", ")
            return Trial(asked, call, .call) { probe in
                func belongs(_ other: TrialResource, to resource: TrialResource) -> Bool {
                    required.allSatisfy { parameter in
                        guard let keyPath = parameter.keyPaths.first, keyPath != "SELF" else { return other.id == resource.id }
                        return other.values[keyPath].flatMap { left in
                            resource.values[keyPath].map { left.agrees(with: $0, isOrdered: true) }
                        }
                            ?? false
                    }
                }
                // An owner to which not all resources belong.
                let candidates = sample.resources.filter { sample.request(call, given: $0) != nil }
                let given = candidates.first { one in sample.resources.contains { !belongs($0, to: one) } } ?? candidates.first
                guard let given, let request = sample.request(call, given: given) else {
                    throw Trial.Untried(reason: "The sample has no resource with what the call must be given.")
                }
                let found = try await probe.read(request, sample.plan, call, resources: .max, pages: 3)
                let key = required.compactMap(\.keyPaths.first).first ?? ""
                func finding(_ seen: String) -> CapabilityFinding {
                    sample.finding(
                        .call, name, call, asked, claim: sample.claims.call(call), seen: seen, request: found.request,
                        advice: "Correct the path of the call, or leave the call out.")
                }
                let values = found.pages.flatMap { ValueCheck.findings($0, call, sample) }
                if let wrong = found.resources.first(where: { sample[$0.id].map { !belongs($0, to: given) } ?? false }) {
                    return [
                        finding(
                            "\(wrong.id) came, of which “\(key)” is \(sample[wrong.id]?.values[key]?.shown ?? "?"), not \(given.values[key]?.shown ?? "?")."
                        )
                    ] + values
                }
                guard found.isWhole else { return values }
                let missing = sample.resources.filter { belongs($0, to: given) && !found.ids.contains($0.id) }
                return missing.first.map { [finding("\(missing.count) resources are missing, the first is \($0.id).")] } ?? values
            }
        }
    }
}

extension ResourceValue {
    /// The identifiers of the destinations; nil for the value of an attribute.
    var ids: [ResourceID]? {
        switch self {
        case .value: nil
        case .one(let reference): reference.map { [$0.id] } ?? []
        case .many(let references): references.map(\.id)
        }
    }
}
