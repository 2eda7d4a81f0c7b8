internal import Foundation
public import ObjectGraph
internal import Predicates

/// Checks a mapping model against the two models that it maps between, before anything is migrated.
struct MappingCheck {
    private let mappings: NSMappingModel
    private let source: NSManagedObjectModel
    private let destination: NSManagedObjectModel
    private var errors: [NSError] = []

    init(_ mappings: NSMappingModel, from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        (self.mappings, self.source, self.destination) = (mappings, source, destination)
    }

    /// - Throws: Code 134110, or 134170 for a missing policy class, naming the entity mappings and properties; all errors under
    ///   `NSDetailedErrorsKey`.
    func run() throws {
        var check = self
        check.collect()
        if !check.errors.isEmpty { throw MigrationError.combined(check.errors) }
    }

    private mutating func collect() {
        var names: Set<String> = []
        for mapping in mappings.entityMappings ?? [] {
            guard let name = mapping.name, !name.isEmpty else {
                note(mapping, nil, "An entity mapping has neither a name nor entities.", "Set sourceEntityName or destinationEntityName.")
                continue
            }
            if !names.insert(name).inserted {
                note(mapping, nil, "There are two entity mappings called “\(name)”.", "Give each a name of its own.")
            }
            check(mapping)
        }
    }

    private mutating func note(_ mapping: NSEntityMapping, _ property: String?, _ reason: String, _ next: String) {
        errors.append(
            MigrationError.make(NSMigrationError, mapping, property, "The mapping model cannot be used.", reason: reason, next: next))
    }

    private mutating func check(_ mapping: NSEntityMapping) {
        let sourceEntity = entity(mapping.sourceEntityName, mapping.sourceEntityVersionHash, of: source, mapping, "source")
        let destinationEntity = entity(
            mapping.destinationEntityName, mapping.destinationEntityVersionHash, of: destination, mapping, "destination")
        do { _ = try PolicyClasses.policyClass(of: mapping) } catch { errors.append(error as NSError) }
        if let expression = mapping.sourceExpression, let mistake = expression.parseError {
            note(mapping, nil, "The source expression does not parse: \(mistake)", "Correct it.")
        }
        guard let destinationEntity else { return }
        for property in mapping.attributeMappings ?? [] {
            check(property, mapping, "attribute", sourceEntity) { destinationEntity.attributesByName[$0] != nil }
        }
        for property in mapping.relationshipMappings ?? [] {
            check(property, mapping, "relationship", sourceEntity) { destinationEntity.relationshipsByName[$0] != nil }
        }
    }

    private mutating func entity(
        _ name: String?, _ hash: Data?, of model: NSManagedObjectModel, _ mapping: NSEntityMapping, _ side: String
    ) -> NSEntityDescription? {
        guard let name else { return nil }
        guard let entity = model.entitiesByName[name] else {
            note(
                mapping, nil, "The \(side) model has no entity “\(name)”.",
                "Give the manager the model that the mapping is for, or correct the name.")
            return nil
        }
        if let hash, hash != entity.versionHash {
            note(
                mapping, nil, "The entity “\(name)” of the \(side) model has another version than the mapping is for.",
                "Give the manager the model that the mapping is for, or set \(side)EntityVersionHash to nil.")
        }
        return entity
    }

    private mutating func check(
        _ property: NSPropertyMapping, _ mapping: NSEntityMapping, _ kind: String, _ source: NSEntityDescription?,
        _ exists: (String) -> Bool
    ) {
        guard let name = property.name, !name.isEmpty else {
            return note(
                mapping, nil, "The mapping of a property has no name.",
                "Set the name of a property of “\(mapping.destinationEntityName ?? "?")”.")
        }
        guard exists(name) else {
            return note(
                mapping, name, "“\(mapping.destinationEntityName ?? "?")” has no \(kind) “\(name)”.",
                "Correct the name, or take the mapping out.")
        }
        guard let expression = property.valueExpression else { return }
        do { check(try expression.tree(), name, mapping, source) } catch {
            note(mapping, name, "The value expression does not parse: \(error)", "Correct it.")
        }
    }

    /// Checks the parts of an expression that tools write: the source property, and the name of the entity mapping.
    private mutating func check(_ tree: ExpressionTree, _ name: String, _ mapping: NSEntityMapping, _ source: NSEntityDescription?) {
        var paths: [[String]] = []
        var mappingNames: [String] = []
        _ = tree.replacing { part in
            if let path = MappingExpressions.path(of: part) {
                paths.append(path)
                return part
            }
            if let (names, path) = MappingExpressions.destinationInstances(in: part) {
                mappingNames += names
                paths.append(path)
                return part
            }
            return nil
        }
        for other in mappingNames where mappings.entityMappingsByName[other] == nil {
            let names = mappings.entityMappings.map { $0.name ?? "?" }.joined(separator: ", ")
            note(mapping, name, "There is no entity mapping “\(other)”, which its value expression names.", "There are: \(names).")
        }
        guard !paths.isEmpty else { return }
        guard let source else {
            if mapping.sourceEntityName == nil {
                note(mapping, name, "Its value expression uses $source, and the mapping has no source entity.", "Set sourceEntityName.")
            }
            return
        }
        for path in paths {
            guard let key = path.first, !key.hasPrefix("@"), key != "objectID", key != "entity", source.propertiesByName[key] == nil else {
                continue
            }
            note(
                mapping, name, "“\(source.name ?? "?")” has no property “\(key)”, which its value expression reads.",
                "Correct the expression.")
        }
    }
}

extension NSMappingModel {
    /// Checks the mapping model against the two models that it maps between, as a migration does before it begins.
    ///
    /// - Throws: Code 134110, or 134170 for a policy class that the program does not have. The error names the entity mapping and the property;
    ///   several errors are under `NSDetailedErrorsKey`.
    public func validate(forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) throws {
        try MappingCheck(resolved(from: sourceModel, to: destinationModel), from: sourceModel, to: destinationModel).run()
    }
}
