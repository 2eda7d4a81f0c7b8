public import Foundation
internal import Logging
package import Platform
internal import Predicates
package import PropertyLists

/// The entities of an application, their properties and relationships.
///
/// Build a model in code or read it from a file, and pass it to a coordinator or container. After that it is immutable, and can only be copied. An
/// immutable model may be used on any thread.
///
/// Source: [NSManagedObjectModel](https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel).
// Unsynchronized while being built; `freezeLock` guards the transition to immutable, after which it is only read. It is not a `LockedBox`, because
// the properties are read without it.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
    /// The entities, including subentities.
    open var entities: [NSEntityDescription] = [] {
        willSet { requireMutable() }
        didSet {
            for entity in entities { entity.managedObjectModel = self }
            if !entities.isEmpty { LoadedModels.shared.addNew(self) }
        }
    }

    /// Custom identifiers of the model's version.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireMutable() } }

    /// The localized strings of the model. Preserved; they have no effect here.
    open var localizationDictionary: [String: String]? { willSet { requireMutable() } }

    /// Data of a model file that descriptions do not have, such as `sourceLanguage` and `usedWithCloudKit`: names and values of XML
    /// attributes. Preserved when the model is written; it has no effect here.
    open var modelFileAttributes: [String: String] = [:] { willSet { requireMutable() } }
    /// The unknown elements of a model file and the positions of Xcode's diagram, preserved when the model is written.
    package final var unknownElements: [XMLElement] = []
    package final var diagram: [XMLElement] = []
    /// The bundle of versions that the model was read from; nil for one of no bundle. A migration finds older versions there.
    package final var versionsURL: URL?

    package final var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    private var entitiesByConfiguration: [String: [NSEntityDescription]] = [:]
    /// Whether saves check uniqueness constraints. Set once, when the model is frozen.
    package final var hasUniquenessConstraints = false
    /// Data that stores have derived from the model in use, under names of their own, so that they need not derive it each time that a store is
    /// opened. It must not retain the model.
    package final let workedOut = LockedBox<[String: any Sendable]>([:])
    private let freezeLock = NSLock()
    private var frozenByName: [String: NSEntityDescription]?
    private var frozenByClass: [ObjectIdentifier: NSEntityDescription] = [:]

    /// Creates a model without entities.
    public required override init() { super.init() }

    /// Creates a model with `entities`.
    public convenience init(entities: [NSEntityDescription]) {
        self.init()
        self.entities = entities
    }

    deinit {
        for entity in entities {
            for case let relationship as NSRelationshipDescription in entity.declaredProperties { relationship.breakReferenceCycle() }
        }
    }

    /// The entities by name.
    open var entitiesByName: [String: NSEntityDescription] {
        frozenByName
            ?? Dictionary(entities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { first, _ in first })
    }

    /// The names of the configurations.
    open var configurations: [String] { entitiesByConfiguration.keys.sorted() }

    /// Returns the entities of a configuration: all entities for nil; nil for an unknown name.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration else { return entities }
        return entitiesByConfiguration[configuration]
    }

    /// Sets the entities of a configuration, which a store can be limited to.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        requireMutable()
        entitiesByConfiguration[configuration] = entities
    }

    /// Returns a mutable deep copy of the model.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        var copies: [ObjectIdentifier: NSEntityDescription] = [:]
        for entity in entities { copies[ObjectIdentifier(entity)] = (entity.copy() as! NSEntityDescription) }
        for entity in entities {
            let duplicate = copies[ObjectIdentifier(entity)]!
            duplicate.subentities = entity.subentities.compactMap { copies[ObjectIdentifier($0)] }
            for case let relationship as NSRelationshipDescription in duplicate.declaredProperties {
                let destination = relationship.destinationEntity.flatMap { copies[ObjectIdentifier($0)] }
                let inverse = relationship.inverseRelationship
                relationship.destinationEntity = destination
                guard let inverse, let owner = inverse.entity.flatMap({ copies[ObjectIdentifier($0)] }) else { continue }
                relationship.inverseRelationship =
                    owner.declaredProperties.first { $0.name == inverse.name } as? NSRelationshipDescription
            }
        }
        copy.entities = entities.map { copies[ObjectIdentifier($0)]! }
        copy.versionIdentifiers = versionIdentifiers
        copy.localizationDictionary = localizationDictionary
        copy.modelFileAttributes = modelFileAttributes
        copy.unknownElements = unknownElements
        copy.diagram = diagram
        copy.versionsURL = versionsURL
        /// Requests refer to the copied entities.
        func remapped(_ request: NSFetchRequest<any NSFetchRequestResult>) -> NSFetchRequest<any NSFetchRequestResult> {
            let duplicate = request.copy() as! NSFetchRequest<any NSFetchRequestResult>
            if let entity = request.entity { duplicate.entity = copies[ObjectIdentifier(entity)] ?? entity }
            return duplicate
        }
        copy.templates = templates.mapValues(remapped)
        for case let property as NSFetchedPropertyDescription in copies.values.flatMap(\.declaredProperties) {
            property.fetchRequest = property.fetchRequest.map(remapped)
        }
        for (name, list) in entitiesByConfiguration {
            copy.entitiesByConfiguration[name] = list.compactMap { copies[ObjectIdentifier($0)] }
        }
        return copy
    }

    /// Returns whether two models are equal, apart from data that only model files have. ``differences(from:includingFileAttributes:)``
    /// lists the differences.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        return self === other || differences(from: other, includingFileAttributes: false).isEmpty
    }

    /// The hash value, which is the same for equal models.
    open override var hash: Int { Set(entities.map(\.name)).hashValue }

    final func requireMutable() {
        stopProgram(unless: frozenByName == nil, "The model cannot be changed: a coordinator uses it. Change a copy of the model.")
    }

    /// Returns the entity of `objectClass`, or of its nearest superclass that has one.
    func entity(for objectClass: any ObjectClass.Type) -> NSEntityDescription? {
        guard !objectClass.isStandardClass else { return nil }
        var candidate: AnyClass? = objectClass
        while let current = candidate {
            if let entity = frozenByClass[ObjectIdentifier(current)] { return entity }
            candidate = _getSuperclass(current)
        }
        let name = String(describing: objectClass)
        return entitiesByName.values.first { $0.boundClass == nil && $0.managedObjectClassName == name }
    }

    /// Makes the model immutable and computes the layouts of its entities. Does nothing the second time.
    ///
    /// - Throws: An error of code 134020 that lists every error of the model.
    package func freeze() throws {
        freezeLock.lock()
        defer { freezeLock.unlock() }
        if frozenByName != nil { return }
        for entity in entities { entity.managedObjectModel = self }
        let errors = ModelCheck.errors(of: self)
        guard errors.isEmpty else {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "The model cannot be used.",
                reason: errors.map(\.message).joined(separator: " "),
                next: "Fix the model before a coordinator is made of it.")
        }
        for entity in entities where entity.superentity == nil { entity.freeze(below: nil) }
        for entity in entities { entity.frozen?.setDescendants(entity.allKinds) }
        hasUniquenessConstraints = entities.contains { !$0.uniquenessConstraints.isEmpty }
        for entity in entities {
            if let objectClass = entity.frozen!.ownClass, frozenByClass[ObjectIdentifier(objectClass)] == nil {
                frozenByClass[ObjectIdentifier(objectClass)] = entity
            }
        }
        frozenByName = entitiesByName
    }
}

extension NSEntityDescription {
    /// The entity and all of its descendants.
    package var allKinds: [NSEntityDescription] { [self] + subentities.flatMap(\.allKinds) }

    /// The root entity of the inheritance.
    package var rootEntity: NSEntityDescription { frozen?.root ?? superentity?.rootEntity ?? self }

    fileprivate func freeze(below superentity: NSEntityDescription?) {
        let declared =
            declaredProperties.filter { $0 is NSAttributeDescription }.sorted { $0.name < $1.name }
            + declaredProperties.filter { $0 is NSRelationshipDescription }.sorted { $0.name < $1.name }
        let inherited = superentity?.frozen?.properties ?? []
        let fetched = declaredProperties.compactMap { $0 as? NSFetchedPropertyDescription }
        for property in fetched { property.isFrozen = true }
        var relationships = superentity?.frozen?.relationships ?? []
        for (offset, property) in declared.enumerated() {
            property.slotIndex = inherited.count + offset
            if let relationship = property as? NSRelationshipDescription {
                relationship.relationshipIndex = relationships.count
                relationships.append(relationship)
            }
            property.isFrozen = true
        }
        let properties = inherited + declared
        let objectClass = (boundClass ?? lookUpClass()).flatMap { $0.isStandardClass ? nil : $0 }
        if objectClass == nil, boundClass == nil, !namesStandardClass {
            Log.warnOnce(Log.model, "Entity “\(name ?? "?")”: its objects are of NSManagedObject. \(reasonForMissingClass)")
        }
        frozen = FrozenEntity(
            properties: properties, fetched: (superentity?.frozen.map { Array($0.fetched.values) } ?? []) + fetched,
            relationships: relationships,
            layout: RowLayout(extending: superentity?.frozen?.layout, by: declared), root: superentity?.frozen?.root ?? self,
            entity: self, ownClass: objectClass, isAbstract: isAbstract)
        partsOfObjects = frozen.map(PartsOfObjects.init)
        (keyEntries, keyMask) = (frozen?.keys.entries, frozen?.keys.mask ?? 0)
        frozen?.uniqueness = (superentity?.frozen?.uniqueness ?? []) + frozenConstraints(properties)
        for entity in subentities { entity.freeze(below: self) }
    }
}
