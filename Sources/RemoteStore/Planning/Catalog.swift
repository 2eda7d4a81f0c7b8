internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The declarations of a backend, checked against the model.
struct Catalog: Sendable {
    /// An endpoint with the entity of its resource.
    struct Entry: Sendable {
        let entity: NSEntityDescription
        let endpoint: Endpoint
    }

    private let resources: [ObjectIdentifier: (resource: Resource, entries: [Entry])]

    /// Checks that a backend supports the uploads of its resources.
    ///
    /// - Throws: Code 134080 if it does not.
    init(_ backend: any Backend, _ resources: [Resource], _ model: NSManagedObjectModel) throws {
        try self.init(resources, model)
        if !(backend is any UploadingBackend), let resource = resources.first(where: { !($0.saving?.uploads.isEmpty ?? true) }) {
            throw RemoteStoreError.description(
                "Values of “\(resource.entity)” are uploaded, and the backend takes no uploads.",
                next: "Let the backend conform to UploadingBackend.")
        }
    }

    /// Checks the descriptions.
    ///
    /// - Throws: Code 134080 for a name that the model does not have, naming entity, endpoint and property.
    init(_ resources: [Resource], _ model: NSManagedObjectModel) throws {
        var known: [ObjectIdentifier: (resource: Resource, entries: [Entry])] = [:]
        for resource in resources {
            guard let entity = model.entitiesByName[resource.entity] else {
                throw RemoteStoreError.description(
                    "It has resources of “\(resource.entity)”, which is no entity of the model.",
                    next: "Its entities are: \(model.entitiesByName.keys.sorted().joined(separator: ", ")).")
            }
            guard known[ObjectIdentifier(entity)] == nil else {
                throw RemoteStoreError.description("It describes “\(resource.entity)” twice.", next: "Describe each entity once.")
            }
            var names: Set<String> = []
            for endpoint in resource.endpoints {
                guard names.insert(endpoint.name).inserted else {
                    throw RemoteStoreError.description(
                        "“\(resource.entity)” has two endpoints called “\(endpoint.name)”.", next: "Give each a name of its own.")
                }
                try Self.check(endpoint, of: entity)
            }
            if case .attribute(let name)? = resource.saving?.identity, entity.attributesByName[name] == nil {
                throw Self.missing(name, in: "the identity of new resources", of: entity)
            }
            for name in resource.saving?.uploads ?? [] {
                guard let attribute = entity.attributesByName[name], attribute.attributeType == .binaryDataAttributeType,
                    attribute.allowsExternalBinaryDataStorage
                else {
                    throw RemoteStoreError.description(
                        "“\(name)” of “\(entity)”, which is uploaded, is no binary attribute with external storage.",
                        next: "Set allowsExternalBinaryDataStorage of the attribute: a large value is then in a file of its own.")
                }
            }
            if let name = resource.incarnation, entity.attributesByName[name] == nil {
                throw Self.missing(name, in: "what tells resources with one identifier apart", of: entity)
            }
            known[ObjectIdentifier(entity)] = (resource, resource.endpoints.map { Entry(entity: entity, endpoint: $0) })
        }
        self.resources = known
        hasIncarnations = resources.contains { $0.incarnation != nil }
        hasUnsentProperties = resources.contains { $0.saving?.unsent.isEmpty == false }
    }

    /// Whether there are properties that are never sent.
    let hasUnsentProperties: Bool

    /// Whether resources with the same identifier are distinguished.
    let hasIncarnations: Bool

    /// Returns the attribute that distinguishes successive objects of an entity with the same identifier; nil for none.
    func incarnation(of entity: NSEntityDescription) -> String? {
        hasIncarnations ? resource(of: entity)?.incarnation : nil
    }

    private static func check(_ endpoint: Endpoint, of entity: NSEntityDescription) throws {
        let place = "the endpoint “\(endpoint.name)”"
        for path in endpoint.parameters.flatMap(\.keyPaths) where path != "SELF" {
            try check(path.hasPrefix("ANY ") ? String(path.dropFirst(4)) : path, in: place, of: entity)
        }
        for key in endpoint.sorting.keys { try check(key.keyPath, in: place, of: entity) }
        for embedding in endpoint.embeddings { try check(embedding.keyPath, in: place, of: entity) }
        for name in endpoint.properties ?? [] { try check(name, in: place, of: entity) }
        for aggregate in endpoint.aggregates { try check(aggregate.attribute, in: place, of: entity) }
    }

    private static func check(_ path: String, in place: String, of entity: NSEntityDescription) throws {
        var current: NSEntityDescription? = entity
        for key in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard let property = current?.allKinds.lazy.compactMap({ $0.propertiesByName[String(key)] }).first else {
                throw missing(path, in: place, of: entity)
            }
            current = (property as? NSRelationshipDescription)?.destinationEntity
        }
    }

    private static func missing(_ path: String, in place: String, of entity: NSEntityDescription) -> NSError {
        RemoteStoreError.description(
            "“\(path)”, named in \(place) of “\(entity)”, is no property of the entity.",
            next: "Its properties are: \(entity.propertiesByName.keys.sorted().joined(separator: ", ")).")
    }

    /// Returns the supported changes of an entity, or of the nearest superentity that is described.
    func saving(of entity: NSEntityDescription) -> Resource.Saving? { resource(of: entity)?.saving }

    /// Whether the identifier of a new object is known before it is sent, and is the same each time it is requested.
    func hasKnownIdentifiers(_ entity: NSEntityDescription) -> Bool {
        switch saving(of: entity)?.identity {
        case .attribute, .made: true
        default: false
        }
    }

    private func resource(of entity: NSEntityDescription) -> Resource? {
        var current: NSEntityDescription? = entity
        while let entity = current {
            if let known = resources[ObjectIdentifier(entity)] { return known.resource }
            current = entity.superentity
        }
        return nil
    }

    /// Returns the endpoints whose answers contain all resources of an entity, with those of subentities if they are requested.
    func entries(for entity: NSEntityDescription, includingSubentities: Bool) -> [Entry] {
        let needsSubentities = includingSubentities && !entity.subentities.isEmpty
        var found: [Entry] = []
        var current: NSEntityDescription? = entity
        while let owner = current {
            for entry in resources[ObjectIdentifier(owner)]?.entries ?? [] {
                if entry.endpoint.includesSubentities || owner === entity && !needsSubentities { found.append(entry) }
            }
            current = owner.superentity
        }
        return found
    }
}
