internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The model of a cache's file: a copy of the program's model, which accepts every row that a backend may send, with the attributes and entities that the cache
/// needs.
struct CacheModel {
    /// The names of the added attributes and entities, which do not clash with the program's.
    struct Names: Sendable {
        let resource: String
        let version: String
        let fetchedAt: String
        let lastUsed: String
        let state: String
        let known: String
        let coverage: String
        let feed: String
        let pending: String
        let setting: String
    }

    let model: NSManagedObjectModel
    let names: Names

    /// Creates the model.
    init(_ program: NSManagedObjectModel) {
        let taken = Set(program.entities.flatMap { [$0.name ?? ""] + $0.properties.map(\.name) })
        func free(_ name: String) -> String {
            var name = name
            while taken.contains(name) { name += "_" }
            return name
        }
        names = Names(
            resource: free("cacheResource"), version: free("cacheVersion"), fetchedAt: free("cacheFetchedAt"),
            lastUsed: free("cacheLastUsed"), state: free("cacheState"), known: free("cacheKnown"), coverage: free("CacheCoverage"),
            feed: free("CacheFeed"), pending: free("PendingRecord"), setting: free("CacheSetting"))
        let copy = program.copy() as! NSManagedObjectModel
        for entity in copy.entities { Self.relax(entity) }
        Self.addInverses(copy)
        for entity in copy.entities where entity.superentity == nil { Self.extend(entity, names) }
        copy.entities += Self.ownEntities(names)
        model = copy
    }

    // Its models are immutable once a coordinator has one.
    private struct Known: @unchecked Sendable {
        weak var program: NSManagedObjectModel?
        let made: CacheModel
    }
    private static let known = LockedBox<[ObjectIdentifier: Known]>([:])

    /// Returns the model for a program's model that a coordinator uses. All files of the program's model share it, because its entities must be hashed.
    static func shared(for program: NSManagedObjectModel) -> CacheModel {
        if let known = known.withLock({ $0[ObjectIdentifier(program)] }), known.program === program { return known.made }
        let made = CacheModel(program)
        known.withLock { known in
            known = known.filter { $0.value.program != nil }
            known[ObjectIdentifier(program)] = Known(program: program, made: made)
        }
        return made
    }

    /// Makes an entity accept rows that are partly unknown, or that violate the rules for the program's objects.
    private static func relax(_ entity: NSEntityDescription) {
        entity.managedObjectClassName = "NSManagedObject"
        entity.boundClass = nil
        entity.uniquenessConstraints = []
        var removed: Set<String> = []
        entity.properties = entity.declaredProperties.compactMap { property in
            if property.isTransient || property is NSFetchedPropertyDescription {
                removed.insert(property.name)
                return nil
            }
            property.isOptional = true
            guard let derived = property as? NSDerivedAttributeDescription else { return property }
            // The backend computes it.
            let plain = NSAttributeDescription(name: derived.name, type: .undefined)
            plain.attributeType = derived.attributeType
            plain.isOptional = true
            return plain
        }
        entity.indexes = entity.indexes.filter { index in !index.elements.contains { removed.contains($0.propertyName ?? "") } }
    }

    /// Adds an inverse to each to-many relationship without one, so that an object can be in the lists of several owners.
    private static func addInverses(_ model: NSManagedObjectModel) {
        for entity in model.entities {
            for case let relationship as NSRelationshipDescription in entity.declaredProperties
            where relationship.isToMany && relationship.storedInverse == nil {
                guard let destination = relationship.destinationEntity else { continue }
                relationship.inverseRelationship = nil
                let inverse = NSRelationshipDescription(
                    name: "cacheOwners\(entity.name ?? "")\(relationship.name)", destination: entity, toMany: true)
                destination.properties = destination.declaredProperties + [inverse]
                relationship.inverse(to: inverse)
            }
        }
    }

    private static func attribute(_ name: String, _ type: NSAttributeType, default value: Any? = nil) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.defaultValue = value
        return attribute
    }

    private static func index(_ entity: NSEntityDescription, _ names: [String]) {
        let byName = Dictionary(entity.declaredProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        entity.indexes += [
            NSFetchIndexDescription(
                name: names.joined(separator: "And"),
                elements: names.compactMap { byName[$0] }.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
        ]
    }

    private static func extend(_ entity: NSEntityDescription, _ names: Names) {
        entity.properties =
            entity.declaredProperties + [
                attribute(names.resource, .stringAttributeType), attribute(names.version, .stringAttributeType),
                attribute(names.fetchedAt, .doubleAttributeType), attribute(names.lastUsed, .doubleAttributeType),
                attribute(names.state, .integer16AttributeType, default: 0), attribute(names.known, .stringAttributeType),
            ]
        index(entity, [names.resource])
    }

    private static func ownEntities(_ names: Names) -> [NSEntityDescription] {
        let coverage = NSEntityDescription(name: names.coverage)
        coverage.properties = [
            attribute("entity", .stringAttributeType), attribute("clauses", .stringAttributeType), attribute("sorts", .stringAttributeType),
            attribute("offset", .integer64AttributeType), attribute("count", .integer64AttributeType),
            attribute("isWhole", .booleanAttributeType), attribute("includesSubentities", .booleanAttributeType),
            attribute("fetchedAt", .doubleAttributeType), attribute("lastUsed", .doubleAttributeType),
            attribute("members", .binaryDataAttributeType), attribute("page", .stringAttributeType),
        ]
        let feed = NSEntityDescription(name: names.feed)
        feed.properties = [attribute("token", .stringAttributeType), attribute("fetchedAt", .doubleAttributeType)]
        let pending = NSEntityDescription(name: names.pending)
        pending.properties = [
            attribute("objectEntity", .stringAttributeType), attribute("objectKey", .integer64AttributeType),
            attribute("sequence", .integer64AttributeType), attribute("state", .integer16AttributeType),
            attribute("body", .binaryDataAttributeType),
        ]
        index(pending, ["objectEntity", "objectKey"])
        let setting = NSEntityDescription(name: names.setting)
        setting.properties = [
            attribute("key", .stringAttributeType), attribute("text", .stringAttributeType), attribute("data", .binaryDataAttributeType),
            attribute("number", .doubleAttributeType),
        ]
        index(setting, ["key"])
        return [coverage, feed, pending, setting]
    }
}
