internal import Foundation
internal import Predicates
internal import PropertyLists

/// The content of a model as a list of facts, each with a place. Comparing them finds differences, and hashes are computed from those
/// that affect stores.
package struct ModelFacts {
    struct Fact {
        /// The place of the fact, such as `Album.title`.
        let place: String
        /// The name of the fact, such as `isOptional`.
        let name: String
        let value: String
        let kind: Kind
    }

    enum Kind {
        /// The fact affects stores.
        case persistent
        /// The fact affects the framework's behaviour only.
        case behaviour
        /// The fact is preserved for model files and has no effect.
        case file
    }

    private(set) var facts: [Fact] = []

    init(of model: NSManagedObjectModel) {
        for entity in model.entities { add(entity) }
        add("model", "versionIdentifiers", model.versionIdentifiers.map { "\($0.base)" }.sorted().description, .behaviour)
        add("model", "localizationDictionary", (model.localizationDictionary ?? [:]).sorted { $0.key < $1.key }.description, .behaviour)
        for name in model.configurations {
            let members = (model.entities(forConfigurationName: name) ?? []).map { $0.name ?? "?" }
            add("configuration “\(name)”", "entities", members.sorted().description, .behaviour)
        }
        for (name, request) in model.templates { add(request, at: "fetch request “\(name)”") }
        // The tools that wrote a file are not part of the model.
        let tools: Set<String> = [
            "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage", "macOSVersion",
            "iOSVersion",
        ]
        add(model.modelFileAttributes.filter { !tools.contains($0.key) }, at: "model")
        add(model.unknownElements, at: "model")
        if !model.diagram.isEmpty { add("model", "diagram", model.diagram.map(\.document).sorted().description, .file) }
    }

    package init(of entity: NSEntityDescription) { add(entity) }

    init(of property: NSPropertyDescription) { add(property, at: property.name) }

    /// Returns the facts of a request, for comparison.
    package static func lines(of request: NSFetchRequest<any NSFetchRequestResult>) -> [String] {
        var facts = ModelFacts()
        facts.add(request, at: "")
        return facts.facts.map { "\($0.name): \($0.value)" }
    }

    private init() {}

    /// The SHA-256 hash of the facts that affect stores, in a canonical order.
    var persistentHash: Data {
        let lines = facts.filter { $0.kind == .persistent }.map { "\($0.place)\u{1F}\($0.name)\u{1F}\($0.value)" }
        return SHA2.sha256(Data(lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "\u{1E}").utf8))
    }

    /// Returns the facts of an entity that affect stores, without inherited ones: values by place and name, such as `Album.title isOptional`.
    package static func valuesForStores(of entity: NSEntityDescription) -> [String: String] {
        let facts = ModelFacts(of: entity).ofStores.facts
        return Dictionary(facts.map { ("\($0.place) \($0.name)", $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// The facts that affect stores.
    var ofStores: ModelFacts {
        var persistent = self
        persistent.facts = facts.filter { $0.kind == .persistent }
        return persistent
    }

    // MARK: Collecting

    private mutating func add(_ place: String, _ name: String, _ value: String, _ kind: Kind) {
        facts.append(Fact(place: place, name: name, value: value, kind: kind))
    }

    private mutating func add(_ info: [AnyHashable: Any]?, at place: String) {
        for (key, value) in info ?? [:] { add(place, "userInfo[\(key)]", ModelFacts.text(value), .behaviour) }
    }

    /// Returns a string for a value that does not depend on the order of dictionaries or sets in it.
    private static func text(_ value: Any) -> String {
        switch value {
        case let pairs as [AnyHashable: Any]:
            "[\(pairs.map { "\($0.key): \(text($0.value))" }.sorted().joined(separator: ", "))]"
        case let elements as Set<AnyHashable>: "{\(elements.map { text($0.base) }.sorted().joined(separator: ", "))}"
        case let elements as [Any]: "(\(elements.map(text).joined(separator: ", ")))"
        default: "\(value)"
        }
    }

    /// Returns a derivation as text: the compiler of models writes `songs.@count` as `count:(songs)`, which is the same derivation.
    private static func text(_ derivation: Predicates.NSExpression) -> String {
        guard case .function(let name, let arguments)? = try? derivation.tree(), arguments.count == 1,
            case .keyPath(let keys) = arguments[0], ["count", "count:", "sum", "sum:"].contains(name)
        else { return derivation.description }
        let operation = name.hasPrefix("count") ? "@count" : "@sum"
        return (operation == "@count" ? keys + [operation] : keys.dropLast() + [operation] + keys.suffix(1)).joined(separator: ".")
    }

    private mutating func add(_ attributes: [String: String], at place: String) {
        for (name, value) in attributes { add(place, "modelFileAttributes[\(name)]", value, .file) }
    }

    private mutating func add(_ elements: [XMLElement], at place: String) {
        for (index, element) in elements.enumerated() { add(place, "unknown element \(index)", element.document, .file) }
    }

    private mutating func add(_ entity: NSEntityDescription) {
        let place = entity.name ?? "entity without a name"
        add(place, "entity", place, .persistent)
        add(place, "superentity", entity.superentity?.name ?? "none", .persistent)
        add(place, "isAbstract", "\(entity.isAbstract)", .persistent)
        add(place, "versionHashModifier", entity.versionHashModifier ?? "none", .persistent)
        let constraints = entity.uniquenessConstraints.map { NSEntityDescription.names(in: $0).map { $0 ?? "?" } }
        add(place, "uniquenessConstraints", constraints.description, .behaviour)
        add(
            place, "compoundIndexes", entity.compoundIndexes.map { NSEntityDescription.names(in: $0).map { $0 ?? "?" } }.description,
            .behaviour)
        add(place, "managedObjectClassName", entity.managedObjectClassName ?? "none", .behaviour)
        add(place, "renamingIdentifier", entity.renamingIdentifier ?? "none", .behaviour)
        if let expression = entity.coreSpotlightDisplayNameExpression {
            add(place, "coreSpotlightDisplayNameExpression", expression.description, .behaviour)
        }
        for (number, index) in entity.indexes.enumerated() { add(index, at: "\(place), index \(number)") }
        add(entity.userInfo, at: place)
        add(entity.modelFileAttributes, at: place)
        add(entity.unknownElements, at: place)
        for property in entity.declaredProperties { add(property, at: "\(place).\(property.name)") }
    }

    private mutating func add(_ index: NSFetchIndexDescription, at place: String) {
        add(place, "name", index.name, .behaviour)
        add(place, "partialIndexPredicate", index.partialIndexPredicate.map(ModelFacts.format) ?? "none", .behaviour)
        let elements = index.elements.map { element in
            let what = (element.property as? NSExpressionDescription).map {
                "\($0.expression?.description ?? "none") \($0.expressionResultType)"
            }
            return "\(what ?? element.propertyName ?? "?") \(element.collationType) \(element.isAscending ? "ascending" : "descending")"
        }
        add(place, "elements", elements.description, .behaviour)
    }

    private static func format(_ predicate: NSPredicate) -> String {
        (try? predicate.tree()).map { "\($0)" } ?? "a predicate that does not parse"
    }

    private mutating func add(_ property: NSPropertyDescription, at place: String) {
        // Stores do not contain fetched properties.
        let persistent: Kind = property is NSFetchedPropertyDescription ? .behaviour : .persistent
        add(place, "isOptional", "\(property.isOptional)", persistent)
        add(place, "isTransient", "\(property.isTransient)", persistent)
        add(place, "versionHashModifier", property.versionHashModifier ?? "none", persistent)
        add(place, "isIndexed", "\(property.isIndexed)", .behaviour)
        add(place, "isIndexedBySpotlight", "\(property.isIndexedBySpotlight)", .behaviour)
        add(place, "renamingIdentifier", property.renamingIdentifier ?? "none", .behaviour)
        let rules = property.validationRules.map { rule in ModelFacts.format(rule.predicate) + (rule.warning.map { " (\($0))" } ?? "") }
        add(place, "validationPredicates", rules.description, .behaviour)
        add(property.userInfo, at: place)
        add(property.modelFileAttributes, at: place)
        add(property.unknownElements, at: place)
        switch property {
        case let attribute as NSAttributeDescription: add(attribute, at: place)
        case let relationship as NSRelationshipDescription: add(relationship, at: place)
        case let fetched as NSFetchedPropertyDescription:
            add(place, "kind", "fetched property", .behaviour)
            if let request = fetched.fetchRequest { add(request, at: "\(place), fetch request") }
        default: add(place, "kind", "unknown", .behaviour)
        }
    }

    private mutating func add(_ attribute: NSAttributeDescription, at place: String) {
        add(place, "kind", "attribute", .persistent)
        add(place, "attributeType", "\(attribute.attributeType)", .persistent)
        let type = attribute.attributeType
        let value = attribute.defaultValue.map { AttributeText.text($0, type: type) ?? "\($0)" }
        add(place, "defaultValue", value ?? "none", .behaviour)
        add(place, "attributeValueClassName", attribute.customValueClassName ?? "none", .behaviour)
        add(place, "valueTransformerName", attribute.valueTransformerName ?? "none", .behaviour)
        add(place, "allowsExternalBinaryDataStorage", "\(attribute.allowsExternalBinaryDataStorage)", .behaviour)
        add(place, "preservesValueInHistoryOnDeletion", "\(attribute.preservesValueInHistoryOnDeletion)", .behaviour)
        add(place, "allowsCloudEncryption", "\(attribute.allowsCloudEncryption)", .behaviour)
        if let derived = attribute as? NSDerivedAttributeDescription {
            add(place, "derivationExpression", derived.derivationExpression.map(ModelFacts.text) ?? "none", .behaviour)
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            for (number, element) in composite.elements.enumerated() {
                add(place, "element \(number)", element.name, .persistent)
                add(element as NSPropertyDescription, at: "\(place).\(element.name)")
            }
        }
    }

    private mutating func add(_ relationship: NSRelationshipDescription, at place: String) {
        add(place, "kind", "relationship", .persistent)
        add(place, "destinationEntity", relationship.destinationEntity?.name ?? relationship.missingDestination ?? "none", .persistent)
        let inverse = relationship.inverseRelationship
        add(place, "inverseRelationship", inverse?.name ?? relationship.missingInverse ?? "none", .persistent)
        add(place, "minCount", "\(relationship.minCount)", .persistent)
        add(place, "maxCount", "\(relationship.maxCount)", .persistent)
        add(place, "isOrdered", "\(relationship.isOrdered)", .persistent)
        add(place, "deleteRule", "\(relationship.deleteRule)", .behaviour)
    }

    private mutating func add(_ request: NSFetchRequest<any NSFetchRequestResult>, at place: String) {
        add(place, "entity", request.entityName ?? "none", .behaviour)
        add(place, "predicate", request.predicate.map(ModelFacts.format) ?? "none", .behaviour)
        for (name, value) in RequestText.attributes(of: request) { add(place, name, value, .behaviour) }
    }
}
