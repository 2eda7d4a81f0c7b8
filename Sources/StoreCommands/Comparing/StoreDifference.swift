internal import Foundation
internal import ObjectGraph

/// Compares two stores object by object.
///
/// Objects are the same if their URIs have the same end (entity and key), or if they have the same values of the attributes that identify them. Several
/// objects with the same values are matched in the order of their keys.
package struct StoreDifference {
    /// A difference.
    package struct Line: Sendable {
        package enum Kind: String, Sendable { case added, removed, changed }
        package let kind: Kind
        package let object: String
        /// The properties that differ, with their values in both stores.
        package let values: [(property: String, first: JSONValue, second: JSONValue)]
    }

    /// A property of a common entity that only one of the stores has.
    package struct PropertyInOne: Sendable {
        let isInFirst: Bool
        let entity: String
        let property: String
        let isRelationship: Bool
        /// The number of objects that have a value.
        let count: Int
    }

    private let first: OpenStore
    private let second: OpenStore
    private let keys: ObjectKeys
    /// The keys that identify objects of common entities, by the name of the entity.
    private let keysByEntity: [String: [ObjectKeys.Key]]

    /// - Parameter key: The attribute that identifies objects; nil for the uniqueness constraints of their entity, or their key in the store.
    package init(_ first: OpenStore, _ second: OpenStore, key: String? = nil) {
        (self.first, self.second, keys) = (first, second, ObjectKeys(key))
        var found: [String: [ObjectKeys.Key]] = [:]
        // Copies of a store have the same UUID, and their objects have the same keys.
        if key != nil || first.store.identifier != second.store.identifier {
            for (name, entity) in first.model.entitiesByName {
                guard let other = second.model.entitiesByName[name] else { continue }
                found[name] = keys.keys(of: entity).filter { $0.attributes.allSatisfy { ObjectKeys.has(other, $0) } }
            }
        }
        keysByEntity = found
    }

    /// The entities that only one of the stores has.
    package var entitiesInOne: (first: [String], second: [String]) {
        let names = [first, second].map { Set($0.model.entities.compactMap(\.name)) }
        return (names[0].subtracting(names[1]).sorted(), names[1].subtracting(names[0]).sorted())
    }

    /// Calls `body` with each difference, entity by entity.
    ///
    /// - Returns: The properties that only one of the stores has.
    /// - Throws: The errors of reading the stores, and an error for a key that no entity has.
    package func forEach(entity only: String? = nil, _ body: (Line) throws -> Void) throws -> [PropertyInOne] {
        try compared(only).filter { !$0.isAbstract || !$1.isAbstract }.flatMap { try compare($0, $1, body) }
    }

    /// Returns the entities that both stores have, or one of them.
    ///
    /// - Throws: An error for a key that none of them has.
    private func compared(_ only: String?) throws -> [(first: NSEntityDescription, second: NSEntityDescription)] {
        let names = Set(first.model.entities.compactMap(\.name)).intersection(second.model.entities.compactMap(\.name)).sorted()
        let entities = names.filter { only == nil || only == $0 }.compactMap { name in
            first.model.entitiesByName[name].flatMap { entity in
                second.model.entitiesByName[name].map { (first: entity, second: $0) }
            }
        }
        try keys.require(in: entities.map(\.first), "The stores are not compared") { entity in
            guard let other = second.model.entitiesByName[entity.name ?? ""] else { return [] }
            return entity.attributesByName.keys.filter { ObjectKeys.has(entity, $0) && ObjectKeys.has(other, $0) }
        }
        return entities
    }

    private func compare(
        _ entity: NSEntityDescription, _ other: NSEntityDescription, _ body: (Line) throws -> Void
    ) throws -> [PropertyInOne] {
        let name = entity.name ?? ""
        let (properties, others) = (Self.stored(entity), Self.stored(other))
        let common = properties.filter { others.keys.contains($0.key) }.keys.sorted()
        var (ofFirst, ofSecond) = (OneSide(properties, others), OneSide(others, properties))
        // The values of one of the stores are in memory.
        var known: [Place: (object: String, values: [JSONValue])] = [:]
        var places = Places()
        try Query(QueryText(name, excludesSubentities: true), in: first).forEach { object in
            ofFirst.count(object)
            known[places.next(identity(of: object))] = (ValueText.short(object.objectID), common.map { value(of: object, $0) })
        }
        places = Places()
        try Query(QueryText(name, excludesSubentities: true), in: second).forEach { object in
            ofSecond.count(object)
            guard let (_, values) = known.removeValue(forKey: places.next(identity(of: object))) else {
                return try body(Line(kind: .added, object: ValueText.short(object.objectID), values: []))
            }
            let others = common.map { value(of: object, $0) }
            let differing = common.indices.filter { values[$0] != others[$0] }
            if differing.isEmpty { return }
            try body(
                Line(
                    kind: .changed, object: ValueText.short(object.objectID),
                    values: differing.map { (common[$0], values[$0], others[$0]) }))
        }
        for (_, value) in known.sorted(by: { $0.value.object.localizedStandardCompare($1.value.object) == .orderedAscending }) {
            try body(Line(kind: .removed, object: value.object, values: []))
        }
        return [(true, ofFirst), (false, ofSecond)].flatMap { isInFirst, side in
            side.counts.sorted { $0.key < $1.key }.map { property, count in
                let isRelationship = side.properties[property] is NSRelationshipDescription
                return PropertyInOne(isInFirst: isInFirst, entity: name, property: property, isRelationship: isRelationship, count: count)
            }
        }
    }

    /// Returns the stored attributes and relationships of an entity.
    private static func stored(_ entity: NSEntityDescription) -> [String: NSPropertyDescription] {
        entity.propertiesByName.filter { !$0.value.isTransient && !($0.value is NSFetchedPropertyDescription) }
    }

    /// The properties of an entity that only one of the stores has, with the number of objects that have a value.
    private struct OneSide {
        let properties: [String: NSPropertyDescription]
        private(set) var counts: [String: Int]

        init(_ own: [String: NSPropertyDescription], _ others: [String: NSPropertyDescription]) {
            properties = own.filter { !others.keys.contains($0.key) }
            counts = properties.mapValues { _ in 0 }
        }

        mutating func count(_ object: NSManagedObject) {
            for (name, property) in properties {
                let value = ValueText.json(object.value(forKey: name), property)
                if value != .null, value != .array([]) { counts[name, default: 0] += 1 }
            }
        }
    }

    // MARK: Identities

    /// The index of an object among those with the same identity.
    private struct Place: Hashable {
        let identity: JSONValue
        let number: Int
    }

    /// Assigns indices to the objects of a store.
    private struct Places {
        private var counts: [JSONValue: Int] = [:]

        mutating func next(_ identity: JSONValue) -> Place {
            let number = counts[identity, default: 0]
            counts[identity] = number + 1
            return Place(identity: identity, number: number)
        }
    }

    /// Returns the values of the first key for which an object has all values, or otherwise its key in the store.
    private func identity(of object: NSManagedObject) -> JSONValue {
        for (index, key) in (keysByEntity[object.entity.name ?? ""] ?? []).enumerated() {
            guard let values = ObjectKeys.values(of: key, object.entity, { object.value(forKey: $0.name) }) else { continue }
            // Values of a key other than the first include the attributes' names, so that they never equal values of the first.
            return index == 0 ? .array(values) : .object(zip(key.attributes, values).map { .init(name: $0, value: $1) })
        }
        return .string(ValueText.short(object.objectID))
    }

    /// Returns a value in which objects have the names by which the comparison identifies them.
    private func value(of object: NSManagedObject, _ name: String) -> JSONValue {
        guard let property = object.entity.propertiesByName[name] else { return .null }
        let value = object.value(forKey: name)
        guard let relationship = property as? NSRelationshipDescription else { return ValueText.json(value, property) }
        func named(_ object: NSManagedObject) -> String {
            let identity = identity(of: object)
            if case .string(let text) = identity { return text }
            return identity.text(indent: false)
        }
        if !relationship.isToMany { return (value as? NSManagedObject).map { .string(named($0)) } ?? .null }
        let objects: [NSManagedObject] =
            switch value {
            case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
            case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
            case let set as Set<NSManagedObject>: Array(set)
            default: []
            }
        let names = objects.map(named)
        // Sorted by their bytes, which distinguish them.
        let sorted = relationship.isOrdered ? names : names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return .array(sorted.map(JSONValue.string))
    }

    // MARK: Writing

    /// Writes the differences. Returns whether there are any.
    package func write(_ format: OutputFormat, entity: String? = nil, to output: any Output) throws -> Bool {
        if let entity { _ = try first.entity(entity) }
        // If the key is wrong, nothing is written.
        _ = try compared(entity)
        let (ofFirst, ofSecond) = entitiesInOne
        var counts: [Line.Kind: Int] = [:]
        var isFirst = true
        if format == .json {
            let names = [ofFirst, ofSecond].map { JSONValue.array($0.map(JSONValue.string)).text(indent: false) }
            try output.write("{\"entitiesOnlyInFirst\": \(names[0]), \"entitiesOnlyInSecond\": \(names[1]), \"objects\": [")
        } else {
            for name in ofFirst { try output.line("Only the first store has the entity \(DisplayText.line(name)).") }
            for name in ofSecond { try output.line("Only the second store has the entity \(DisplayText.line(name)).") }
        }
        let properties = try forEach(entity: entity) { line in
            counts[line.kind, default: 0] += 1
            if format == .json {
                try output.write((isFirst ? "\n" : ",\n") + Self.json(line).text(indent: false))
                isFirst = false
                return
            }
            let sign = line.kind == .added ? "+" : line.kind == .removed ? "-" : "~"
            try output.line("\(sign) \(DisplayText.line(line.object))")
            for (property, first, second) in line.values {
                let texts = [first, second].map { DisplayText.cut(DisplayText.line($0.text(indent: false)), to: 200) }
                try output.line("    \(DisplayText.line(property)): \(texts[0]) → \(texts[1])")
            }
        }
        let isDifferent = !counts.isEmpty || !ofFirst.isEmpty || !ofSecond.isEmpty || properties.contains { $0.count > 0 }
        if format == .json {
            let lists = [true, false].map { isInFirst in
                JSONValue.array(properties.filter { $0.isInFirst == isInFirst }.map(Self.json)).text(indent: false)
            }
            try output.line(
                (isFirst ? "]" : "\n]") + ", \"propertiesOnlyInFirst\": \(lists[0]), \"propertiesOnlyInSecond\": \(lists[1])}")
        } else {
            for property in properties.filter(\.isInFirst) + properties.filter({ !$0.isInFirst }) { try output.line(Self.text(property)) }
            let text = [Line.Kind.added, .removed, .changed].compactMap { kind in
                counts[kind].map { "\(DisplayText.grouped($0)) \(kind.rawValue)" }
            }
            try output.line(
                !text.isEmpty
                    ? text.joined(separator: ", ") + "." : isDifferent ? "What both stores have is equal." : "The stores are equal.")
        }
        return isDifferent
    }

    private static func text(_ property: PropertyInOne) -> String {
        let name = DisplayText.line("\(property.entity).\(property.property)")
        let values = property.count == 0 ? "without values" : "with values in \(DisplayText.counted(property.count, "object"))"
        return "Only the \(property.isInFirst ? "first" : "second") store has the "
            + "\(property.isRelationship ? "relationship" : "attribute") \(name), \(values)."
    }

    private static func json(_ property: PropertyInOne) -> JSONValue {
        .members([
            "entity": .string(property.entity), "property": .string(property.property), "count": .count(property.count),
        ])
    }

    private static func json(_ line: Line) -> JSONValue {
        .members([
            "change": .string(line.kind.rawValue), "object": .string(line.object),
            "values": line.values.isEmpty
                ? nil
                : .object(line.values.map { .init(name: $0.property, value: .members(["first": $0.first, "second": $0.second])) }),
        ])
    }
}
