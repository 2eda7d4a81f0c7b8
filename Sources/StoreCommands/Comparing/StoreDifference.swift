internal import Foundation
internal import ObjectGraph

/// Compares two stores object by object.
///
/// Objects are the same where their URIs end alike (entity and key), or where they have the same values of the attributes that identify them.
package struct StoreDifference {
    /// What differs.
    package struct Line: Sendable {
        package enum Kind: String, Sendable { case added, removed, changed }
        package let kind: Kind
        package let object: String
        /// The properties that differ, with their values in the first store and in the second.
        package let values: [(property: String, first: JSONValue, second: JSONValue)]
    }

    private let first: OpenStore
    private let second: OpenStore
    private let key: String?

    /// - Parameter key: The attribute by which objects are the same; nil for the uniqueness constraint of their entity, or their key in the store.
    package init(_ first: OpenStore, _ second: OpenStore, key: String? = nil) { (self.first, self.second, self.key) = (first, second, key) }

    /// The entities that only one of the stores has.
    package var entitiesInOne: (first: [String], second: [String]) {
        let names = [first, second].map { Set($0.model.entities.compactMap(\.name)) }
        return (names[0].subtracting(names[1]).sorted(), names[1].subtracting(names[0]).sorted())
    }

    /// Calls `body` with each difference, entity by entity.
    ///
    /// - Throws: The errors of reading the stores.
    package func forEach(entity only: String? = nil, _ body: (Line) throws -> Void) throws {
        let names = Set(first.model.entities.compactMap(\.name)).intersection(second.model.entities.compactMap(\.name)).sorted()
        for name in names where only == nil || only == name {
            guard let entity = first.model.entitiesByName[name], let other = second.model.entitiesByName[name], !entity.isAbstract else {
                continue
            }
            try compare(entity, other, body)
        }
    }

    private func compare(_ entity: NSEntityDescription, _ other: NSEntityDescription, _ body: (Line) throws -> Void) throws {
        let name = entity.name ?? ""
        let keys = try identity(entity, other)
        let properties = Self.compared(entity, other)
        // The values of one store are in memory, as digests of their text.
        var known: [String: (object: String, values: [JSONValue])] = [:]
        try Query(QueryText(name, excludesSubentities: true), in: first).forEach { object in
            known[identity(of: object, keys)] = (ValueText.short(object.objectID), properties.map { value(of: object, $0) })
        }
        try Query(QueryText(name, excludesSubentities: true), in: second).forEach { object in
            guard let (_, values) = known.removeValue(forKey: identity(of: object, keys)) else {
                return try body(Line(kind: .added, object: ValueText.short(object.objectID), values: []))
            }
            let others = properties.map { value(of: object, $0) }
            let differing = properties.indices.filter { values[$0] != others[$0] }
            if differing.isEmpty { return }
            try body(
                Line(
                    kind: .changed, object: ValueText.short(object.objectID),
                    values: differing.map { (properties[$0], values[$0], others[$0]) }))
        }
        for (_, value) in known.sorted(by: { $0.value.object.localizedStandardCompare($1.value.object) == .orderedAscending }) {
            try body(Line(kind: .removed, object: value.object, values: []))
        }
    }

    /// The properties that both have: attributes and relationships that are stored.
    private static func compared(_ entity: NSEntityDescription, _ other: NSEntityDescription) -> [String] {
        let names = other.propertiesByName
        return entity.properties.filter { property in
            !property.isTransient && !(property is NSFetchedPropertyDescription) && names[property.name].map { !$0.isTransient } == true
        }.map(\.name).sorted()
    }

    private func identity(_ entity: NSEntityDescription, _ other: NSEntityDescription) throws -> [String] {
        if let key {
            guard entity.attributesByName[key] != nil, other.attributesByName[key] != nil else { return constraint(of: entity, other) }
            return [key]
        }
        return constraint(of: entity, other)
    }

    /// The attributes of a uniqueness constraint, where one of them is not used as the key of the store.
    private func constraint(of entity: NSEntityDescription, _ other: NSEntityDescription) -> [String] {
        // Copies of one store have the same UUID, and their objects the same keys.
        if key == nil, first.store.identifier == second.store.identifier { return [] }
        for constraint in entity.uniquenessConstraints {
            let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
            if !names.isEmpty, names.allSatisfy({ entity.attributesByName[$0] != nil && other.attributesByName[$0] != nil }) {
                return names
            }
        }
        return []
    }

    private func identity(of object: NSManagedObject, _ keys: [String]) -> String {
        if keys.isEmpty { return ValueText.short(object.objectID) }
        return JSONValue.array(keys.map { value(of: object, $0) }).text(indent: false)
    }

    /// Returns a value, in which objects are named as the comparison identifies them.
    private func value(of object: NSManagedObject, _ name: String) -> JSONValue {
        guard let property = object.entity.propertiesByName[name] else { return .null }
        let value = object.value(forKey: name)
        guard let relationship = property as? NSRelationshipDescription else { return ValueText.json(value, property) }
        func named(_ object: NSManagedObject) -> String {
            let other = second.model.entitiesByName[object.entity.name ?? ""] ?? object.entity
            let keys = (try? identity(first.model.entitiesByName[object.entity.name ?? ""] ?? object.entity, other)) ?? []
            return identity(of: object, keys)
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
        return .array((relationship.isOrdered ? names : names.sorted()).map(JSONValue.string))
    }

    // MARK: Writing

    /// Writes the differences, and returns whether there are any.
    package func write(_ format: OutputFormat, entity: String? = nil, to output: any Output) throws -> Bool {
        if let entity { _ = try first.entity(entity) }
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
        try forEach(entity: entity) { line in
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
        let isDifferent = !counts.isEmpty || !ofFirst.isEmpty || !ofSecond.isEmpty
        if format == .json {
            try output.line(isFirst ? "]}" : "\n]}")
        } else {
            let text = [Line.Kind.added, .removed, .changed].compactMap { kind in
                counts[kind].map { "\(DisplayText.grouped($0)) \(kind.rawValue)" }
            }
            try output.line(
                text.isEmpty ? (isDifferent ? "The objects are equal." : "The stores are equal.") : text.joined(separator: ", ") + ".")
        }
        return isDifferent
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
