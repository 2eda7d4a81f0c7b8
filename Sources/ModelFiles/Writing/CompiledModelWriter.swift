public import Foundation
public import ObjectGraph
internal import Predicates
internal import PropertyLists

extension NSManagedObjectModel {
    /// Returns the model as the bytes of a `.mom`: the format of Apple's compiler and of the model in a SQLite store.
    ///
    /// No public compiled model shows the format of external storage, Spotlight, CloudKit encryption and the elements of composite
    /// attributes. A model with any of these also contains its XML, which Apple's reader ignores and ``init(compiledModel:)`` prefers.
    ///
    /// - Throws: Code 512 (`NSFileWriteUnknownError`) naming entity and property, for values that neither form can represent: predicates with code,
    ///   and user info or default values that hold other objects.
    public func compiledModel() throws -> Data {
        var writer = CompiledModelWriter()
        let data = try writer.data(of: self, contents: nil)
        // The archive is complete if reading it returns an equal model. Composite attributes make the reader throw.
        let again = try? NSManagedObjectModel(compiledModel: data)
        if again?.differences(from: self, includingFileAttributes: false).isEmpty == true { return data }
        var complete = CompiledModelWriter()
        return try complete.data(of: self, contents: xcdatamodelContents())
    }

    /// Returns the archive alone, without settings that it has no fields for.
    package func compiledArchive() throws -> Data {
        var writer = CompiledModelWriter()
        return try writer.data(of: self, contents: nil)
    }
}

/// Writes compiled models: keyed archives of Apple's descriptions, in the layout that ``CompiledModelReader`` reads.
struct CompiledModelWriter {
    private typealias Field = (String, KeyedArchiveWriter.Field)

    private var archive = KeyedArchiveWriter()
    private var entities: [ObjectIdentifier: KeyedArchiveWriter.Reference] = [:]
    private var relationships: [ObjectIdentifier: KeyedArchiveWriter.Reference] = [:]

    mutating func data(of model: NSManagedObjectModel, contents: Data?) throws -> Data {
        let root = archive.reserve()
        for entity in model.entities {
            entities[ObjectIdentifier(entity)] = archive.reserve()
            for case let relationship as NSRelationshipDescription in entity.declaredProperties {
                relationships[ObjectIdentifier(relationship)] = archive.reserve()
            }
        }
        var named: [(String, KeyedArchiveWriter.Reference)] = []
        for entity in model.entities {
            named.append((entity.name ?? "", reference(entity)))
            try write(entity, of: root)
        }
        var fields: [Field] = [
            ("NSEntities", .reference(archive.dictionary(named))),
            ("NSVersionIdentifiers", .reference(try value(model.versionIdentifiers, at: "versionIdentifiers"))),
        ]
        if !model.configurations.isEmpty {
            let configurations = model.configurations.map { name in
                (name, archive.array((model.entities(forConfigurationName: name) ?? []).map(reference)))
            }
            fields.append(("NSConfigurations", .reference(archive.dictionary(configurations))))
        }
        var templates: [(String, KeyedArchiveWriter.Reference)] = []
        for (name, request) in model.templates.sorted(by: { $0.key < $1.key }) {
            templates.append((name, try self.request(request, at: "fetch request “\(name)”")))
        }
        fields.append(("NSFetchRequestTemplates", .reference(templates.isEmpty ? .null : archive.dictionary(templates))))
        if let texts = model.localizationDictionary {
            fields.append(("NSLocalizationDictionary", .reference(try value(texts, at: "localizationDictionary"))))
        }
        if let contents { fields.append((CompiledKeys.contents, .data(contents))) }
        archive.define(root, ["NSManagedObjectModel"], fields)
        return try archive.data(root: root)
    }

    // MARK: Entities

    private func reference(_ entity: NSEntityDescription?) -> KeyedArchiveWriter.Reference {
        entity.flatMap { entities[ObjectIdentifier($0)] } ?? .null
    }

    private mutating func write(_ entity: NSEntityDescription, of model: KeyedArchiveWriter.Reference) throws {
        let name = entity.name ?? ""
        let place = "entity “\(name)”"
        var properties: [(String, KeyedArchiveWriter.Reference)] = []
        for property in entity.declaredProperties { properties.append((property.name, try write(property, of: entity, place))) }
        let className = entity.managedObjectClassName ?? "NSManagedObject"
        var fields: [Field] = [
            ("NSEntityName", .reference(archive.text(name))), ("NSClassNameForEntity", .reference(archive.text(className))),
            ("NSManagedObjectModel", .reference(model)), ("NSProperties", .reference(archive.dictionary(properties))),
            ("NSSubentities", .reference(archive.dictionary(entity.subentities.map { ($0.name ?? "", reference($0)) }))),
            ("NSSuperentity", .reference(reference(entity.superentity))),
            ("NSRenamingIdentifier", .reference(archive.text(entity.renamingIdentifier ?? name))),
            ("NSVersionHashModifier", .reference(archive.text(orNull: entity.versionHashModifier))),
            ("NSUserInfo", .reference(try value(entity.userInfo ?? [:], at: place))),
        ]
        if entity.isAbstract { fields.append(("NSIsAbstract", .flag(true))) }
        let unique = names(entity.uniquenessConstraints)
        if unique != .null { fields.append(("NSUniqueTuples", .reference(unique))) }
        let compound = names(entity.compoundIndexes)
        if compound != .null { fields.append(("NSCompoundIndexes", .reference(compound))) }
        if !entity.indexes.isEmpty {
            var indexes: [KeyedArchiveWriter.Reference] = []
            // The format of an index over an expression is unknown; such a model also contains its XML.
            for index in entity.indexes where !index.elements.contains(where: { $0.property is NSExpressionDescription }) {
                indexes.append(try write(index, of: entity, place))
            }
            fields.append(("NSFetchIndexDescriptions", .reference(archive.array(indexes))))
        }
        if let expression = entity.coreSpotlightDisplayNameExpression {
            fields.append(("NSCoreSpotlightDisplayNameExpression", .reference(try self.expression(expression, place))))
        }
        archive.define(reference(entity), ["NSEntityDescription"], fields)
    }

    /// Archives lists of property names.
    private mutating func names(_ lists: [[Any]]) -> KeyedArchiveWriter.Reference {
        guard !lists.isEmpty else { return .null }
        return archive.array(
            lists.map { list in
                archive.array(list.map { archive.text(($0 as? NSPropertyDescription)?.name ?? $0 as? String ?? "\($0)") })
            })
    }

    private mutating func write(
        _ index: NSFetchIndexDescription, of entity: NSEntityDescription, _ place: String
    ) throws -> KeyedArchiveWriter.Reference {
        let result = archive.reserve()
        let elements = index.elements.map { element in
            archive.object(
                ["NSFetchIndexElementDescription"],
                [
                    ("NSPropertyName", .reference(archive.text(orNull: element.propertyName))),
                    ("NSFetchIndexElementType", .integer(Int(element.collationType.rawValue))),
                    ("NSFetchIndexDescription", .reference(result)), ("NSAscending", .flag(element.isAscending)),
                ])
        }
        let partial = try index.partialIndexPredicate.map { try predicate($0, place) } ?? .null
        archive.define(
            result, ["NSFetchIndexDescription"],
            [
                ("NSIndexName", .reference(archive.text(index.name))), ("NSEntity", .reference(reference(entity))),
                ("NSIndexElements", .reference(archive.array(elements))), ("NSPartialIndexPredicate", .reference(partial)),
            ])
        return result
    }

    // MARK: Properties

    private mutating func write(
        _ property: NSPropertyDescription, of entity: NSEntityDescription, _ entityPlace: String
    ) throws -> KeyedArchiveWriter.Reference {
        let place = "\(entityPlace), property “\(property.name)”"
        var fields = try common(property, of: entity, place)
        let className: [String]
        switch property {
        case let attribute as NSAttributeDescription:
            className = [CompiledModelWriter.subclass(of: attribute), "NSAttributeDescription"].compactMap { $0 }
            fields += try self.fields(attribute, place)
        case let relationship as NSRelationshipDescription:
            className = ["NSRelationshipDescription"]
            fields += self.fields(relationship)
        case let fetched as NSFetchedPropertyDescription:
            className = ["NSFetchedPropertyDescription"]
            let request = try fetched.fetchRequest.map { try self.request($0, at: place) } ?? .null
            fields += [
                ("NSFetchRequest", .reference(request)),
                ("_NSFetchRequestEntityName", .reference(archive.text(orNull: fetched.fetchRequest?.entityName))),
            ]
        default: throw ModelFileError.unwritable(place, "There is no compiled form of \(type(of: property)).")
        }
        let reference = relationships[ObjectIdentifier(property)] ?? archive.reserve()
        archive.define(reference, className + ["NSPropertyDescription"], fields)
        return reference
    }

    private static func subclass(of attribute: NSAttributeDescription) -> String? {
        switch attribute {
        case is NSDerivedAttributeDescription: "NSDerivedAttributeDescription"
        case is NSCompositeAttributeDescription: "NSCompositeAttributeDescription"
        default: nil
        }
    }

    private mutating func common(
        _ property: NSPropertyDescription, of entity: NSEntityDescription, _ place: String
    ) throws -> [Field] {
        var bits = CompiledKeys.Bits.every
        var fields: [Field] = [
            ("NSPropertyName", .reference(archive.text(property.name))), ("NSEntity", .reference(reference(entity))),
            ("NSRenamingIdentifier", .reference(archive.text(property.renamingIdentifier ?? property.name))),
        ]
        func flag(_ key: String, _ isSet: Bool, _ bit: Int) {
            guard isSet else { return }
            if !key.isEmpty { fields.append((key, .flag(true))) }
            bits |= bit
        }
        let isFetched = property is NSFetchedPropertyDescription
        flag("NSIsOptional", property.isOptional, CompiledKeys.Bits.optional)
        flag("NSIsReadOnly", isFetched || property is NSDerivedAttributeDescription, CompiledKeys.Bits.readOnly)
        flag("NSIsTransient", isFetched || property.isTransient, CompiledKeys.Bits.transient)
        flag("NSIsIndexed", property.isIndexed, 0)
        flag("NSIsOrdered", (property as? NSRelationshipDescription)?.isOrdered ?? false, CompiledKeys.Bits.ordered)
        if property.validationRules.isEmpty {
            bits |= CompiledKeys.Bits.noValidation
        } else {
            let predicates = try property.validationPredicates.map { try predicate($0, place) }
            fields.append(("NSValidationPredicates", .reference(archive.array(predicates))))
            fields.append(("NSValidationWarnings", .reference(try value(property.validationWarnings, at: place))))
        }
        if let information = property.userInfo, !information.isEmpty {
            fields.append(("NSUserInfo", .reference(try value(information, at: place))))
        } else {
            bits |= CompiledKeys.Bits.noUserInfo
        }
        if let modifier = property.versionHashModifier {
            fields.append(("NSVersionHashModifier", .reference(archive.text(modifier))))
        } else {
            bits |= CompiledKeys.Bits.noHashModifier
        }
        fields.append(("_P", .integer(bits)))
        return fields
    }

    private mutating func fields(_ attribute: NSAttributeDescription, _ place: String) throws -> [Field] {
        let defaultValue = try attribute.defaultValue.map { try value($0, at: place) } ?? .null
        let className = attribute.attributeValueClassName
        var fields: [Field] = [
            ("NSAttributeType", .integer(Int(attribute.attributeType.rawValue))), ("NSDefaultValue", .reference(defaultValue)),
            ("NSAttributeValueClassName", .reference(archive.text(orNull: className))),
            ("NSValueTransformerName", .reference(archive.text(orNull: attribute.valueTransformerName))),
            ("NSFlagsKey", .integer(attribute.preservesValueInHistoryOnDeletion ? CompiledKeys.preservesValueInHistory : 0)),
        ]
        if let derived = attribute as? NSDerivedAttributeDescription {
            let expression = try derived.derivationExpression.map { try self.expression($0, place) } ?? .null
            fields += [("NSDerivationExpression", .reference(expression)), ("NSFilteringPredicate", .reference(.null))]
        }
        return fields
    }

    private mutating func fields(_ relationship: NSRelationshipDescription) -> [Field] {
        let inverse = relationship.inverseRelationship
        return [
            ("NSDestinationEntity", .reference(reference(relationship.destinationEntity))),
            (
                "_NSDestinationEntityName",
                .reference(archive.text(orNull: relationship.destinationEntity?.name ?? relationship.missingDestination))
            ),
            ("NSInverseRelationship", .reference(inverse.flatMap { relationships[ObjectIdentifier($0)] } ?? .null)),
            ("_NSInverseRelationshipName", .reference(archive.text(orNull: inverse?.name ?? relationship.missingInverse))),
            ("NSDeleteRule", .integer(Int(relationship.deleteRule.rawValue))), ("NSMinCount", .integer(relationship.minCount)),
            // As Apple's archives have a count that needs more than 32 bits.
            ("NSMaxCount", .integer(relationship.maxCount > Int(Int32.max) ? -1 : relationship.maxCount)),
        ]
    }

    // MARK: Requests and values

    private mutating func request(
        _ request: NSFetchRequest<any NSFetchRequestResult>, at place: String
    ) throws -> KeyedArchiveWriter.Reference {
        guard request.sortDescriptors?.isEmpty ?? true, request.propertiesToFetch == nil, request.propertiesToGroupBy == nil,
            request.havingPredicate == nil, request.relationshipKeyPathsForPrefetching?.isEmpty ?? true
        else {
            throw ModelFileError.unwritable(
                place, "How compiled models keep sort descriptors, columns, groups and prefetching of a request is not known.")
        }
        var flags = 0
        if request.returnsDistinctResults { flags |= CompiledKeys.distinct }
        if request.includesSubentities { flags |= CompiledKeys.subentities }
        if request.includesPropertyValues { flags |= CompiledKeys.propertyValues }
        if request.returnsObjectsAsFaults { flags |= CompiledKeys.faults }
        if request.includesPendingChanges { flags |= CompiledKeys.pendingChanges }
        let predicate = try request.predicate.map { try self.predicate($0, place) } ?? .null
        return archive.object(
            ["NSFetchRequest", "NSPersistentStoreRequest"],
            [
                ("NSEntity", .reference(reference(request.entity))), ("NSPredicate", .reference(predicate)),
                ("NSSortDescriptors", .reference(.null)), ("NSValuesToFetch", .reference(.null)),
                ("NSValuesToGroupBy", .reference(.null)), ("NSHavingPredicate", .reference(.null)),
                ("NSRelationshipKeyPathsForPrefetching", .reference(.null)), ("NSFetchLimit", .integer(request.fetchLimit)),
                ("NSFetchOffset", .integer(request.fetchOffset)), ("NSBatchSize", .integer(request.fetchBatchSize)),
                ("NSResultType", .integer(Int(request.resultType.rawValue))), ("NSAllocationType", .integer(0)),
                ("NSHasFetchRequestFlags", .flag(true)), ("NSFetchRequestFlags", .integer(flags)),
            ])
    }

    private mutating func value(_ value: Any, at place: String) throws -> KeyedArchiveWriter.Reference {
        guard let reference = archive.value(value) else {
            throw ModelFileError.unwritable(place, "“\(value)” is not a text, number, date, data, UUID or URL, nor a collection of them.")
        }
        return reference
    }

    private mutating func predicate(_ predicate: NSPredicate, _ place: String) throws -> KeyedArchiveWriter.Reference {
        try embed(place) { try PredicateArchive.data(of: predicate) }
    }

    private mutating func expression(_ expression: Predicates.NSExpression, _ place: String) throws -> KeyedArchiveWriter.Reference {
        try embed(place) { try PredicateArchive.data(of: expression) }
    }

    private mutating func embed(_ place: String, _ data: () throws -> Data) throws -> KeyedArchiveWriter.Reference {
        do {
            return try archive.embed(data())
        } catch { throw ModelFileError.unwritable(place, "A predicate or expression cannot be archived: \(error)") }
    }
}
