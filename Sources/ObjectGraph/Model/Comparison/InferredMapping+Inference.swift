internal import Foundation

extension InferredMapping {
    /// Infers a mapping of the entities and properties of one version to those of another.
    ///
    /// - Parameters:
    ///   - source: The older version.
    ///   - destination: The newer version.
    ///   - permitsMissingValues: Whether an attribute may become required without a default value: a store may have a value in every row, and
    ///     ``MigrationRules`` define how the other rows are handled.
    /// - Returns: The mapping.
    /// - Throws: Code 134190, with every change that Core Data does not infer: the first under `entity`, `property` and `reason`, with its source
    ///   under `sourceEntity` and `sourceProperty`, and all of them under `NSDetailedErrorsKey`.
    package static func infer(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel, permitsMissingValues: Bool = false
    ) throws -> InferredMapping {
        var inference = MappingInference(from: source, to: destination, permitsMissingValues: permitsMissingValues)
        let entities = inference.entities()
        if let error = inference.error { throw error }
        return InferredMapping(source: source, destination: destination, entities: entities)
    }
}

/// Infers a mapping, and collects every reason why that is impossible.
private struct MappingInference {
    private let source: NSManagedObjectModel
    private let destination: NSManagedObjectModel
    private let permitsMissingValues: Bool
    private let match: RenamingMatch<NSEntityDescription>
    private typealias Problem = (entity: String, property: String?, reason: String, source: (entity: String, property: String?)?)
    private var problems: [Problem] = []

    init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel, permitsMissingValues: Bool) {
        (self.source, self.destination, self.permitsMissingValues) = (source, destination, permitsMissingValues)
        match = RenamingMatch(
            from: source.entities, to: destination.entities, name: { $0.name ?? "" }, identifier: { $0.renamingIdentifier })
    }

    var error: NSError? {
        guard let first = problems.first else { return nil }
        func text(_ problem: Problem) -> String {
            "\(problem.entity)\(problem.property.map { ".\($0)" } ?? ""): \(problem.reason)"
        }
        func info(_ problem: Problem) -> [String: Any] {
            var info: [String: Any] = ["entity": problem.entity, "reason": problem.reason]
            info["property"] = problem.property
            info["sourceEntity"] = problem.source?.entity
            info["sourceProperty"] = problem.source?.property
            return info
        }
        let what = "The mapping between two versions of the model cannot be inferred."
        let next = "Write a mapping model, or change the model in steps that can be inferred."
        let all = problems.map {
            CoreDataError.make(NSInferredMappingModelError, what, reason: text($0), next: next, info: info($0))
        }
        if all.count == 1 { return all[0] }
        var first0 = info(first)
        first0[NSDetailedErrorsKey] = all
        return CoreDataError.make(
            NSInferredMappingModelError, what, reason: problems.map(text).joined(separator: "\n"), next: next, info: first0)
    }

    /// - Parameter before: The source of the property; nil if it is new.
    private mutating func refuse(
        _ entity: NSEntityDescription, _ property: String? = nil, from before: NSPropertyDescription? = nil, _ reason: String
    ) {
        let source = match.sources[entity.name ?? ""]?.name.map { ($0, before?.name) }
        problems.append((entity.name ?? "", property, reason, source))
    }

    // MARK: Entities

    mutating func entities() -> [InferredMapping.Entity] {
        for (name, winner) in match.rivals {
            guard let entity = destination.entitiesByName[name] else { continue }
            refuse(entity, nil, "Its renaming identifier names the same entity as that of “\(winner)”.")
        }
        checkHierarchies()
        var entities: [InferredMapping.Entity] = []
        for entity in destination.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            guard let old = match.sources[entity.name ?? ""] else {
                let (attributes, relationships) = (attributes(of: entity), relationships(of: entity))
                entities.append(
                    .init(
                        kind: .add, source: nil, destination: entity,
                        attributes: attributes.map { .init(destination: $0, origin: .defaultValue) },
                        relationships: relationships.map { .init(destination: $0, source: nil) }))
                continue
            }
            entities.append(mapped(entity, from: old))
        }
        let kept = Set(match.sources.values.map(ObjectIdentifier.init))
        for entity in source.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !kept.contains(ObjectIdentifier(entity)) {
            entities.append(.init(kind: .remove, source: entity, destination: nil, attributes: [], relationships: []))
        }
        return entities
    }

    /// Refuses hierarchies that are combined from several: their objects were numbered separately.
    private mutating func checkHierarchies() {
        for root in destination.entities.filter({ $0.superentity == nil }) {
            var first: (root: NSEntityDescription, entity: NSEntityDescription)?
            for entity in root.allKinds.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
                guard let old = match.sources[entity.name ?? ""] else { continue }
                if let first, first.root !== old.rootEntity {
                    refuse(
                        entity, nil,
                        "It shares a parent with “\(first.entity.name ?? "")”, with which it shared none before: hierarchies cannot be merged."
                    )
                } else if first == nil {
                    first = (old.rootEntity, entity)
                }
            }
        }
    }

    private func attributes(of entity: NSEntityDescription) -> [NSAttributeDescription] {
        entity.properties.compactMap { $0 as? NSAttributeDescription }
            .filter { !$0.isTransient && !($0 is NSDerivedAttributeDescription) }.sorted { $0.name < $1.name }
    }

    private func relationships(of entity: NSEntityDescription) -> [NSRelationshipDescription] {
        entity.properties.compactMap { $0 as? NSRelationshipDescription }.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    }

    private mutating func mapped(_ entity: NSEntityDescription, from old: NSEntityDescription) -> InferredMapping.Entity {
        if entity.isAbstract, !old.isAbstract, entity.subentities.isEmpty {
            refuse(entity, nil, "It becomes abstract and has no subentities: its objects could be of no entity.")
        }
        func stored(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
            entity.properties.filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
        }
        let found = RenamingMatch(
            from: stored(old), to: stored(entity), name: { $0.name }, identifier: { $0.renamingIdentifier })
        for (name, winner) in found.rivals {
            refuse(entity, name, "Its renaming identifier names the same property as that of “\(winner)”.")
        }
        var attributes: [InferredMapping.Attribute] = []
        for attribute in self.attributes(of: entity) {
            switch found.sources[attribute.name] {
            case let before as NSAttributeDescription:
                if let origin = origin(of: attribute, of: entity, from: before) {
                    attributes.append(.init(destination: attribute, origin: origin))
                }
            case .some(let before):
                refuse(entity, attribute.name, from: before, "A relationship cannot become an attribute.")
            case nil:
                if !attribute.isOptional, attribute.defaultValue == nil, !permitsMissingValues {
                    refuse(entity, attribute.name, "The attribute is new and required, and has no default value.")
                }
                attributes.append(.init(destination: attribute, origin: .defaultValue))
            }
        }
        var relationships: [InferredMapping.Relationship] = []
        for relationship in self.relationships(of: entity) {
            switch found.sources[relationship.name] {
            case let before as NSRelationshipDescription:
                relationships.append(.init(destination: relationship, source: origin(of: relationship, of: entity, from: before)))
            case .some(let before):
                refuse(entity, relationship.name, from: before, "An attribute cannot become a relationship.")
            case nil:
                relationships.append(.init(destination: relationship, source: nil))
            }
        }
        let isSame =
            entity.ownVersionHash == old.ownVersionHash
            && attributes.allSatisfy { if case .copied(let before) = $0.origin { before.name == $0.destination.name } else { false } }
            && relationships.allSatisfy { $0.source?.name == $0.destination.name }
        return .init(
            kind: isSame ? .copy : .transform, source: old, destination: entity, attributes: attributes, relationships: relationships)
    }

    // MARK: Attributes

    private mutating func origin(
        of attribute: NSAttributeDescription, of entity: NSEntityDescription, from before: NSAttributeDescription
    ) -> InferredMapping.Attribute.Origin? {
        // A value that no store has kept is new.
        guard Self.isStored(before), Self.isStored(attribute) else { return .defaultValue }
        if !attribute.isOptional, before.isOptional, attribute.defaultValue == nil, !permitsMissingValues {
            refuse(entity, attribute.name, from: before, "It becomes required and has no default value.")
            return nil
        }
        if attribute.attributeType == before.attributeType {
            if let composite = attribute as? NSCompositeAttributeDescription, let old = before as? NSCompositeAttributeDescription,
                !Self.isSame(composite.elements, old.elements)
            {
                refuse(entity, attribute.name, from: before, "The elements of the composite attribute change.")
                return nil
            }
            return .copied(before)
        }
        guard Self.isNumber(attribute), Self.isNumber(before) else {
            refuse(
                entity, attribute.name, from: before,
                "Source and destination attribute types are incompatible: \(before.attributeType.words) cannot become "
                    + "\(attribute.attributeType.words).")
            return nil
        }
        return .converted(before)
    }

    private static func isStored(_ attribute: NSAttributeDescription) -> Bool {
        attribute.attributeType != .undefinedAttributeType && attribute.attributeType != .objectIDAttributeType
    }

    private static func isSame(_ elements: [NSAttributeDescription], _ others: [NSAttributeDescription]) -> Bool {
        elements.count == others.count
            && zip(elements.sorted { $0.name < $1.name }, others.sorted { $0.name < $1.name }).allSatisfy { element, other in
                guard element.name == other.name, element.attributeType == other.attributeType else { return false }
                if let inner = element as? NSCompositeAttributeDescription, let outer = other as? NSCompositeAttributeDescription {
                    return isSame(inner.elements, outer.elements)
                }
                return true
            }
    }

    /// Returns whether values are `NSNumber`s, which convert into each other.
    private static func isNumber(_ attribute: NSAttributeDescription) -> Bool {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType:
            true
        default: false
        }
    }

    // MARK: Relationships

    private mutating func origin(
        of relationship: NSRelationshipDescription, of entity: NSEntityDescription, from before: NSRelationshipDescription
    ) -> NSRelationshipDescription? {
        if before.isToMany, !relationship.isToMany {
            refuse(entity, relationship.name, from: before, "A to-many relationship cannot become to-one.")
            return nil
        }
        guard let old = before.destinationEntity, let new = relationship.destinationEntity else { return nil }
        // A removed entity has no objects to relate to; objects of its subentities may remain. If none of the remaining objects are of the new
        // destination, the relationship counts as removed and another one as added, which Core Data infers.
        let kinds = old.allKinds.compactMap { kind in destination.entities.first { match.sources[$0.name ?? ""] === kind } }
        if !kinds.contains(where: { $0.isKindOf(entity: new) }) { return nil }
        if before.isToMany, let inverse = before.storedInverse, inverse.isToMany, relationship.storedInverse == nil {
            refuse(entity, relationship.name, from: before, "A many-to-many relationship cannot lose its inverse.")
            return nil
        }
        return before
    }
}
