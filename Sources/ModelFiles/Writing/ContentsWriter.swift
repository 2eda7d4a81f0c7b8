public import Foundation
public import ObjectGraph
internal import Predicates
internal import PropertyLists

extension NSManagedObjectModel {
    /// Returns the model as the XML of an `.xcdatamodel`'s file `contents`. The same model always produces the same bytes.
    ///
    /// - Throws: Code 512 (`NSFileWriteUnknownError`) naming entity and property, for values that the XML cannot represent: a default value that is
    ///   not a string or number, user info other than strings, a validation predicate that is not a bound, length or pattern.
    public func xcdatamodelContents() throws -> Data {
        var writer = ContentsWriter()
        return Data(try writer.element(of: self).document.utf8)
    }

    /// Writes the model as an `.xcdatamodel`, a directory with a file `contents`.
    ///
    /// - Parameter url: The directory, which is created if needed.
    /// - Throws: The errors of ``xcdatamodelContents()``, and of the file system.
    public func write(toXCDataModel url: URL) throws {
        let contents = try xcdatamodelContents()
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try contents.write(to: url.appendingPathComponent("contents"), options: .atomic)
    }
}

/// Writes the XML of a model.
struct ContentsWriter {
    /// The composites of attributes, by name.
    private var composites: [String: XMLElement] = [:]

    /// The order in which Xcode writes attributes; others follow by name.
    private static let order: [String: Int] = Dictionary(
        // Bounded: the names stand here.
        uniqueKeysWithValues: [
            "name", "key", "value", "property", "expression", "expressionType", "type", "documentVersion", "lastSavedToolsVersion",
            "systemVersion",
            "minimumToolsVersion", "sourceLanguage", "usedWithCloudKit", "usedWithSwiftData", "userDefinedModelVersionIdentifier",
            "macOSVersion",
            "iOSVersion", "representedClassName", "isAbstract", "parentEntity", "optional", "transient", "attributeType",
            "allowsExternalBinaryDataStorage", "composite", "derived", "derivationExpression", "minValueString", "maxValueString",
            "minDateTimeInterval", "maxDateTimeInterval", "defaultDateTimeInterval", "defaultValueString", "regularExpressionString",
            "usesScalarValueType", "indexed", "minCount", "maxCount", "toMany", "deletionRule", "ordered", "destinationEntity",
            "inverseName",
            "inverseEntity", "entity", "predicateString", "fetchLimit", "fetchOffset", "fetchBatchSize", "resultType", "includeSubentities",
            "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults", "partialIndexPredicate",
            "order", "elementID", "preserveAfterDeletion", "valueTransformerName", "customClassName",
        ].enumerated().map { ($1, $0) } + [("syncable", 1000), ("codeGenerationType", 1001), ("versionHashModifier", 1002)])

    private func made(_ name: String, _ attributes: [(String, String?)], _ rest: [String: String] = [:]) -> XMLElement {
        var values = rest
        for case (let name, let value?) in attributes { values[name] = value }
        // Xcode moved the version identifier when it began to write the language.
        let isOld = name == "model" && values["sourceLanguage"] == nil
        func place(_ name: String) -> Int { isOld && name == "userDefinedModelVersionIdentifier" ? 1 : Self.order[name] ?? 500 }
        let sorted = values.sorted { (place($0.key), $0.key) < (place($1.key), $1.key) }
        return XMLElement(name: name, attributes: sorted.map { XMLElement.Attribute(name: $0.key, value: $0.value) })
    }

    private func yes(_ flag: Bool) -> String? { flag ? "YES" : nil }

    mutating func element(of model: NSManagedObjectModel) throws -> XMLElement {
        guard model.versionIdentifiers.count <= 1, model.versionIdentifiers.allSatisfy({ $0.base is String }) else {
            throw ModelFileError.unwritable("versionIdentifiers", "A model file holds one, which is a text.")
        }
        var rest = model.modelFileAttributes
        for (name, value) in [
            ("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0"), ("lastSavedToolsVersion", "22758"),
            ("systemVersion", "23F79"), ("minimumToolsVersion", "Automatic"), ("sourceLanguage", "Swift"),
        ] where rest[name] == nil && (model.modelFileAttributes.isEmpty || name == "type") {
            rest[name] = value
        }
        var root = made("model", [("userDefinedModelVersionIdentifier", model.versionIdentifiers.first?.base as? String)], rest)
        let entities = try model.entities.map { try element(of: $0) }
        let templates = try model.templates.sorted { $0.key < $1.key }.map { try element(of: $1, called: $0) }
        let configurations = model.configurations.map { name in
            var element = made("configuration", [("name", name)])
            element.children = (model.entities(forConfigurationName: name) ?? []).map { made("memberEntity", [("name", $0.name)]) }
            return element
        }
        root.children = entities + templates + configurations + composites.sorted { $0.key < $1.key }.map(\.value) + model.unknownElements
        if !model.diagram.isEmpty {
            var elements = made("elements", [])
            elements.children = model.diagram
            root.children.append(elements)
        }
        return root
    }

    private mutating func element(of entity: NSEntityDescription) throws -> XMLElement {
        let place = entity.name ?? "an entity without a name"
        guard let name = entity.name, !name.isEmpty else { throw ModelFileError.unwritable(place, "It needs a name.") }
        var className = entity.managedObjectClassName
        if className == "NSManagedObject" { className = entity.modelFileAttributes["representedClassName"] }
        var element = made(
            "entity",
            [
                ("name", name), ("representedClassName", className), ("isAbstract", yes(entity.isAbstract)),
                ("parentEntity", entity.superentity?.name), ("elementID", entity.renamingIdentifier),
                ("versionHashModifier", entity.versionHashModifier),
                ("coreSpotlightDisplayNameExpression", entity.coreSpotlightDisplayNameExpression?.description),
            ], entity.modelFileAttributes.filter { $0.key != "representedClassName" })
        let kinds: [NSPropertyDescription.Type] = [
            NSAttributeDescription.self, NSRelationshipDescription.self, NSFetchedPropertyDescription.self,
        ]
        for kind in kinds {
            for property in entity.declaredProperties where Swift.type(of: property) == kind || property.isKind(of: kind) {
                element.children.append(try self.element(of: property, at: "\(place).\(property.name)"))
            }
        }
        guard element.children.count == entity.declaredProperties.count else {
            throw ModelFileError.unwritable(place, "A property is neither an attribute nor a relationship nor a fetched property.")
        }
        element.children += try entity.indexes.map { try self.element(of: $0, at: place) }
        try element.children += lists(entity.compoundIndexes, "compoundIndexes", "compoundIndex", "index", at: place)
        try element.children += lists(
            entity.uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint", at: place)
        try element.children += userInfo(entity.userInfo, at: place)
        element.children += entity.unknownElements
        return element
    }

    private func lists(_ lists: [[Any]], _ outer: String, _ list: String, _ item: String, at place: String) throws -> [XMLElement] {
        if lists.isEmpty { return [] }
        var element = made(outer, [])
        element.children = try lists.map { names in
            var element = made(list, [])
            element.children = try NSEntityDescription.names(in: names).map { name in
                guard let name else {
                    throw ModelFileError.unwritable(place, "\(outer) holds something that is neither a name nor a property.")
                }
                return made(item, [("value", name)])
            }
            return element
        }
        return [element]
    }

    private func userInfo(_ info: [AnyHashable: Any]?, at place: String) throws -> [XMLElement] {
        guard let info, !info.isEmpty else { return [] }
        var element = made("userInfo", [])
        element.children = try info.map { key, value in
            guard let key = key.base as? String, let value = PropertyListText.text(of: value) else {
                throw ModelFileError.unwritable(place, "The user info “\(key)” is neither a text nor a property list.")
            }
            return made("entry", [("key", key), ("value", value)])
        }.sorted { ($0["key"] ?? "") < ($1["key"] ?? "") }
        return [element]
    }

    private func element(of index: NSFetchIndexDescription, at place: String) throws -> XMLElement {
        var element = made(
            "fetchIndex", [("name", index.name), ("partialIndexPredicate", try format(index.partialIndexPredicate, at: place))])
        element.children = index.elements.map { part in
            let expression = part.property as? NSExpressionDescription
            let type = expression.flatMap { $0.expressionResultType == .undefinedAttributeType ? nil : $0.expressionResultType }
            return made(
                "fetchIndexElement",
                [
                    ("property", expression == nil ? part.propertyName : nil), ("expression", expression?.expression?.description),
                    ("expressionType", type.map(AttributeText.name)), ("type", part.collationType == .rTree ? "RTree" : "Binary"),
                    ("order", part.isAscending ? "ascending" : "descending"),
                ])
        }
        return element
    }

    private func format(_ predicate: NSPredicate?, at place: String) throws -> String? {
        guard let predicate else { return nil }
        do {
            let format = try predicate.tree().description
            // A constant that is not a string or number has no format that is read as the same value.
            guard try NSPredicate(parsing: format).tree() == predicate.tree() else {
                throw ModelFileError.unwritable(place, "The predicate “\(format)” is read as another.")
            }
            return format
        } catch { throw ModelFileError.unwritable(place, "Its predicate has no form as text: \(error)") }
    }

    private func element(of request: NSFetchRequest<any NSFetchRequestResult>, called name: String) throws -> XMLElement {
        let place = "fetch request “\(name)”"
        guard let entity = request.entityName else { throw ModelFileError.unwritable(place, "It names no entity.") }
        guard request.sortDescriptors?.isEmpty ?? true, request.propertiesToFetch == nil, request.propertiesToGroupBy == nil,
            request.havingPredicate == nil
        else {
            throw ModelFileError.unwritable(
                place, "A model file has no sort descriptors, properties to fetch, groups or conditions of groups.")
        }
        let fixed: [(String, String?)] = [
            ("name", name), ("entity", entity), ("predicateString", try format(request.predicate, at: place)),
        ]
        return made("fetchRequest", fixed + RequestText.attributes(of: request).map { ($0.0, $0.1) })
    }
}

// MARK: Properties
extension ContentsWriter {
    private mutating func element(of property: NSPropertyDescription, at place: String) throws -> XMLElement {
        guard !property.name.isEmpty else { throw ModelFileError.unwritable(place, "It needs a name.") }
        var rest = property.modelFileAttributes
        var attributes: [(String, String?)] = [
            ("name", property.name), ("optional", yes(property.isOptional)), ("transient", yes(property.isTransient)),
            ("indexed", yes(property.isIndexed)), ("elementID", property.renamingIdentifier),
            ("versionHashModifier", property.versionHashModifier), ("spotlightIndexingEnabled", yes(property.isIndexedBySpotlight)),
        ]
        let name: String
        var children: [XMLElement] = []
        switch property {
        case let attribute as NSAttributeDescription:
            name = "attribute"
            attributes += try self.attributes(of: attribute, &rest, at: place)
        case let relationship as NSRelationshipDescription:
            name = "relationship"
            attributes += self.attributes(of: relationship, rest)
        case let fetched as NSFetchedPropertyDescription:
            name = "fetchedProperty"
            let requestName = rest.removeValue(forKey: "fetchRequestName")
            if let request = fetched.fetchRequest {
                children.append(try element(of: request, called: requestName ?? "fetchedPropertyFetchRequest"))
            }
        default: throw ModelFileError.unwritable(place, "It is neither an attribute nor a relationship nor a fetched property.")
        }
        if !(property is NSAttributeDescription), let predicate = property.validationPredicates.first {
            throw ModelFileError.unwritable(place, "A model file has no words for the validation predicate “\(predicate.formatString)”.")
        }
        var element = made(name, attributes, rest)
        element.children = try children + userInfo(property.userInfo, at: place) + property.unknownElements
        return element
    }

    private mutating func attributes(
        of attribute: NSAttributeDescription, _ rest: inout [String: String], at place: String
    ) throws -> [(String, String?)] {
        let type = attribute.attributeType
        var attributes: [(String, String?)] = [
            ("attributeType", AttributeText.name(of: type)), ("valueTransformerName", attribute.valueTransformerName),
            ("customClassName", attribute.customValueClassName),
            ("allowsExternalBinaryDataStorage", yes(attribute.allowsExternalBinaryDataStorage)),
            ("preserveAfterDeletion", yes(attribute.preservesValueInHistoryOnDeletion)),
            ("allowsCloudEncryption", yes(attribute.allowsCloudEncryption)),
        ]
        let spelling = rest.removeValue(forKey: "defaultValueString")
        if let value = attribute.defaultValue {
            guard let text = AttributeText.text(value, type: type) else {
                throw ModelFileError.unwritable(place, "A model file has no words for a default value of this type.")
            }
            let isSpelled =
                spelling.flatMap { AttributeText.value($0, type: type) ?? (attribute.mistypedDefault == nil ? nil : value) }
                .flatMap { AttributeText.text($0, type: type) } == text
            let isDate = type == .dateAttributeType
            attributes.append((isDate ? "defaultDateTimeInterval" : "defaultValueString", isSpelled && !isDate ? spelling : text))
        } else if attribute.mistypedDefault != nil {
            // A default value that has no meaning here is written back unchanged.
            attributes.append(("defaultValueString", spelling))
        }
        for (predicate, warning) in attribute.validationRules {
            // Compiled models contain the usual codes explicitly.
            let isUsual = warning.map { ($0 as? NSNumber)?.intValue ?? $0 as? Int == attribute.usualCode(of: predicate) } ?? true
            guard let (name, value) = ValidationText.attribute(for: predicate, type: type), !attributes.contains(where: { $0.0 == name }),
                isUsual
            else {
                throw ModelFileError.unwritable(
                    place, "A model file has no words for the validation predicate “\(predicate.formatString)”.")
            }
            attributes.append((name, value))
        }
        if let derived = attribute as? NSDerivedAttributeDescription {
            attributes += [("derived", "YES"), ("derivationExpression", derived.derivationExpression?.description)]
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            let name = rest["composite"] ?? "\(place.replacingOccurrences(of: ".", with: "_"))"
            attributes.append(("composite", name))
            var element = made("composite", [("name", name)])
            element.children = try composite.elements.map { try self.element(of: $0, at: "\(place).\($0.name)") }
            if let known = composites[name], known != element {
                throw ModelFileError.unwritable(place, "There are two different composites called “\(name)”.")
            }
            composites[name] = element
        }
        return attributes
    }

    private func attributes(of relationship: NSRelationshipDescription, _ rest: [String: String]) -> [(String, String?)] {
        let destination = relationship.destinationEntity?.name ?? relationship.missingDestination
        let inverse = relationship.inverseRelationship?.name ?? relationship.missingInverse
        let rule = RelationshipText.rules.first { $0.rule == relationship.deleteRule }
        return [
            ("minCount", relationship.minCount == 0 ? nil : "\(relationship.minCount)"),
            ("maxCount", relationship.maxCount == 0 ? nil : "\(relationship.maxCount)"), ("toMany", yes(relationship.isToMany)),
            ("deletionRule", rule?.name), ("ordered", yes(relationship.isOrdered)), ("destinationEntity", destination),
            ("inverseName", inverse), ("inverseEntity", inverse == nil ? nil : rest["inverseEntity"] ?? destination),
        ]
    }
}
