import CoreData
import Foundation

/// A version of a model as plain values, with what each part was called in the version before.
struct PlainVersion {
    struct Attribute {
        var name: String
        /// The name in the version before; nil for a new one.
        var origin: String?
        var type: NSAttributeDescription.AttributeType
        var isOptional = true
        var defaultValue: Any?
        var isExternal = false
    }

    struct Relationship {
        var name: String
        var origin: String?
        var destination: String
        var isToMany: Bool
        var isOrdered: Bool
        /// The name of the inverse, which the destination declares; nil for none.
        var inverse: String?
    }

    struct Entity {
        var name: String
        var origin: String?
        var parent: String?
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
    }

    var entities: [Entity] = []

    subscript(name: String) -> Entity {
        get { entities.first { $0.name == name }! }
        set { entities[entities.firstIndex { $0.name == name }!] = newValue }
    }

    func line(_ name: String) -> [Entity] {
        let entity = self[name]
        return (entity.parent.map(line) ?? []) + [entity]
    }
    func attributes(_ name: String) -> [Attribute] { line(name).flatMap(\.attributes) }
    func relationships(_ name: String) -> [Relationship] { line(name).flatMap(\.relationships) }
    func kinds(_ name: String) -> Set<String> {
        entities.filter { $0.parent == name }.reduce(into: [name]) { $0.formUnion(kinds($1.name)) }
    }
    func root(_ name: String) -> String { line(name)[0].name }

    /// The model. Its renaming identifiers tell what is called otherwise than before.
    func model() -> NSManagedObjectModel {
        var made: [String: NSEntityDescription] = [:]
        for entity in entities {
            made[entity.name] = Version.entity(entity.name, was: entity.origin.flatMap { $0 == entity.name ? nil : $0 })
        }
        for entity in entities {
            let properties: [NSPropertyDescription] =
                entity.attributes.map { attribute in
                    let made = Version.attribute(
                        attribute.name, attribute.type, was: attribute.origin.flatMap { $0 == attribute.name ? nil : $0 },
                        isOptional: attribute.isOptional, defaultValue: attribute.defaultValue)
                    made.allowsExternalBinaryDataStorage = attribute.isExternal
                    return made
                }
                + entity.relationships.map { relationship in
                    let made = NSRelationshipDescription(
                        name: relationship.name, destination: made[relationship.destination]!, toMany: relationship.isToMany,
                        isOrdered: relationship.isOrdered)
                    made.renamingIdentifier = relationship.origin.flatMap { $0 == relationship.name ? nil : $0 }
                    return made
                }
            made[entity.name]!.properties = properties
            made[entity.name]!.subentities = entities.filter { $0.parent == entity.name }.map { made[$0.name]! }
        }
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = relationship.inverse else { continue }
                let own = made[entity.name]!.declaredProperties.first { $0.name == relationship.name } as! NSRelationshipDescription
                own.inverseRelationship =
                    made[relationship.destination]!.declaredProperties.first { $0.name == inverse } as? NSRelationshipDescription
            }
        }
        return NSManagedObjectModel(entities: entities.map { made[$0.name]! })
    }

    /// The version as the one before of another: everything is called as it is.
    var asOrigin: PlainVersion {
        var version = self
        for index in version.entities.indices {
            version.entities[index].origin = version.entities[index].name
            for place in version.entities[index].attributes.indices {
                version.entities[index].attributes[place].origin = version.entities[index].attributes[place].name
            }
            for place in version.entities[index].relationships.indices {
                version.entities[index].relationships[place].origin = version.entities[index].relationships[place].name
            }
        }
        return version
    }
}

/// The objects of a store as plain values.
struct PlainGraph {
    struct Object {
        let entity: String
        var values: [String: String] = [:]
        /// The keys of related objects: one list for every relationship, in order where it is ordered.
        var related: [String: [String]] = [:]
    }
    /// The objects by key: the number of a row with the name of the root entity in the version before.
    var objects: [String: Object] = [:]

    /// Reads all objects of a store.
    ///
    /// - Parameter root: Returns the name of the root entity in keys.
    init(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel, root: (String) -> String) throws {
        func key(_ object: NSManagedObject) -> String {
            "\(root(object.entity.name ?? "")) \(object.objectID.uriRepresentation().lastPathComponent)"
        }
        for entity in model.entities where entity.superentity == nil {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")) {
                var plain = Object(entity: object.entity.name ?? "")
                for property in object.entity.properties where !property.isTransient {
                    if property is NSAttributeDescription {
                        plain.values[property.name] = Self.text(object.value(forKey: property.name))
                    } else if let relationship = property as? NSRelationshipDescription {
                        let related: [NSManagedObject] =
                            switch object.value(forKey: relationship.name) {
                            case let one as NSManagedObject: [one]
                            case let many as Set<NSManagedObject>: Array(many)
                            case let many as NSOrderedSet: many.array.compactMap { $0 as? NSManagedObject }
                            default: []
                            }
                        let keys = related.map(key)
                        plain.related[relationship.name] = relationship.isOrdered && relationship.isToMany ? keys : keys.sorted()
                    }
                }
                objects[key(object)] = plain
            }
        }
    }

    init() {}

    /// A value as text; numbers as floating-point numbers, whatever their type.
    static func text(_ value: Any?) -> String {
        switch value {
        case nil: "nil"
        case let flag as Bool: "\(flag ? 1.0 : 0.0)"
        case let number as Decimal: "\(Double("\(number)") ?? 0)"
        case let number as any BinaryInteger: "\(Double(number))"
        case let number as Double: "\(number)"
        case let number as Float: "\(Double(number))"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let data as Data: "\(data.count) bytes \(data.reduce(0) { ($0 &* 31) &+ Int($1) })"
        case let number as NSNumber: "\(number.doubleValue)"
        case let value?: "\(value)"
        }
    }
}

/// The graph that a migration is to make of another, by the plain versions.
func expectedGraph(_ old: PlainGraph, _ before: PlainVersion, _ after: PlainVersion) -> PlainGraph {
    let successors = Dictionary(
        after.entities.compactMap { entity in entity.origin.map { ($0, entity.name) } }, uniquingKeysWith: { first, _ in first })
    var new = PlainGraph()
    for (key, object) in old.objects {
        guard let name = successors[object.entity] else { continue }
        var made = PlainGraph.Object(entity: name)
        let known = before.attributes(object.entity)
        for attribute in after.attributes(name) {
            let fallback = attribute.defaultValue.map { PlainGraph.text($0) } ?? "nil"
            let source = known.first { $0.name == attribute.origin }
            var value = source.map { object.values[$0.name] ?? "nil" } ?? fallback
            if value == "nil", !attribute.isOptional { value = fallback }
            made.values[attribute.name] = value
        }
        let links = before.relationships(object.entity)
        for relationship in after.relationships(name) {
            let source = links.first { $0.name == relationship.origin }
            // Objects that are not of the destination any more are left out.
            let kinds = after.kinds(relationship.destination)
            let kept = (source.map { object.related[$0.name] ?? [] } ?? []).filter {
                old.objects[$0].map { successors[$0.entity].map(kinds.contains) ?? false } ?? false
            }
            let wasOrdered = (source?.isOrdered ?? false) && (source?.isToMany ?? false)
            if relationship.isToMany, relationship.isOrdered {
                // What was not in order is in the order of keys.
                made.related[relationship.name] = wasOrdered || !(source?.isToMany ?? false) ? kept : ["any order"] + kept.sorted()
            } else {
                made.related[relationship.name] = kept.sorted()
            }
        }
        new.objects[key] = made
    }
    return new
}

/// Returns how two graphs differ, in sentences.
func differences(_ found: PlainGraph, _ expected: PlainGraph) -> [String] {
    var lines: [String] = []
    for key in Set(found.objects.keys).union(expected.objects.keys).sorted() {
        guard let one = found.objects[key], let other = expected.objects[key] else {
            lines.append("\(key) is only \(found.objects[key] == nil ? "expected" : "found")")
            continue
        }
        if one.entity != other.entity { lines.append("\(key) is of \(one.entity), not of \(other.entity)") }
        for (name, value) in other.values where one.values[name] != value {
            lines.append("\(key) \(one.entity).\(name): \(one.values[name] ?? "-") instead of \(value)")
        }
        for (name, related) in other.related {
            let has = one.related[name] ?? []
            let isSame = related.first == "any order" ? has.sorted() == Array(related.dropFirst()) : has == related
            if !isSame { lines.append("\(key) \(one.entity).\(name): \(has) instead of \(related)") }
        }
    }
    return lines
}
