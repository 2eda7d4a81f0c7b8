internal import Foundation
internal import Logging
internal import ObjectGraph
internal import PropertyLists

/// Reads the `elements` of an `.xcdatamodel` from before Xcode 4: a keyed archive of the model editor's own objects.
///
/// They are UML elements with “stereotypes”, dictionaries of properties whose default is the value. Fetch requests, fetched properties,
/// configurations and compound indexes are empty in all public files, so their format is unknown: a file that contains them is an error.
struct ElementsReader {
    let file: String?
    private let archive: KeyedArchive
    private var assembly: ModelAssembly

    /// Reads `data` into the empty `model`.
    static func read(_ data: Data, file: String?, into model: NSManagedObjectModel) throws {
        do {
            var reader = ElementsReader(file: file, archive: try KeyedArchive(data), assembly: ModelAssembly(file: file))
            try reader.read(into: model)
        } catch let mistake as BinaryPropertyList.FormatError {
            throw ModelFileError.malformed(file, mistake.reason)
        }
    }

    private mutating func read(into model: NSManagedObjectModel) throws {
        guard let root = archive.root, root.className == "XDPMModel", let package = root.object("_xd_rootPackage") else {
            throw ModelFileError.malformed(file, "The object at the top of the archive is not a model of Xcode 3.")
        }
        if let identifier = root.text("_modelVersionIdentifier") { model.versionIdentifiers = [identifier] }
        if let configurations = root.object("_configurationsByName")?.pairs(), !configurations.isEmpty {
            throw unsupported(nil, "configurations")
        }
        guard let entities = package.object("XDBucketForClassesstorage")?.pairs() else {
            throw malformed(nil, "The model has no entities.")
        }
        for (name, index) in entities.sorted(by: { $0.key < $1.key }) {
            guard let object = archive.object(index), object.className == "XDPMEntity" else {
                throw malformed("entity “\(name)”", "It is not an entity.")
            }
            try readEntity(object, called: name)
        }
        try assembly.finish(model)
    }

    private func malformed(_ place: String?, _ reason: String) -> NSError { ModelFileError.malformed(file, element: place, reason) }

    private func unsupported(_ place: String?, _ what: String) -> NSError {
        malformed(place, "How files of this age keep \(what) is not known. Open the model in Xcode and save it.")
    }

    /// Returns the values of a stereotype by name.
    private func values(_ object: KeyedArchive.Object, _ stereotype: String) -> Values? {
        guard let index = object.object("XDBucketForStereotypesstorage")?.pairs()?.first(where: { $0.key == stereotype })?.value,
            let pairs = archive.object(index)?.object("XDBucketForOwnedAttributesstorage")?.pairs()
        else { return nil }
        var values: [String: KeyedArchive.Object] = [:]
        for (name, index) in pairs { values[name] = archive.object(index) }
        return Values(objects: values)
    }

    private struct Values {
        let objects: [String: KeyedArchive.Object]

        func text(_ name: String) -> String? { objects[name]?.text("_default") }
        func integer(_ name: String) -> Int? { objects[name]?.integer("_default") }
        func flag(_ name: String) -> Bool { objects[name]?.flag("_default") ?? false }
        func value(_ name: String) -> Any? { objects[name]?.value("_default") }
        func object(_ name: String) -> KeyedArchive.Object? { objects[name]?.object("_default") }
        func isEmpty(_ name: String) -> Bool { object(name)?.elements()?.isEmpty ?? true }
    }

    private mutating func readEntity(_ object: KeyedArchive.Object, called name: String) throws {
        let place = "entity “\(name)”"
        guard let values = values(object, "XD_PStereotype") else { throw malformed(place, "It has no XD_PStereotype.") }
        for (key, what) in [
            ("XD_PSK_fetchRequestsArray", "fetch requests"), ("XDPMCompoundIndexes", "compound indexes"),
            ("XDPMUniquenessConstraints", "uniqueness constraints"),
        ] where !values.isEmpty(key) {
            throw unsupported(place, what)
        }
        let entity = NSEntityDescription()
        entity.name = name
        if let className = values.text("XD_PSK_entityClassName"), !className.isEmpty { entity.managedObjectClassName = className }
        entity.isAbstract = values.flag("XD_PSK_isAbstract")
        entity.userInfo = values.value("XD_PSK_userInfo") as? [AnyHashable: Any] ?? [:]
        entity.versionHashModifier = values.text("XD_PSK_versionHashModifier")
        entity.renamingIdentifier = values.text("XD_PSK_elementID")
        guard let properties = object.object("XDBucketForOwnedAttributesstorage")?.pairs() else {
            throw malformed(place, "It has no properties.")
        }
        entity.properties = try properties.sorted { $0.key < $1.key }.map { name, index in
            guard let property = archive.object(index) else { throw malformed(place, "The property “\(name)” is not an object.") }
            return try readProperty(property, called: name, "\(place), property “\(name)”")
        }
        let generals = (object.object("XDBucketForGeneralizationsstorage")?.elements() ?? []).compactMap { index in
            archive.object(index)?.object("_general")?.text("_name")
        }
        guard generals.count <= 1 else { throw malformed(place, "It inherits from more than one entity.") }
        try assembly.add(entity, parent: generals.first, line: nil)
    }

    private mutating func readProperty(_ object: KeyedArchive.Object, called name: String, _ place: String) throws -> NSPropertyDescription
    {
        guard let common = values(object, "XD_PPropStereotype") else { throw malformed(place, "It has no XD_PPropStereotype.") }
        let property: NSPropertyDescription
        switch object.className {
        case "XDPMAttribute": property = try readAttribute(object, place)
        case "XDPMRelationship": property = try readRelationship(object, place)
        case "XDPMFetchedProperty": throw unsupported(place, "fetched properties")
        default: throw malformed(place, "There is no kind of property \(object.className).")
        }
        property.name = name
        property.isOptional = common.flag("XD_PPSK_isOptional")
        property.isTransient = common.flag("XD_PPSK_isTransient")
        // Relationships are marked as indexed regardless of the editor; other forms of the model do not contain it.
        property.isIndexed = property is NSAttributeDescription && common.flag("XD_PPSK_isIndexed")
        property.isIndexedBySpotlight = common.flag("XD_PPSK_isSpotlightIndexed")
        property.userInfo = common.value("XD_PPSK_userInfo") as? [AnyHashable: Any] ?? [:]
        property.versionHashModifier = common.text("XD_PPSK_versionHashModifier")
        property.renamingIdentifier = common.text("XD_PPSK_elementID")
        if common.flag("XD_PPSK_isStoredInTruthFile") { property.modelFileAttributes["storedInTruthFile"] = "YES" }
        return property
    }

    private func readAttribute(_ object: KeyedArchive.Object, _ place: String) throws -> NSAttributeDescription {
        guard let values = values(object, "XD_PAtt_Stereotype") else { throw malformed(place, "It has no XD_PAtt_Stereotype.") }
        guard let type = NSAttributeType(rawValue: UInt(exactly: values.integer("XD_PAttK_attributeType") ?? 0) ?? 1) else {
            throw malformed(place, "There is no attribute type \(values.integer("XD_PAttK_attributeType") ?? 0).")
        }
        let attribute = NSAttributeDescription()
        attribute.attributeType = type
        attribute.valueTransformerName = values.text("XD_PAttK_valueTransformerName")
        attribute.allowsExternalBinaryDataStorage = values.flag("XD_PAttK_allowsExternalBinaryDataStorage")
        // The spellings are those of the later XML, so they are read in the same way.
        var texts: [XMLElement.Attribute] = []
        for (key, name) in [
            ("XD_PAttK_minValueString", "minValueString"), ("XD_PAttK_maxValueString", "maxValueString"),
            ("XD_PAttK_regularExpressionString", "regularExpressionString"),
        ] {
            if let text = values.text(key) { texts.append(XMLElement.Attribute(name: name, value: text)) }
        }
        if let text = values.text("XD_PAttK_defaultValueAsString") {
            attribute.takeDefaultValue(text)
            if attribute.mistypedDefault != nil { attribute.modelFileAttributes["defaultValueString"] = text }
        }
        var fields = ModelFields(XMLElement(name: "attribute", attributes: texts), file: file)
        attribute.setValidationPredicates(try ValidationText.predicates(&fields, type: type), withValidationWarnings: nil)
        for name in ValidationText.bounds { attribute.modelFileAttributes[name] = fields.rest[name] }
        return attribute
    }

    private mutating func readRelationship(_ object: KeyedArchive.Object, _ place: String) throws -> NSRelationshipDescription {
        guard let values = values(object, "XD_PR_Stereotype") else { throw malformed(place, "It has no XD_PR_Stereotype.") }
        let relationship = NSRelationshipDescription()
        relationship.isOrdered = values.flag("XD_PRK_ordered")
        let mistake = relationship.take(
            minCount: values.integer("XD_PRK_minCount") ?? 0,
            maxCount: values.integer("XD_PRK_maxCount") ?? (values.flag("XD_PRK_isToMany") ? 0 : 1),
            deleteRule: values.integer("XD_PRK_deleteRule"))
        if let mistake { throw malformed(place, mistake) }
        assembly.add(
            ModelAssembly.Link(
                relationship: relationship, destination: values.object("XD_PRK_destination")?.text("_name"),
                inverse: values.object("XD_PRK_inverseRelationship")?.text("_name")))
        return relationship
    }
}
