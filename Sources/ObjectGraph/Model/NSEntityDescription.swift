public import Foundation
internal import Platform
public import Predicates
package import PropertyLists

/// Describes an entity: its name, class, properties, and position in the inheritance of the model.
///
/// ``properties`` includes inherited ones. Setting it on a subentity replaces the subentity's declared properties; inherited properties
/// in the list are ignored.
///
/// Source: [NSEntityDescription](https://developer.apple.com/documentation/coredata/nsentitydescription).
// Unsynchronized while being built; immutable from `freeze()` on, which happens before a model is shared.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The model of the entity.
    open package(set) weak var managedObjectModel: NSManagedObjectModel!

    /// The name of the entity.
    open var name: String? { willSet { willEditHash() } }
    /// The class name of the entity's objects, with the module: `"Bandcamp.Album"`. The default is ``NSManagedObject``.
    open var managedObjectClassName: String! = "NSManagedObject" {
        willSet { requireMutable() }
        didSet { boundClass = nil }
    }
    /// Whether the entity is abstract: it has no objects except those of its subentities.
    open var isAbstract: Bool = false { willSet { willEditHash() } }
    /// Custom information about the entity. It may also be set while the model is in use, on any thread: no version depends on it.
    open var userInfo: [AnyHashable: Any]? {
        get { information.values }
        set { information.values = newValue }
    }
    private final let information = DescriptionInformation()
    /// The name of the entity in an earlier version of the model.
    open var renamingIdentifier: String? { willSet { requireMutable() } }

    /// The uniqueness constraints: arrays of names, or descriptions, of attributes and to-one relationships whose combined values must be
    /// unique.
    ///
    /// Constraints apply to the objects of this entity and its subentities together. A nil among the values conflicts with nothing. A
    /// save that violates a constraint fails with code 133021, unless the merge policy resolves it.
    open var uniquenessConstraints: [[Any]] = [] { willSet { requireMutable() } }

    /// The indexes for stores that support them. The properties that an index names must be declared or inherited by this entity.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { requireMutable() }
        didSet {
            for index in oldValue where index.entity === self { index.entity = nil }
            for index in indexes { index.entity = self }
        }
    }
    /// Indexes over several properties in the form that preceded ``indexes``: arrays of names.
    open var compoundIndexes: [[Any]] = [] { willSet { requireMutable() } }
    /// A string that is included in the ``versionHash``, to distinguish versions that do not differ otherwise.
    open var versionHashModifier: String? { willSet { willEditHash() } }
    /// The display name of objects in the system's search index. Preserved for model files; it has no effect here.
    open var coreSpotlightDisplayNameExpression: NSExpression? { willSet { requireMutable() } }
    /// Data of a model file that descriptions do not have, such as `codeGenerationType` and `syncable`: names and values of XML
    /// attributes. Preserved when the model is written; it has no effect here.
    open var modelFileAttributes: [String: String] = [:] { willSet { requireMutable() } }
    /// The unknown elements of a model file, preserved when the model is written.
    package final var unknownElements: [XMLElement] = []
    /// A version hash computed by Apple's tools.
    final var adoptedHash: AdoptedHash?
    /// The number of edits in the entity itself that affect the version hash.
    final var hashEdits = 0
    /// This framework's hash of the entity, once it was computed, and the state that it belongs to.
    final let madeHash = LockedBox<(state: HashState, hash: Data)?>(nil)

    /// The entity that this one inherits from.
    open package(set) var superentity: NSEntityDescription? {
        get { parent }
        set { parent = newValue }
    }
    /// Cleared by the superentity when it is deallocated or removes this entity.
    @exclusivity(unchecked) private final unowned(unsafe) var parent: NSEntityDescription?

    /// The direct subentities. Setting them makes this entity their superentity.
    open var subentities: [NSEntityDescription] = [] {
        willSet {
            requireMutable()
            keepOwnHash()
        }
        didSet {
            for entity in oldValue where entity.superentity === self { entity.superentity = nil }
            for entity in subentities { entity.superentity = self }
        }
    }

    /// All properties: inherited ones first, then declared ones.
    open var properties: [NSPropertyDescription] {
        get {
            if let frozen {
                frozen.properties + frozen.fetched.values.sorted { $0.name < $1.name }
            } else {
                (superentity?.properties ?? []) + declaredProperties
            }
        }
        set {
            willEditHash()
            let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
            for property in declaredProperties { property.entity = nil }
            declaredProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
            for property in declaredProperties { property.entity = self }
        }
    }

    package final var declaredProperties: [NSPropertyDescription] = []
    package final var boundClass: (any ObjectClass.Type)?
    /// The module in which class names without a module are looked up first; nil if the model was not compiled for a module.
    package final var moduleOfClasses: String?

    /// The data computed when the model is frozen; nil before.
    @usableFromInline @exclusivity(unchecked) package final var frozen: FrozenEntity?
    // The table of `frozen`, so that access by key counts no reference; nil before, and if objects record reads.
    @exclusivity(unchecked) final var keyEntries: UnsafePointer<KeyEntry>?
    @exclusivity(unchecked) final var keyMask = 0
    /// The parts of `frozen` that the entity's objects use; nil before.
    @exclusivity(unchecked) final var partsOfObjects: PartsOfObjects?
    /// The data computed when the model is frozen, for callers that have an object, an ID, a row or a checked request of the entity: none of these
    /// exists before the model is in use, which freezes it for good.
    @inlinable @inline(__always) package final var frozenParts: FrozenEntity { frozen.unchecked("the entity's model is in use") }

    /// Creates an entity without a name and properties.
    public required override init() { super.init() }

    deinit {
        for property in declaredProperties where property.entity === self { property.entity = nil }
        for entity in subentities where entity.superentity === self { entity.superentity = nil }
        for index in indexes where index.entity === self { index.entity = nil }
    }

    final func requireMutable() {
        stopProgram(
            unless: frozen == nil,
            "The entity “\(name ?? "?")” cannot be changed: its model is in use by a coordinator. Change a copy of the model.")
    }

    /// Returns a copy of the entity with copies of its properties, without a model. Relationships keep their destinations.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        copy.name = name
        copy.managedObjectClassName = managedObjectClassName
        copy.boundClass = boundClass
        copy.moduleOfClasses = moduleOfClasses
        copy.isAbstract = isAbstract
        copy.userInfo = userInfo
        copy.renamingIdentifier = renamingIdentifier
        copy.uniquenessConstraints = uniquenessConstraints.map { Self.names(in: $0).map { $0 ?? "" } }
        copy.indexes = indexes.map { $0.copy() as! NSFetchIndexDescription }
        copy.compoundIndexes = compoundIndexes.map { Self.names(in: $0).map { $0 ?? "" } }
        copy.versionHashModifier = versionHashModifier
        copy.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
        copy.modelFileAttributes = modelFileAttributes
        copy.unknownElements = unknownElements
        copy.properties = declaredProperties.map { $0.copy() as! NSPropertyDescription }
        copy.adoptedHash = adoptedHashForCopy
        return copy
    }

    /// The name of the entity.
    open override var description: String { name ?? "entity without a name" }
}

/// The parts of ``FrozenEntity`` that an object of the entity uses, so that creating one counts no reference. All of them belong to the layout, which
/// lives as long as the entity.
struct PartsOfObjects {
    let places: UnsafeMutablePointer<PlaceEntry>
    let placeMask: UInt32
    let watchedPlaces: UnsafeMutablePointer<PlaceEntry>
    let watchedMask: UInt32
    /// The slots of the default row.
    let defaultSlots: UnsafeMutableRawPointer
    let isAbstract: Bool

    init(_ frozen: FrozenEntity) {
        let layout = frozen.layout
        (places, placeMask) = (layout.places.entries, layout.places.mask)
        (watchedPlaces, watchedMask) = (layout.watchedPlaces.entries, layout.watchedPlaces.mask)
        defaultSlots = layout.usedDefaultRow.slots
        isAbstract = frozen.isAbstract
    }
}

/// The data computed once when a model is frozen, so that lookups on the way to a value cost at most one dictionary access.
// Immutable once `NSManagedObjectModel.freeze()` is done; `hashes` has a lock of its own.
@usableFromInline package final class FrozenEntity: @unchecked Sendable {
    package let properties: [NSPropertyDescription]
    package let byName: [String: NSPropertyDescription]
    /// The fetched properties, which rows do not contain.
    let fetched: [String: NSFetchedPropertyDescription]
    package let relationships: [NSRelationshipDescription]
    /// The attributes that must not be nil when saved, with their slots.
    let mandatory: [(attribute: NSAttributeDescription, slot: RowLayout.Slot)]
    /// The attributes whose slots can hold values that are invalid for them, with their slots.
    let rangeChecked: [(attribute: NSAttributeDescription, slot: RowLayout.Slot)]
    /// The properties with validation predicates.
    let validated: [ValidatedProperty]
    /// Whether the class overrides `validateValue`.
    let overridesValidateValue: Bool
    /// Whether there are transient properties.
    let hasTransients: Bool
    /// The transient attributes with default values, which objects take as no store has any.
    let transientDefaults: [RowLayout.Slot]
    let hasTransientDefaults: Bool
    /// The uniqueness constraints, including inherited ones. Set once, when the model is frozen.
    package var uniqueness: [UniquenessConstraint] = []
    /// The relationships that a save must validate.
    let countChecked: [NSRelationshipDescription]
    /// Whether there are neither relationships nor transient properties.
    let isPlain: Bool
    /// Whether a save validates anything in an object, apart from rejected values.
    let needsValidation: Bool
    /// The persistent attributes among the first 64 properties, as a bit set.
    let storedAttributes: UInt64
    /// The relationships whose objects are deleted with the owner.
    let cascading: [NSRelationshipDescription]
    /// Whether relationships may deny a deletion.
    let deniesDeletion: Bool
    package let layout: RowLayout
    /// The root entity of the inheritance. The model, which has all entities of an inheritance or none, keeps it alive.
    unowned(unsafe) let root: NSEntityDescription
    /// The entity and all of its descendants.
    fileprivate(set) var descendants: Set<ObjectIdentifier> = []
    /// The class of the objects; nil for ``NSManagedObject``, if no other was found. ``objectClass`` gives it with its type.
    let ownClass: AnyClass?
    /// The schema that resolves the properties of objects; ``schema`` makes it.
    let madeSchema = LockedBox<AnyObject?>(nil)
    /// The properties by their names, for access by key.
    let keys: KeyTable
    /// The entity, which holds this.
    unowned let entity: NSEntityDescription
    /// Whether the entity is abstract.
    let isAbstract: Bool
    /// The hashes of the entity, once they were computed: the public one, and this framework's.
    let hashes = LockedBox<(version: Data?, own: Data?)>((nil, nil))

    init(
        properties: [NSPropertyDescription], fetched: [NSFetchedPropertyDescription], relationships: [NSRelationshipDescription],
        layout: RowLayout, root: NSEntityDescription, entity: NSEntityDescription, ownClass: (any ObjectClass.Type)?, isAbstract: Bool
    ) {
        self.properties = properties
        self.fetched = Dictionary(fetched.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        self.relationships = relationships
        hasTransients = properties.contains(where: \.isTransient)
        transientDefaults = properties.compactMap { property in
            guard property.isTransient, property is NSAttributeDescription else { return nil }
            let slot = layout.slots[property.slotIndex]
            return layout.usedDefaultRow.isNil(at: slot) ? nil : slot
        }
        hasTransientDefaults = !transientDefaults.isEmpty
        countChecked = relationships.filter {
            !$0.isTransient && ($0.isToMany ? $0.minCount > 0 || $0.maxCount > 0 : !$0.isOptional)
        }
        mandatory = properties.compactMap { property in
            guard let attribute = property as? NSAttributeDescription, !attribute.isOptional, !attribute.isTransient else { return nil }
            return (attribute, layout.slots[attribute.slotIndex])
        }
        rangeChecked = properties.compactMap { property in
            guard let attribute = property as? NSAttributeDescription, !attribute.isTransient, AttributeCheck.isBounded(attribute)
            else { return nil }
            return (attribute, layout.slots[attribute.slotIndex])
        }
        validated = properties.compactMap(ValidatedProperty.init)
        overridesValidateValue = ownClass?.overridesValidateValue ?? false
        isPlain = relationships.isEmpty && !hasTransients
        needsValidation =
            overridesValidateValue || !mandatory.isEmpty || !rangeChecked.isEmpty || !validated.isEmpty || !countChecked.isEmpty
        storedAttributes = properties.prefix(64).reduce(0) { bits, property in
            property is NSAttributeDescription && !property.isTransient ? bits | 1 << UInt64(property.slotIndex) : bits
        }
        cascading = relationships.filter { $0.deleteRule == .cascadeDeleteRule }
        deniesDeletion = relationships.contains { $0.deleteRule == .denyDeleteRule }
        self.layout = layout
        keys = KeyTable(properties, layout)
        self.root = root
        self.entity = entity
        self.ownClass = ownClass
        self.isAbstract = isAbstract
    }

    func setDescendants(_ entities: [NSEntityDescription]) { descendants = Set(entities.map(ObjectIdentifier.init)) }
}

extension NSEntityDescription {
    /// The properties by name.
    public var propertiesByName: [String: NSPropertyDescription] {
        if let frozen, frozen.fetched.isEmpty { return frozen.byName }
        return Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// The attributes by name.
    public var attributesByName: [String: NSAttributeDescription] { propertiesByName.compactMapValues { $0 as? NSAttributeDescription } }

    /// The relationships by name.
    public var relationshipsByName: [String: NSRelationshipDescription] {
        propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }

    /// The direct subentities by name.
    public var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { $1 })
    }

    /// Returns the relationships whose destination is `entity`.
    public func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    /// Returns whether this entity is `entity` or inherits from it.
    public func isKindOf(entity: NSEntityDescription) -> Bool {
        if self === entity { return true }
        if let frozen = entity.frozen { return frozen.descendants.contains(ObjectIdentifier(self)) }
        return superentity?.isKindOf(entity: entity) ?? false
    }
}
