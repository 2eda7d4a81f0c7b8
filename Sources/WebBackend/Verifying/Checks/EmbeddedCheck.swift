internal import JSONReading
internal import ObjectGraph
internal import RemoteStore

/// Checks whether included resources are the same as when they are read themselves.
enum EmbeddedCheck {
    static let name = "embedded against linked"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        guard let list = sample.lists.first else { return [] }
        return sample.properties(of: sample.plan.entity).compactMap { property in
            guard property.embeds, let entity = property.destination else { return nil }
            return Trial(property.name, list.call, .embedding) { probe in
                let service = sample.backend.service
                guard let destination = survey.sample(of: entity, in: service) else {
                    throw Trial.Untried(reason: "“\(entity)” is not described.")
                }
                let pages = sample.lists.flatMap { list in list.pages.map { (list.call, $0) } }
                let ones = sample.one.map { call in sample.ones.sorted { "\($0.key)" < "\($1.key)" }.map { (call, $0.value) } } ?? []
                for (call, answer) in pages + ones {
                    for resource in answer.embedded where service.plan(of: resource.entity)?.entity == destination.plan.entity {
                        guard let other = destination[resource.id] else { continue }
                        if let finding = compared(resource, other, property, call, answer, destination, sample) { return [finding] }
                    }
                }
                return try await alone(property, pages, destination, sample, probe)
            }
        }
    }

    /// Compares an included resource that is in no list with the resource that is read alone.
    private static func alone(
        _ property: PropertyPlan, _ pages: [(CallPlan, ProbeAnswer)], _ destination: EntitySample, _ sample: EntitySample,
        _ probe: ServiceProbe
    ) async throws -> [CapabilityFinding] {
        let service = sample.backend.service
        guard let call = destination.one else { return [] }
        for (own, answer) in pages {
            for resource in answer.embedded
            where service.plan(of: resource.entity)?.entity == destination.plan.entity && destination[resource.id] == nil {
                guard let request = destination.request(call, given: resource) else { return [] }
                let found = try await probe.ask(request, destination.plan, call)
                guard let other = found.resources.first, other.id == resource.id else { return [] }
                return compared(resource, other, property, own, answer, destination, sample).map { [$0] } ?? []
            }
        }
        return []
    }

    private static func compared(
        _ embedded: TrialResource, _ linked: TrialResource, _ property: PropertyPlan, _ call: CallPlan, _ answer: ProbeAnswer,
        _ destination: EntitySample, _ sample: EntitySample
    ) -> CapabilityFinding? {
        let entity = sample.backend.service.model.entitiesByName[linked.entity]
        for name in embedded.values.keys.sorted() {
            guard let left = embedded.values[name], let right = linked.values[name] else { continue }
            let isOrdered = entity?.relationshipsByName[name]?.isOrdered ?? false
            guard !left.agrees(with: right, isOrdered: isOrdered) else { continue }
            return sample.finding(
                .embedding, self.name, call, "\(property.name).\(name)",
                claim: sample.claims.property(property.name, orStyle: "references"),
                seen: "\(linked.id) came along with \(left.shown), and has \(right.shown) when it is read itself.", request: answer.request,
                advice: left.isNull && !right.isNull
                    ? "Leave out wholeObjects: what the embedded object lacks is then unknown, not nil."
                    : "Refer to the object only: path: \(property.path?.description ?? property.name).id, as a reference by identifier.")
        }
        return nil
    }
}

/// Checks whether destinations of relationships are included on request.
enum IncludeCheck {
    static let name = "destinations that come along"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        sample.lists.flatMap { list in
            list.call.endpoint.embeddings.filter { !$0.isAlwaysThere && !$0.keyPath.contains(".") }.map { embedding in
                Trial(embedding.keyPath, list.call, .embedding) { probe in
                    var request = sample.request(list.call)
                    request.embeddings = [embedding.keyPath]
                    let answer = try await probe.ask(request, sample.plan, list.call)
                    let wanted = Set(answer.resources.flatMap { $0.values[embedding.keyPath]?.ids ?? [] })
                    let missing = wanted.subtracting(answer.embedded.map(\.id))
                    guard let first = missing.min(by: { $0.description < $1.description }) else { return [] }
                    return [
                        sample.finding(
                            .embedding, name, list.call, embedding.keyPath,
                            claim: "style.includes: \(sample.plan.style.includes?.template ?? "")",
                            seen: "\(missing.count) of \(wanted.count) destinations did not come along, the first is \(first).",
                            request: answer.request, advice: "Correct the template, or leave the relationship out of the call's includes.")
                    ]
                }
            }
        }
    }
}

/// Checks whether answers have exactly the requested properties.
enum FieldsCheck {
    static let name = "fields"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        guard let style = sample.plan.style.fields else { return [] }
        let properties = sample.properties(of: sample.plan.entity)
        return sample.lists.compactMap { list in
            let wanted = properties.first { property in
                property.isAttribute && property.name != sample.plan.identifierAttribute
                    && sample.resources.contains { $0.values[property.name].map { !$0.isNull } ?? false }
            }
            guard let wanted, let path = wanted.path else { return nil }
            return Trial("only \(wanted.name)", list.call, .fields) { probe in
                var request = sample.request(list.call)
                request.properties = [wanted.name]
                let answer = try await probe.ask(request, sample.plan, list.call)
                func finding(_ seen: String, _ advice: String) -> [CapabilityFinding] {
                    [
                        sample.finding(
                            .fields, name, list.call, "only \(wanted.name)", claim: "style.fields: \(style.template)", seen: seen,
                            request: answer.request, advice: advice)
                    ]
                }
                if let first = answer.unreadable.first {
                    return finding("\(answer.unreadable.count) resources cannot be read: \(first)", "Leave out fields.")
                }
                if !sample.plan.style.omitsNil, let item = answer.items.first(where: { $0.value(at: path) == nil }) {
                    let keys = item.object?.keys.joined(separator: ", ") ?? ""
                    return finding("A resource came without it, with \(keys).", "Correct the template, or leave out fields.")
                }
                let others = properties.filter { other in
                    other.name != wanted.name && other.name != sample.plan.identifierAttribute && !sample.plan.needs(other)
                        && other.path?.steps.first != path.steps.first
                        && answer.items.contains { item in other.path.map { item.value(at: $0) != nil } ?? false }
                }
                guard let other = others.first else { return [] }
                return finding(
                    "\(others.count) other properties came, the first is “\(other.name)”: it is ignored.",
                    "Correct the template, or leave out fields.")
            }
        }
    }
}

extension ResourcePlan {
    /// Returns whether answers have a property independently of the request, because kinds or versions are read from it.
    fileprivate func needs(_ property: PropertyPlan) -> Bool {
        let versions: JSONPath? =
            switch version {
            case .none, .eTag: nil
            case .number(let path), .tag(let path): path
            }
        return property.path == versions || property.path == kinds?.path
    }
}
