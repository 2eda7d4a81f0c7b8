internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// An entity whose objects several parts share, with the endpoints derived from theirs.
// Immutable: models do not change once they are in use.
final class CombinedEntity: Sendable {
    /// A part's share of the entity.
    struct Share: Sendable {
        let member: Int
        let share: CombinedBackend.Share
        let lookup: CombinedLookup
        /// The endpoint that returns everything; nil for none.
        let list: Endpoint?
        let saving: Resource.Saving?
        /// The relationships that are sent with their owner.
        let lists: Set<String>

        /// Returns the properties in the answers of an endpoint.
        func brought(by endpoint: Endpoint, _ entity: NSEntityDescription) -> Set<String> {
            let plain = endpoint.properties ?? Set(entity.frozenParts.properties.filter { !$0.isToManyRelationship }.map(\.name))
            return share.properties.intersection(plain.union(endpoint.embeddings.filter(\.isAlwaysThere).map(\.keyPath)))
        }
    }

    /// The implementation of an endpoint.
    enum Route: Sendable {
        /// Reads the values of these shares by identity.
        case identity([Int])
        /// Reads everything from all parts.
        case all
        /// Asks one part.
        case part(Int, endpoint: Endpoint)
    }

    static let parameter = "identity"

    let name: String
    let entity: NSEntityDescription
    let identity: String
    let shares: [Share]
    let routes: [String: Route]
    let resource: Resource

    init(_ name: String, _ members: [CombinedMember], _ model: NSManagedObjectModel) throws {
        guard let entity = model.entitiesByName[name] else {
            throw RemoteStoreError.description(
                "A share is of “\(name)”, which is no entity of the model.",
                next: "Its entities are: \(model.entitiesByName.keys.sorted().joined(separator: ", ")).")
        }
        let shares = try Self.shares(name, entity, members)
        (self.name, self.entity, self.shares, identity) = (name, entity, shares, shares[0].share.identity)
        var (endpoints, routes) = Self.endpoints(shares, entity, members)
        if !shares.contains(where: \.share.hasAll), shares.allSatisfy({ $0.list != nil }) {
            var properties: Set<String> = [identity]
            for share in shares { if let list = share.list { properties.formUnion(share.brought(by: list, entity)) } }
            let rows = shares.reduce(0) { $0 + ($1.list?.cost.expectedRows ?? 0) }
            endpoints.append(
                Endpoint("all", properties: properties, cost: .init(request: Double(shares.count), expectedRows: rows)))
            routes["all"] = .all
        }
        self.routes = routes
        // A resource of a part without an identity is not an object of the combination.
        resource = Resource(name, endpoints: endpoints, saving: Self.saving(shares, identity), unreadable: .reported)
    }

    // MARK: Shares

    private static func shares(_ name: String, _ entity: NSEntityDescription, _ members: [CombinedMember]) throws -> [Share] {
        func wrong(_ reason: String, _ next: String) -> NSError { RemoteStoreError.description(reason, next: next) }
        guard entity.superentity == nil, entity.subentities.isEmpty else {
            throw wrong("“\(name)” has shares, and is one of several kinds.", "Combine entities without superentity and subentities only.")
        }
        var shares: [Share] = []
        var owners: [String: String] = [:]
        for (index, member) in members.enumerated() {
            guard let resource = member.part.backend.resources.first(where: { $0.entity == name }) else {
                if member.share(of: name) == nil { continue }
                throw wrong("“\(member.name)” has a share of “\(name)”, and no resources of it.", "Describe them, or leave the share out.")
            }
            guard let share = member.share(of: name) else {
                throw wrong("“\(member.name)” describes “\(name)”, and has no share of it.", "Say which of its properties it has.")
            }
            guard let attribute = entity.attributesByName[share.identity], shares.allSatisfy({ $0.share.identity == share.identity }),
                [.stringAttributeType, .UUIDAttributeType, .integer64AttributeType, .integer32AttributeType, .integer16AttributeType]
                    .contains(attribute.attributeType)
            else {
                throw wrong(
                    "“\(share.identity)” is not the identity of “\(name)”.",
                    "Name an attribute that is a string, an integer or a UUID, the same one in every share.")
            }
            for property in share.properties {
                guard entity.propertiesByName[property] != nil, property != share.identity else {
                    throw wrong(
                        "“\(property)”, named in the share of “\(member.name)”, is no property of “\(name)” besides its identity.",
                        "Its properties are: \(entity.propertiesByName.keys.sorted().joined(separator: ", ")).")
                }
                if let other = owners.updateValue(member.name, forKey: property) {
                    throw wrong("“\(property)” of “\(name)” is in “\(other)” and in “\(member.name)”.", "Let one part have it.")
                }
            }
            if !(resource.saving?.uploads.isEmpty ?? true) {
                throw wrong("Values of “\(name)” are uploaded to “\(member.name)”.", "Combine resources without uploads.")
            }
            let needed = share.properties.filter { !(entity.propertiesByName[$0]?.isToManyRelationship ?? false) }
            guard let lookup = member.lookups[name], lookup.brings(needed) else {
                throw wrong(
                    "“\(member.name)” cannot read “\(name)” by its identity “\(share.identity)”.",
                    "Describe an endpoint with that parameter, or one that brings everything, with the properties of the share.")
            }
            let isListed = { (endpoint: Endpoint) in
                !endpoint.parameters.contains(where: \.isRequired)
                    && (share.identifiesAlike || endpoint.properties?.contains(share.identity) ?? true)
            }
            let lists = share.properties.filter { name in
                (entity.propertiesByName[name] as? NSRelationshipDescription).map {
                    $0.isToMany && resource.saving?.sends($0) ?? false
                } ?? false
            }
            shares.append(
                Share(
                    member: index, share: share, lookup: lookup,
                    list: resource.endpoints.filter(isListed).min { $0.cost.request < $1.cost.request }, saving: resource.saving,
                    lists: lists))
        }
        let missing = entity.frozenParts.properties.filter {
            !$0.isTransient && !$0.isToManyRelationship && owners[$0.name] == nil && $0.name != shares[0].share.identity
        }
        if let first = missing.first {
            throw wrong("No part has “\(first.name)” of “\(name)”.", "Name it in the share of the part that has it.")
        }
        return shares
    }

    // MARK: Endpoints

    private static func endpoints(
        _ shares: [Share], _ entity: NSEntityDescription, _ members: [CombinedMember]
    ) -> (endpoints: [Endpoint], routes: [String: Route]) {
        let identity = shares[0].share.identity
        var endpoints: [Endpoint] = []
        var routes: [String: Route] = [:]
        func byIdentity(_ name: String, _ indices: [Int], request: Double) -> Endpoint {
            var properties: Set<String> = [identity]
            for index in indices { properties.formUnion(shares[index].brought(by: shares[index].lookup.endpoint, entity)) }
            let lists = properties.filter { entity.propertiesByName[$0]?.isToManyRelationship ?? false }
            routes[name] = .identity(indices)
            return Endpoint(
                name,
                parameters: [Parameter("SELF", identity, name: parameter, operators: .equality, isRequired: true, maximumValues: 100)],
                properties: properties, embeddings: lists.sorted().map { .init($0, isAlwaysThere: true) },
                cost: .init(request: request))
        }
        let together = Double(shares.count)
        endpoints.append(byIdentity("identity", Array(shares.indices), request: together))
        for (index, share) in shares.enumerated() {
            let name = members[share.member].name
            if shares.count > 1 {
                var one = byIdentity("\(name): identity", [index], request: 1)
                // Requests for whole objects, such as before a save, go to all parts.
                one.isForMissingValues = true
                endpoints.append(one)
            }
            let resource = members[share.member].part.backend.resources.first { $0.entity == entity.name }
            for endpoint in resource?.endpoints ?? [] {
                for part in share.endpoints(endpoint, entity, members[share.member]) {
                    routes["\(name): \(part.name)"] = .part(index, endpoint: endpoint)
                    var part = part
                    part.name = "\(name): \(part.name)"
                    endpoints.append(part)
                }
            }
        }
        return (endpoints, routes)
    }

    // MARK: Saving

    private static func saving(_ shares: [Share], _ identity: String) -> Resource.Saving? {
        let all = shares.compactMap(\.saving)
        if all.isEmpty { return nil }
        let isUnnoticed = all.allSatisfy { if case .none = $0.conflicts { true } else { false } }
        var saving = Resource.Saving(
            all.reduce(into: []) { $0.formUnion($1.kinds) }, identity: .attribute(identity),
            lists: shares.reduce(into: []) { $0.formUnion($1.lists) }, maximumChanges: 100,
            conflicts: isUnnoticed ? .none : .byReading, isIdempotent: all.allSatisfy(\.isIdempotent),
            keyLifetime: all.compactMap(\.keyLifetime).min())
        saving.insertsReplace = all.contains(where: \.insertsReplace)
        saving.unsent = shares.reduce(into: []) { $0.formUnion(($1.saving?.unsent ?? []).intersection($1.share.properties)) }
        saving.assigned = shares.reduce(into: []) { $0.formUnion($1.saving?.assigned ?? []) }
        return saving
    }
}

extension CombinedEntity.Share {
    /// Returns the capabilities of a part's endpoint for the objects of all parts.
    ///
    /// A part that lacks some of the objects must be given a comparison of its own properties: nil matches none, so that the part misses no object.
    fileprivate func endpoints(_ endpoint: Endpoint, _ entity: NSEntityDescription, _ member: CombinedMember) -> [Endpoint] {
        let known = share.properties.union([share.identity])
        func first(_ path: String) -> String {
            let path = path.hasPrefix("ANY ") ? String(path.dropFirst(4)) : path
            return path.split(separator: ".").first.map(String.init) ?? path
        }
        var part = endpoint
        part.parameters = []
        for var parameter in endpoint.parameters {
            parameter.keyPaths = parameter.keyPaths.filter { $0 != "SELF" && known.contains(first($0)) }
            parameter.operators = member.operators(of: parameter, entity, share.hasAll ? endpoint.logic : .all)
            if !parameter.keyPaths.isEmpty, !parameter.operators.isEmpty {
                part.parameters.append(parameter)
            } else if parameter.isRequired {
                return []
            }
        }
        // Rows without an identity are not objects, so that their count would be too high.
        if !share.identifiesAlike { (part.counts, part.aggregates, part.groups) = (false, [], []) }
        part.aggregates = part.aggregates.filter { known.contains($0.attribute) }
        part.groups.formIntersection(known)
        part.sorting.keys.removeAll { !known.contains(first($0.keyPath)) }
        part.embeddings.removeAll { !known.contains(first($0.keyPath)) }
        if !share.identifiesAlike, !(endpoint.properties?.contains(share.identity) ?? true) { return [] }
        part.properties = brought(by: endpoint, entity).filter { !(entity.propertiesByName[$0]?.isToManyRelationship ?? false) }
            .union([share.identity])
        part.freshness = nil
        if share.hasAll { return [part] }
        part.logic = .all
        return part.parameters.indices.compactMap { index in
            var one = part
            one.parameters[index].keyPaths.removeAll { $0 == share.identity }
            one.parameters[index].operators.remove(.isNil)
            one.parameters[index].isRequired = true
            if one.parameters[index].keyPaths.isEmpty || one.parameters[index].operators.isEmpty { return nil }
            one.name += " by \(one.parameters[index].name)"
            return one
        }
    }
}
