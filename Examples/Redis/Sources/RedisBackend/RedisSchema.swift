internal import CoreData
internal import Foundation

/// What the backend needs to know of a model: its properties, and the keys that they are kept under.
struct RedisSchema: Sendable {
    /// An attribute.
    struct Attribute: Sendable {
        let name: String
        let type: NSAttributeDescription.AttributeType
        /// Whether a sorted set has its values.
        var isIndexed: Bool
    }
    /// A relationship that is kept with this entity: to one, or a list whose other end is not to one.
    struct Link: Sendable {
        let name: String
        let isList: Bool
        let isOrdered: Bool
        /// The entity that declares it, whose name is in the keys.
        let owner: String
    }
    struct Entity: Sendable {
        let name: String
        /// The entity at the top of the inheritance, whose resources share their identifiers.
        let top: String
        /// The entity, and those above it.
        let line: [String]
        let attributes: [Attribute]
        let links: [Link]
        /// The lists of the entity and of all below it.
        let listsOfAll: [Link]

        /// Everything that a resource brings.
        var properties: Set<String> { Set(attributes.map(\.name) + links.map(\.name)) }
    }

    let entities: [String: Entity]
    private let prefix: String

    /// Reads a model.
    ///
    /// - Parameter indexes: The names of the attributes that sorted sets are kept for, by entity.
    init(_ model: NSManagedObjectModel, prefix: String, indexes: [String: Set<String>]) {
        self.prefix = prefix
        var entities: [String: Entity] = [:]
        for entity in model.entities {
            guard let name = entity.name else { continue }
            let line = Self.line(of: entity)
            let indexed = line.reduce(into: Set<String>()) { $0.formUnion(indexes[$1.name ?? ""] ?? []) }
            let attributes = entity.attributesByName.values.filter { !$0.isTransient }
                .map { Attribute(name: $0.name, type: $0.type, isIndexed: indexed.contains($0.name)) }
            entities[name] = Entity(
                name: name, top: line.last?.name ?? name, line: line.compactMap(\.name),
                attributes: attributes.sorted { $0.name < $1.name },
                links: Self.links(of: entity),
                listsOfAll: Self.all(entity).flatMap(Self.links).filter(\.isList).reduce(into: []) { found, link in
                    if !found.contains(where: { $0.name == link.name && $0.owner == link.owner }) { found.append(link) }
                })
        }
        self.entities = entities
    }

    private static func line(of entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity] + (entity.superentity.map(line) ?? [])
    }

    private static func all(_ entity: NSEntityDescription) -> [NSEntityDescription] { [entity] + entity.subentities.flatMap(all) }

    private static func links(of entity: NSEntityDescription) -> [Link] {
        entity.relationshipsByName.values.compactMap { relationship -> Link? in
            let owner = line(of: entity).last { $0.relationshipsByName[relationship.name] != nil }?.name ?? ""
            guard relationship.isToMany else { return Link(name: relationship.name, isList: false, isOrdered: false, owner: owner) }
            if let inverse = relationship.inverseRelationship {
                guard inverse.isToMany, let other = relationship.destinationEntity else { return nil }
                // Of two lists that are each other's inverse, the first is kept.
                let otherOwner = line(of: other).last { $0.relationshipsByName[inverse.name] != nil }?.name ?? ""
                if (otherOwner, inverse.name) < (owner, relationship.name) { return nil }
            }
            return Link(name: relationship.name, isList: true, isOrdered: relationship.isOrdered, owner: owner)
        }.sorted { $0.name < $1.name }
    }

    // MARK: Keys

    /// The hash of a resource.
    func hash(_ top: String, _ id: String) -> String { "\(prefix):\(top):\(id)" }
    /// A list of a resource.
    func list(_ link: Link, of id: String) -> String { "\(prefix):\(link.owner):\(id):\(link.name)" }
    /// The set of identifiers of an entity, with those of its subentities.
    func all(_ entity: String) -> String { "\(prefix):\(entity)" }
    /// The set of those whose relationship leads to a resource.
    func owners(_ link: Link, to id: String) -> String { "\(prefix):\(link.owner).\(link.name):\(id)" }
    /// The sorted set of an attribute.
    func index(_ attribute: String, of entity: String) -> String { "\(prefix):\(entity).\(attribute)" }
    /// The counter that identifiers are taken from.
    func counter(_ top: String) -> String { "\(prefix):\(top)#last" }
    /// The outcome of a change, by its idempotency key.
    func outcome(_ key: UUID) -> String { "\(prefix)#done:\(key.uuidString)" }
}
