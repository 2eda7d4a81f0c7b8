internal import Foundation

extension NSManagedObject {
    /// Returns whether a relationship is a fault, without firing it.
    public func hasFault(forRelationshipNamed key: String) -> Bool {
        checkQueue("hasFault(forRelationshipNamed: “\(key)”)")
        return relationship(named: key).map(isFault) ?? false
    }

    /// Returns whether a relationship is a fault.
    func isFault(_ relationship: NSRelationshipDescription) -> Bool {
        switch state(of: relationship) {
        case .fault: break
        case .toOne: return false
        case .toMany(let storage): return !storage.isLoaded
        }
        // No store has anything of a transient relationship.
        if snapshot == nil && slots != nil || relationship.isTransient { return false }
        guard let row else { return true }
        let slot = slot(of: relationship)
        return relationship.isToMany ? true : row.objectID(at: slot) === NSManagedObjectID.unresolved
    }

    /// Returns the IDs of a relationship's objects, without creating faults for them if the store's answer suffices.
    ///
    /// - Returns: The IDs; an empty array if there are none. A store's error is reported as for every read, see ``NSManagedObject``.
    public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        checkQueue("objectIDs(forRelationshipNamed: “\(key)”)")
        guard let relationship = relationship(named: key) else { return [] }
        if !relationship.isToMany { return toOne(relationship).map { [$0.objectID] } ?? [] }
        if case .toMany = state(of: relationship) { return toMany(relationship).objects.map(\.objectID) }
        if snapshot == nil, slots != nil || flags.contains(.inserted) { return [] }
        return storedIDs(of: relationship)
    }

    func relationship(named key: String) -> NSRelationshipDescription? {
        owningEntity.frozen!.byName[key] as? NSRelationshipDescription
    }

    func slot(of property: NSPropertyDescription) -> RowLayout.Slot { owningEntity.frozen!.layout.slots[property.slotIndex] }

    func state(of relationship: NSRelationshipDescription) -> RelationshipState {
        relationships.isEmpty ? .fault : relationships[relationship.relationshipIndex]
    }

    func setState(_ state: RelationshipState, of relationship: NSRelationshipDescription) {
        if relationships.isEmpty {
            relationships = Array(repeating: .fault, count: owningEntity.frozen!.relationships.count)
        }
        relationships[relationship.relationshipIndex] = state
    }

    // MARK: Reading

    /// Returns the object of a to-one relationship.
    func toOne(_ relationship: NSRelationshipDescription) -> NSManagedObject? {
        if case .toOne(let object) = state(of: relationship) { return object }
        do {
            let object = try storedToOne(relationship)
            // A failed read is repeated the next time.
            if slots != nil { setState(.toOne(object), of: relationship) }
            return object
        } catch {
            registry?.context?.noteFaultError(error, of: self)
            return nil
        }
    }

    private func storedToOne(_ relationship: NSRelationshipDescription) throws -> NSManagedObject? {
        guard let id = readableRow.objectID(at: slot(of: relationship)), let context = registry?.context else { return nil }
        if relationship.isTransient { return id === NSManagedObjectID.unresolved ? nil : context.object(with: id) }
        if batchNumber != 0 || context.parent != nil, context.registry.object(with: id)?.isFault ?? true {
            try context.prepareRelationship(relationship, of: self)
        }
        if id !== NSManagedObjectID.unresolved { return context.object(with: id) }
        return try context.source.relatedIDs(of: relationship, for: objectID, in: context).first.map { context.object(with: $0) }
    }

    /// Returns the destination objects of a relationship of either kind.
    func related(_ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        relationship.isToMany ? toMany(relationship).objects : toOne(relationship).map { [$0] } ?? []
    }

    /// Returns the storage of a to-many relationship, loaded.
    func toMany(_ relationship: NSRelationshipDescription) -> ToManyStorage {
        let storage = toManyWithoutLoading(relationship)
        if storage.isLoaded { return storage }
        guard let context = registry?.context else { return storage }
        do {
            let objects = try objectsFromStore(relationship, in: context)
            storage.load(objects)
            context.makeBatch(of: objects)
        } catch {
            context.noteFaultError(error, of: self)
        }
        return storage
    }

    /// Returns the storage of a to-many relationship, which may contain only additions and removals.
    func toManyWithoutLoading(_ relationship: NSRelationshipDescription) -> ToManyStorage {
        if case .toMany(let storage) = state(of: relationship) { return storage }
        if slots == nil, flags.contains(.inserted) { _ = loadedSlots() }
        let isNew = slots != nil && snapshot == nil
        let storage = ToManyStorage(isOrdered: relationship.isOrdered, isLoaded: isNew || relationship.isTransient)
        setState(.toMany(storage), of: relationship)
        return storage
    }

    private func storedIDs(of relationship: NSRelationshipDescription) -> [NSManagedObjectID] {
        guard let context = registry?.context else { return [] }
        do {
            return try idsFromStore(relationship, in: context)
        } catch {
            context.noteFaultError(error, of: self)
            return []
        }
    }

    private func objectsFromStore(
        _ relationship: NSRelationshipDescription, in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let list = (snapshot ?? row)?.objectIDs(at: slot(of: relationship))
        guard let origin, list == nil else {
            // The row has the list; its objects are loaded together with those of the batch's other rows.
            if let list, batchNumber != 0, !relationship.isTransient,
                list.ids.contains(where: { context.registry.object(with: $0)?.isFault ?? true })
            {
                try context.prepareRelationship(relationship, of: self)
            }
            return context.objects(with: try idsFromStore(relationship, in: context))
        }
        if batchNumber != 0 { try context.prepareRelationship(relationship, of: self) }
        if let found = context.source.relatedNumbers(of: relationship, for: number, of: origin, in: context) {
            return context.materialize(found)
        }
        return context.objects(with: try context.source.relatedIDs(of: relationship, for: objectID, in: context))
    }

    private func idsFromStore(_ relationship: NSRelationshipDescription, in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        if relationship.isTransient { return [] }
        if let list = (snapshot ?? row)?.objectIDs(at: slot(of: relationship)) { return list.ids }
        if batchNumber != 0 { try context.prepareRelationship(relationship, of: self) }
        return try context.source.relatedIDs(of: relationship, for: objectID, in: context)
    }

    // MARK: Writing, both ends

    /// Sets a to-one relationship and its inverse.
    func setToOne(_ new: NSManagedObject?, _ relationship: NSRelationshipDescription) {
        guard accepts(new.map { [$0] } ?? [], for: relationship) else { return }
        let old = toOne(relationship)
        if old === new { return }
        let contexts = (otherContext(of: old), otherContext(of: new))
        defer { withExtendedLifetime(contexts) {} }
        defer { checkInvariants(of: relationship) }
        putToOne(new, relationship, was: old)
        guard let inverse = relationship.mutualInverse else { return }
        if inverse.isToMany {
            old?.take(self, outOf: inverse)
            new?.put(self, into: inverse)
        } else {
            // An object that was its own partner, by a relationship that is its own inverse, already has the new one at that end.
            if old !== self || inverse.slotIndex != relationship.slotIndex { old?.putToOne(nil, inverse, was: self) }
            if let new {
                let rival = new.toOne(inverse)
                if rival !== self { rival?.putToOne(nil, relationship, was: new) }
                new.putToOne(self, inverse, was: rival)
            }
        }
    }

    /// Replaces the objects of a to-many relationship and updates the inverses.
    func setToMany(_ new: [NSManagedObject], _ relationship: NSRelationshipDescription) {
        guard accepts(new, for: relationship) else { return }
        let kept = Set(new.map(ObjectIdentifier.init))
        if kept.count != new.count {
            guard !relationship.isOrdered else { return reject(new, for: relationship, because: "it contains an object twice") }
            return setToMany(Array(Set(new)), relationship)
        }
        let storage = toMany(relationship)
        let old = storage.objects
        if old.count == new.count, zip(old, new).allSatisfy({ $0 === $1 }) { return }
        let before = Set(old.map(ObjectIdentifier.init))
        // Sets list their objects in any order.
        if !relationship.isOrdered, before == kept { return }
        let contexts = (old.compactMap(otherContext), new.compactMap(otherContext))
        defer { withExtendedLifetime(contexts) {} }
        replace(by: new, in: storage, of: relationship)
        for object in old where !kept.contains(ObjectIdentifier(object)) { object.forget(self, at: relationship.mutualInverse) }
        for object in new where !before.contains(ObjectIdentifier(object)) { object.remember(self, at: relationship) }
        checkInvariants(of: relationship)
    }

    /// Adds an object to a to-many relationship and updates the inverse.
    func add(_ object: NSManagedObject, to relationship: NSRelationshipDescription) {
        guard accepts([object], for: relationship), !isKnownMember(object, of: relationship) else { return }
        let context = otherContext(of: object)
        defer { withExtendedLifetime(context) {} }
        let storage = storageForChange(of: relationship)
        guard !storage.isLoaded || !storage.contains(object) else { return }
        put(object, into: relationship)
        object.remember(self, at: relationship)
        checkInvariants(of: relationship)
    }

    /// Removes an object from a to-many relationship and updates the inverse.
    func remove(_ object: NSManagedObject, from relationship: NSRelationshipDescription) {
        let context = otherContext(of: object)
        defer { withExtendedLifetime(context) {} }
        let storage = storageForChange(of: relationship)
        guard !storage.isLoaded || storage.contains(object) else { return }
        if let inverse = relationship.mutualInverse, !inverse.isToMany, object.toOne(inverse) !== self { return }
        take(object, outOf: relationship)
        object.forget(self, at: relationship.mutualInverse)
        checkInvariants(of: relationship)
    }

    /// Updates the inverse at this object, which is a new destination of `relationship` from `owner`.
    func remember(_ owner: NSManagedObject, at relationship: NSRelationshipDescription) {
        guard let inverse = relationship.mutualInverse else { return }
        if inverse.isToMany {
            put(owner, into: inverse)
        } else {
            let rival = toOne(inverse)
            if rival !== owner, relationship.isToMany { rival?.take(self, outOf: relationship) }
            if rival !== owner, !relationship.isToMany { rival?.putToOne(nil, relationship, was: self) }
            putToOne(owner, inverse, was: rival)
        }
    }

    func forget(_ owner: NSManagedObject, at inverse: NSRelationshipDescription?) {
        guard let inverse else { return }
        if inverse.isToMany { take(owner, outOf: inverse) } else { putToOne(nil, inverse, was: owner) }
    }

    // MARK: Writing, this end only

    /// Sets this end of a to-one relationship, whose destination was `old`.
    func putToOne(_ new: NSManagedObject?, _ relationship: NSRelationshipDescription, was old: NSManagedObject?) {
        setState(.toOne(new), of: relationship)
        noteRelationshipChange(relationship)
        log(.toOne(self, relationship, before: old))
    }

    /// Inserts `object` into this end of a to-many relationship, at the end or at an index.
    func put(_ object: NSManagedObject, into relationship: NSRelationshipDescription, at index: Int? = nil) {
        // An undo needs the order.
        let isNeeded = relationship.isOrdered && registry?.context?.undoer != nil
        let storage = isNeeded ? toMany(relationship) : storageForChange(of: relationship, by: object)
        guard storage.insert(object, at: index) else { return }
        noteRelationshipChange(relationship)
        log(.added(self, relationship, object))
    }

    /// Removes `object` from this end of a to-many relationship.
    func take(_ object: NSManagedObject, outOf relationship: NSRelationshipDescription) {
        let storage = relationship.isOrdered ? storageForChange(of: relationship) : storageForChange(of: relationship, by: object)
        let index = relationship.isOrdered ? storage.index(of: object) : nil
        guard storage.remove(object) else { return }
        if !storage.isLoaded, isKnownNewcomer(object, in: relationship) { storage.restore(object) }
        noteRelationshipChange(relationship)
        log(.removed(self, relationship, object, index: index))
    }

    /// Replaces the objects of this end of a to-many relationship.
    func replace(by new: [NSManagedObject], in storage: ToManyStorage, of relationship: NSRelationshipDescription) {
        let old = storage.objects
        storage.replace(by: new)
        noteRelationshipChange(relationship)
        log(.replaced(self, relationship, before: old, after: new))
    }

    /// Sets this end of a relationship for ``setPrimitiveValue(_:forKey:)``: the inverse is unchanged, and the context is notified by
    /// ``willChangeValue(forKey:)`` only.
    func setPrimitiveObjects(_ objects: [NSManagedObject], of relationship: NSRelationshipDescription) {
        let isAnnounced = flags.contains(.inEvent)
        if relationship.isToMany {
            let storage = isAnnounced ? storageForChange(of: relationship) : toManyWithoutLoading(relationship)
            let old = storage.objects
            let new = objects.distinct
            storage.replace(by: new)
            if isAnnounced { log(.replaced(self, relationship, before: old, after: new)) }
        } else {
            if isAnnounced { log(.toOne(self, relationship, before: toOne(relationship))) }
            setState(.toOne(objects.first), of: relationship)
        }
    }

    /// Returns whether a to-one inverse shows, without loading the others, that `object` is in the relationship.
    private func isKnownMember(_ object: NSManagedObject, of relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.mutualInverse, !inverse.isToMany else { return false }
        return object.toOne(inverse) === self
    }

    /// Returns the storage of a to-many relationship for a change. It is loaded if an undo needs the exact effect of the change.
    private func storageForChange(of relationship: NSRelationshipDescription) -> ToManyStorage {
        registry?.context?.undoer == nil ? toManyWithoutLoading(relationship) : toMany(relationship)
    }

    /// Returns the storage for adding or removing `object`. It is loaded if the object was removed or added before, because only the store knows the
    /// combined effect.
    private func storageForChange(of relationship: NSRelationshipDescription, by object: NSManagedObject) -> ToManyStorage {
        let storage = toManyWithoutLoading(relationship)
        guard storage.isUncertain(object), !isKnownNewcomer(object, in: relationship) else { return storage }
        return toMany(relationship)
    }

    /// Returns whether an object itself shows, without loading the others, that it was not in the relationship when it was read.
    private func isKnownNewcomer(_ object: NSManagedObject, in relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.mutualInverse, !inverse.isToMany, object.slots != nil else { return false }
        guard let id = object.snapshot?.objectID(at: object.slot(of: inverse)) else { return true }
        return id !== NSManagedObjectID.unresolved && !id.namesSameObject(as: objectID)
    }

    /// Nullifies this end of `relationship` because `object`, its destination, is being deleted.
    func nullify(_ object: NSManagedObject, at relationship: NSRelationshipDescription) {
        if relationship.isToMany {
            take(object, outOf: relationship)
        } else if toOne(relationship) === object {
            putToOne(nil, relationship, was: object)
        }
    }

    private func noteRelationshipChange(_ relationship: NSRelationshipDescription) { noteChange(at: relationship.slotIndex) }

    /// Returns whether the relationship accepts the objects: they must be of its destination entity and in the same context.
    ///
    /// Other objects are rejected: the relationship is unchanged, and validation reports the error at the save.
    private func accepts(_ objects: [NSManagedObject], for relationship: NSRelationshipDescription) -> Bool {
        guard let destination = relationship.destinationEntity else { return false }
        for object in objects {
            if !object.owningEntity.isKindOf(entity: destination) {
                reject(object, for: relationship, because: "its entity is “\(object.owningEntity)”, not “\(destination)”")
                return false
            }
            if otherContext(of: object) != nil, registry?.context != nil {
                reject(
                    object, for: relationship,
                    because: "it lives in another context than \(objectID); use object(with:) to get it into that one")
                return false
            }
        }
        forgetRefusal(of: relationship)
        return true
    }

    /// Returns the context of an object if it differs from that of this object; nil if it is the same, or gone.
    ///
    /// An object without a context may be related to one whose context is in use on any thread. While the result is held, that context does not tear
    /// down its objects; if there is no result, it has done so already.
    private func otherContext(of object: NSManagedObject?) -> NSManagedObjectContext? {
        // Mostly it is this context's, which needs no lock.
        guard let object, object.registry !== registry, let other = object.sharedRegistry, other !== registry else { return nil }
        return other.contextUnlessGone()
    }
}
