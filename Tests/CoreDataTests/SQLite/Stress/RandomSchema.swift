import CoreData
import Foundation
import RandomPrograms
import TestSupport

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Makes models that nobody would draw: names that collide in tables and columns, every type, relationships of every kind. Equal seeds make
/// equal models.
struct RandomSchema {
    private static let entityNames = ["Album", "ALBUM", "album1", "Select", "Order", "Straße", "Zed", "PrimaryKey", "X", "Name"]
    private static let attributeNames = [
        "text", "Text", "text1", "name", "value", "pk", "ent", "opt", "id1", "index", "group", "where", "größe", "other", "one",
    ]
    private static let relationshipNames = [
        "parts", "Parts", "owner", "items", "items1", "friends", "next", "text2", "group2", "fok", "parts1",
    ]
    private static let types: [NSAttributeType] = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType, .doubleAttributeType,
        .floatAttributeType, .decimalAttributeType, .stringAttributeType, .stringAttributeType, .dateAttributeType,
        .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType, .transformableAttributeType,
    ]

    private var random: SeededGenerator
    private var entities: [NSEntityDescription] = []

    static func model(seed: UInt64) -> NSManagedObjectModel {
        var schema = RandomSchema(random: SeededGenerator(seed: seed))
        schema.makeEntities()
        for entity in schema.entities { schema.addAttributes(to: entity) }
        for _ in 0..<Int.random(in: 0...9, using: &schema.random) { schema.addRelationship() }
        return NSManagedObjectModel(entities: schema.entities)
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func makeEntities() {
        let names = Self.entityNames.shuffled(using: &random).prefix(Int.random(in: 1...6, using: &random))
        for name in names {
            let entity = NSEntityDescription(name: name)
            if let parent = entities.randomElement(using: &random), chance(2) {
                parent.subentities.append(entity)
                parent.isAbstract = chance(3)
            }
            entities.append(entity)
        }
    }

    /// A name that neither the entity nor any above or below it has.
    private mutating func free(_ names: [String], in entity: NSEntityDescription) -> String? {
        var related = entity.subentities
        while let next = related.first(where: { sub in !sub.subentities.allSatisfy { entity in related.contains { $0 === entity } } }) {
            related += next.subentities.filter { sub in !related.contains { $0 === sub } }
        }
        related.append(entity)
        var parent = entity.superentity
        while let next = parent {
            related.append(next)
            parent = next.superentity
        }
        let taken = Set(related.flatMap(\.declaredProperties).map(\.name))
        return names.filter { !taken.contains($0) }.randomElement(using: &random)
    }

    private mutating func addAttributes(to entity: NSEntityDescription) {
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            guard let name = free(Self.attributeNames, in: entity) else { return }
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = Self.types.randomElement(using: &random)!
            attribute.isOptional = true
            attribute.isTransient = chance(12)
            if attribute.attributeType == .binaryDataAttributeType { attribute.allowsExternalBinaryDataStorage = chance(2) }
            entity.properties.append(attribute)
            if entity.superentity == nil, attribute.attributeType == .stringAttributeType, !attribute.isTransient, chance(4) {
                entity.uniquenessConstraints = [[name]]
            } else if !attribute.isTransient, attribute.attributeType != .transformableAttributeType, chance(4) {
                let element = NSFetchIndexElementDescription(property: attribute, collationType: .binary)
                element.isAscending = chance(2)
                entity.indexes.append(NSFetchIndexDescription(name: "by" + name, elements: [element]))
            }
        }
    }

    private mutating func addRelationship() {
        let (source, destination) = (entities.randomElement(using: &random)!, entities.randomElement(using: &random)!)
        guard let name = free(Self.relationshipNames, in: source) else { return }
        let isToMany = chance(2)
        let relationship = NSRelationshipDescription(
            name: name, destination: destination, toMany: isToMany, isOrdered: isToMany && chance(3))
        source.properties.append(relationship)
        // One way, its own inverse, or with another one.
        if chance(5) { return }
        if source === destination, !relationship.isOrdered, chance(4) { return relationship.inverse(to: relationship) }
        guard let back = free(Self.relationshipNames, in: destination) else { return }
        let isBackToMany = chance(2)
        let inverse = NSRelationshipDescription(
            name: back, destination: source, toMany: isBackToMany, isOrdered: isBackToMany && chance(3))
        destination.properties.append(inverse)
        relationship.inverse(to: inverse)
        if chance(3) { relationship.deleteRule = .cascadeDeleteRule }
    }
}
