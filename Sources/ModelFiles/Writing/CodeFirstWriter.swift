internal import Foundation
public import ObjectGraph
internal import Predicates

extension NSManagedObjectModel {
    /// Returns Swift source in which classes declare their entities with the macros of the product CoreDataMacros: a class for each
    /// entity, a structure for each composite, and an extension of `NSManagedObjectModel` with a function that creates the model.
    ///
    /// The compiled source creates an equal model, which opens the same stores. The same model always produces the same text. Data of
    /// model files without effect (``modelFileAttributes``, Xcode's diagram) is omitted; ``swiftSource(functionName:)`` includes it. The
    /// class names are those of the entities, in the module that the source is part of.
    ///
    /// - Parameter functionName: The name of the function.
    /// - Throws: Code 512 (`NSFileWriteUnknownError`) naming entity and property, for settings that a class cannot declare.
    public func codeFirstSource(functionName: String = "makeModel") throws -> String {
        var writer = try CodeFirstWriter(self)
        return try writer.source(functionName: functionName)
    }
}

/// Writes the Swift source of a model whose classes declare their entities.
struct CodeFirstWriter {
    private let model: NSManagedObjectModel
    private let names: CodeFirstNames
    private var composites: CodeFirstComposites

    init(_ model: NSManagedObjectModel) throws {
        self.model = model
        let errors = ModelCheck.errors(of: model)
        guard errors.isEmpty else {
            throw ModelFileError.unwritable("the model", errors.map(\.message).joined(separator: " "), next: "Fix the model first.")
        }
        names = try CodeFirstNames(model)
        composites = CodeFirstComposites(besides: Set(model.entities.map(names.className)))
    }

    mutating func source(functionName: String) throws -> String {
        let classes = try model.entities.map { try source(of: $0) }
        let function = try functionSource(functionName)
        let parts = [
            "// Written by NSManagedObjectModel.codeFirstSource(functionName:).\n// swift-format-ignore-file\nimport CoreDataMacros\n"
        ]
        return (parts + composites.sources + classes + [function]).joined(separator: "\n")
    }

    // MARK: The function

    private func functionSource(_ functionName: String) throws -> String {
        let classes = model.entities.map { "\(names.className(of: $0)).self" }.joined(separator: ", ")
        var lines = ["let model = try NSManagedObjectModel(for: \(classes.isEmpty ? "[]" : classes))"]
        let identifiers = try model.versionIdentifiers.map { identifier in
            guard let text = identifier.base as? String else { throw ModelFileError.unwritable("versionIdentifiers", "One is not a text.") }
            return text
        }
        if !identifiers.isEmpty {
            lines.append("model.versionIdentifiers = [\(identifiers.sorted().map(SwiftSourceWriter.literal).joined(separator: ", "))]")
        }
        if let texts = model.localizationDictionary { lines.append("model.localizationDictionary = \(SwiftSourceWriter.literal(texts))") }
        for configuration in model.configurations where model.entities(forConfigurationName: configuration)?.isEmpty != false {
            lines.append("model.setEntities([], forConfigurationName: \(SwiftSourceWriter.literal(configuration)))")
        }
        for (name, request) in model.templates where model.entitiesByName[request.entityName ?? ""] == nil {
            throw ModelFileError.unwritable(
                "fetch request “\(name)”", "It is for “\(request.entityName ?? "none")”, which is not an entity of the model.")
        }
        if lines.count == 1 {
            lines = [String(lines[0].dropFirst("let model = ".count))]
        } else {
            lines.append("return model")
        }
        return """
            extension NSManagedObjectModel {
                static func \(functionName)() throws -> NSManagedObjectModel {
            \(lines.map { "        \($0)\n" }.joined())    }
            }

            """
    }

    // MARK: Classes

    private mutating func source(of entity: NSEntityDescription) throws -> String {
        let name = entity.name ?? ""
        let className = names.className(of: entity)
        let superclass = entity.superentity.map { names.className(of: $0) } ?? "NSManagedObject"
        var options = className == name ? [] : [SwiftSourceWriter.literal(name)]
        if entity.isAbstract { options.append(".abstract") }
        let unique = Self.uniqueAttributes(of: entity)
        for constraint in entity.uniquenessConstraints.dropFirst(unique.count) {
            let names = NSEntityDescription.names(in: constraint).map { SwiftSourceWriter.literal($0 ?? "") }
            options.append(".unique(\(names.joined(separator: ", ")))")
        }
        for index in entity.indexes { options.append(try option(for: index, of: entity)) }
        for index in entity.compoundIndexes {
            options.append(
                ".compoundIndex(\(NSEntityDescription.names(in: index).map { SwiftSourceWriter.literal($0 ?? "") }.joined(separator: ", ")))"
            )
        }
        if let expression = entity.coreSpotlightDisplayNameExpression {
            options.append(".spotlightDisplayName(\(SwiftSourceWriter.literal(expression.description)))")
        }
        for configuration in model.configurations
        where model.entities(forConfigurationName: configuration)?.contains(where: { $0 === entity }) == true {
            options.append(".configuration(\(SwiftSourceWriter.literal(configuration)))")
        }
        for (name, request) in model.templates.sorted(by: { $0.key < $1.key }) where request.entityName == entity.name {
            options.append(try option(forTemplate: name, request))
        }
        options += try CodeFirstText.common(
            entity.renamingIdentifier, entity.versionHashModifier, entity.userInfo, at: name)
        let attribute = options.isEmpty ? "@ManagedObject" : "@ManagedObject(\(options.joined(separator: ", ")))"
        let final = entity.subentities.isEmpty && !entity.isAbstract ? "final " : ""
        let lines = try entity.declaredProperties.map { "    \(try line(for: $0, of: entity, isUnique: unique.contains($0.name)))\n" }
            .joined()
        let opening = (options.isEmpty ? "\(attribute) " : "\(attribute)\n") + "\(final)class \(className): \(superclass) {"
        return lines.isEmpty ? "\(opening)}\n" : "\(opening)\n\(lines)}\n"
    }

    /// Returns the attributes that declare their uniqueness themselves: the leading constraints over one attribute each, in the order of
    /// the attributes.
    private static func uniqueAttributes(of entity: NSEntityDescription) -> [String] {
        var rest = entity.declaredProperties.filter { $0 is NSAttributeDescription }.map(\.name)[...]
        var unique: [String] = []
        for constraint in entity.uniquenessConstraints.map({ NSEntityDescription.names(in: $0) }) {
            guard constraint.count == 1, let name = constraint[0], let index = rest.firstIndex(of: name) else { break }
            rest = rest[(index + 1)...]
            unique.append(name)
        }
        return unique
    }

    private func option(for index: NSFetchIndexDescription, of entity: NSEntityDescription) throws -> String {
        let place = "\(entity.name ?? "?"), index “\(index.name)”"
        var parts = try index.elements.map { element -> String in
            if let computed = element.property as? NSExpressionDescription {
                var text = ".expression(\(SwiftSourceWriter.literal(computed.expression?.description ?? "")), "
                text += SwiftSourceWriter.literal(computed.expressionResultType)
                if !element.isAscending { text += ", isAscending: false" }
                return text + (element.collationType == .rTree ? ", collation: .rTree)" : ")")
            }
            guard let name = element.propertyName, entity.propertiesByName[name] != nil else {
                throw ModelFileError.unwritable(
                    place, "It is over “\(element.propertyName ?? "?")”, which is not a property of the entity.")
            }
            let literal = SwiftSourceWriter.literal(name)
            if element.collationType == .rTree { return "IndexElement(\(literal), isAscending: \(element.isAscending), type: .rTree)" }
            return element.isAscending ? literal : ".descending(\(literal))"
        }
        let titles = index.elements.map { element in
            element.property is NSExpressionDescription
                ? "Expression" : (element.propertyName ?? "").prefix(1).uppercased() + (element.propertyName ?? "").dropFirst()
        }
        if index.name != "by\(titles.joined())Index" { parts.append("name: \(SwiftSourceWriter.literal(index.name))") }
        if let predicate = index.partialIndexPredicate { parts.append("where: \(try CodeFirstText.format(predicate, at: place))") }
        return ".index(\(parts.joined(separator: ", ")))"
    }

    private func option(forTemplate name: String, _ request: NSFetchRequest<any NSFetchRequestResult>) throws -> String {
        let place = "fetch request “\(name)”"
        var parts = [SwiftSourceWriter.literal(name)]
        if let predicate = request.predicate { parts.append("where: \(try CodeFirstText.format(predicate, at: place))") }
        if let configure = try CodeFirstText.configuration(of: request, at: place) { parts.append("configure: \(configure)") }
        return ".fetchRequest(\(parts.joined(separator: ", ")))"
    }

    // MARK: Properties

    private mutating func line(for property: NSPropertyDescription, of entity: NSEntityDescription, isUnique: Bool) throws -> String {
        let place = "\(entity.name ?? "?").\(property.name)"
        let name = CodeFirstNames.swiftName(of: property.name)
        var common = name.model.map { ["name: \(SwiftSourceWriter.literal($0))"] } ?? []
        common += try CodeFirstText.common(property.renamingIdentifier, property.versionHashModifier, property.userInfo, at: place)
        switch property {
        case let attribute as NSAttributeDescription:
            return try CodeFirstText.attribute(attribute, name.swift, common, isUnique: isUnique, at: place, composites: &composites)
        case let relationship as NSRelationshipDescription: return try line(for: relationship, name.swift, common, at: place)
        case let fetched as NSFetchedPropertyDescription: return try line(for: fetched, name.swift, common, at: place)
        default: throw ModelFileError.unwritable(place, "It is neither an attribute nor a relationship nor a fetched property.")
        }
    }

    private func line(for relationship: NSRelationshipDescription, _ name: String, _ common: [String], at place: String) throws -> String {
        if let missing = relationship.missingDestination ?? relationship.missingInverse {
            throw ModelFileError.unwritable(place, "“\(missing)” is not in the model.", next: "Merge the model with the one that has it.")
        }
        guard relationship.validationRules.isEmpty else {
            throw ModelFileError.unwritable(place, "A relationship that a class declares has no validation predicates.")
        }
        guard let destination = relationship.destinationEntity else {
            throw ModelFileError.unwritable(place, "It has no destination entity.")
        }
        let className = names.className(of: destination)
        var parts: [String] = []
        let inverse = relationship.inverseRelationship
        if let inverse, relationship.mutualInverse == nil {
            let other = inverse.inverseRelationship.map { "“\($0)”" } ?? "none"
            throw ModelFileError.unwritable(
                place, "Its inverse “\(inverse)” names \(other) as its own; classes declare inverses that name each other.",
                next: "Make the two each other's inverse, or set none.")
        }
        if !relationship.isOptional { parts.append(".required") }
        if relationship.minCount != 0 || (relationship.maxCount > 1) {
            parts.append(".count(\(relationship.minCount)...\(relationship.maxCount == 0 ? "" : "\(relationship.maxCount)"))")
        }
        if relationship.isTransient { parts.append(".transient") }
        if relationship.isIndexed { parts.append(".indexed") }
        if relationship.isIndexedBySpotlight { parts.append(".spotlight") }
        if inverse === relationship { parts.append(".symmetric") }
        switch relationship.deleteRule {
        case .nullifyDeleteRule: break
        case .cascadeDeleteRule: parts.append("deleteRule: .cascade")
        case .denyDeleteRule: parts.append("deleteRule: .deny")
        case .noActionDeleteRule: parts.append("deleteRule: .noAction")
        }
        if let inverse, inverse !== relationship {
            if !names.isInferred(relationship), names.names(inverse, from: relationship) {
                parts.append("inverse: \\\(className).\(CodeFirstNames.swiftName(of: inverse.name).swift)")
            }
        } else if inverse == nil {
            parts.append("inverse: nil")
        }
        parts += common
        let type = !relationship.isToMany ? "\(className)?" : relationship.isOrdered ? "[\(className)]" : "Set<\(className)>"
        let attribute =
            parts.isEmpty ? (relationship.isOrdered ? "@Relationship " : "") : "@Relationship(\(parts.joined(separator: ", "))) "
        return "\(attribute)var \(name): \(type)"
    }

    private func line(for fetched: NSFetchedPropertyDescription, _ name: String, _ common: [String], at place: String) throws -> String {
        guard let request = fetched.fetchRequest, let entity = model.entitiesByName[request.entityName ?? ""] else {
            throw ModelFileError.unwritable(place, "It has no fetch request for an entity of the model.")
        }
        guard fetched.validationRules.isEmpty, !fetched.isTransient, !fetched.isIndexed, !fetched.isIndexedBySpotlight else {
            throw ModelFileError.unwritable(
                place, "A fetched property that a class declares is neither transient nor indexed, and has no predicates to validate.")
        }
        var parts: [String] = []
        if let predicate = request.predicate { parts.append(try CodeFirstText.format(predicate, at: place)) }
        if !fetched.isOptional { parts.append("isOptional: false") }
        parts += common
        if let configure = try CodeFirstText.configuration(of: request, at: place) { parts.append("configure: \(configure)") }
        let attribute = parts.isEmpty ? "@FetchedProperty" : "@FetchedProperty(\(parts.joined(separator: ", ")))"
        return "\(attribute) var \(name): [\(names.className(of: entity))]"
    }
}
