internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import PropertyLists
internal import RemoteStore

/// A resource's description, checked against its entity, and completed from the style.
final class ResourcePlan: Sendable {
    let entity: String
    let style: ServiceStyle
    let saving: SavingStyle?
    /// The path of the collection, and the type.
    let collection: String
    let type: String
    /// The paths to the identifier. `@name` stands for a parameter of the call.
    let identity: [String]
    let identifier: WebResource.IdentifierKind?
    /// The kind of identifiers in references to resources: ``identifier``, or without that the kind in rows, which the attribute at the same place
    /// tells.
    let referenceKind: WebResource.IdentifierKind?
    let version: VersionSource
    let properties: [String: PropertyPlan]
    let kinds: WebResource.Kinds?
    /// The properties of the entity and of each subentity, by their names.
    let propertiesOfKinds: [String: Set<String>]
    let calls: [CallPlan]
    /// The policy for unreadable resources.
    let unreadable: Resource.UnreadablePolicy
    /// The attribute with the identifier, if the entity has one.
    let identifierAttribute: String?
    /// The lists that are sent with their owner, because the other end of the relationship is not sent.
    let sentLists: Set<String>

    /// Creates a plan.
    ///
    /// - Throws: Code 134080 naming entity and property, for a description that does not fit the model.
    init(_ resource: WebResource, _ entity: NSEntityDescription, _ service: WebService) throws {
        let style = service.style
        let name = entity.name ?? "?"
        self.entity = name
        self.style = style
        let collectionName = style.collection.name(name)
        type = resource.type ?? (style.collection.typeIsEntity ? name : collectionName)
        collection = resource.path ?? style.collection.template.replacing("{name}", with: collectionName)
        identity = resource.identity ?? style.identity
        version = resource.version ?? style.version
        kinds = resource.kinds ?? Self.kinds(entity, style)
        unreadable = resource.unreadable
        saving = resource.isReadOnly ? nil : resource.saving ?? style.saving
        // An identifier that is made as a UUID is also read as one.
        identifier = resource.identifier ?? (saving?.identity == .newUUID ? .uuid : nil)
        propertiesOfKinds = Dictionary(
            entity.allKindsInModel.map { ($0.name ?? "?", Set($0.propertiesByName.keys)) }, uniquingKeysWith: { first, _ in first })

        if resource.isReadOnly, resource.saving != nil {
            throw WebBackendError.description(
                "“\(resource.entity)”", "It is readOnly, and its saving is described.", next: "Remove one of the two.")
        }
        if let both = resource.ignored.sorted().first(where: { resource.properties[$0] != nil }) {
            throw WebBackendError.description(
                "“\(both)” of “\(resource.entity)”", "It is ignored, and described.", next: "Remove one of the two.")
        }
        if let saving = resource.saving { try SavingChecks(saving, "the saving of “\(resource.entity)”").run() }
        if identity.count > 1, resource.identifier != nil {
            throw WebBackendError.description(
                "“identifier” of “\(resource.entity)”", "It is about a single identifier, and this one has several parts.",
                next: "Remove it.")
        }
        if resource.kinds?.entities.isEmpty == true {
            throw WebBackendError.description(
                "“kinds” of “\(resource.entity)”", "It names no entities.", next: "Name the entity of each value, or remove it.")
        }
        var plans: [String: PropertyPlan] = [:]
        let everywhere = entity.allKindsInModel.reduce(into: [String: NSPropertyDescription]()) {
            $0.merge($1.propertiesByName) { first, _ in first }
        }
        for name in Set(resource.properties.keys).union(resource.ignored) where everywhere[name] == nil {
            throw WebBackendError.description(
                "“\(name)” of “\(resource.entity)”", "The entity has no such property.",
                next: "Its properties are: \(everywhere.keys.sorted().joined(separator: ", ")).")
        }
        for (name, property) in everywhere where !property.isTransient && !resource.ignored.contains(name) {
            plans[name] = try PropertyPlan(property, resource.properties[name], style, of: resource.entity)
        }
        sentLists = Set(
            plans.values.filter { plan in
                guard plan.isWritableList, let relationship = everywhere[plan.name] as? NSRelationshipDescription else { return false }
                return relationship.isSent(in: service)
            }.map(\.name))
        properties = plans
        let identityPath = identity.count == 1 ? JSONPath(identity[0]) : nil
        identifierAttribute = plans.values.filter { plan in plan.isAttribute && plan.path != nil && plan.path == identityPath }
            .map(\.name).min()
        let told = identifierAttribute.flatMap { plans[$0]?.identifierKind }
        referenceKind = identifier ?? told
        if case .composite = Self.identityKind(identity), saving?.identity == .newUUID {
            throw WebBackendError.description(
                "“\(resource.entity)”", "Its identifier has several parts, and new resources are to get a UUID.",
                next: "Let the service assign identifiers.")
        }
        if let saving, saving.keyLifetime != nil, saving.idempotencyHeader == nil {
            throw WebBackendError.description(
                "“keyLifetime” of “\(resource.entity)”", "No key is sent whose lifetime it could be.", next: "Set “idempotencyHeader”, too."
            )
        }
        var calls: [CallPlan] = []
        let context = CallPlan.Context(
            entity: entity, properties: plans, style: style, collection: collection, type: type, identifierAttribute: identifierAttribute,
            identityCount: identity.count,
            composites: Set(service.resources.filter { ($0.identity ?? style.identity).count > 1 }.map(\.entity)),
            hasVersionInHeader: version == .eTag)
        for call in resource.calls ?? style.calls {
            guard !calls.contains(where: { $0.call.name == call.name }) else {
                throw WebBackendError.description(
                    "“\(resource.entity)”", "Two calls are named “\(call.name)”.", next: "Give each a name of its own: {name: …, path: …}.")
            }
            calls.append(try CallPlan(call, context))
        }
        self.calls = calls
        if let saving { try SavingChecks(saving, "the saving of “\(resource.entity)”").run(self) }
        try checkPlaces()
    }

    /// Checks that written properties have a place in a change: an element of a list has none.
    private func checkPlaces() throws {
        guard saving != nil else { return }
        for property in properties.values.sorted(by: { $0.name < $1.name }) where !property.isReadOnly {
            let words = Dictionary(grouping: property.transform.enumerated ?? [], by: \.value)
            if let (value, several) = words.filter({ $0.value.count > 1 }).min(by: { $0.key < $1.key }) {
                throw WebBackendError.description(
                    "“\(property.name)” of “\(entity)”",
                    "“\(value)” has several words, \(several.map(\.word.description).joined(separator: ", ")), and which of them to write is not known.",
                    next: "Give each word a value of its own, or write readOnly: true.")
            }
            guard let path = property.path, path.steps.contains(where: { if case .element = $0 { true } else { false } }),
                !property.isOnlyElement
            else { continue }
            throw WebBackendError.description(
                "“\(property.name)” of “\(entity)”",
                "It stands in a list, at “\(path)”, and a change of it would have to know the others of the list.",
                next: "Write readOnly: true for it, or describe the list itself.")
        }
    }

    /// Returns the rule for the subentities of an entity, by the style.
    private static func kinds(_ entity: NSEntityDescription, _ style: ServiceStyle) -> WebResource.Kinds? {
        guard let path = style.kind, !entity.subentities.isEmpty else { return nil }
        let names = entity.allKindsInModel.compactMap(\.name)
        return WebResource.Kinds(path, Dictionary(names.map { ($0, $0) }, uniquingKeysWith: { first, _ in first }))
    }

    private enum IdentityKind {
        case single
        case composite
    }
    private static func identityKind(_ identity: [String]) -> IdentityKind { identity.count > 1 ? .composite : .single }

    /// Returns the plan of a call.
    func call(_ name: String) -> CallPlan? { calls.first { $0.call.name == name } }

    /// The call that reads a resource by its identifier alone.
    var callByIdentifier: CallPlan? {
        calls.first { $0.call.returns == .one && Set($0.places.map(CallPlan.keyPath)) == ["SELF"] }
    }

    /// Whether an update of a part of an object leaves the rest of the object unchanged (RFC 7396).
    var mergesObjects: Bool { style.contentType?.hasPrefix("application/merge-patch+json") ?? false }

    /// The first property that is written with the rest of the object around it, and that object; nil for none.
    var writtenWithinAnother: (name: String, holder: JSONPath)? {
        if mergesObjects { return nil }
        return properties.values.sorted { $0.name < $1.name }.lazy
            .compactMap { property in property.isReadOnly ? nil : property.holder.map { (property.name, $0) } }.first
    }

    /// Whether a deletion has the version as the parameter `rev`, as CouchDB's does: it has no body for a field.
    var namesRevision: Bool {
        guard saving?.precondition == .field, case .tag(let path) = version, case .key(let key)? = path.steps.last else { return false }
        return key == "rev" || key == "_rev"
    }

    /// Whether the version is a field of the resource, which a deletion cannot send.
    var comparesBeforeDeleting: Bool { saving?.precondition == .field && !namesRevision }

    /// The list whose filters select the resources of a bulk deletion.
    var deletableList: CallPlan? {
        calls.first { $0.call.returns == .list && $0.endpoint.parameters.allSatisfy { !$0.isRequired } }
    }

    /// The description of the resource for the store.
    ///
    /// - Parameter unsent: The properties that no change sends to the service.
    func resource(unsent: Set<String>) -> Resource {
        var resource = Resource(entity, endpoints: calls.map(\.endpoint), saving: saving.map(described), unreadable: unreadable)
        resource.saving?.unsent = unsent
        resource.saving?.insertsReplace = saving?.insertsReplace(self) ?? false
        resource.saving?.assigned = unsent.intersection(assigned)
        return resource
    }

    /// The properties that a new resource gets from the service, or from the address that it is sent to.
    private var assigned: Set<String> {
        let places = [saving?.create, saving?.createIdentified].compactMap { $0 }.flatMap { Template($0.path).places.map(CallPlan.keyPath) }
        // A value that `awakeFromInsert` sets, such as the time of creation, is a guess at the service's value.
        let told = properties.values.filter { $0.isReadOnly && $0.isAttribute && $0.path != nil }.map(\.name)
        return Set(places + told + [identifierAttribute].compactMap { $0 })
    }

    private func described(_ saving: SavingStyle) -> Resource.Saving {
        var kinds: Set<Resource.Saving.Kind> = []
        // If the service assigns identifiers, no new resource has one.
        if saving.create != nil || saving.createIdentified != nil && saving.identity != .assignedByService { kinds.insert(.insert) }
        if saving.update != nil { kinds.insert(.update) }
        if saving.delete != nil { kinds.insert(.delete) }
        let identity: Resource.Saving.Identity =
            switch saving.identity {
            case .assignedByService: .assignedByBackend
            case .attribute(let name): .attribute(name)
            case .newUUID: identifier == .string ? .made { _ in .string(UUID().uuidString.lowercased()) } : .newUUID
            }
        var maximum = 1
        switch saving.batch {
        case .requests(let batch)?: maximum = batch.maximum
        case .documents?: maximum = 100
        case nil: break
        }
        let notices = saving.precondition != .none
        var bulk: Resource.Saving.Bulk?
        if saving.deletesLists, let list = deletableList {
            var endpoint = list.endpoint
            endpoint.name = "delete"
            endpoint.paging = .whole
            bulk = Resource.Saving.Bulk(inserts: true, delete: endpoint, results: [])
        } else if maximum > 1 {
            bulk = Resource.Saving.Bulk(inserts: true)
        }
        return Resource.Saving(
            kinds, identity: identity, lists: sentLists,
            sendsWholeObjects: saving.replacesWholeResources, maximumChanges: maximum, isAtomic: isAtomic(saving),
            conflicts: notices ? .backend : saving.conflicts, isIdempotent: saving.idempotencyHeader != nil,
            keyLifetime: saving.keyLifetime, bulk: bulk)
    }

    private func isAtomic(_ saving: SavingStyle) -> Bool {
        if case .requests(let batch)? = saving.batch { batch.isAtomic } else { false }
    }
}

extension PropertyPlan {
    /// The kind of identifier that an attribute holds, by its type; nil if the type does not tell. A UUID is text in rows, as in the answer.
    fileprivate var identifierKind: WebResource.IdentifierKind? {
        guard case .attribute(let type, .byType) = kind else { return nil }
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return .integer
        case .stringAttributeType, .UUIDAttributeType: return .string
        default: return nil
        }
    }

    /// Whether changes of a list are sent with its owner.
    var isWritableList: Bool {
        if case .toMany(_, _, true) = kind { path != nil && !isReadOnly } else { false }
    }

    /// Creates the plan of a property.
    ///
    /// - Throws: Code 134080 naming the property, if its mapping does not fit its type.
    init(_ property: NSPropertyDescription, _ mapping: PropertyMapping?, _ style: ServiceStyle, of entity: String) throws {
        let key = style.names.key(property.name)
        let place = "“\(property.name)” of “\(entity)”"
        if let mapping { try Self.check(mapping, property, place) }
        if property is NSRelationshipDescription { try Self.check(mapping?.reference ?? style.references, place) }
        var isText = false
        switch property {
        case let composite as NSCompositeAttributeDescription:
            var elementStyle = style
            elementStyle.attributes = ""
            kind = .composite(try composite.elements.map { try PropertyPlan($0, nil, elementStyle, of: "\(entity).\(property.name)") })
            path = mapping?.path ?? style.attributes + JSONPath(steps: [.key(key)])
        case let attribute as NSAttributeDescription:
            let transform = mapping?.transform ?? .byType
            try Self.check(transform, attribute, place)
            kind = .attribute(attribute.attributeType, transform)
            path = mapping?.path.map { style.attributes + $0 } ?? style.attributes + JSONPath(steps: [.key(key)])
            isText = attribute.attributeType == .stringAttributeType
            if mapping?.reference != nil {
                throw WebBackendError.description(place, "It is an attribute, and described as a reference.", next: "Remove the reference.")
            }
        case let relationship as NSRelationshipDescription:
            guard let destination = relationship.destinationEntity else {
                throw WebBackendError.description(place, "The relationship has no destination.", next: "Set it in the model.")
            }
            if let transform = mapping?.transform, transform != .byType {
                throw WebBackendError.description(
                    place, "It is a relationship, and described with the transform of an attribute.", next: "Remove the transform.")
            }
            let reference = Reference(
                entity: destination.name ?? "?", hasSubentities: !destination.subentities.isEmpty,
                style: mapping?.reference ?? style.references, isWhole: mapping?.bringsWholeObjects ?? false)
            if relationship.isToMany {
                kind = .toMany(reference, isOrdered: relationship.isOrdered, isWhole: mapping?.isWholeList ?? true)
                path =
                    mapping?.path.map { style.relationships + $0 }
                    ?? (style.hasLists || style.hasListsAtOneEnd && relationship.isKeptAsList
                        ? style.relationships + JSONPath(steps: [.key(key)]) : nil)
                if path == nil, let mapping, mapping.saysHow {
                    throw WebBackendError.description(
                        place, "Resources have no list of it, so that nothing would come of how it is written.",
                        next: "Write its “path”, or lists: true in the style.")
                }
            } else {
                kind = .toOne(reference)
                path =
                    mapping?.path.map { style.relationships + $0 }
                    ?? style.relationships + JSONPath(steps: [.key(key + style.referenceSuffix)])
            }
        default:
            throw WebBackendError.description(
                place, "It is neither an attribute nor a relationship.", next: "Ignore it in the description.")
        }
        let isObject = property is NSCompositeAttributeDescription
        holder = Self.holder(
            of: path, in: property is NSRelationshipDescription ? style.relationships : style.attributes, isObject: isObject)
        name = property.name
        queryName = mapping?.queryName ?? mapping?.path?.description ?? key
        isReadOnly = mapping?.isReadOnly ?? false
        self.isText = isText
        do throws(DatePattern.Mistake) {
            dates = try DateSpelling(mapping?.transform.dateForm ?? style.dates)
        } catch {
            throw WebBackendError.description(
                place, "Its dates have a pattern that is not read. \(error.message)", next: "Change the pattern.")
        }
        dateWrapping = style.dateWrapping
    }

    /// Checks that a mapping has no part without meaning for its property.
    private static func check(_ mapping: PropertyMapping, _ property: NSPropertyDescription, _ place: String) throws {
        func refuse(_ what: String, _ next: String) throws {
            throw WebBackendError.description(place, "\(what), so that nothing would come of it.", next: next)
        }
        let relationship = property as? NSRelationshipDescription
        if mapping.bringsWholeObjects, relationship == nil { try refuse("“wholeObjects” is about relationships", "Remove it.") }
        if !mapping.isWholeList, relationship?.isToMany != true { try refuse("“wholeList” is about relationships to many", "Remove it.") }
        if property is NSCompositeAttributeDescription, mapping.transform != .byType || mapping.reference != nil {
            try refuse("A composite attribute is written as an object of its elements", "Remove the transform.")
        }
    }

    /// Checks that references have a place for the identifier.
    private static func check(_ reference: ReferenceStyle, _ place: String) throws {
        guard case .link(let template?) = reference else { return }
        let places = Template(template).places
        guard places.contains(where: { CallPlan.keyPath($0) == "SELF" }) else {
            throw WebBackendError.description(
                place, "Its links are “\(template)”, which has no place for the identifier.", next: "Write {SELF} where it stands.")
        }
        guard let other = places.first(where: { CallPlan.keyPath($0) != "SELF" }) else { return }
        throw WebBackendError.description(
            place, "Its links are “\(template)”, and {\(other)} stands for nothing there.", next: "Write what links have in its place.")
    }

    private static func check(_ transform: ValueTransform, _ attribute: NSAttributeDescription, _ place: String) throws {
        let type = attribute.attributeType
        func require(_ types: [NSAttributeType], _ what: String) throws {
            guard types.contains(type) else {
                throw WebBackendError.description(
                    place, "Its transform makes \(what), which its type cannot hold.", next: "Change one of both.")
            }
        }
        switch transform {
        case .byType: break
        case .enumeration, .enumerationOfJSON, .text:
            if case .enumerationOfJSON(let names) = transform,
                let word = names.keys.sorted().first(where: { (try? JSONValue(parsing: Array($0.utf8))) == nil })
            {
                throw WebBackendError.description(
                    place, "“\(word)” is no JSON.",
                    next: "Write a number, true or false as it is, and text in quotation marks of its own: \"\\\"a\\\"\".")
            }
            try require(
                [
                    .stringAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
                    .floatAttributeType, .booleanAttributeType, .decimalAttributeType, .URIAttributeType, .UUIDAttributeType,
                ], "strings, numbers, Booleans, addresses or UUIDs")
        case .date: try require([.dateAttributeType], "dates")
        case .scaled:
            try require(
                [
                    .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
                    .decimalAttributeType,
                ], "numbers")
        case .json, .joined: try require([.stringAttributeType], "strings")
        case .relativeURL: try require([.URIAttributeType, .stringAttributeType], "addresses")
        case .wrapped(_, _, let inner): try check(inner, attribute, place)
        }
    }
}

extension NSRelationshipDescription {
    /// Returns whether changes of a list are sent with its owner, because the other end does not send them.
    fileprivate func isSent(in service: WebService) -> Bool {
        guard let inverse = inverseRelationship else { return true }
        let other = inverse.entity?.name.flatMap(service.resource)
        let mapping = other?.properties[inverse.name]
        if other?.ignored.contains(inverse.name) == true || other?.isReadOnly == true || mapping?.isReadOnly == true { return true }
        if !inverse.isToMany { return false }
        let style = service.style
        guard style.hasLists || mapping?.path != nil || style.hasListsAtOneEnd && inverse.isKeptAsList else { return true }
        return (entity?.name ?? "", name) <= (inverse.entity?.name ?? "", inverse.name)
    }

    /// Whether the relationship has no to-one inverse, and is the first of both ends.
    fileprivate var isKeptAsList: Bool {
        guard let inverse = inverseRelationship else { return true }
        if !inverse.isToMany { return false }
        return (entity?.name ?? "", name) <= (inverse.entity?.name ?? "", inverse.name)
    }
}

extension PropertyMapping {
    /// Whether the mapping describes the form of a relationship.
    fileprivate var saysHow: Bool { reference != nil || isReadOnly || !isWholeList || bringsWholeObjects }
}

extension NSEntityDescription {
    /// The entity, its subentities and theirs.
    var allKindsInModel: [NSEntityDescription] { [self] + subentities.flatMap(\.allKindsInModel) }
}
