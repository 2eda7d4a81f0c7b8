internal import Foundation
public import ObjectGraph
internal import Predicates

extension NSMappingModel {
    /// Infers the mapping model between two versions of a model, from names, renaming identifiers and types.
    ///
    /// - Parameters:
    ///   - sourceModel: The older version.
    ///   - destinationModel: The newer version.
    /// - Returns: The mapping model. It may be changed before a migration, such as by giving an entity mapping a policy. Its entity mappings have the
    ///   same names as on Apple's platforms, `IEM_Transform_Song`, `IEM_Copy_Song`, `IEM_Add_Song` and `IEM_Remove_Song`, and those of the first two
    ///   kinds have the names of properties in their user info: `mappedProperties`, `addedProperties` and `removedProperties`, each a `Set<String>`.
    /// - Throws: Code 134190 with every change that cannot be inferred, naming entity and property.
    public class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let inferred = try InferredMapping.infer(from: sourceModel, to: destinationModel)
        var targets: [String: Target] = [:]
        for entity in inferred.entities {
            guard let source = entity.source?.name, let destination = entity.destination else { continue }
            targets[source] = (destination, name(of: entity))
        }
        // Abstract entities have no objects of their own.
        // Bounded: each entity mapping has a source or a destination.
        let entities = inferred.entities.filter { !($0.destination ?? $0.source)!.isAbstract || $0.destination == nil }
        return NSMappingModel(entityMappings: ordered(entities).map { mapping(of: $0, targets) })
    }

    /// The name of the mapping of an entity.
    private static func name(of entity: InferredMapping.Entity) -> String {
        let kind =
            switch entity.kind {
            case .add: "Add"
            case .remove: "Remove"
            case .copy: "Copy"
            case .transform: "Transform"
            }
        return "IEM_\(kind)_\((entity.destination ?? entity.source)?.name ?? "")"
    }

    /// Returns the names of the properties that have values in a mapping, of the new ones, and of the removed ones.
    private static func information(of entity: InferredMapping.Entity) -> [AnyHashable: Any]? {
        guard let source = entity.source, entity.destination != nil else { return nil }
        let attributes = entity.attributes.map { (new: $0.destination.name, old: $0.source?.name) }
        let properties = attributes + entity.relationships.map { (new: $0.destination.name, old: $0.source?.name) }
        let persistent = source.properties.filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
        return [
            "mappedProperties": Set(properties.filter { $0.old != nil }.map(\.new)),
            "addedProperties": Set(properties.filter { $0.old == nil }.map(\.new)),
            "removedProperties": Set(persistent.map(\.name)).subtracting(properties.compactMap(\.old)),
        ]
    }

    /// The destination of an entity's objects, and the name of the mapping that makes them.
    private typealias Target = (entity: NSEntityDescription, mapping: String)

    /// Returns the entities in an order in which the destinations of to-one relationships come before their owners, unless there is a cycle: such
    /// relationships can be set when the objects are made.
    private static func ordered(_ entities: [InferredMapping.Entity]) -> [InferredMapping.Entity] {
        var result: [InferredMapping.Entity] = []
        var visited: Set<Int> = []
        let places = Dictionary(
            entities.enumerated().compactMap { place, entity in entity.source?.name.map { ($0, place) } },
            uniquingKeysWith: { first, _ in first })
        func visit(_ place: Int) {
            guard visited.insert(place).inserted else { return }
            for relationship in entities[place].relationships where !relationship.destination.isToMany {
                for target in relationship.source?.destinationEntity?.allKinds ?? [] {
                    if let other = target.name.flatMap({ places[$0] }) { visit(other) }
                }
            }
            result.append(entities[place])
        }
        for place in entities.indices { visit(place) }
        return result
    }

    private static func mapping(of entity: InferredMapping.Entity, _ targets: [String: Target]) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = name(of: entity)
        mapping.userInfo = information(of: entity)
        mapping.sourceEntityName = entity.source?.name
        mapping.sourceEntityVersionHash = entity.source?.versionHash
        mapping.destinationEntityName = entity.destination?.name
        mapping.destinationEntityVersionHash = entity.destination?.versionHash
        switch entity.kind {
        case .add: mapping.mappingType = .addEntityMappingType
        case .remove: mapping.mappingType = .removeEntityMappingType
        case .copy: mapping.mappingType = .copyEntityMappingType
        case .transform: mapping.mappingType = .transformEntityMappingType
        }
        mapping.attributeMappings = entity.attributes.map { attribute in
            let property = NSPropertyMapping(
                name: attribute.destination.name, valueExpression: attribute.source.map { MappingExpressions.path([$0.name]) })
            property.keepsDefaultForNil = true
            return property
        }
        mapping.relationshipMappings = entity.relationships.map { relationship in
            NSPropertyMapping(
                name: relationship.destination.name,
                valueExpression: expression(for: relationship, targets))
        }
        return mapping
    }

    /// The objects of a relationship may be of several entities, each with a mapping of its own. Objects that are no longer of its destination are
    /// left out.
    private static func expression(for relationship: InferredMapping.Relationship, _ targets: [String: Target]) -> ValueExpression? {
        guard let source = relationship.source, let destination = relationship.destination.destinationEntity else { return nil }
        let mappings = (source.destinationEntity?.allKinds ?? []).compactMap { kind -> String? in
            guard !kind.isAbstract, let target = kind.name.flatMap({ targets[$0] }), target.entity.isKindOf(entity: destination) else {
                return nil
            }
            return target.mapping
        }
        guard let first = mappings.first else { return nil }
        if mappings.count == 1 { return MappingExpressions.destinationInstances(of: first, path: [source.name]) }
        return MappingExpressions.destinationInstances(ofAny: mappings, path: [source.name])
    }
}
