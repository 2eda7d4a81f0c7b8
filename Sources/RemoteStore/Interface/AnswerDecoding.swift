internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The context for decoding answers: the entities of the store's model, and the identity of its objects.
// Immutable: models do not change once they are in use.
final class AnswerDecoding: Sendable {
    /// An entity with the places of its properties.
    final class Entity: Sendable {
        let description: NSEntityDescription
        private let indexes: [String: Int]
        let properties: [NSPropertyDescription]
        let columns: [ResourceColumn]
        /// The common part of the keys of IDs.
        let keyBase: Int64

        init(_ description: NSEntityDescription) {
            self.description = description
            properties = description.frozenParts.properties
            columns = zip(properties, description.rowPlaces).map { ResourceColumn($0, at: $1) }
            keyBase = NSManagedObjectID.keyBase(of: description)
            indexes = Dictionary(properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }

        /// Returns the place of a property.
        ///
        /// - Throws: Code 134070 for a name that the entity does not have.
        func column(_ name: String) throws -> ResourceColumn {
            guard let index = indexes[name] else { throw RemoteStoreError.unknownProperty(name, of: description.name ?? "?") }
            return columns[index]
        }
    }

    private let entities: [String: Entity]
    let token: StoreToken
    let kinds = KindTable()

    /// The policies for unreadable resources, by entity.
    let unreadable: [String: Resource.UnreadablePolicy]

    init(_ model: NSManagedObjectModel, _ resources: [Resource], token: StoreToken) {
        unreadable = Dictionary(resources.map { ($0.entity, $0.unreadable) }, uniquingKeysWith: { first, _ in first })
        entities = Dictionary(
            model.entities.compactMap { entity in entity.name.map { ($0, Entity(entity)) } }, uniquingKeysWith: { first, _ in first })
        self.token = token
    }

    /// Returns the policy for unreadable resources of an entity.
    func unreadablePolicy(_ entity: String) -> Resource.UnreadablePolicy { unreadable[entity] ?? .ownError }

    /// Whether the model has relationships to entities with subentities.
    var hasReferencesToKinds: Bool {
        entities.values.contains { entity in
            entity.properties.contains { ($0 as? NSRelationshipDescription)?.destinationEntity?.subentities.isEmpty == false }
        }
    }

    /// Returns an entity of the model.
    ///
    /// - Throws: Code 134070 for a name that the model does not have.
    func entity(_ name: String) throws -> Entity {
        guard let entity = entities[name] else { throw RemoteStoreError.unknownEntity(name) }
        return entity
    }

    /// Returns the ID of a resource of an entity.
    func id(_ id: ResourceID, of entity: Entity) -> NSManagedObjectID {
        if case .integer(let number) = id {
            return NSManagedObjectID(entity: entity.description, token: token, number: number, keyBase: entity.keyBase)
        }
        return self.id(id, of: entity.description)
    }

    func id(_ id: ResourceID, of entity: NSEntityDescription) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, reference: id.reference)
    }

    /// Returns the ID of a reference to a destination of a relationship.
    ///
    /// - Throws: Code 134070 for an entity that the model does not have.
    func id(_ reference: ResourceReference, for relationship: NSRelationshipDescription) throws -> NSManagedObjectID {
        let destination = try reference.entity.map { try entity($0).description } ?? relationship.destinationEntity
        guard let destination else { throw RemoteStoreError.unknownEntity(reference.entity ?? relationship.name) }
        let id = id(reference.id, of: destination)
        guard reference.entity == nil, !destination.subentities.isEmpty, let kind = kinds.kind(id), kind !== destination else { return id }
        return self.id(reference.id, of: kind)
    }

    /// Returns the identifier of an object of this store; nil for others.
    func resourceID(_ id: NSManagedObjectID) -> ResourceID? { id.token === token ? ResourceID(id.reference) : nil }
}

extension AnswerDecoding: Hashable {
    static func == (left: AnswerDecoding, right: AnswerDecoding) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
