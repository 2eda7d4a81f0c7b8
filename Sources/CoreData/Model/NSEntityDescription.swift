public import Foundation
public import Predicates

/// Describes an entity: its name, its class, its properties, and its place in the inheritance of the model.
///
/// ``properties`` holds the inherited ones too. Setting it on a subentity replaces what the subentity declares itself; inherited
/// properties in the list are left where they are.
///
/// Source: [NSEntityDescription](https://developer.apple.com/documentation/coredata/nsentitydescription).
// Unsynchronized while being built; immutable from `freeze()` on, which happens before a model is shared.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The model that holds the entity.
    open internal(set) weak var managedObjectModel: NSManagedObjectModel?

    /// The name of the entity.
    open var name: String? { willSet { requireMutable() } }
    /// The name of the class of the entity's objects, with its module: `"Bandcamp.Album"`. ``NSManagedObject`` unless set.
    open var managedObjectClassName: String! = "NSManagedObject" {
        willSet { requireMutable() }
        didSet { boundClass = nil }
    }
    /// Whether there are objects of its subentities only.
    open var isAbstract: Bool = false { willSet { requireMutable() } }
    /// Free information about the entity.
    open var userInfo: [AnyHashable: Any]? = [:] { willSet { requireMutable() } }
    /// The name the entity had in an earlier version of the model.
    open var renamingIdentifier: String? { willSet { requireMutable() } }

    /// Which attributes must be unique: arrays of names or ``NSAttributeDescription``s, whose values no two objects may share all at once.
    ///
    /// They hold for objects of subentities too, together with those of this entity. A nil among the values conflicts with nothing. A save
    /// that breaks one fails with code 133021, or is settled by the merge policy.
    open var uniquenessConstraints: [[Any]] = [] { willSet { requireMutable() } }

    /// The indexes that stores with indexes should keep. Setting them makes this entity theirs; the properties they name must be its own
    /// or inherited.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { requireMutable() }
        didSet {
            for index in oldValue where index.entity === self { index.entity = nil }
            for index in indexes { index.entity = self }
        }
    }
    /// Indexes over several properties, as models before ``indexes`` have them: arrays of names.
    open var compoundIndexes: [[Any]] = [] { willSet { requireMutable() } }
    /// Text that goes into the ``versionHash``, to mark a version whose difference the model does not show.
    open var versionHashModifier: String? { willSet { requireMutable() } }
    /// What the system's search index shows as the name of an object. Kept for model files; nothing here acts on it.
    open var coreSpotlightDisplayNameExpression: NSExpression? { willSet { requireMutable() } }
    /// What a model file says of the entity beyond what descriptions hold, such as `codeGenerationType` and `syncable`: the names and values of
    /// XML attributes. Kept and written back; nothing here acts on them.
    open var modelFileAttributes: [String: String] = [:] { willSet { requireMutable() } }
    /// Elements of a model file that this version does not know; written back.
    final var unknownElements: [XMLElement] = []
    /// A hash that Apple's tools made for the entity, and our own hash of the entity it was made for.
    final var knownVersionHash: (hash: Data, of: Data)?

    /// The entity this one inherits from.
    open internal(set) var superentity: NSEntityDescription? {
        get { parent }
        set { parent = newValue }
    }
    /// Cleared by the superentity when it goes or gives this entity up.
    @exclusivity(unchecked) private final unowned(unsafe) var parent: NSEntityDescription?

    /// The entities that inherit from this one directly. Setting it makes this entity their superentity.
    open var subentities: [NSEntityDescription] = [] {
        willSet { requireMutable() }
        didSet {
            for entity in oldValue where entity.superentity === self { entity.superentity = nil }
            for entity in subentities { entity.superentity = self }
        }
    }

    /// All properties: the inherited ones first, then those declared here.
    open var properties: [NSPropertyDescription] {
        get {
            if let frozen {
                frozen.properties + frozen.fetched.values.sorted { $0.name < $1.name }
            } else {
                (superentity?.properties ?? []) + declaredProperties
            }
        }
        set {
            requireMutable()
            let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
            for property in declaredProperties { property.entity = nil }
            declaredProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
            for property in declaredProperties { property.entity = self }
        }
    }

    final var declaredProperties: [NSPropertyDescription] = []
    final var boundClass: NSManagedObject.Type?
    /// The module whose class a name without one means first; nil where the model was not compiled for a module.
    final var moduleOfClasses: String?

    /// What freezing the model computes; nil before.
    @exclusivity(unchecked) final var frozen: FrozenEntity?
    /// What freezing the model has computed, for those who have an object, an ID, a row or a checked request of the entity: there is none of these before
    /// the model is in use, which freezes it for good.
    @inline(__always) final var frozenParts: FrozenEntity { frozen.known("the entity's model is in use") }

    /// Makes an entity without a name and properties.
    public required override init() { super.init() }

    deinit {
        for property in declaredProperties where property.entity === self { property.entity = nil }
        for entity in subentities where entity.superentity === self { entity.superentity = nil }
        for index in indexes where index.entity === self { index.entity = nil }
    }

    final func requireMutable() {
        precondition(
            frozen == nil,
            "The entity “\(name ?? "?")” cannot be changed: its model is in use by a coordinator. Change a copy of the model.")
    }

    /// An entity like this one, with copies of its properties, that belongs to no model. Relationships lead where they led.
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
        copy.knownVersionHash = knownVersionHash
        copy.properties = declaredProperties.map { $0.copy() as! NSPropertyDescription }
        return copy
    }

    /// The name of the entity.
    open override var description: String { name ?? "entity without a name" }
}

/// What is computed once when a model is frozen, so that lookups on the way to a value cost a dictionary access at most.
// Immutable once `NSManagedObjectModel.freeze()` is done.
final class FrozenEntity: @unchecked Sendable {
    let properties: [NSPropertyDescription]
    let byName: [String: NSPropertyDescription]
    /// The fetched properties; rows hold nothing of them.
    let fetched: [String: NSFetchedPropertyDescription]
    let relationships: [NSRelationshipDescription]
    /// The attributes that must not be nil when saved, and their slots.
    let mandatory: [(attribute: NSAttributeDescription, slot: RowLayout.Slot)]
    /// The attributes whose slots can take a value that they cannot hold, and their slots.
    let bounded: [(attribute: NSAttributeDescription, slot: RowLayout.Slot)]
    /// The properties with validation predicates.
    let ruled: [RuledProperty]
    /// Whether the class has a `validateValue` of its own.
    let overridesValidateValue: Bool
    /// Whether there are properties that no store keeps.
    let hasTransients: Bool
    /// The uniqueness constraints, the inherited ones too. Set once, when the model is frozen.
    var uniqueness: [UniquenessConstraint] = []
    /// The relationships that a save must check.
    let restricted: [NSRelationshipDescription]
    /// Whether there are no relationships, and nothing that stores do not keep.
    let isPlain: Bool
    /// Whether a save has anything to check of an object, besides values that were refused.
    let isChecked: Bool
    /// The attributes that stores keep, of the first 64 properties; a bit for each.
    let storedAttributes: UInt64
    /// Whether relationships may deny a deletion.
    let deniesDeletion: Bool
    let layout: RowLayout
    /// The entity at the top of the inheritance. The model, which has all entities of an inheritance or none, keeps it alive.
    unowned(unsafe) let root: NSEntityDescription
    /// The entity and all that inherit from it.
    fileprivate(set) var descendants: Set<ObjectIdentifier> = []
    let objectClass: NSManagedObject.Type
    let schema: EntitySchema
    /// Whether there are objects of its subentities only.
    let isAbstract: Bool

    init(
        properties: [NSPropertyDescription], fetched: [NSFetchedPropertyDescription], relationships: [NSRelationshipDescription],
        layout: RowLayout, root: NSEntityDescription, objectClass: NSManagedObject.Type, schema: EntitySchema, isAbstract: Bool
    ) {
        self.properties = properties
        self.fetched = Dictionary(fetched.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        self.relationships = relationships
        hasTransients = properties.contains(where: \.isTransient)
        restricted = relationships.filter {
            !$0.isTransient && (!$0.isOptional || ($0.isToMany && ($0.minCount > 0 || $0.maxCount > 0)))
        }
        mandatory = properties.compactMap { property in
            guard let attribute = property as? NSAttributeDescription, !attribute.isOptional, !attribute.isTransient else { return nil }
            return (attribute, layout.slots[attribute.slotIndex])
        }
        bounded = properties.compactMap { property in
            guard let attribute = property as? NSAttributeDescription, !attribute.isTransient, AttributeCheck.isBounded(attribute)
            else { return nil }
            return (attribute, layout.slots[attribute.slotIndex])
        }
        ruled = properties.compactMap(RuledProperty.init)
        overridesValidateValue = ValidationOverride.exists(in: objectClass)
        isPlain = relationships.isEmpty && !hasTransients
        isChecked = overridesValidateValue || !mandatory.isEmpty || !bounded.isEmpty || !ruled.isEmpty || !restricted.isEmpty
        storedAttributes = properties.prefix(64).reduce(0) { bits, property in
            property is NSAttributeDescription && !property.isTransient ? bits | 1 << UInt64(property.slotIndex) : bits
        }
        deniesDeletion = relationships.contains { $0.deleteRule == .denyDeleteRule }
        self.layout = layout
        self.root = root
        self.objectClass = objectClass
        self.schema = schema
        self.isAbstract = isAbstract
    }

    func setDescendants(_ entities: [NSEntityDescription]) { descendants = Set(entities.map(ObjectIdentifier.init)) }
}

extension NSEntityDescription {
    /// Makes a named entity in one line.
    ///
    /// - Parameters:
    ///   - name: the name of the entity.
    ///   - objectClass: the class of its objects.
    ///   - properties: what it declares.
    public convenience init(
        name: String, managedObjectClass objectClass: NSManagedObject.Type = NSManagedObject.self, properties: [NSPropertyDescription] = []
    ) {
        self.init()
        self.name = name
        self.managedObjectClass = objectClass
        self.properties = properties
    }

    /// The class of the entity's objects, as a type instead of a name. Setting it sets ``managedObjectClassName``.
    ///
    /// A class that cannot be found by its name at run time (a local or private one) can be set only here.
    public var managedObjectClass: NSManagedObject.Type {
        get { frozen?.objectClass ?? boundClass ?? lookUpClass() ?? NSManagedObject.self }
        set {
            managedObjectClassName = newValue == NSManagedObject.self ? "NSManagedObject" : String(reflecting: newValue)
            boundClass = newValue
        }
    }

    /// The properties by their names.
    public var propertiesByName: [String: NSPropertyDescription] {
        if let frozen, frozen.fetched.isEmpty { return frozen.byName }
        return Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// The attributes by their names.
    public var attributesByName: [String: NSAttributeDescription] { propertiesByName.compactMapValues { $0 as? NSAttributeDescription } }

    /// The relationships by their names.
    public var relationshipsByName: [String: NSRelationshipDescription] {
        propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }

    /// The direct subentities by their names.
    public var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { $1 })
    }

    /// The relationships that lead to `entity`.
    public func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    /// Whether this entity is `entity` or inherits from it.
    public func isKindOf(entity: NSEntityDescription) -> Bool {
        if self === entity { return true }
        if let frozen = entity.frozen { return frozen.descendants.contains(ObjectIdentifier(self)) }
        return superentity?.isKindOf(entity: entity) ?? false
    }

    /// The entity called `entityName` in the model of `context`.
    ///
    /// - Returns: nil if the context has no coordinator yet, or its model no such entity.
    public class func entity(forEntityName entityName: String, in context: NSManagedObjectContext) -> NSEntityDescription? {
        context.model?.entitiesByName[entityName]
    }

    /// Creates an object of the entity called `entityName` and inserts it into `context`. Call it on the context's queue.
    ///
    /// An unknown name stops the program with a message (it raises an exception on Apple's platforms).
    public class func insertNewObject(forEntityName entityName: String, into context: NSManagedObjectContext) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            preconditionFailure(
                "There is no entity “\(entityName)” in the context's model, which has: "
                    + (context.model?.entitiesByName.keys.sorted().joined(separator: ", ") ?? "none, for it has no coordinator") + ".")
        }
        return entity.managedObjectClass.init(entity: entity, insertInto: context)
    }
}
