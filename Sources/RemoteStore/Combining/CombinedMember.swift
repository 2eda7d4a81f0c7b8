internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A part of a combination, with the context for its requests and answers.
// Immutable: models do not change once they are in use.
final class CombinedMember: Sendable {
    let part: CombinedBackend.Part
    let entities: [String: NSEntityDescription]
    /// The context for decoding the part's answers, which have its own identifiers.
    let decoding: AnswerDecoding
    /// The lookups of shares by identity.
    let lookups: [String: CombinedLookup]

    var name: String { part.name }

    private init(_ part: CombinedBackend.Part, _ model: NSManagedObjectModel) {
        self.part = part
        entities = model.entitiesByName
        decoding = AnswerDecoding(model, part.backend.resources, token: StoreToken(identifier: "part \(part.name)"))
        var lookups: [String: CombinedLookup] = [:]
        for share in part.shares {
            guard let resource = part.backend.resources.first(where: { $0.entity == share.entity }),
                let entity = model.entitiesByName[share.entity]
            else { continue }
            let plain = share.properties.filter { !(entity.propertiesByName[$0]?.isToManyRelationship ?? false) }
            lookups[share.entity] = CombinedLookup(resource, share, plain)
        }
        self.lookups = lookups
    }

    static func members(_ parts: [CombinedBackend.Part], _ model: NSManagedObjectModel) throws -> [CombinedMember] {
        var names: Set<String> = []
        for part in parts {
            if !names.insert(part.name).inserted {
                throw RemoteStoreError.description("Two parts are called “\(part.name)”.", next: "Give each a name of its own.")
            }
            if Set(part.shares.map(\.entity)).count != part.shares.count {
                throw RemoteStoreError.description("“\(part.name)” has two shares of an entity.", next: "Make one of them.")
            }
        }
        let members = parts.map { CombinedMember($0, model) }
        for member in members { try member.checkReferences(model) }
        return members
    }

    func share(of entity: String) -> CombinedBackend.Share? { part.shares.first { $0.entity == entity } }

    /// The part's share of an entity, if the part has its own identifiers for the objects; nil if they need no translation.
    func translation(of entity: String?) -> CombinedBackend.Share? {
        entity.flatMap(share).flatMap { $0.identifiesAlike ? nil : $0 }
    }

    /// Whether the part's identifiers are those of the combination, for all entities.
    var isPlain: Bool { part.shares.allSatisfy(\.identifiesAlike) }

    /// Checks that references to shared objects can be resolved.
    private func checkReferences(_ model: NSManagedObjectModel) throws {
        for resource in part.backend.resources {
            let relationships = model.entitiesByName[resource.entity]?.relationshipsByName.values.map { $0 } ?? []
            for relationship in relationships where !relationship.isToMany && !relationship.isTransient {
                guard let target = translation(of: relationship.destinationEntity?.name),
                    share(of: resource.entity)?.properties.contains(relationship.name) ?? true, lookups[target.entity]?.own == nil
                else { continue }
                throw RemoteStoreError.description(
                    "“\(name)” cannot read “\(target.entity)” by its own identifiers, to which “\(resource.entity)” refers.",
                    next: "Describe an endpoint with the parameter SELF that brings “\(target.identity)”.")
            }
        }
    }

    // MARK: Parameters

    /// The share of the objects of a key path, if they must be translated.
    func translation(at path: String, _ entity: NSEntityDescription) -> CombinedBackend.Share? {
        var current: NSEntityDescription? = entity
        for key in (path.hasPrefix("ANY ") ? String(path.dropFirst(4)) : path).split(separator: ".") where key != "SELF" {
            current = (current?.propertiesByName[String(key)] as? NSRelationshipDescription)?.destinationEntity
        }
        return translation(of: current?.name)
    }

    /// The comparisons of a parameter that remain possible: shared objects are compared only for equality, outside of predicates.
    func operators(of parameter: Parameter, _ entity: NSEntityDescription, _ logic: Endpoint.Logic) -> Set<Parameter.Operator> {
        guard parameter.keyPaths.contains(where: { translation(at: $0, entity) != nil }) else { return parameter.operators }
        return logic == .tree ? [] : parameter.operators.subtracting([.notEqual])
    }

    /// Returns the description of a resource that only this part has.
    func forwarded(_ resource: Resource) throws -> Resource {
        guard !isPlain, let entity = entities[resource.entity] else { return resource }
        var resource = resource
        resource.saving?.bulk = nil
        resource.endpoints = resource.endpoints.compactMap { endpoint in
            var endpoint = endpoint
            for index in endpoint.parameters.indices {
                let operators = operators(of: endpoint.parameters[index], entity, endpoint.logic)
                if operators != endpoint.parameters[index].operators {
                    // If nothing is found, there are no values either.
                    (endpoint.aggregates, endpoint.groups) = ([], [])
                }
                endpoint.parameters[index].operators = operators
            }
            if endpoint.parameters.contains(where: { $0.isRequired && $0.operators.isEmpty }) { return nil }
            endpoint.parameters.removeAll { $0.operators.isEmpty }
            return endpoint
        }
        return resource
    }

    // MARK: Requests

    /// Returns an equivalent request for the part's own endpoint and identifiers.
    ///
    /// - Returns: Nil if the part has none of the compared objects; otherwise also the identities of those that it has, by its identifiers.
    func own(_ request: BackendRequest, _ endpoint: String) async throws -> (request: BackendRequest, identities: [ResourceID: ResourceID])?
    {
        var own = BackendRequest(entity: request.entity, endpoint: endpoint, decoding: decoding)
        own.predicate = request.predicate
        (own.sorts, own.limit, own.offset, own.page) = (request.sorts, request.limit, request.offset, request.page)
        (own.wantsCount, own.aggregates, own.groups) = (request.wantsCount, request.aggregates, request.groups)
        (own.properties, own.embeddings) = (request.properties, request.embeddings)
        var identities: [ResourceID: ResourceID] = [:]
        guard let entity = entities[request.entity] else { throw RemoteStoreError.unknownEntity(request.entity) }
        for filter in request.filters {
            guard !filter.ids.isEmpty, let share = translation(at: filter.keyPath, entity) else {
                own.filters.append(filter)
                continue
            }
            let known = try await natives(of: Set(filter.ids), share)
            if known.isEmpty { return nil }
            for (identity, native) in known { identities[native] = identity }
            own.filters.append(
                .init(
                    parameter: filter.parameter, keyPath: filter.keyPath, comparison: filter.comparison, values: filter.values,
                    ids: filter.ids.compactMap { known[$0] }))
        }
        return (own, identities)
    }

    /// Answers a request for an entity that only this part has.
    func forward(_ request: BackendRequest) async throws -> BackendAnswer {
        if isPlain { return try await part.backend.answer(request) }
        var answer = request.answer()
        guard let (own, identities) = try await own(request, request.endpoint) else {
            (answer.total, answer.isComplete) = (0, true)
            return answer
        }
        let page = try await page(own)
        (answer.next, answer.total, answer.isComplete) = (page.answer.next, page.answer.total, page.answer.isComplete)
        (answer.aggregates, answer.groups) = (page.answer.aggregates, page.answer.groups)
        var owners: [Int: ResourceID] = [:]
        for (owner, row) in page.answer.owners { owners[row] = identities[owner] ?? owner }
        for (index, row) in page.rows.enumerated() {
            guard let id = row.identity else { continue }
            try answer.add(id, entity: row.entity, version: row.version, owner: owners[index], row.values)
            row.noteUnread(in: &answer)
        }
        try page.embed(in: &answer)
        page.take(&answer)
        answer.keptRaw = page.answer.keptRaw
        return answer
    }
}
