internal import CoreDataRuntime
public import Foundation

/// An object of the graph: an instance of an entity, living in one context.
///
/// Subclass it and declare the properties with `@NSManaged`, or use it as it is and read values by key. An object belongs to the queue
/// of its context: use it only there, and pass its ``objectID`` elsewhere.
///
/// An object is a *fault* until one of its values is asked for; then its row is taken from the store. Reading cannot throw: when a
/// store fails to deliver a row, the read answers nil (or the type's zero), the object stays a fault, and the next throwing call on
/// the context (`fetch`, `count`, `save`, `existingObject`) throws the store's error. See ``NSManagedObjectContext/pendingFaultError``.
///
/// Source: [NSManagedObject](https://developer.apple.com/documentation/coredata/nsmanagedobject).
open class NSManagedObject: NSObject, NSFetchRequestResult {
    // Fields are read and written in single steps, never across a call, so that no access can overlap another: the dynamic exclusivity
    // check, which costs more than the access, is left out.
    //
    // The values, see NSManagedObject+Rows.swift: the slots of `row`, nil makes the object a fault; those of `snapshot`, the values as the
    // store had them, nil for an object that was never saved; those of `eventRow`. The object holds the block of each.
    @exclusivity(unchecked) @usableFromInline final var slots: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var snapshotSlots: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var eventSlots: UnsafeMutableRawPointer?
    /// The places of the entity's properties; the entity keeps them alive.
    @exclusivity(unchecked) @usableFromInline final var places: UnsafeMutablePointer<PlaceEntry>
    @exclusivity(unchecked) @usableFromInline final var placeMask: UInt32
    @exclusivity(unchecked) @usableFromInline final var flags: ObjectFlags = []
    /// The properties set since the last save, by slot index.
    @exclusivity(unchecked) @usableFromInline final var changed = PropertySet()
    final let owningEntity: NSEntityDescription

    // The place in the context.
    @exclusivity(unchecked) final var registry: ObjectRegistry?
    // The identity: the ID, or what it is made of when somebody asks for it. See NSManagedObject+Identity.swift.
    @exclusivity(unchecked) final var madeID: NSManagedObjectID?
    @exclusivity(unchecked) final var origin: RowOrigin?
    @exclusivity(unchecked) final var number: Int64 = 0
    @exclusivity(unchecked) final var listIndex: Int32 = -1
    /// The batch the object came with, see ``FaultBatch``; 0 for none.
    @exclusivity(unchecked) final var batchNumber: UInt32 = 0
    /// The relationships that have been touched, by relationship index; empty until the first is.
    @exclusivity(unchecked) final var relationships: [RelationshipState] = []
    /// What few objects have.
    final var rarities: Rarities?

    /// Creates an object with the default values of its entity.
    ///
    /// Subclasses that declare initializers of their own must repeat this one as `required`: objects that are fetched come to life
    /// through it too, with no context, and get their values afterwards. Use ``awakeFromInsert()`` to set a new object up.
    ///
    /// An abstract entity, or one whose model has mistakes, stops the program with a message.
    ///
    /// - Parameters:
    ///   - entity: the entity of the object.
    ///   - context: the context to insert it into, nil to leave it outside. Call on the context's queue.
    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if entity.frozen == nil {
            do { try entity.managedObjectModel?.freeze() } catch { preconditionFailure("\(error)") }
        }
        guard entity.frozen != nil else {
            preconditionFailure("The entity “\(entity)” belongs to no model; add it to one before objects of it are made.")
        }
        owningEntity = entity
        // The layout is reached anew each time: a reference that is kept across calls is counted, which costs more than to load it again.
        if AccessHooks.isActive {
            places = entity.frozenParts.layout.watchedPlaces.entries
            placeMask = entity.frozenParts.layout.watchedPlaces.mask
        } else {
            places = entity.frozenParts.layout.places.entries
            placeMask = entity.frozenParts.layout.places.mask
        }
        if context == nil {
            // A store's object gets the store's values: the default ones need not be counted for it.
            if coredata_takes_no_values(Unmanaged.passUnretained(entity).toOpaque()) == 0 {
                slots = entity.frozenParts.layout.usedDefaultRow.retainedSlots
            }
        } else {
            // A new object is mostly written to at once: it gets a row of its own.
            slots = entity.frozenParts.layout.usedDefaultRow.copy().retainedSlots
            flags = .ownsRow
        }
        super.init()
        if let context {
            precondition(
                !entity.frozenParts.isAbstract,
                "The entity “\(entity)” is abstract: insert an object of one of its subentities.")
            context.insertNew(self)
        }
    }

    /// Creates an object of the entity whose class this is, and inserts it into `context`. Call it on the context's queue.
    ///
    /// A class that no entity of the context's model names stops the program with a message.
    public convenience init(context moc: NSManagedObjectContext) {
        guard let entity = moc.entity(for: Self.self) else {
            preconditionFailure(
                moc.model == nil
                    ? "The context has no coordinator, so there is no entity for \(Self.self)."
                    : "No entity of the model names the class \(String(reflecting: Self.self)) as its managedObjectClassName.")
        }
        self.init(entity: entity, insertInto: moc)
    }

    deinit {
        registry?.objectWillDeallocate(self)
        SlotPointer(slots)?.block.release()
        SlotPointer(snapshotSlots)?.block.release()
        SlotPointer(eventSlots)?.block.release()
    }

    /// The entity of the class, once a container or coordinator has loaded a model that names it.
    open class func entity() -> NSEntityDescription {
        guard let entity = LoadedModels.shared.entity(for: self) else {
            preconditionFailure("No loaded model has an entity whose class is \(String(reflecting: self)).")
        }
        return entity
    }

    /// What the class says of its own entity; nil for a class whose entity stands in a model file or is made otherwise.
    ///
    /// The macro `@ManagedObject` of the product CoreDataMacros overrides it, and a class without macros may;
    /// `NSManagedObjectModel(for:)` makes the model of it. It is asked for once for each model.
    open class var entityDeclaration: EntityDeclaration? { nil }

    /// A request for the objects of the class.
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = LoadedModels.shared.entity(for: self)
        return request
    }

    /// The entity of the object.
    open var entity: NSEntityDescription { owningEntity }

    /// The context the object lives in; nil before it is inserted and after it is gone from it.
    open var managedObjectContext: NSManagedObjectContext? { registry?.context }

    /// The identity of the object: temporary until it is saved.
    open var objectID: NSManagedObjectID {
        if let identifier { return identifier }
        let temporary = NSManagedObjectID(temporaryFor: owningEntity)
        identifier = temporary
        registry?.register(self)
        return temporary
    }

    /// Whether the object will be inserted by the next save.
    open var isInserted: Bool { flags.contains(.inserted) }
    /// Whether the object will be updated by the next save.
    open var isUpdated: Bool { flags.contains(.updated) }
    /// Whether the object will be deleted by the next save.
    open var isDeleted: Bool { flags.contains(.deleted) }
    /// Whether the next save has something to do for the object.
    open var hasChanges: Bool { !flags.isDisjoint(with: [.inserted, .updated, .deleted]) }
    /// Whether a property that stores keep differs from what the store has. One that was set back to what it was does not; ``hasChanges``
    /// says only that something was set. Fires no relationship fault.
    open var hasPersistentChangedValues: Bool {
        checkQueue("hasPersistentChangedValues")
        return hasChangesToSave
    }
    /// Whether the object's values have not been taken from the store yet.
    open var isFault: Bool { slots == nil }
    /// 0 when the values are here, another number while the object is a fault.
    open var faultingState: Int { slots == nil ? 1 : 0 }

    // MARK: What subclasses override

    /// Whether the context takes no notice when ``willChangeValue(forKey:)`` announces a change of a property that the model does not have. True
    /// unless overridden; false makes the object count as updated then. Nothing of it is written by a save.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// Called once, when a new object is inserted into a context. Overrides call super first.
    open func awakeFromInsert() {}
    /// Called when the values have been taken from the store. Overrides call super first. Relationships may be faults still.
    ///
    /// What it sets does not count as a change and keeps no inverse: use it for transient values.
    open func awakeFromFetch() {}
    /// Called when values have been restored other than by the program: by an undo or redo, a rollback, a refresh or a merge policy.
    /// Overrides call super first.
    ///
    /// - Parameter flags: what has restored them.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// Called before the object is saved. Changing it here is allowed, and calls this again.
    open func willSave() {}
    /// Called after the object has been saved.
    open func didSave() {}
    /// Called when the object is about to be deleted, while its relationships still stand.
    open func prepareForDeletion() {}
    /// Called before the values are dropped.
    open func willTurnIntoFault() {}
    /// Called after the values have been dropped.
    open func didTurnIntoFault() {}

    // MARK: Key-value coding (see NSManagedObject+KeyValueCoding.swift)

    /// The value of the property called `key`, firing its fault if need be.
    ///
    /// Attributes come as Foundation values (numbers as `NSNumber`, so that `as? Int16`, `as? Int` and `as? Bool` work), to-one
    /// relationships as the object, to-many relationships as `Set<NSManagedObject>`, ordered ones as `NSOrderedSet`, fetched properties as
    /// `[NSManagedObject]`.
    /// A key that the entity does not have goes to ``value(forUndefinedKey:)``. Call it on the context's queue.
    open func value(forKey key: String) -> Any? {
        guard let property = property(named: key) else {
            return owningEntity.frozen!.fetched[key].map { fetchedObjects($0) } ?? value(forUndefinedKey: key)
        }
        if AccessHooks.isActive { noteRead(at: property.slotIndex) }
        return currentValue(of: property)
    }

    /// Sets the property called `key`, keeps the inverse of a relationship, and tells the context.
    ///
    /// A value that the property cannot hold is refused: the old value stays, and validation reports it when the object is saved. A key
    /// that the entity does not have goes to ``setValue(_:forUndefinedKey:)``. Call it on the context's queue.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let property = property(named: key) else { return setValue(value, forUndefinedKey: key) }
        if value == nil, let attribute = property as? NSAttributeDescription, attribute.isNumber { return setNilValueForKey(key) }
        setCurrentValue(value, of: property)
    }

    /// Takes the nil that ``setValue(_:forKey:)`` was given for a number or a truth value. Override it where that is to be another value, and
    /// call super for other keys; unless overridden, the attribute has no value then.
    open func setNilValueForKey(_ key: String) {
        guard let property = property(named: key) else { return setValue(nil, forUndefinedKey: key) }
        setCurrentValue(nil, of: property)
    }

    /// Answers for a key that is no property of the entity. Stops the program with a message unless overridden.
    open func value(forUndefinedKey key: String) -> Any? { preconditionFailure(undefinedKeyMessage(key)) }

    /// Takes a value for a key that is no property of the entity. Stops the program with a message unless overridden.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { preconditionFailure(undefinedKeyMessage(key)) }

    /// The value as it is stored in the object, for custom accessors. To-many relationships come as for ``value(forKey:)``.
    open func primitiveValue(forKey key: String) -> Any? {
        guard let property = property(named: key) else { return value(forUndefinedKey: key) }
        checkQueue("primitiveValue(forKey: “\(key)”)")
        return currentValue(of: property)
    }

    /// Sets the stored value without telling the context and without keeping an inverse, for custom accessors, between
    /// ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)``.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) {
        guard let property = property(named: key) else { return setValue(value, forUndefinedKey: key) }
        checkQueue("setPrimitiveValue(_:forKey: “\(key)”)")
        setPrimitive(value, of: property)
    }

    /// Announces a read by a custom accessor; fires the fault. A nil key fires the object's fault.
    open func willAccessValue(forKey key: String?) {
        if AccessHooks.isActive, let key, let property = owningEntity.frozen!.byName[key] { noteRead(at: property.slotIndex) }
        if slots == nil { _ = slotsAfterFault() }
    }

    /// Ends a read that ``willAccessValue(forKey:)`` announced.
    open func didAccessValue(forKey key: String?) {}

    /// Announces a change by a custom accessor: the property counts as changed from here on.
    open func willChangeValue(forKey key: String) {
        if let property = property(named: key) { announceChange(of: property) } else { noteUnmodeledChange() }
    }

    /// Ends a change that ``willChangeValue(forKey:)`` announced; the inverse follows a relationship that was set in between.
    open func didChangeValue(forKey key: String) {
        if let property = property(named: key) { endChange(of: property) }
    }

    // MARK: Validation (see NSManagedObject+Validation.swift)

    /// Checks a value for a property, whether it is set or not: its type, whether it may be nil, the model's predicates and counts.
    ///
    /// A save calls it for every property of an object whose class overrides it. Overrides check their keys and call super for the others,
    /// or for all. What an override puts into `value` is set; one that does so whatever comes in makes the object changed at every save.
    ///
    /// - Parameters:
    ///   - value: the value, as ``value(forKey:)`` has it.
    ///   - key: the property. One that the entity does not have is not checked.
    /// - Throws: an error in `NSCocoaErrorDomain`, with several under `NSDetailedErrorsKey`. Call it on the context's queue.
    open func validateValue(_ value: inout Any?, forKey key: String) throws {
        checkQueue("validateValue(_:forKey: “\(key)”)")
        try checkValue(value, forKey: key)
    }

    /// Checks a new object before it is saved. Overrides call super, and throw their own errors beside its.
    open func validateForInsert() throws {
        checkQueue("validateForInsert()")
        try validateProperties()
    }

    /// Checks a changed object before it is saved. Overrides call super, and throw their own errors beside its.
    open func validateForUpdate() throws {
        checkQueue("validateForUpdate()")
        try validateProperties()
    }

    /// Checks an object before it is deleted: relationships with the deny rule must be empty. Overrides call super.
    open func validateForDelete() throws {
        checkQueue("validateForDelete()")
        try validateDenyRules()
    }

    /// The object's address: an object is equal to itself alone. Apple's rule that subclasses leave this and `isEqual(_:)` as they are holds.
    open override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// The entity, the ID and the values that are here.
    open override var description: String {
        let state = isFault ? "fault" : valuesForDescription()
        return "<\(Swift.type(of: self)) (entity: \(owningEntity); id: \(objectID.uriRepresentation().absoluteString); \(state))>"
    }

    private func valuesForDescription() -> String {
        owningEntity.frozen!.properties.map { property in
            let value: String
            if let relationship = property as? NSRelationshipDescription {
                value = isFault(relationship) ? "relationship fault" : "relationship"
            } else {
                value = row?.isUnknown(at: slot(of: property)) ?? false ? "unknown" : AttributeCheck.describe(anyAttribute(property))
            }
            return "\(property.name) = \(value)"
        }.joined(separator: "; ")
    }
}

@available(*, unavailable, message: "A managed object belongs to its context's queue; pass its objectID instead.")
extension NSManagedObject: @unchecked Sendable {}

/// What a context knows about an object.
@usableFromInline struct ObjectFlags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt32
    @inlinable @inline(__always) init(rawValue: UInt32) { self.rawValue = rawValue }

    static let inserted = ObjectFlags(rawValue: 1)
    static let updated = ObjectFlags(rawValue: 2)
    static let deleted = ObjectFlags(rawValue: 4)
    /// The object's row is its own and may be written.
    static let ownsRow = ObjectFlags(rawValue: 8)
    /// The object stands in the list of what changed in the current event.
    static let noted = ObjectFlags(rawValue: 16)
    /// The identity map holds the object.
    static let registered = ObjectFlags(rawValue: 32)
    /// `prepareForDeletion` has been called.
    static let preparedForDeletion = ObjectFlags(rawValue: 64)
    /// The store has no row for the object any more.
    static let inaccessible = ObjectFlags(rawValue: 128)
    /// The object came to life by `insert`, in the current event.
    static let insertedInEvent = ObjectFlags(rawValue: 256)
    /// Some value of the row is unknown: each access looks whether it is the one that is asked for.
    static let partial = ObjectFlags(rawValue: 1024)
    /// `awakeFromFetch` runs: what it sets does not count as a change.
    static let awaking = ObjectFlags(rawValue: 512)

    /// A property that is marked as changed may be written at once: the row is the object's own and the context has been told.
    @usableFromInline static let writable = ObjectFlags(rawValue: 8 | 16)
}

/// A set of small numbers; the first 64 need no allocation.
@usableFromInline struct PropertySet: Sendable {
    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: [UInt64] = []
    @usableFromInline init() {}

    var isEmpty: Bool { low == 0 && high.allSatisfy { $0 == 0 } }

    /// Whether the two hold the same numbers, and neither more room than the other.
    func isEqual(to other: PropertySet) -> Bool { low == other.low && high == other.high }

    @inlinable @inline(__always) func contains(_ index: Int) -> Bool {
        index < 64 ? low & (1 << UInt64(truncatingIfNeeded: index)) != 0 : containsHigh(index)
    }

    @usableFromInline func containsHigh(_ index: Int) -> Bool {
        let word = index / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(index % 64)) != 0
    }

    mutating func insert(_ index: Int) {
        if index < 64 {
            low |= 1 << UInt64(index)
        } else {
            let word = index / 64 - 1
            while high.count <= word { high.append(0) }
            high[word] |= 1 << UInt64(index % 64)
        }
    }

    mutating func remove(_ index: Int) {
        if index < 64 {
            low &= ~(1 << UInt64(index))
        } else if index / 64 - 1 < high.count {
            high[index / 64 - 1] &= ~(1 << UInt64(index % 64))
        }
    }

    mutating func removeAll() { self = PropertySet() }
}
