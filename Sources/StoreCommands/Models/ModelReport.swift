internal import Foundation
package import ObjectGraph
internal import Predicates
internal import PropertyLists

/// Shows the entities of a model and their properties.
package struct ModelReport {
    private let model: NSManagedObjectModel
    private let entities: [NSEntityDescription]

    /// - Parameter entity: The entity to show; nil for all.
    package init(_ model: NSManagedObjectModel, entity: String? = nil) throws {
        self.model = model
        let all = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        entities = entity.map { name in all.filter { $0.name == name } } ?? all
        if let entity, entities.isEmpty {
            throw CommandError.make(
                "The model has no entity “\(entity)”.", next: "It has: \(all.compactMap(\.name).joined(separator: ", ")).")
        }
    }

    // MARK: Facts

    /// Returns the name of an attribute's type.
    package static func type(of attribute: NSAttributeDescription) -> String {
        switch attribute.attributeType {
        case .undefinedAttributeType: "undefined"
        case .integer16AttributeType: "integer 16"
        case .integer32AttributeType: "integer 32"
        case .integer64AttributeType: "integer 64"
        case .decimalAttributeType: "decimal"
        case .doubleAttributeType: "double"
        case .floatAttributeType: "float"
        case .stringAttributeType: "string"
        case .booleanAttributeType: "Boolean"
        case .dateAttributeType: "date"
        case .binaryDataAttributeType: "binary data"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URI"
        case .transformableAttributeType: "transformable"
        case .objectIDAttributeType: "object ID"
        case .compositeAttributeType: "composite"
        }
    }

    private static func details(_ attribute: NSAttributeDescription) -> [String] {
        var details: [String] = []
        if !attribute.isOptional { details.append("required") }
        if attribute.isTransient { details.append("transient") }
        if let value = attribute.defaultValue { details.append("default \(value is Date ? DateText.text(value as! Date) : "\(value)")") }
        if let derived = attribute as? NSDerivedAttributeDescription, let expression = derived.derivationExpression {
            details.append("derived from \(expression)")
        }
        if attribute.allowsExternalBinaryDataStorage { details.append("large values in files") }
        if let name = attribute.valueTransformerName, !name.isEmpty { details.append("transformer \(name)") }
        return details + attribute.validationPredicates.map { ($0 as any CustomStringConvertible).description }
    }

    private static func details(_ relationship: NSRelationshipDescription) -> [String] {
        var details: [String] = []
        if let inverse = relationship.inverseRelationship {
            details.append("inverse \(inverse.name)")
        } else {
            details.append("no inverse")
        }
        if !relationship.isOptional { details.append("required") }
        if relationship.isOrdered { details.append("ordered") }
        if relationship.isTransient { details.append("transient") }
        if relationship.isToMany, relationship.minCount > 0 || relationship.maxCount > 0 {
            details.append("\(relationship.minCount)…\(relationship.maxCount == 0 ? "∞" : "\(relationship.maxCount)")")
        }
        switch relationship.deleteRule {
        case .cascadeDeleteRule: details.append("delete cascades")
        case .denyDeleteRule: details.append("delete denied")
        case .noActionDeleteRule: details.append("delete does nothing")
        case .nullifyDeleteRule: break
        }
        return details
    }

    private static func unique(_ entity: NSEntityDescription) -> [[String]] {
        entity.uniquenessConstraints.map { $0.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name } }
    }

    /// Returns the entity's own properties in the order of their names, attributes first.
    static func own(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        func place(_ property: NSPropertyDescription) -> Int {
            property is NSAttributeDescription ? 0 : property is NSRelationshipDescription ? 1 : 2
        }
        return entity.properties.filter { $0.entity === entity }.sorted { (place($0), $0.name) < (place($1), $1.name) }
    }

    // MARK: Writing

    package func json() -> JSONValue {
        .members([
            "identifiers": .array(model.versionIdentifiers.map { "\($0.base)" }.sorted().map(JSONValue.string)),
            "entities": .array(
                entities.map { entity in
                    .members([
                        "name": .string(entity.name ?? ""), "parent": entity.superentity?.name.map(JSONValue.string),
                        "abstract": .bool(entity.isAbstract), "class": .string(entity.managedObjectClassName ?? "NSManagedObject"),
                        "versionHash": .string(entity.versionHash.base64EncodedString()),
                        "unique": .array(Self.unique(entity).map { .array($0.map(JSONValue.string)) }),
                        "properties": .array(Self.own(entity).map(Self.json)),
                    ])
                }),
        ])
    }

    private static func json(_ property: NSPropertyDescription) -> JSONValue {
        if let attribute = property as? NSAttributeDescription {
            return .members([
                "name": .string(attribute.name), "kind": .string("attribute"), "type": .string(type(of: attribute)),
                "optional": .bool(attribute.isOptional), "transient": .bool(attribute.isTransient),
                "details": .array(details(attribute).map(JSONValue.string)),
            ])
        }
        if let relationship = property as? NSRelationshipDescription {
            return .members([
                "name": .string(relationship.name), "kind": .string("relationship"),
                "destination": (relationship.destinationEntity?.name).map(JSONValue.string), "toMany": .bool(relationship.isToMany),
                "ordered": .bool(relationship.isOrdered), "optional": .bool(relationship.isOptional),
                "inverse": (relationship.inverseRelationship?.name).map(JSONValue.string),
                "details": .array(details(relationship).map(JSONValue.string)),
            ])
        }
        return .members(["name": .string(property.name), "kind": .string("fetched property")])
    }

    package func write(_ format: OutputFormat, to output: any Output) throws {
        if format == .json { return try output.line(json().text()) }
        for (index, entity) in entities.enumerated() {
            if index > 0 { try output.line() }
            var title = entity.name ?? ""
            if let parent = entity.superentity?.name { title += ": \(parent)" }
            if entity.isAbstract { title += " (abstract)" }
            if let name = entity.managedObjectClassName, name != "NSManagedObject", name != entity.name { title += "  class \(name)" }
            try output.line(DisplayText.line(title))
            for names in Self.unique(entity) { try output.line("  unique: \(DisplayText.line(names.joined(separator: ", ")))") }
            let own = Self.own(entity)
            let width = own.map { DisplayText.width(DisplayText.line($0.name)) }.max() ?? 0
            for property in own {
                let name = DisplayText.line(property.name)
                let (type, details) = Self.facts(property)
                let blanks = String(repeating: " ", count: width - DisplayText.width(name))
                let rest = details.isEmpty ? "" : "  (\(details.joined(separator: ", ")))"
                try output.line(DisplayText.line("  \(name)\(blanks)  \(type)\(rest)"))
            }
        }
    }

    private static func facts(_ property: NSPropertyDescription) -> (String, [String]) {
        if let attribute = property as? NSAttributeDescription { return (type(of: attribute), details(attribute)) }
        if let relationship = property as? NSRelationshipDescription {
            return ((relationship.isToMany ? "→→ " : "→ ") + (relationship.destinationEntity?.name ?? "?"), details(relationship))
        }
        return ("fetched property", [])
    }
}
