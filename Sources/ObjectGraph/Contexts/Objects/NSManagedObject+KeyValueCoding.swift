internal import Foundation
public import Predicates

extension NSManagedObject: KeyValueReadable {
    /// Returns the values of `keys`, nil as `NSNull`.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
    }

    /// Sets several properties; `NSNull` stands for nil.
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// Returns the values of the persistent properties that differ from the values last read or saved, by name; nil as `NSNull`. For a
    /// new object these are the properties that were set. Fires no relationship fault.
    public func changedValues() -> [String: Any] {
        checkQueue("changedValues()")
        var properties = persistentChanges.filter { differsFromSnapshot($0) }
        if flags.contains(.inserted), let row { properties += primitiveChanges(in: row, except: Set(properties.map(\.slotIndex))) }
        return values(of: properties) { $0.currentValue(of: $1) }
    }

    /// Returns the attributes of a new object that were set by ``setPrimitiveValue(_:forKey:)``, which marks nothing as changed.
    private func primitiveChanges(in row: Row, except known: Set<Int>) -> [NSPropertyDescription] {
        let frozen = owningEntity.frozen!
        return frozen.properties.filter { property in
            guard property is NSAttributeDescription, !property.isTransient, !known.contains(property.slotIndex) else { return false }
            return !row.hasEqualValue(as: frozen.layout.usedDefaultRow, at: slot(of: property))
        }
    }

    /// Returns the values of persistent properties when the object was last read or saved, by name; nil as `NSNull`. An object that was
    /// never saved has none.
    ///
    /// - Parameter keys: The names of the properties; nil for all.
    public func committedValues(forKeys keys: [String]?) -> [String: Any] {
        checkQueue("committedValues(forKeys:)")
        if slots == nil { _ = loadedSlots() }
        guard snapshot != nil else { return [:] }
        let properties = owningEntity.frozen!.properties.filter { !$0.isTransient && keys?.contains($0.name) ?? true }
        return values(of: properties) { $0.committedValue(of: $1) }
    }

    func values(
        of properties: some Sequence<NSPropertyDescription>, _ read: (NSManagedObject, NSPropertyDescription) -> Any?
    ) -> [String: Any] {
        Dictionary(properties.map { ($0.name, read(self, $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
    }

    /// The properties marked as changed.
    var changes: [NSPropertyDescription] {
        changed.isEmpty ? [] : owningEntity.frozen!.properties.filter { changed.contains($0.slotIndex) }
    }

    var persistentChanges: [NSPropertyDescription] { changes.filter { !$0.isTransient } }

    @inline(__always) func property(named key: String) -> NSPropertyDescription? {
        if let entry = owningEntity.entry(forKey: key) { return entry.pointee.property }
        return propertyOfDictionary(named: key)
    }

    @inline(never) private func propertyOfDictionary(named key: String) -> NSPropertyDescription? {
        let frozen = owningEntity.frozen!
        let property = frozen.byName[key]
        if frozen.layout.recordsReads, let property { KeyPathRecorder.note(property, as: nil, of: self) }
        return property
    }

    func undefinedKeyMessage(_ key: String) -> String {
        "The entity “\(owningEntity)” has no property “\(key)”. Its properties: "
            + owningEntity.frozen!.properties.map(\.name).joined(separator: ", ") + "."
    }

    // MARK: One property

    /// Returns the public value of a property whose entry was found.
    @inline(__always) func value(at entry: UnsafePointer<KeyEntry>) -> Any? {
        guard entry.pointee.isAttribute, let slots, !flags.contains(.partial) else { return currentValue(of: entry.pointee.property) }
        return Row.with(slots) { $0.any(at: entry.pointee.slot, isFloat: entry.pointee.isFloat) }
    }

    /// Returns the public value of a property.
    func currentValue(of property: NSPropertyDescription) -> Any? {
        guard let relationship = property as? NSRelationshipDescription else { return anyAttribute(property) }
        if !relationship.isToMany { return toOne(relationship) }
        let objects = toMany(relationship).objects
        return relationship.isOrdered ? NSOrderedSet(array: objects) : objects.objectSet
    }

    /// Returns the public value of an attribute.
    func anyAttribute(_ property: NSPropertyDescription) -> Any? {
        let row = readableRow
        guard flags.contains(.partial) else { return row.any(at: slot(of: property), of: property as? NSAttributeDescription) }
        completeUnknown(at: property.slotIndex)
        return readableRow.any(at: slot(of: property), of: property as? NSAttributeDescription)
    }

    private func committedValue(of property: NSPropertyDescription) -> Any? {
        completeUnknownSnapshot(at: property.slotIndex)
        guard let row = snapshot else { return nil }
        let slot = slot(of: property)
        guard let relationship = property as? NSRelationshipDescription else {
            return row.any(at: slot, of: property as? NSAttributeDescription)
        }
        guard let context = registry?.context else { return nil }
        if relationship.isToMany {
            let ids =
                row.objectIDs(at: slot)?.ids
                ?? ((try? context.source.relatedIDs(of: relationship, for: objectID, in: context)) ?? [])
            let objects = context.objects(with: ids)
            return relationship.isOrdered ? NSOrderedSet(array: objects) : Set(objects)
        }
        guard let id = row.objectID(at: slot) else { return nil }
        if id === NSManagedObjectID.unresolved { return changed.contains(property.slotIndex) ? nil : toOne(relationship) }
        return context.object(with: id)
    }

    /// Sets a property of any kind, like ``setValue(_:forKey:)``.
    func setCurrentValue(_ value: Any?, of property: NSPropertyDescription) {
        guard let relationship = property as? NSRelationshipDescription else {
            return storePrimitive(value, of: property, notes: true)
        }
        guard let objects = Self.objects(in: value, for: relationship) else {
            return reject(value, for: relationship, because: Self.mismatchReason(value, relationship))
        }
        if relationship.isToMany { setToMany(objects, relationship) } else { setToOne(objects.first, relationship) }
    }

    /// Stores a property of any kind without notifying the context.
    func setPrimitive(_ value: Any?, of property: NSPropertyDescription) {
        guard let relationship = property as? NSRelationshipDescription else {
            return storePrimitive(value, of: property, notes: false)
        }
        guard let objects = Self.objects(in: value, for: relationship) else {
            return reject(value, for: relationship, because: Self.mismatchReason(value, relationship))
        }
        setPrimitiveObjects(objects, of: relationship)
    }

    private func storePrimitive(_ value: Any?, of property: NSPropertyDescription, notes: Bool) {
        let attribute = property as? NSAttributeDescription
        guard let attribute, let stored = AttributeCheck.conform(value, to: attribute) else {
            return reject(value, for: property, because: AttributeCheck.misfit(value, attribute?.attributeType ?? .undefinedAttributeType))
        }
        guard notes ? prepareRowForChange(at: property.slotIndex) : makeRowExclusive() else { return }
        row.unchecked("a row for writing has just been prepared").store(stored, in: slot(of: property))
        forgetRefusal(of: property)
    }

    /// Returns the managed objects in a value for a relationship; nil when it contains anything else.
    static func objects(in value: Any?, for relationship: NSRelationshipDescription) -> [NSManagedObject]? {
        switch AttributeCheck.unwrapped(value) {
        case nil: return []
        case let object as NSManagedObject: return [object]
        case _ where !relationship.isToMany: return nil
        case let set as Set<NSManagedObject>: return Array(set)
        case let array as [NSManagedObject]: return array
        case let ordered as NSOrderedSet: return ordered.array as? [NSManagedObject]
        case let set as NSSet: return set.allObjects as? [NSManagedObject]
        default: return nil
        }
    }

    static func mismatchReason(_ value: Any?, _ relationship: NSRelationshipDescription) -> String {
        "it is of type \(AttributeCheck.typeName(value)), not \(relationship.isToMany ? "managed objects" : "one managed object")"
    }

    /// Records an error for a value that a property cannot hold, for validation to report.
    func reject(_ value: Any?, for property: NSPropertyDescription, because reason: String) {
        let error = unacceptable(value, for: property, because: reason)
        rejectedValues = rejectedValues ?? [:]
        rejectedValues![property.name] = error
        noteChange(at: property.slotIndex)
        // Typed accessors write directly to an exclusive row; without one they call `writableSlotsSlowly`, which clears this.
        flags.remove(.hasExclusiveRow)
    }

    /// Removes the recorded error of a property that has received a valid value.
    func forgetRefusal(of property: NSPropertyDescription) {
        guard rejectedValues?.removeValue(forKey: property.name) != nil, rejectedValues?.isEmpty ?? false else { return }
        rejectedValues = nil
    }
}
