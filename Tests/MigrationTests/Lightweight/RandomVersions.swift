import CoreData
import Foundation
import TestSupport

/// Makes random versions of models, random edits that Core Data infers, and random objects.
struct RandomVersions {
    var generator: SeededGenerator
    private var count = 0

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
    private mutating func name(_ prefix: String) -> String {
        count += 1
        return "\(prefix)\(count)"
    }

    static let types: [NSAttributeDescription.AttributeType] = [
        .integer16, .integer32, .integer64, .double, .boolean, .string, .date, .binaryData, .decimal,
    ]

    private mutating func attribute(required: Bool) -> PlainVersion.Attribute {
        var attribute = PlainVersion.Attribute(name: name("a"), type: Self.types.randomElement(using: &generator)!)
        if required || chance(30) { attribute.defaultValue = value(attribute.type) }
        attribute.isOptional = !required
        attribute.isExternal = attribute.type == .binaryData && chance(50)
        return attribute
    }

    mutating func value(_ type: NSAttributeDescription.AttributeType) -> Any {
        switch type {
        case .integer16, .integer32, .integer64: Int16.random(in: -100...100, using: &generator)
        case .double: Double(Int.random(in: -99...99, using: &generator)) / 4
        case .boolean: Bool.random(using: &generator)
        case .date: Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0...9999, using: &generator)))
        case .binaryData: Data(repeating: UInt8.random(in: 0...255, using: &generator), count: chance(10) ? 150_000 : 9)
        case .decimal: Decimal(Int.random(in: 0...999, using: &generator)) / 4
        default: "it's \(Int.random(in: 0...999, using: &generator))"
        }
    }

    mutating func version() -> PlainVersion {
        var version = PlainVersion()
        for index in 0..<Int.random(in: 1...5, using: &generator) {
            var entity = PlainVersion.Entity(name: name("E"))
            if index > 0, chance(50) { entity.parent = version.entities.randomElement(using: &generator)!.name }
            for _ in 0..<Int.random(in: 1...4, using: &generator) { entity.attributes.append(attribute(required: chance(20))) }
            // Columns of siblings may want one name.
            if !version.line(entity.parent ?? entity.name, orNone: true).contains(where: { $0.attributes.contains { $0.name == "text" } }),
                chance(40)
            {
                entity.attributes.append(.init(name: "text", type: .string))
            }
            version.entities.append(entity)
        }
        for _ in 0..<Int.random(in: 0...5, using: &generator) { relate(&version) }
        return version
    }

    private mutating func relate(_ version: inout PlainVersion) {
        let (owner, destination) = (
            version.entities.randomElement(using: &generator)!.name, version.entities.randomElement(using: &generator)!.name
        )
        var own = PlainVersion.Relationship(
            name: name("r"), destination: destination, isToMany: chance(60), isOrdered: false, inverse: nil)
        own.isOrdered = own.isToMany && chance(40)
        if chance(80) {
            var inverse = PlainVersion.Relationship(
                name: name("r"), destination: owner, isToMany: chance(50), isOrdered: false, inverse: own.name)
            inverse.isOrdered = inverse.isToMany && chance(30)
            own.inverse = inverse.name
            version[destination].relationships.append(inverse)
        }
        version[owner].relationships.append(own)
    }

    // MARK: Edits

    /// Edits a version as often as is asked, and returns what was done.
    mutating func edit(_ version: inout PlainVersion, _ times: Int) -> [String] {
        var done: [String] = []
        for _ in 0..<times { done.append(editOnce(&version)) }
        return done
    }

    private mutating func editOnce(_ version: inout PlainVersion) -> String {
        let entity = version.entities.randomElement(using: &generator)!.name
        let place = version[entity].attributes.indices.randomElement(using: &generator)
        let link = version[entity].relationships.indices.randomElement(using: &generator)
        switch Int.random(in: 0..<17, using: &generator) {
        case 0: return rename(entity, &version)
        case 1:
            guard let place else { return "-" }
            version[entity].attributes[place].name = name("a")
            return "attribute of \(entity) renamed"
        case 2:
            version[entity].attributes.append(attribute(required: chance(40)))
            return "attribute of \(entity) added"
        case 3:
            guard let place else { return "-" }
            let gone = version[entity].attributes.remove(at: place)
            return "\(entity).\(gone.name) removed"
        case 4:
            guard let place else { return "-" }
            let attribute = version[entity].attributes[place]
            version[entity].attributes[place].isOptional.toggle()
            if attribute.isOptional { version[entity].attributes[place].defaultValue = value(attribute.type) }
            return "\(entity).\(attribute.name) changes whether it is optional"
        case 5:
            guard let place else { return "-" }
            let wider: [NSAttributeDescription.AttributeType: NSAttributeDescription.AttributeType] = [
                .integer16: .integer32, .integer32: .double, .integer64: .decimal, .boolean: .integer16, .double: .decimal,
            ]
            guard let type = wider[version[entity].attributes[place].type] else { return "-" }
            version[entity].attributes[place].type = type
            let known = version[entity].attributes[place].defaultValue
            if known != nil { version[entity].attributes[place].defaultValue = value(type) }
            return "\(entity).\(version[entity].attributes[place].name) gets a wider type"
        case 6:
            guard let link else { return "-" }
            let old = version[entity].relationships[link]
            let new = name("r")
            version[entity].relationships[link].name = new
            if old.inverse != nil { setInverse(of: old, to: new, &version) }
            return "\(entity).\(old.name) renamed \(new)"
        case 7:
            // Without an inverse, several owners cannot have an object in common.
            guard let link, !version[entity].relationships[link].isToMany, version[entity].relationships[link].inverse != nil else {
                return "-"
            }
            version[entity].relationships[link].isToMany = true
            return "\(entity).\(version[entity].relationships[link].name) becomes to-many"
        case 8:
            guard let link, version[entity].relationships[link].isToMany else { return "-" }
            version[entity].relationships[link].isOrdered.toggle()
            return "\(entity).\(version[entity].relationships[link].name) changes whether it is ordered"
        case 9:
            guard let link else { return "-" }
            let gone = version[entity].relationships.remove(at: link)
            if gone.inverse != nil { version[gone.destination].relationships.removeAll { $0.inverse == gone.name } }
            return "\(entity).\(gone.name) removed"
        case 10:
            relate(&version)
            return "relationship added"
        case 11: return remove(entity, &version)
        case 12:
            var new = PlainVersion.Entity(name: name("E"))
            new.attributes = [attribute(required: false)]
            if chance(60) { new.parent = entity }
            version.entities.append(new)
            return "\(new.name) added below \(new.parent ?? "none")"
        case 13:
            var new = PlainVersion.Entity(name: name("E"), parent: version[entity].parent)
            new.attributes = [attribute(required: true)]
            version[entity].parent = new.name
            version.entities.append(new)
            return "\(new.name) added above \(entity)"
        case 14, 15:
            guard let link else { return "-" }
            return lead(entity, link, to: version.entities.randomElement(using: &generator)!.name, &version)
        default:
            guard let place, let parent = version[entity].parent, version[entity].attributes[place].name != "text" else { return "-" }
            var moved = version[entity].attributes.remove(at: place)
            if !moved.isOptional, moved.defaultValue == nil { moved.defaultValue = value(moved.type) }
            version[parent].attributes.append(moved)
            return "\(entity).\(moved.name) moved up to \(parent)"
        }
    }

    /// Makes a relationship lead to another entity, which gets the inverse.
    private func lead(_ entity: String, _ link: Int, to destination: String, _ version: inout PlainVersion) -> String {
        let relationship = version[entity].relationships[link]
        if relationship.inverse != nil {
            let place = version[relationship.destination].relationships.firstIndex { $0.inverse == relationship.name }
            guard let place, relationship.destination != entity else { return "-" }
            let inverse = version[relationship.destination].relationships.remove(at: place)
            version[destination].relationships.append(inverse)
        }
        let again = version[entity].relationships.firstIndex { $0.name == relationship.name }!
        version[entity].relationships[again].destination = destination
        return "\(entity).\(relationship.name) leads to \(destination) instead of \(relationship.destination)"
    }

    private func setInverse(of relationship: PlainVersion.Relationship, to name: String, _ version: inout PlainVersion) {
        for index in version[relationship.destination].relationships.indices
        where version[relationship.destination].relationships[index].inverse == relationship.name {
            version[relationship.destination].relationships[index].inverse = name
        }
    }

    private mutating func rename(_ entity: String, _ version: inout PlainVersion) -> String {
        let new = name("E")
        version[entity].name = new
        for index in version.entities.indices {
            if version.entities[index].parent == entity { version.entities[index].parent = new }
            for place in version.entities[index].relationships.indices
            where version.entities[index].relationships[place].destination == entity {
                version.entities[index].relationships[place].destination = new
            }
        }
        return "\(entity) renamed \(new)"
    }

    /// Removes an entity without children that no relationship leads to but with an inverse.
    private mutating func remove(_ entity: String, _ version: inout PlainVersion) -> String {
        guard version.entities.count > 1, !version.entities.contains(where: { $0.parent == entity }) else { return "-" }
        version.entities.removeAll { $0.name == entity }
        for index in version.entities.indices { version.entities[index].relationships.removeAll { $0.destination == entity } }
        // Relationships whose inverse is gone go too.
        for index in version.entities.indices {
            let all = Set(version.entities.flatMap { $0.relationships.map(\.name) })
            version.entities[index].relationships.removeAll { $0.inverse.map { !all.contains($0) } ?? false }
        }
        return "\(entity) removed"
    }

    // MARK: Objects

    mutating func fill(_ context: NSManagedObjectContext, _ version: PlainVersion) throws {
        var objects: [String: [NSManagedObject]] = [:]
        for entity in version.entities {
            for _ in 0..<Int.random(in: 0...7, using: &generator) {
                let object = context.make(entity.name)
                for attribute in version.attributes(entity.name) where !attribute.isOptional || chance(80) {
                    object.setValue(value(attribute.type), forKey: attribute.name)
                }
                objects[entity.name, default: []].append(object)
            }
        }
        for entity in version.entities {
            for object in objects[entity.name] ?? [] {
                for relationship in version.relationships(entity.name) where chance(70) {
                    let others = version.kinds(relationship.destination).sorted().flatMap { objects[$0] ?? [] }
                    guard let one = others.randomElement(using: &generator) else { continue }
                    if !relationship.isToMany {
                        object.setValue(one, forKey: relationship.name)
                    } else {
                        var some = Array(others.shuffled(using: &generator).prefix(4))
                        // An object is in one to-many relationship without an inverse at a time.
                        if relationship.inverse == nil { some = [one] }
                        object.setValue(
                            relationship.isOrdered ? NSOrderedSet(array: some) as Any : Set(some) as Any, forKey: relationship.name)
                    }
                }
            }
        }
        try context.save()
    }
}

extension PlainVersion {
    fileprivate func line(_ name: String, orNone: Bool) -> [Entity] { entities.contains { $0.name == name } ? line(name) : [] }
}
