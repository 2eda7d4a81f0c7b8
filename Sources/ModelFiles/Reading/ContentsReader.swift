internal import Foundation
internal import Logging
internal import ObjectGraph
internal import Predicates
internal import PropertyLists

/// Reads the `contents` of an `.xcdatamodel`: the XML that Xcode has written since version 4.
struct ContentsReader {
    let file: String?
    private var assembly: ModelAssembly
    private var composites: [String: XMLElement] = [:]
    /// The number of attributes created for composites, whose nesting multiplies them.
    private var compositeElements = 0

    /// Reads `data` into the empty `model`.
    static func read(_ data: Data, file: String?, into model: NSManagedObjectModel) throws {
        let root: XMLElement
        do {
            root = try XMLReader.read(data)
        } catch let mistake as XMLReader.FormatError {
            throw ModelFileError.malformed(file, line: mistake.line, element: mistake.element.map { "<\($0)>" }, mistake.reason)
        }
        var reader = ContentsReader(file: file, assembly: ModelAssembly(file: file))
        try reader.read(root, into: model)
    }

    private mutating func read(_ root: XMLElement, into model: NSManagedObjectModel) throws {
        guard root.name == "model" else { throw malformed(root, "A model begins with <model>.") }
        var fields = ModelFields(root, file: file)
        try fields.expect("type", "com.apple.IDECoreDataModeler.DataModel")
        if let identifier = fields.text("userDefinedModelVersionIdentifier") { model.versionIdentifiers = [identifier] }
        model.modelFileAttributes = fields.rest
        for element in root.children where element.name == "composite" {
            var fields = ModelFields(element, file: file)
            let name = try fields.required("name")
            guard composites.updateValue(element, forKey: name) == nil else {
                throw malformed(element, "There are two composites called “\(name)”.")
            }
        }
        for element in root.children {
            switch element.name {
            case "entity": try readEntity(element)
            case "composite": break
            case "fetchRequest":
                let (name, request) = try readRequest(element)
                guard !assembly.templates.contains(where: { $0.name == name }) else {
                    throw malformed(element, "There are two fetch requests called “\(name)”.")
                }
                assembly.templates.append((name, request))
            case "configuration": try readConfiguration(element)
            case "elements": model.diagram = element.children
            default: model.unknownElements.append(unknown(element))
            }
        }
        // A composite that no attribute uses would be lost.
        let used = Set(
            assembly.entities.flatMap(\.declaredProperties).flatMap(ContentsReader.compositeNames))
        model.unknownElements += root.children.filter { $0.name == "composite" && !used.contains($0["name"] ?? "") }
        try assembly.finish(model)
    }

    private static func compositeNames(_ property: NSPropertyDescription) -> [String] {
        guard let composite = property as? NSCompositeAttributeDescription else { return [] }
        return [composite.modelFileAttributes["composite"]].compactMap { $0 } + composite.elements.flatMap(compositeNames)
    }

    func malformed(_ element: XMLElement, _ reason: String) -> NSError {
        let name = element["name"].map { " “\($0)”" } ?? ""
        return ModelFileError.malformed(file, line: element.line, element: "<\(element.name)>\(name)", reason)
    }

    private func unknown(_ element: XMLElement) -> XMLElement {
        Log.model.warning(
            "\(file ?? "The model"), line \(element.line): <\(element.name)> is not known; it is kept and written back, and has no effect.")
        return element
    }

    // MARK: Entities

    private mutating func readEntity(_ element: XMLElement) throws {
        var fields = ModelFields(element, file: file)
        let entity = NSEntityDescription()
        entity.name = try fields.required("name")
        if let name = fields.text("representedClassName") {
            // An empty name denotes the base class; it is written back unchanged.
            if name.isEmpty { fields.keep("representedClassName", name) } else { entity.managedObjectClassName = name }
        }
        entity.isAbstract = try fields.flag("isAbstract")
        entity.renamingIdentifier = fields.text("elementID")
        entity.versionHashModifier = fields.text("versionHashModifier")
        entity.coreSpotlightDisplayNameExpression = try fields.expression("coreSpotlightDisplayNameExpression")
        let parent = fields.text("parentEntity")
        var properties: [NSPropertyDescription] = []
        for child in element.children {
            switch child.name {
            case "attribute": properties.append(try readAttribute(child, within: []))
            case "relationship": properties.append(try readRelationship(child))
            case "fetchedProperty": properties.append(try readFetchedProperty(child))
            case "fetchIndex": entity.indexes.append(try readIndex(child))
            case "uniquenessConstraints":
                entity.uniquenessConstraints += try lists(child, of: "uniquenessConstraint", "constraint")
            case "compoundIndexes": entity.compoundIndexes += try lists(child, of: "compoundIndex", "index")
            case "userInfo": entity.userInfo = try readUserInfo(child)
            default: entity.unknownElements.append(unknown(child))
            }
        }
        entity.properties = properties
        entity.modelFileAttributes = fields.rest
        try assembly.add(entity, parent: parent, line: element.line)
    }

    private func lists(_ element: XMLElement, of list: String, _ item: String) throws -> [[String]] {
        try element.children.map { child in
            guard child.name == list else { throw malformed(child, "Only <\(list)> is allowed in <\(element.name)>.") }
            return try child.children.map { child in
                guard child.name == item else { throw malformed(child, "Only <\(item)> is allowed in <\(list)>.") }
                var fields = ModelFields(child, file: file)
                return try fields.required("value")
            }
        }
    }

    func readUserInfo(_ element: XMLElement) throws -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        for entry in element.children {
            guard entry.name == "entry" else { throw malformed(entry, "Only <entry> is allowed in <userInfo>.") }
            var fields = ModelFields(entry, file: file)
            info[try fields.required("key")] = fields.text("value") ?? ""
        }
        return info
    }

    private func readIndex(_ element: XMLElement) throws -> NSFetchIndexDescription {
        var fields = ModelFields(element, file: file)
        let name = try fields.required("name")
        let predicate = try fields.predicate("partialIndexPredicate")
        try fields.finish()
        let elements = try element.children.map { child in
            guard child.name == "fetchIndexElement" else { throw malformed(child, "Only <fetchIndexElement> is allowed in <fetchIndex>.") }
            var fields = ModelFields(child, file: file)
            let type = fields.text("type") ?? "Binary"
            guard let collation = ["Binary": NSFetchIndexElementType.binary, "RTree": .rTree][type] else {
                throw malformed(child, "The type of an index is “Binary” or “RTree”, not “\(type)”.")
            }
            let order = fields.text("order") ?? "ascending"
            guard ["ascending", "descending"].contains(order) else {
                throw malformed(child, "The order of an index is “ascending” or “descending”, not “\(order)”.")
            }
            let index: NSFetchIndexElementDescription
            if let expression = try fields.expression("expression") {
                let computed = NSExpressionDescription()
                computed.expression = expression
                if let type = fields.text("expressionType") { computed.expressionResultType = try attributeType(type, child) }
                index = NSFetchIndexElementDescription(property: computed, collationType: collation)
            } else {
                index = NSFetchIndexElementDescription(propertyName: try fields.required("property"), collationType: collation)
            }
            try fields.finish()
            index.isAscending = order == "ascending"
            return index
        }
        let index = NSFetchIndexDescription(name: name, elements: elements)
        index.partialIndexPredicate = predicate
        return index
    }

    func attributeType(_ name: String, _ element: XMLElement) throws -> NSAttributeType {
        guard let type = AttributeText.type(named: name) else {
            throw malformed(
                element, "“\(name)” is not a type of attributes; types are \(AttributeText.types.map(\.name).joined(separator: ", ")).")
        }
        return type
    }

    private mutating func readConfiguration(_ element: XMLElement) throws {
        var fields = ModelFields(element, file: file)
        let name = try fields.required("name")
        if fields.text("usedWithCloudKit") != nil || !fields.rest.isEmpty {
            Log.model.notice("\(file ?? "The model"), line \(element.line): only the name and the entities of a configuration are kept.")
        }
        let members = try element.children.map { child in
            guard child.name == "memberEntity" else { throw malformed(child, "Only <memberEntity> is allowed in <configuration>.") }
            var fields = ModelFields(child, file: file)
            return try fields.required("name")
        }
        assembly.configurations.append((name, members, element.line))
    }
}

// MARK: Properties
extension ContentsReader {
    /// Reads the XML attributes common to attributes, relationships and fetched properties.
    private func readCommon(_ fields: inout ModelFields, into property: NSPropertyDescription, _ element: XMLElement) throws {
        property.name = try fields.required("name")
        property.isOptional = try fields.flag("optional")
        property.isTransient = try fields.flag("transient")
        property.isIndexed = try fields.flag("indexed")
        property.isIndexedBySpotlight = try fields.flag("spotlightIndexingEnabled")
        property.renamingIdentifier = fields.text("elementID")
        property.versionHashModifier = fields.text("versionHashModifier")
        for child in element.children {
            switch child.name {
            case "userInfo": property.userInfo = try readUserInfo(child)
            case "fetchRequest" where property is NSFetchedPropertyDescription: break
            default: property.unknownElements.append(unknown(child))
            }
        }
    }

    private mutating func readAttribute(_ element: XMLElement, within outer: [String]) throws -> NSAttributeDescription {
        var fields = ModelFields(element, file: file)
        let type = try attributeType(fields.text("attributeType") ?? "Undefined", element)
        let attribute: NSAttributeDescription
        if try fields.flag("derived") {
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpression = try fields.expression("derivationExpression")
            attribute = derived
        } else if type == .compositeAttributeType {
            attribute = try readComposite(&fields, element, within: outer)
        } else {
            attribute = NSAttributeDescription()
        }
        try readCommon(&fields, into: attribute, element)
        attribute.attributeType = type
        if let text = fields.text("defaultValueString") {
            attribute.takeDefaultValue(text)
            // Xcode may have written another spelling of the same value.
            if attribute.defaultValue.flatMap({ AttributeText.text($0, type: type) }) != text { fields.keep("defaultValueString", text) }
        }
        if type == .dateAttributeType, let seconds = try fields.number("defaultDateTimeInterval") {
            attribute.defaultValue = Date(timeIntervalSinceReferenceDate: seconds)
        }
        attribute.valueTransformerName = fields.text("valueTransformerName")
        attribute.attributeValueClassName = fields.text("customClassName")
        attribute.allowsExternalBinaryDataStorage = try fields.flag("allowsExternalBinaryDataStorage")
        attribute.preservesValueInHistoryOnDeletion = try fields.flag("preserveAfterDeletion")
        attribute.allowsCloudEncryption = try fields.flag("allowsCloudEncryption")
        attribute.setValidationPredicates(try ValidationText.predicates(&fields, type: type), withValidationWarnings: nil)
        attribute.modelFileAttributes = fields.rest
        return attribute
    }

    private mutating func readComposite(
        _ fields: inout ModelFields, _ element: XMLElement, within outer: [String]
    ) throws -> NSCompositeAttributeDescription {
        let name = try fields.required("composite")
        guard !outer.contains(name) else { throw malformed(element, "The composite “\(name)” is part of itself.") }
        guard outer.count < 16 else { throw malformed(element, "Composites nest deeper than 16 levels.") }
        guard let definition = composites[name] else { throw malformed(element, "There is no composite “\(name)”.") }
        let composite = NSCompositeAttributeDescription()
        composite.elements = try definition.children.map { child in
            guard child.name == "attribute" else { throw malformed(child, "Only <attribute> is allowed in <composite>.") }
            compositeElements += 1
            guard compositeElements <= 100_000 else { throw malformed(element, "Composites have more than 100,000 attributes.") }
            return try readAttribute(child, within: outer + [name])
        }
        fields.keep("composite", name)
        return composite
    }

    private mutating func readRelationship(_ element: XMLElement) throws -> NSRelationshipDescription {
        var fields = ModelFields(element, file: file)
        let relationship = NSRelationshipDescription()
        try readCommon(&fields, into: relationship, element)
        let isToMany = try fields.flag("toMany")
        relationship.minCount = try fields.count("minCount") ?? 0
        relationship.maxCount = try fields.count("maxCount", upTo: .max) ?? (isToMany ? 0 : 1)
        relationship.isOrdered = try fields.flag("ordered")
        let rule = fields.text("deletionRule") ?? "Nullify"
        guard let deleteRule = RelationshipText.rules.first(where: { $0.name == rule })?.rule else {
            throw malformed(element, "“\(rule)” is not a delete rule.")
        }
        relationship.deleteRule = deleteRule
        let destination = fields.text("destinationEntity")
        let inverse = fields.text("inverseName")
        if let entity = fields.text("inverseEntity"), entity != destination { fields.keep("inverseEntity", entity) }
        relationship.modelFileAttributes = fields.rest
        assembly.add(ModelAssembly.Link(relationship: relationship, destination: destination, inverse: inverse))
        return relationship
    }

    private mutating func readFetchedProperty(_ element: XMLElement) throws -> NSFetchedPropertyDescription {
        var fields = ModelFields(element, file: file)
        let property = NSFetchedPropertyDescription()
        try readCommon(&fields, into: property, element)
        let requests = element.children.filter { $0.name == "fetchRequest" }
        guard requests.count <= 1 else { throw malformed(element, "It has more than one fetch request.") }
        if let request = requests.first {
            let (name, made) = try readRequest(request)
            property.fetchRequest = made
            fields.keep("fetchRequestName", name)
        }
        property.modelFileAttributes = fields.rest
        return property
    }

    private mutating func readRequest(_ element: XMLElement) throws -> (String, NSFetchRequest<any NSFetchRequestResult>) {
        var fields = ModelFields(element, file: file)
        let name = try fields.required("name")
        let entity = try fields.required("entity")
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        request.predicate = try fields.predicate("predicateString")
        try RequestText.read(&fields, into: request)
        try fields.finish()
        guard element.children.isEmpty else { throw malformed(element.children[0], "No element is allowed in <fetchRequest>.") }
        assembly.requests.append((request, entity))
        return (name, request)
    }
}
