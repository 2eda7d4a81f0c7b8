internal import Foundation
internal import ObjectGraph
internal import Predicates
internal import PropertyLists
internal import RemoteStore
internal import WebTransport

/// The resources of an entity, as its unfiltered lists have them.
final class EntitySample {
    let plan: ResourcePlan
    let claims: Claims
    let backend: WebBackend
    /// The unfiltered lists. Checks compare with the first one.
    var lists: [ListReading] = []
    /// The resources of the first list, each once.
    private(set) var resources: [TrialResource] = []
    private var known: [ResourceID: TrialResource] = [:]
    /// Whether the sample has all resources: the list was read to its end, and its pages have no errors.
    private(set) var isWhole = false
    /// The answers to resources that were read alone.
    var ones: [ResourceID: ProbeAnswer] = [:]

    init(_ plan: ResourcePlan, _ backend: WebBackend) {
        (self.plan, self.backend) = (plan, backend)
        claims = Claims(service: backend.service.service, plan: plan)
    }

    /// Adds the result of reading a list.
    func add(_ reading: ListReading) {
        lists.append(reading)
        guard lists.count == 1 else { return }
        for resource in reading.resources where known.updateValue(resource, forKey: resource.id) == nil { resources.append(resource) }
        isWhole = reading.isWhole && reading.pages.allSatisfy { $0.unreadable.isEmpty }
    }

    /// Notes that the pages of the list contradict their description.
    func doubt() { isWhole = false }

    /// Returns a resource of the list.
    subscript(id: ResourceID) -> TrialResource? { known[id] }

    /// The call that reads one resource; nil for none.
    var one: CallPlan? { plan.calls.first { $0.call.returns == .one } }

    /// Returns a request of a call.
    func request(_ call: CallPlan) -> BackendRequest {
        BackendRequest(entity: plan.entity, endpoint: call.call.name, of: backend, model: backend.service.model)
    }

    /// Returns a request of a call, with the required parameters from a resource; nil if the resource lacks one of them.
    func request(_ call: CallPlan, given resource: TrialResource) -> BackendRequest? {
        var request = request(call)
        for parameter in call.endpoint.parameters where parameter.isRequired {
            guard parameter.operators.contains(.equal) else { return nil }
            if parameter.keyPaths.contains("SELF") {
                request.add(parameter, .equal, [], ids: [resource.id])
                continue
            }
            guard let value = parameter.keyPaths.first.flatMap({ resource.values[$0] }), !value.isNull else { return nil }
            if let id = value.id { request.add(parameter, .equal, [], ids: [id]) } else { request.add(parameter, .equal, [value.value]) }
        }
        return request
    }

    /// The resources to read alone, three at most: the last one, and those that cover most properties both with and without a value.
    var chosen: [TrialResource] {
        func features(_ resource: TrialResource) -> Set<String> {
            Set(
                resource.values.map { name, value in
                    if case .many(let list) = value { "\(name) \(list.isEmpty)" } else { "\(name) \(value.isNull)" }
                })
        }
        guard let last = resources.last else { return [] }
        var chosen = [last]
        var covered = features(last)
        while chosen.count < 3 {
            let rest = resources.filter { resource in !chosen.contains { $0.id == resource.id } }
            let best = rest.max { features($0).subtracting(covered).count < features($1).subtracting(covered).count }
            guard let best, chosen.count < 2 || !features(best).isSubset(of: covered) else { break }
            chosen.append(best)
            covered.formUnion(features(best))
        }
        return chosen
    }

    /// Returns the properties that resources of an entity have.
    func properties(of entity: String) -> [PropertyPlan] {
        let own = plan.propertiesOfKinds[entity]
        return plan.properties.values.filter { $0.path != nil && own?.contains($0.name) ?? true }.sorted { $0.name < $1.name }
    }

    /// Returns a finding.
    func finding(
        _ capability: CapabilityFinding.Capability, _ check: String, _ call: CallPlan, _ asked: String, claim: String, seen: String,
        request: String, advice: String
    ) -> CapabilityFinding {
        CapabilityFinding(
            capability: capability, check: check, entity: plan.entity, call: call.call.name, asked: asked, claim: claim,
            seen: backend.client.removingSecrets(from: seen), request: request, advice: advice)
    }
}

/// The samples of all entities.
struct Survey {
    /// The samples, by entity.
    var samples: [String: EntitySample] = [:]

    /// Returns the sample of an entity, or of the one that it inherits from.
    func sample(of entity: String, in service: ServicePlan) -> EntitySample? { service.plan(of: entity).flatMap { samples[$0.entity] } }
}

extension ResourceValue {
    /// The value in the form that a finding shows.
    var shown: String {
        switch self {
        case .value(.null), .one(nil): "nil"
        case .value(let value): value.shown
        case .one(let reference?): reference.id.description
        case .many(let references): "[" + references.map(\.id.description).joined(separator: ", ") + "]"
        }
    }

    /// Returns whether another value is the same. Lists are the same if they have the same members.
    func agrees(with other: ResourceValue, isOrdered: Bool) -> Bool {
        switch (self, other) {
        case (.many(let left), .many(let right)):
            isOrdered ? left.map(\.id) == right.map(\.id) : Set(left.map(\.id)) == Set(right.map(\.id))
        case (.one(let left), .one(let right)): left?.id == right?.id
        default: isAlike(other)
        }
    }
}

extension PropertyValue {
    /// The value in the form that a finding shows.
    var shown: String {
        switch self {
        case .string(let text): "“\(text.prefix(80))\(text.count > 80 ? "…" : "")”"
        case .date(let date): DateText.text(date)
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .uuid(let uuid): uuid.uuidString.lowercased()
        case .url(let url): url.absoluteString
        case .null: "nil"
        default: "a value of another kind"
        }
    }
}
