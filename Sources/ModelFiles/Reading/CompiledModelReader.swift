internal import Foundation
internal import Logging
internal import ObjectGraph
internal import Predicates
internal import PropertyLists

/// Reads compiled models (`.mom`): keyed archives of Apple's descriptions. SQLite stores contain the same archive of their model.
struct CompiledModelReader {
    let file: String?
    private let archive: KeyedArchive
    private var assembly: ModelAssembly
    /// The relationships by their numbers in the archive, with the numbers of their inverses.
    private var relationships: [Int: NSRelationshipDescription] = [:]
    private var inverses: [(NSRelationshipDescription, Int)] = []
    private var unknownKeys: Set<String> = []

    /// Reads `data` into the empty `model`.
    static func read(_ data: Data, file: String?, into model: NSManagedObjectModel) throws {
        do {
            let archive = try KeyedArchive(data)
            if let contents = archive.root?.value(CompiledKeys.contents) as? Data {
                return try ContentsReader.read(contents, file: file, into: model)
            }
            var reader = CompiledModelReader(file: file, archive: archive, assembly: ModelAssembly(file: file))
            try reader.read(into: model)
        } catch let mistake as BinaryPropertyList.FormatError {
            throw ModelFileError.malformed(file, mistake.reason)
        }
    }

    private mutating func read(into model: NSManagedObjectModel) throws {
        guard let root = archive.root, root.className == "NSManagedObjectModel" else {
            throw ModelFileError.malformed(file, "The object at the top of the archive is not an NSManagedObjectModel.")
        }
        note(root, known: CompiledKeys.model)
        if let identifiers = root.value("NSVersionIdentifiers") as? [Any] {
            model.versionIdentifiers = Set(identifiers.compactMap { $0 as? AnyHashable })
        }
        model.localizationDictionary = root.value("NSLocalizationDictionary") as? [String: String]
        guard let entities = root.object("NSEntities")?.pairs() else { throw malformed(nil, "The model has no entities.") }
        for (name, index) in entities.sorted(by: { $0.key < $1.key }) {
            guard let object = archive.object(index), object.className == "NSEntityDescription" else {
                throw malformed("entity “\(name)”", "It is not an NSEntityDescription.")
            }
            try readEntity(object, called: name)
        }
        for (name, index) in root.object("NSConfigurations")?.pairs() ?? [] {
            let members = (archive.object(index)?.elements() ?? []).map { archive.object($0)?.text("NSEntityName") ?? "" }
            assembly.configurations.append((name, members.sorted(), nil))
        }
        for (name, index) in root.object("NSFetchRequestTemplates")?.pairs() ?? [] {
            guard let object = archive.object(index) else { throw malformed("fetch request “\(name)”", "It is not an NSFetchRequest.") }
            assembly.templates.append((name, try readRequest(object, "fetch request “\(name)”")))
        }
        try assembly.finish(model)
        for (relationship, inverse) in inverses {
            guard relationship.inverseRelationship == nil, let found = relationships[inverse], found.entity != nil else { continue }
            relationship.inverseRelationship = found
            relationship.missingInverse = nil
        }
        if !unknownKeys.isEmpty {
            Log.model.warning(
                "\(file ?? "The compiled model") says what is not known here and has no effect: \(unknownKeys.sorted().joined(separator: ", "))."
            )
        }
    }

    func malformed(_ place: String?, _ reason: String) -> NSError { ModelFileError.malformed(file, element: place, reason) }

    private mutating func note(_ object: KeyedArchive.Object, known: Set<String>) {
        for key in object.keys.subtracting(known) { unknownKeys.insert("\(object.className).\(key)") }
    }

    // MARK: Entities

    private mutating func readEntity(_ object: KeyedArchive.Object, called name: String) throws {
        note(object, known: CompiledKeys.entity)
        let place = "entity “\(name)”"
        guard object.text("NSEntityName") == name else { throw malformed(place, "It bears another name within.") }
        let entity = NSEntityDescription()
        entity.name = name
        if let className = object.text("NSClassNameForEntity"), !className.isEmpty { entity.managedObjectClassName = className }
        entity.isAbstract = object.flag("NSIsAbstract")
        entity.renamingIdentifier = object.text("NSRenamingIdentifier").flatMap { $0 == name ? nil : $0 }
        entity.versionHashModifier = object.text("NSVersionHashModifier")
        entity.coreSpotlightDisplayNameExpression = try expression("NSCoreSpotlightDisplayNameExpression", of: object, place)
        entity.userInfo = object.value("NSUserInfo") as? [AnyHashable: Any] ?? [:]
        entity.uniquenessConstraints = names(object.object("NSUniqueTuples"))
        entity.compoundIndexes = names(object.object("NSCompoundIndexes"))
        guard let properties = object.object("NSProperties")?.pairs() else { throw malformed(place, "It has no properties.") }
        let inherited = inheritedNames(of: object)
        entity.properties = try properties.sorted { $0.key < $1.key }.compactMap { name, index in
            guard let property = archive.object(index) else { throw malformed("\(place).\(name)", "It is not a description.") }
            // An entity's properties may include inherited ones, as the same objects or, in archives of stores, as copies.
            if inherited.contains(name) { return nil }
            if let owner = property.reference("NSEntity"), owner != object.index { return nil }
            return try readProperty(property, called: name, "\(place), property “\(name)”")
        }
        entity.indexes = try (object.object("NSFetchIndexDescriptions")?.elements() ?? []).map { index in
            guard let index = archive.object(index) else { throw malformed(place, "An index is not an NSFetchIndexDescription.") }
            return try readIndex(index, place)
        }
        let parent = object.object("NSSuperentity")
        if parent == nil, object.reference("NSSuperentity") != nil { throw malformed(place, "What it inherits from is not an entity.") }
        try assembly.add(entity, parent: parent.map { $0.text("NSEntityName") ?? "" }, line: nil)
    }

    /// Returns the names of the properties of an entity's superentities.
    private func inheritedNames(of object: KeyedArchive.Object) -> Set<String> {
        var names: Set<String> = []
        var seen: Set<Int> = [object.index]
        var ancestor = object.object("NSSuperentity")
        while let entity = ancestor, seen.insert(entity.index).inserted {
            names.formUnion((entity.object("NSProperties")?.pairs() ?? []).map(\.key))
            ancestor = entity.object("NSSuperentity")
        }
        return names
    }

    private func names(_ lists: KeyedArchive.Object?) -> [[String]] {
        (lists?.elements() ?? []).map { list in
            (archive.object(list)?.elements() ?? []).compactMap { element in
                archive.value(of: element) as? String ?? archive.object(element)?.text("NSPropertyName")
            }
        }
    }

    private mutating func readIndex(_ object: KeyedArchive.Object, _ place: String) throws -> NSFetchIndexDescription {
        note(object, known: CompiledKeys.index)
        let elements = try (object.object("NSIndexElements")?.elements() ?? []).map { index in
            guard let element = archive.object(index),
                let type = NSFetchIndexElementType(rawValue: UInt(exactly: element.integer("NSFetchIndexElementType") ?? 0) ?? 9)
            else { throw malformed(place, "An index has an element of an unknown kind.") }
            note(element, known: CompiledKeys.indexElement)
            guard let name = element.text("NSPropertyName") else {
                throw malformed(place, "An index has an element that names no property.")
            }
            let result = NSFetchIndexElementDescription(propertyName: name, collationType: type)
            result.isAscending = element.flag("NSAscending")
            return result
        }
        let index = NSFetchIndexDescription(name: object.text("NSIndexName") ?? "", elements: elements)
        index.partialIndexPredicate = try predicate("NSPartialIndexPredicate", of: object, place)
        return index
    }

    // MARK: Properties

    private mutating func readProperty(_ object: KeyedArchive.Object, called name: String, _ place: String) throws -> NSPropertyDescription
    {
        let property: NSPropertyDescription
        switch object.className {
        case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
            property = try readAttribute(object, place, depth: 0)
        case "NSRelationshipDescription": property = try readRelationship(object, place)
        case "NSFetchedPropertyDescription":
            note(object, known: CompiledKeys.fetchedProperty)
            let fetched = NSFetchedPropertyDescription()
            if let request = object.object("NSFetchRequest") { fetched.fetchRequest = try readRequest(request, place) }
            property = fetched
        default: throw malformed(place, "There is no kind of property \(object.className).")
        }
        try readCommon(object, into: property, place)
        guard property.name == name else { throw malformed(place, "It bears another name within.") }
        return property
    }

    private func readCommon(_ object: KeyedArchive.Object, into property: NSPropertyDescription, _ place: String) throws {
        guard let name = object.text("NSPropertyName"), !name.isEmpty else { throw malformed(place, "It has no name.") }
        property.name = name
        property.isOptional = object.flag("NSIsOptional")
        property.isTransient = !(property is NSFetchedPropertyDescription) && object.flag("NSIsTransient")
        property.isIndexed = object.flag("NSIsIndexed")
        property.renamingIdentifier = object.text("NSRenamingIdentifier").flatMap { $0 == name ? nil : $0 }
        property.versionHashModifier = object.text("NSVersionHashModifier")
        property.userInfo = object.value("NSUserInfo") as? [AnyHashable: Any] ?? [:]
        guard let predicates = object.object("NSValidationPredicates")?.elements() else { return }
        do {
            let rules = try predicates.map { try archive.predicate(of: $0) }
            property.setValidationPredicates(rules, withValidationWarnings: object.value("NSValidationWarnings") as? [Any])
        } catch { throw unreadable(error, place) }
    }

    private mutating func readAttribute(
        _ object: KeyedArchive.Object, _ place: String, depth: Int
    ) throws -> NSAttributeDescription {
        note(object, known: CompiledKeys.attribute)
        guard let type = NSAttributeType(rawValue: UInt(exactly: object.integer("NSAttributeType") ?? 0) ?? 1) else {
            throw malformed(place, "There is no attribute type \(object.integer("NSAttributeType") ?? 0).")
        }
        let attribute: NSAttributeDescription
        switch object.className {
        case "NSDerivedAttributeDescription":
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpression = try expression("NSDerivationExpression", of: object, place)
            attribute = derived
        case "NSCompositeAttributeDescription":
            throw malformed(place, "How compiled models keep composite attributes is not known. Read the .xcdatamodeld instead.")
        default: attribute = NSAttributeDescription()
        }
        attribute.attributeType = type
        if let reference = object.reference("NSDefaultValue") {
            if let value = object.value("NSDefaultValue") {
                if let normal = AttributeText.normal(value, type: type) {
                    attribute.defaultValue = normal
                } else {
                    attribute.defaultValue = AttributeText.lenientValue(value, type: type)
                    attribute.mistypedDefault = "“\(value)”"
                }
            } else {
                attribute.mistypedDefault = "an archived \(archive.object(reference)?.className ?? "value")"
            }
        }
        attribute.valueTransformerName = object.text("NSValueTransformerName")
        if let name = object.text("NSAttributeValueClassName") { attribute.attributeValueClassName = name }
        let flags = object.integer("NSFlagsKey") ?? 0
        attribute.preservesValueInHistoryOnDeletion = flags & CompiledKeys.preservesValueInHistory != 0
        if flags & ~CompiledKeys.preservesValueInHistory != 0 {
            Log.model.warning(
                "\(file ?? "The compiled model"), \(place): the meaning of the flags \(flags) is not known; they have no effect.")
        }
        return attribute
    }

    private mutating func readRelationship(_ object: KeyedArchive.Object, _ place: String) throws -> NSRelationshipDescription {
        note(object, known: CompiledKeys.relationship)
        let relationship = NSRelationshipDescription()
        relationship.isOrdered = object.flag("NSIsOrdered")
        let mistake = relationship.take(
            minCount: object.integer("NSMinCount") ?? 0, maxCount: object.integer("NSMaxCount") ?? 0,
            deleteRule: object.integer("NSDeleteRule"))
        if let mistake { throw malformed(place, mistake) }
        let destination = object.object("NSDestinationEntity")?.text("NSEntityName") ?? object.text("_NSDestinationEntityName")
        assembly.add(
            ModelAssembly.Link(relationship: relationship, destination: destination, inverse: object.text("_NSInverseRelationshipName")))
        relationships[object.index] = relationship
        if let inverse = object.reference("NSInverseRelationship") { inverses.append((relationship, inverse)) }
        return relationship
    }

    private mutating func readRequest(_ object: KeyedArchive.Object, _ place: String) throws -> NSFetchRequest<any NSFetchRequestResult> {
        note(object, known: CompiledKeys.request)
        guard object.className == "NSFetchRequest" else { throw malformed(place, "It is not an NSFetchRequest.") }
        let name = object.object("NSEntity")?.text("NSEntityName") ?? ""
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
        request.predicate = try predicate("NSPredicate", of: object, place)
        request.fetchLimit = max(0, object.integer("NSFetchLimit") ?? 0)
        request.fetchOffset = max(0, object.integer("NSFetchOffset") ?? 0)
        request.fetchBatchSize = max(0, object.integer("NSBatchSize") ?? 0)
        let type = object.integer("NSResultType") ?? 0
        guard [0, 1, 2, 4].contains(type) else { throw malformed(place, "There is no result type \(type).") }
        request.resultType = NSFetchRequestResultType(rawValue: UInt(type))
        if object.flag("NSHasFetchRequestFlags") {
            let flags = object.integer("NSFetchRequestFlags") ?? 0
            request.returnsDistinctResults = flags & CompiledKeys.distinct != 0
            request.includesSubentities = flags & CompiledKeys.subentities != 0
            request.includesPropertyValues = flags & CompiledKeys.propertyValues != 0
            request.returnsObjectsAsFaults = flags & CompiledKeys.faults != 0
            request.includesPendingChanges = flags & CompiledKeys.pendingChanges != 0
        }
        assembly.requests.append((request, name))
        return request
    }

    // MARK: Predicates

    private func predicate(_ key: String, of object: KeyedArchive.Object, _ place: String) throws -> NSPredicate? {
        do { return try object.predicate(key) } catch { throw unreadable(error, place) }
    }

    private func expression(_ key: String, of object: KeyedArchive.Object, _ place: String) throws -> Predicates.NSExpression? {
        do { return try object.expression(key) } catch { throw unreadable(error, place) }
    }

    private func unreadable(_ error: any Error, _ place: String) -> NSError {
        malformed(place, "Its predicate or expression cannot be read: \((error as? BinaryPropertyList.FormatError)?.reason ?? "\(error)")")
    }
}
