internal import CoreDataRuntime
public import Foundation
internal import Predicates
internal import PropertyLists

/// An instance of an entity in the object graph of a context.
///
/// Subclass it and declare the properties with `@NSManaged`, or use it directly and access values by key. An object belongs to the queue
/// of its context: use it only there, and pass its ``objectID`` elsewhere.
///
/// An object is a *fault* until one of its values is read; then its row is loaded from the store. Reading cannot throw: if a store fails to load a
/// row, the read returns nil (or the type's zero), the object stays a fault, its ``faultError`` has the reason, and the next save throws the store's
/// error before it writes. See ``NSManagedObjectContext/pendingFaultError``.
///
/// Source: [NSManagedObject](https://developer.apple.com/documentation/coredata/nsmanagedobject).
open class NSManagedObject: NSObject, NSFetchRequestResult, ContextInsertable {
    // Fields are read and written in single steps, never across a call, so accesses cannot overlap: the dynamic exclusivity check, which
    // costs more than the access, is disabled.
    //
    // The values, see NSManagedObject+Rows.swift: the slots of `row`, nil for a fault; those of `snapshot`, the stored values, nil for an
    // object that was never saved; those of `eventRow`. The object retains the block of each.
    // The fields that typed accessors use come first, so that they mostly lie in one cache line.
    @exclusivity(unchecked) @usableFromInline final var slots: UnsafeMutableRawPointer?
    /// The places of the entity's properties, retained by the entity.
    @exclusivity(unchecked) @usableFromInline final var places: UnsafeMutablePointer<PlaceEntry>
    @exclusivity(unchecked) @usableFromInline final var placeMask: UInt32
    @exclusivity(unchecked) @usableFromInline final var flags: ObjectFlags = []
    /// The properties set since the last save, by slot index.
    @exclusivity(unchecked) @usableFromInline final var changed = PropertySet()
    // The identity, which the registry reads: the ID, or its components until it is created. See NSManagedObject+Identity.swift.
    @exclusivity(unchecked) final var madeID: NSManagedObjectID?
    @exclusivity(unchecked) final var origin: RowOrigin?
    @exclusivity(unchecked) final var number: Int64 = 0
    @exclusivity(unchecked) final var snapshotSlots: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var eventSlots: UnsafeMutableRawPointer?
    final let owningEntity: NSEntityDescription

    // The registration in the context. It is read on the object's queue; other queues read it under a lock, see NSManagedObject+Registration.swift.
    @exclusivity(unchecked) final var registry: ObjectRegistry?
    @exclusivity(unchecked) final var listIndex: Int32 = -1
    /// The number of the batch the object came with, see ``FaultBatch``; 0 for none.
    @exclusivity(unchecked) final var batchNumber: UInt32 = 0
    /// The states of the relationships, by relationship index; empty until the first is used.
    @exclusivity(unchecked) final var relationships: [RelationshipState] = []
    /// The state that few objects have.
    final var extras: ObjectExtras?

    /// Creates an object with the default values of its entity.
    ///
    /// A subclass that declares other initializers must override this one as `required`: fetched objects are created by it too, without a
    /// context, and receive their values afterwards. Use ``awakeFromInsert()`` to set up a new object.
    ///
    /// An abstract entity, or one whose model is invalid, stops the program with a message.
    ///
    /// - Parameters:
    ///   - entity: The entity of the object.
    ///   - context: The context to insert it into; nil for an object without a context. Call it on the context's queue.
    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if entity.partsOfObjects == nil {
            do { try entity.managedObjectModel?.freeze() } catch { stopProgram("\(error)") }
        }
        guard let parts = entity.partsOfObjects else {
            stopProgram("The entity “\(entity)” belongs to no model; add it to one before objects of it are made.")
        }
        if AccessHooks.isActive {
            places = parts.watchedPlaces
            placeMask = parts.watchedMask
        } else {
            places = parts.places
            placeMask = parts.placeMask
        }
        if context == nil {
            // An object from a store gets the store's values: it needs no default row.
            if coredata_takes_no_values(Unmanaged.passUnretained(entity).toOpaque()) == 0 {
                slots = Row.with(parts.defaultSlots) { $0.retainedSlots }
            }
        } else {
            stopProgram(
                unless: !parts.isAbstract,
                "The entity “\(entity)” is abstract: insert an object of one of its subentities.")
            // A new object is mostly written at once: it gets an exclusive row.
            slots = Row.with(parts.defaultSlots) { $0.copy().retainedSlots }
            flags = .hasExclusiveRow
        }
        owningEntity = entity
        super.init()
        guard let context = context.map(Unmanaged.passUnretained) else { return }
        // The caller holds the context, and the initializer the object.
        context._withUnsafeGuaranteedRef { context in
            Unmanaged.passUnretained(self)._withUnsafeGuaranteedRef { context.insertNew($0) }
        }
    }

    /// Creates an object of the class's entity and inserts it into a context. Call it on the context's queue.
    ///
    /// A class without an entity in the context's model stops the program with a message.
    public convenience init(context moc: NSManagedObjectContext) { self.init(entity: Self.entity(in: moc), insertInto: moc) }

    /// Returns the class's entity in the model of a context.
    final class func entity(in context: NSManagedObjectContext) -> NSEntityDescription {
        if let entity = context.entity(for: self) { return entity }
        stopProgram(
            context.model == nil
                ? "The context has no coordinator, so there is no entity for \(self)."
                : isStandardClass
                    ? "NSManagedObject may be the class of many entities. Name one: init(entity:insertInto:)."
                    : "No entity of the model names the class \(String(reflecting: self)) as its managedObjectClassName.")
    }

    deinit {
        // The object holds the registry.
        registry.map(Unmanaged.passUnretained)?._withUnsafeGuaranteedRef { $0.objectWillDeallocate(self) }
        SlotPointer(slots)?.block.release()
        SlotPointer(snapshotSlots)?.block.release()
        SlotPointer(eventSlots)?.block.release()
    }

    /// Returns the entity of the class, once a model names it: preferably a model that a container or coordinator has loaded.
    ///
    /// Without such a model it logs an error, and returns an entity without a name, as on Apple's platforms.
    open class func entity() -> NSEntityDescription {
        if let entity = LoadedModels.shared.entity(for: self) { return entity }
        Log.warnOnce(
            Log.model,
            "No loaded model has an entity whose class is \(String(reflecting: self)): entity() returns one without a name. Load the model first."
        )
        return NSEntityDescription()
    }

    /// The entity that the class declares in code; nil for a class whose entity is defined in a model file or elsewhere.
    ///
    /// The macro `@ManagedObject` of the product CoreDataMacros overrides it, and a class without macros may do so;
    /// `NSManagedObjectModel(for:)` creates the model from it. It is read once for each model.
    open class var entityDeclaration: EntityDeclaration? { nil }

    /// Returns a fetch request for the objects of the class. Generated classes have one of their own type, which is preferred.
    @_disfavoredOverload open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = LoadedModels.shared.entity(for: self)
        return request
    }

    /// The entity of the object.
    open var entity: NSEntityDescription { owningEntity }

    /// The context of the object; nil before it is inserted and after it is removed, and once the context is deallocated.
    ///
    /// It may be read on any queue, to find the object's own queue.
    open var managedObjectContext: NSManagedObjectContext? { sharedRegistry?.livingContext }

    /// The ID of the object, temporary until it is saved.
    open var objectID: NSManagedObjectID {
        if let identifier { return identifier }
        let temporary = NSManagedObjectID(temporaryFor: owningEntity)
        identifier = temporary
        registry?.register(self)
        return temporary
    }

    /// Whether the next save inserts the object.
    open var isInserted: Bool { flags.contains(.inserted) }
    /// Whether the next save updates the object.
    open var isUpdated: Bool { flags.contains(.updated) }
    /// Whether the next save deletes the object, the object was deleted without ever being saved, or a uniqueness constraint has removed
    /// it in favor of another, see ``NSMergePolicy/resolve(constraintConflicts:)``.
    open var isDeleted: Bool { !flags.isDisjoint(with: [.deleted, .deletedUnsaved, .gaveWay]) }
    /// Whether the object has unsaved changes.
    open var hasChanges: Bool { !flags.isDisjoint(with: [.inserted, .updated, .deleted]) }
    /// Whether a persistent property differs from its stored value. A property that was set back to its stored value does not differ, although
    /// ``hasChanges`` is true. Fires no relationship fault.
    open var hasPersistentChangedValues: Bool {
        checkQueue("hasPersistentChangedValues")
        return hasChangesToSave
    }
    /// Whether the object is a fault: its values are not loaded.
    open var isFault: Bool { slots == nil }
    /// The faulting state: 0 when the values are loaded, another number for a fault.
    open var faultingState: Int { slots == nil ? 1 : 0 }

    // MARK: Methods for subclasses to override

    /// Whether the context ignores changes, announced by ``willChangeValue(forKey:)``, to properties that the model does not have. The default is
    /// true; if false, the object counts as updated, although a save writes none of the change.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    /// Called once, when a new object is inserted into a context. Overrides call super first.
    open func awakeFromInsert() {}
    /// Called when the values were loaded from the store. Overrides call super first. Relationships may still be faults.
    ///
    /// Properties set here do not count as changed, and inverses are not updated: use it for transient values.
    open func awakeFromFetch() {}
    /// Called when the framework has restored values: by an undo or redo, a rollback, a refresh or a merge policy. Overrides call super
    /// first.
    ///
    /// - Parameter flags: The reasons of the restoration.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
    /// Called before the object is saved. It may change the object, and is then called again.
    open func willSave() {}
    /// Called after the object has been saved.
    open func didSave() {}
    /// Called when the object is about to be deleted, while its relationships are intact.
    open func prepareForDeletion() {}
    /// Called before the object becomes a fault.
    open func willTurnIntoFault() {}
    /// Called after the object has become a fault.
    open func didTurnIntoFault() {}

    // MARK: Key-value coding (see NSManagedObject+KeyValueCoding.swift)

    /// Returns the value of the property called `key`, and fires the fault if needed.
    ///
    /// Attributes are Foundation values (numbers are `NSNumber`, so that `as? Int16`, `as? Int` and `as? Bool` work), to-one relationships are the
    /// object, to-many relationships are `Set<NSManagedObject>`, ordered ones `NSOrderedSet`, and fetched properties `[NSManagedObject]`. A key that
    /// the entity does not have is looked up by the rules of key-value coding: `valid` finds `isValid`, and `objectID` the property of every object.
    /// If that finds nothing, the key is passed to ``value(forUndefinedKey:)``. Call it on the context's queue.
    open func value(forKey key: String) -> Any? {
        if !AccessHooks.isActive, let entry = owningEntity.entry(forKey: key) { return value(at: entry) }
        guard let property = property(named: key) else {
            return owningEntity.frozen!.fetched[key].map { fetchedObjects($0) } ?? soughtValue(forKey: key)
        }
        if AccessHooks.isActive { noteRead(at: property.slotIndex) }
        return currentValue(of: property)
    }

    /// Sets the property called `key`, updates the inverse of a relationship, and notifies the context.
    ///
    /// A value that the property cannot hold is rejected: the old value is kept, and validation reports the error when the object is
    /// saved. `Date` sets `date`, whose setter key-value coding finds by either. A key that the entity does not have is passed to
    /// ``setValue(_:forUndefinedKey:)``. Call it on the context's queue.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let property = settableProperty(forKey: key) else { return setValue(value, forUndefinedKey: key) }
        if value == nil, let attribute = property as? NSAttributeDescription, attribute.isNumber { return setNilValueForKey(key) }
        setCurrentValue(value, of: property)
    }

    /// Handles nil passed to ``setValue(_:forKey:)`` for a number or Boolean. Override it to set another value, and call super for other
    /// keys; the default implementation sets the attribute to nil.
    open func setNilValueForKey(_ key: String) {
        guard let property = settableProperty(forKey: key) else { return setValue(nil, forUndefinedKey: key) }
        setCurrentValue(nil, of: property)
    }

    /// Handles reading a key that the entity does not have. The default implementation stops the program with a message.
    open func value(forUndefinedKey key: String) -> Any? { stopProgram(undefinedKeyMessage(key)) }

    /// Handles setting a key that the entity does not have. The default implementation stops the program with a message.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { stopProgram(undefinedKeyMessage(key)) }

    /// Returns the stored value of a property, for custom accessors. To-many relationships have the types of ``value(forKey:)``.
    open func primitiveValue(forKey key: String) -> Any? {
        guard let property = property(named: key) else { return value(forUndefinedKey: key) }
        checkQueue("primitiveValue(forKey: “\(key)”)")
        return currentValue(of: property)
    }

    /// Sets the stored value of a property without notifying the context or updating an inverse, for custom accessors, between
    /// ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)``.
    open func setPrimitiveValue(_ value: Any?, forKey key: String) {
        guard let property = property(named: key) else { return setValue(value, forUndefinedKey: key) }
        checkQueue("setPrimitiveValue(_:forKey: “\(key)”)")
        setPrimitive(value, of: property)
    }

    /// Prepares for a read by a custom accessor; fires the fault. A nil key fires the object's fault.
    open func willAccessValue(forKey key: String?) {
        if AccessHooks.isActive, let key, let property = owningEntity.frozen!.byName[key] { noteRead(at: property.slotIndex) }
        if slots == nil { _ = loadedSlots() }
    }

    /// Ends a read announced by ``willAccessValue(forKey:)``.
    open func didAccessValue(forKey key: String?) {}

    /// Prepares for a change by a custom accessor and marks the property as changed.
    open func willChangeValue(forKey key: String) {
        if let property = property(named: key) { beginChange(of: property) } else { noteUnmodeledChange() }
    }

    /// Ends a change announced by ``willChangeValue(forKey:)`` and updates the inverse of a relationship that was set in between.
    open func didChangeValue(forKey key: String) {
        if let property = property(named: key) { endChange(of: property) }
    }

    // MARK: Validation (see NSManagedObject+Validation.swift)

    /// Validates a value for a property, set or not: its type, whether it may be nil, the model's predicates and counts.
    ///
    /// A save calls it for every property of an object whose class overrides it. Overrides validate their keys and call super for the
    /// others, or for all. A value that an override assigns to `value` is set; an override that always assigns a value makes the object
    /// changed at every save. Call it on the context's queue.
    ///
    /// - Parameters:
    ///   - value: The value, in the form of ``value(forKey:)``.
    ///   - key: The name of the property. A key that the entity does not have is not validated.
    /// - Throws: An error in `NSCocoaErrorDomain`, with several under `NSDetailedErrorsKey`.
    open func validateValue(_ value: inout Any?, forKey key: String) throws {
        checkQueue("validateValue(_:forKey: “\(key)”)")
        try checkValue(value, forKey: key)
    }

    /// Validates a new object before it is saved. Overrides call super and combine its errors with their own.
    open func validateForInsert() throws {
        checkQueue("validateForInsert()")
        try validateProperties()
    }

    /// Validates a changed object before it is saved. Overrides call super and combine its errors with their own.
    open func validateForUpdate() throws {
        checkQueue("validateForUpdate()")
        try validateProperties()
    }

    /// Validates an object before it is deleted: relationships with the deny rule must be empty. Overrides call super.
    open func validateForDelete() throws {
        checkQueue("validateForDelete()")
        try validateDenyRules()
    }

    /// The address of the object: objects are equal by identity. As on Apple's platforms, subclasses must not override this and
    /// `isEqual(_:)`.
    open override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// A description of the entity, the ID and the loaded values: of long ones the beginning and the end.
    open override var description: String {
        let state = isFault ? "fault" : valuesForDescription()
        return "<\(Swift.type(of: self)) (entity: \(owningEntity); id: \(objectID.uriRepresentation().absoluteString); \(state))>".shortened
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

/// The flags of an object in its context.
@usableFromInline struct ObjectFlags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt32
    @inlinable @inline(__always) init(rawValue: UInt32) { self.rawValue = rawValue }

    static let inserted = ObjectFlags(rawValue: 1)
    static let updated = ObjectFlags(rawValue: 2)
    static let deleted = ObjectFlags(rawValue: 4)
    /// The object's row is exclusive and may be written.
    static let hasExclusiveRow = ObjectFlags(rawValue: 8)
    /// The object is in the list of the current event's changes.
    static let inEvent = ObjectFlags(rawValue: 16)
    /// The object is in the identity map.
    static let registered = ObjectFlags(rawValue: 32)
    /// `prepareForDeletion` has been called.
    static let preparedForDeletion = ObjectFlags(rawValue: 64)
    /// The store has no row for the object any more.
    static let inaccessible = ObjectFlags(rawValue: 128)
    /// The object was inserted in the current event.
    static let insertedInEvent = ObjectFlags(rawValue: 256)
    /// The object was deleted before a save had inserted it, and has left its context.
    static let deletedUnsaved = ObjectFlags(rawValue: 4096)
    /// A value of the row is unknown: each access checks its property.
    static let partial = ObjectFlags(rawValue: 1024)
    /// The object was never saved: another object has replaced it because of a uniqueness constraint.
    static let gaveWay = ObjectFlags(rawValue: 2048)
    /// `awakeFromFetch` is running: properties set by it do not count as changed.
    static let awaking = ObjectFlags(rawValue: 512)

    /// A property that is marked as changed may be written directly: the row is exclusive and the context was notified.
    @inlinable static var writable: ObjectFlags { ObjectFlags(rawValue: 8 | 16) }
}
