internal import Foundation
public import ObjectGraph
internal import Predicates

extension NSManagedObjectModel {
    /// Returns Swift source that creates the model: an extension of `NSManagedObjectModel` with one static function.
    ///
    /// The same model always produces the same text. Data of model files that descriptions do not have is included, except for Xcode's
    /// diagram.
    ///
    /// - Parameter functionName: The name of the function.
    /// - Throws: Code 512 (`NSFileWriteUnknownError`) naming entity and property, for values without a literal.
    public func swiftSource(functionName: String = "makeModel") throws -> String {
        var writer = SwiftSourceWriter()
        return try writer.source(of: self, functionName: functionName)
    }
}

/// Writes the Swift source of a model.
struct SwiftSourceWriter {
    private var lines: [String] = []
    private var names: Set<String> = ["model"]
    private var variables: [ObjectIdentifier: String] = [:]

    mutating func source(of model: NSManagedObjectModel, functionName: String) throws -> String {
        for entity in model.entities { try write(entity) }
        for entity in model.entities where !entity.subentities.isEmpty {
            let list = try entity.subentities.map { sub in
                guard let variable = variables[ObjectIdentifier(sub)] else {
                    throw ModelFileError.unwritable(sub.name ?? "?", "It inherits from an entity of the model and is none itself.")
                }
                return variable
            }
            lines.append("\(name(of: entity)).subentities = [\(list.joined(separator: ", "))]")
        }
        for entity in model.entities {
            for case let relationship as NSRelationshipDescription in entity.declaredProperties { try connect(relationship, of: entity) }
        }
        lines.append("let model = NSManagedObjectModel(entities: [\(model.entities.map { name(of: $0) }.joined(separator: ", "))])")
        let identifiers = try model.versionIdentifiers.map { identifier in
            guard let text = identifier.base as? String else { throw ModelFileError.unwritable("versionIdentifiers", "One is not a text.") }
            return text
        }
        if !identifiers.isEmpty {
            set("model", "versionIdentifiers", "[\(identifiers.sorted().map(Self.literal).joined(separator: ", "))]")
        }
        if let texts = model.localizationDictionary { set("model", "localizationDictionary", Self.literal(texts)) }
        attributes(model.modelFileAttributes, of: "model")
        for configuration in model.configurations {
            let members = (model.entities(forConfigurationName: configuration) ?? []).compactMap { variables[ObjectIdentifier($0)] }
            lines.append("model.setEntities([\(members.joined(separator: ", "))], forConfigurationName: \(Self.literal(configuration)))")
        }
        for (key, request) in model.templates.sorted(by: { $0.key < $1.key }) {
            let variable = unique("\(key)Request")
            try write(request, as: variable, at: "fetch request “\(key)”")
            lines.append("model.setFetchRequestTemplate(\(variable), forName: \(Self.literal(key)))")
        }
        lines.append("return model")
        let body = lines.map { "        \($0)\n" }.joined()
        return """
            // Written by NSManagedObjectModel.swiftSource(functionName:).
            // swift-format-ignore-file
            import CoreData

            extension NSManagedObjectModel {
                static func \(functionName)() -> NSManagedObjectModel {
            \(body)    }
            }

            """
    }

    // MARK: Names and literals

    private func name(of entity: NSEntityDescription) -> String { variables[ObjectIdentifier(entity)] ?? "?" }

    /// Returns a unique variable name, for names in any script.
    private mutating func unique(_ wish: String) -> String {
        var name = String(
            String.UnicodeScalarView(wish.unicodeScalars.map { CharacterSet.alphanumerics.contains($0) && $0.isASCII ? $0 : "_" }))
        name = name.prefix(1).lowercased() + name.dropFirst()
        if !(name.first?.isLetter ?? false) { name = "_" + name }
        var candidate = name
        var number = 2
        while !names.insert(candidate).inserted {
            candidate = "\(name)\(number)"
            number += 1
        }
        return candidate
    }

    static func literal(_ text: String) -> String { text.quoted(escapesInvisible: true) }

    static func literal(_ texts: [String: String]) -> String {
        if texts.isEmpty { return "[:]" }
        return "[" + texts.sorted { $0.key < $1.key }.map { "\(literal($0.key)): \(literal($0.value))" }.joined(separator: ", ") + "]"
    }

    static func literal(_ value: Any, type: NSAttributeType, at place: String) throws -> String {
        if let data = value as? Data, type == .binaryDataAttributeType {
            return "Data(base64Encoded: \(literal(data.base64EncodedString())))"
        }
        guard let text = AttributeText.text(value, type: type) else {
            throw ModelFileError.unwritable(place, "There is no literal for its default value.")
        }
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType: return text
        case .floatAttributeType: return "Float(\(text))"
        case .booleanAttributeType: return text == "YES" ? "true" : "false"
        case .decimalAttributeType: return "Decimal(string: \(literal(text)))"
        case .dateAttributeType: return "Date(timeIntervalSinceReferenceDate: \(text))"
        case .UUIDAttributeType: return "UUID(uuidString: \(literal(text)))"
        case .URIAttributeType: return "URL(string: \(literal(text)))"
        default: return literal(text)
        }
    }

    static func literal(_ type: NSAttributeType) -> String {
        switch type {
        case .undefinedAttributeType: ".undefined"
        case .integer16AttributeType: ".integer16"
        case .integer32AttributeType: ".integer32"
        case .integer64AttributeType: ".integer64"
        case .decimalAttributeType: ".decimal"
        case .doubleAttributeType: ".double"
        case .floatAttributeType: ".float"
        case .stringAttributeType: ".string"
        case .booleanAttributeType: ".boolean"
        case .dateAttributeType: ".date"
        case .binaryDataAttributeType: ".binaryData"
        case .UUIDAttributeType: ".uuid"
        case .URIAttributeType: ".uri"
        case .transformableAttributeType: ".transformable"
        case .objectIDAttributeType: ".objectID"
        case .compositeAttributeType: ".composite"
        }
    }

    // MARK: Lines

    private mutating func set(_ variable: String, _ property: String, _ value: String) {
        lines.append("\(variable).\(property) = \(value)")
    }

    private mutating func set(_ variable: String, _ property: String, text: String?) {
        if let text { set(variable, property, Self.literal(text)) }
    }

    private mutating func set(_ variable: String, _ property: String, flag: Bool) {
        if flag { set(variable, property, "true") }
    }

    private mutating func attributes(_ attributes: [String: String], of variable: String) {
        if !attributes.isEmpty { set(variable, "modelFileAttributes", Self.literal(attributes)) }
    }

    private mutating func userInfo(_ info: [AnyHashable: Any]?, of variable: String, at place: String) throws {
        guard let info, !info.isEmpty else { return }
        var texts: [String: String] = [:]
        for (key, value) in info {
            guard let key = key.base as? String, let value = value as? String else {
                throw ModelFileError.unwritable(place, "The user info “\(key)” is not a text.")
            }
            texts[key] = value
        }
        set(variable, "userInfo", Self.literal(texts))
    }

    private func format(_ predicate: NSPredicate, at place: String) throws -> String {
        do {
            return "NSPredicate(format: \(Self.literal(try predicate.tree().description)))"
        } catch { throw ModelFileError.unwritable(place, "Its predicate has no form as text: \(error)") }
    }

    private mutating func write(_ entity: NSEntityDescription) throws {
        guard let name = entity.name, !name.isEmpty else { throw ModelFileError.unwritable("an entity without a name", "It needs a name.") }
        let variable = unique(name)
        variables[ObjectIdentifier(entity)] = variable
        lines.append("let \(variable) = NSEntityDescription(name: \(Self.literal(name)))")
        if let className = entity.managedObjectClassName, className != "NSManagedObject" {
            set(variable, "managedObjectClassName", Self.literal(className))
        }
        set(variable, "isAbstract", flag: entity.isAbstract)
        set(variable, "renamingIdentifier", text: entity.renamingIdentifier)
        set(variable, "versionHashModifier", text: entity.versionHashModifier)
        if let expression = entity.coreSpotlightDisplayNameExpression {
            set(variable, "coreSpotlightDisplayNameExpression", "CoreData.NSExpression(format: \(Self.literal(expression.description)))")
        }
        try userInfo(entity.userInfo, of: variable, at: name)
        attributes(entity.modelFileAttributes, of: variable)
        let properties = try entity.declaredProperties.map { try write($0, of: variable, at: "\(name).\($0.name)") }
        if !properties.isEmpty { set(variable, "properties", "[\(properties.joined(separator: ", "))]") }
        for (key, lists) in [("uniquenessConstraints", entity.uniquenessConstraints), ("compoundIndexes", entity.compoundIndexes)]
        where !lists.isEmpty {
            let texts = lists.map { "[" + NSEntityDescription.names(in: $0).map { Self.literal($0 ?? "") }.joined(separator: ", ") + "]" }
            set(variable, key, "[\(texts.joined(separator: ", "))]")
        }
        for index in entity.indexes { try write(index, of: entity, as: variable) }
    }

    private mutating func write(_ index: NSFetchIndexDescription, of entity: NSEntityDescription, as variable: String) throws {
        let place = "\(entity.name ?? "?"), index “\(index.name)”"
        let elements = try index.elements.map { element in
            let part = unique("\(variable)IndexElement")
            let type = element.collationType == .rTree ? ".rTree" : ".binary"
            if let expression = element.property as? NSExpressionDescription {
                let computed = unique("\(variable)Expression")
                lines.append("let \(computed) = NSExpressionDescription()")
                set(computed, "expression", "CoreData.NSExpression(format: \(Self.literal(expression.expression?.description ?? "")))")
                set(computed, "expressionResultType", ".\(expression.expressionResultType)")
                lines.append("let \(part) = NSFetchIndexElementDescription(property: \(computed), collationType: \(type))")
            } else {
                guard let property = element.property, let owner = variables[ObjectIdentifier(property)] else {
                    throw ModelFileError.unwritable(
                        place, "It is over “\(element.propertyName ?? "?")”, which is not a property the entity declares.")
                }
                lines.append("let \(part) = NSFetchIndexElementDescription(property: \(owner), collationType: \(type))")
            }
            if !element.isAscending { set(part, "isAscending", "false") }
            return part
        }
        let name = unique("\(variable)Index")
        lines.append(
            "let \(name) = NSFetchIndexDescription(name: \(Self.literal(index.name)), elements: [\(elements.joined(separator: ", "))])")
        if let predicate = index.partialIndexPredicate { set(name, "partialIndexPredicate", try format(predicate, at: place)) }
        lines.append("\(variable).indexes.append(\(name))")
    }

    private mutating func write(_ property: NSPropertyDescription, of owner: String, at place: String) throws -> String {
        let variable = unique("\(owner)_\(property.name)")
        variables[ObjectIdentifier(property)] = variable
        switch property {
        case let attribute as NSAttributeDescription: try write(attribute, as: variable, at: place)
        case let relationship as NSRelationshipDescription: write(relationship, as: variable)
        case let fetched as NSFetchedPropertyDescription:
            lines.append("let \(variable) = NSFetchedPropertyDescription()")
            set(variable, "name", text: fetched.name)
            if !fetched.isOptional { set(variable, "isOptional", "false") }
            if let request = fetched.fetchRequest {
                let name = unique("\(variable)Request")
                try write(request, as: name, at: place)
                set(variable, "fetchRequest", name)
            }
        default: throw ModelFileError.unwritable(place, "It is neither an attribute nor a relationship nor a fetched property.")
        }
        set(variable, "isTransient", flag: property.isTransient)
        set(variable, "isIndexed", flag: property.isIndexed)
        set(variable, "isIndexedBySpotlight", flag: property.isIndexedBySpotlight)
        set(variable, "renamingIdentifier", text: property.renamingIdentifier)
        set(variable, "versionHashModifier", text: property.versionHashModifier)
        try userInfo(property.userInfo, of: variable, at: place)
        attributes(property.modelFileAttributes, of: variable)
        if !property.validationRules.isEmpty {
            let predicates = try property.validationRules.map { try format($0.predicate, at: place) }
            let warnings = try property.validationRules.map { rule -> String in
                switch rule.warning {
                case nil: return "\"\""
                case let text as String: return Self.literal(text)
                case let code as Int: return "\(code)"
                default: throw ModelFileError.unwritable(place, "A validation warning is neither a text nor a number.")
                }
            }
            let isPlain = property.validationRules.allSatisfy { $0.warning == nil }
            lines.append(
                "\(variable).setValidationPredicates([\(predicates.joined(separator: ", "))], withValidationWarnings: "
                    + (isPlain ? "nil)" : "[\(warnings.joined(separator: ", "))] as [Any])"))
        }
        return variable
    }

    private mutating func write(_ attribute: NSAttributeDescription, as variable: String, at place: String) throws {
        var parameters = "name: \(Self.literal(attribute.name)), type: \(Self.literal(attribute.attributeType))"
        if !attribute.isOptional { parameters += ", isOptional: false" }
        if let value = attribute.defaultValue {
            parameters += ", defaultValue: \(try Self.literal(value, type: attribute.attributeType, at: place))"
        }
        let kind =
            attribute is NSDerivedAttributeDescription
            ? "NSDerivedAttributeDescription"
            : attribute is NSCompositeAttributeDescription ? "NSCompositeAttributeDescription" : "NSAttributeDescription"
        lines.append("let \(variable) = \(kind)(\(parameters))")
        set(variable, "attributeValueClassName", text: attribute.customValueClassName)
        set(variable, "valueTransformerName", text: attribute.valueTransformerName)
        set(variable, "allowsExternalBinaryDataStorage", flag: attribute.allowsExternalBinaryDataStorage)
        set(variable, "preservesValueInHistoryOnDeletion", flag: attribute.preservesValueInHistoryOnDeletion)
        set(variable, "allowsCloudEncryption", flag: attribute.allowsCloudEncryption)
        if let expression = (attribute as? NSDerivedAttributeDescription)?.derivationExpression {
            set(variable, "derivationExpression", "CoreData.NSExpression(format: \(Self.literal(expression.description)))")
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            let elements = try composite.elements.map { try write($0 as NSPropertyDescription, of: variable, at: "\(place).\($0.name)") }
            set(variable, "elements", "[\(elements.joined(separator: ", "))]")
        }
    }

    private mutating func write(_ relationship: NSRelationshipDescription, as variable: String) {
        lines.append("let \(variable) = NSRelationshipDescription()")
        set(variable, "name", text: relationship.name)
        if relationship.minCount != 0 { set(variable, "minCount", "\(relationship.minCount)") }
        if relationship.maxCount != 0 { set(variable, "maxCount", "\(relationship.maxCount)") }
        set(variable, "isOrdered", flag: relationship.isOrdered)
        if !relationship.isOptional { set(variable, "isOptional", "false") }
        if relationship.deleteRule != .nullifyDeleteRule { set(variable, "deleteRule", ".\(relationship.deleteRule)") }
    }

    private mutating func connect(_ relationship: NSRelationshipDescription, of entity: NSEntityDescription) throws {
        let place = "\(entity.name ?? "?").\(relationship.name)"
        guard let variable = variables[ObjectIdentifier(relationship)] else { return }
        guard let destination = relationship.destinationEntity else {
            if let missing = relationship.missingDestination {
                throw ModelFileError.unwritable(place, "Its destination “\(missing)” is not in the model.")
            }
            return
        }
        guard let name = variables[ObjectIdentifier(destination)] else {
            throw ModelFileError.unwritable(place, "Its destination “\(destination)” is not in the model.")
        }
        set(variable, "destinationEntity", name)
        if let missing = relationship.missingInverse {
            throw ModelFileError.unwritable(place, "Its inverse “\(missing)” is not in the model.")
        }
        guard let inverse = relationship.inverseRelationship else { return }
        guard let other = variables[ObjectIdentifier(inverse)] else {
            throw ModelFileError.unwritable(place, "Its inverse “\(inverse)” is not in the model.")
        }
        set(variable, "inverseRelationship", other)
    }

    private mutating func write(_ request: NSFetchRequest<any NSFetchRequestResult>, as variable: String, at place: String) throws {
        guard let entity = request.entityName else { throw ModelFileError.unwritable(place, "It names no entity.") }
        guard request.sortDescriptors?.isEmpty ?? true, request.propertiesToFetch == nil, request.propertiesToGroupBy == nil,
            request.havingPredicate == nil
        else { throw ModelFileError.unwritable(place, "Sort descriptors, properties to fetch and groups are not written.") }
        lines.append("let \(variable) = NSFetchRequest<any NSFetchRequestResult>(entityName: \(Self.literal(entity)))")
        if let predicate = request.predicate { set(variable, "predicate", try format(predicate, at: place)) }
        if request.fetchLimit != 0 { set(variable, "fetchLimit", "\(request.fetchLimit)") }
        if request.fetchOffset != 0 { set(variable, "fetchOffset", "\(request.fetchOffset)") }
        if request.fetchBatchSize != 0 { set(variable, "fetchBatchSize", "\(request.fetchBatchSize)") }
        if request.resultType.rawValue != 0 {
            set(variable, "resultType", "NSFetchRequestResultType(rawValue: \(request.resultType.rawValue))")
        }
        if !request.includesSubentities { set(variable, "includesSubentities", "false") }
        if !request.includesPropertyValues { set(variable, "includesPropertyValues", "false") }
        if !request.includesPendingChanges { set(variable, "includesPendingChanges", "false") }
        if !request.returnsObjectsAsFaults { set(variable, "returnsObjectsAsFaults", "false") }
        set(variable, "returnsDistinctResults", flag: request.returnsDistinctResults)
    }
}
