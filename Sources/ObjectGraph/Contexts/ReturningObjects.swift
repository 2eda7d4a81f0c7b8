internal import Foundation

// The reinsertion of an object that has left its context, because its deletion was saved or merged, a reset or a rollback has dropped it, or another
// object has replaced it. It becomes a new object with its present values: everything that stores, parents and other objects know under its former ID
// is gone.

extension NSManagedObject {
    /// Whether an object without a context was known under its ID to a store, to a parent or to an object that has replaced it. A store may have an
    /// ID even for an object that was never saved.
    final var wasKnownByID: Bool {
        guard let identifier else { return false }
        // A reset leaves no values; a parent may know the dropped object.
        return slots == nil && !flags.contains(.deletedUnsaved) || snapshot != nil || !identifier.isTemporary
            || identifier.current !== identifier
    }

    /// Turns an object that has left its context into one that was never saved, with its present values and the relationships that were set since,
    /// and without an ID.
    final func becomeNew() {
        let frozen = owningEntity.frozen!
        let defaults = frozen.layout.usedDefaultRow
        let touched = slots == nil ? PropertySet() : changed
        let values = (row ?? defaults).copy()
        for index in values.unknownSlots { values.copyValue(from: defaults, at: values.layout.slots[index]) }
        values.clearUnknownMarkIfComplete()
        (row, snapshot, eventRow) = (values, nil, nil)
        identifier = nil
        batchNumber = 0
        flags = rejectedValues == nil ? .hasExclusiveRow : []
        forgetStoredLinks()
        changed.removeAll()
        for property in frozen.properties {
            let isSet: Bool
            if let relationship = property as? NSRelationshipDescription {
                if case .fault = state(of: relationship) { isSet = false } else { isSet = touched.contains(property.slotIndex) }
            } else {
                // Its values count as set: an upsert writes them.
                isSet = touched.contains(property.slotIndex) || !values.hasEqualValue(as: defaults, at: slot(of: property))
            }
            if isSet { changed.insert(property.slotIndex) }
        }
    }

    /// Forgets the relationships in the row of an object without a context: the row may come from a store, or from a save that failed. Relationships
    /// that were set since stay.
    final func forgetStoredLinks() {
        guard let current = row else { return }
        let frozen = owningEntity.frozen!
        let defaults = frozen.layout.usedDefaultRow
        for relationship in frozen.relationships {
            let slot = slot(of: relationship)
            if !current.hasEqualValue(as: defaults, at: slot), makeRowExclusive() { row?.copyValue(from: defaults, at: slot) }
            if case .toMany(let storage) = state(of: relationship), !storage.isLoaded { storage.load([]) }
        }
    }

    /// Removes the object, whose changes are about to be discarded, from the relationships of objects without a context, because nothing else
    /// discards those ends.
    final func leaveObjectsWithoutContext() {
        if relationships.isEmpty { return }
        for relationship in owningEntity.frozen!.relationships {
            guard let inverse = relationship.mutualInverse else { continue }
            let others: [NSManagedObject] =
                switch state(of: relationship) {
                case .fault, .toOne(nil): []
                case .toOne(let target?): [target]
                case .toMany(let storage): storage.objects
                }
            for other in others where other.registry == nil && !other.flags.contains(.gaveWay) && other.shows(self, by: inverse) {
                other.nullify(self, at: inverse)
            }
        }
    }

    /// Whether a relationship that was read or set leads to an object.
    fileprivate func shows(_ object: NSManagedObject, by relationship: NSRelationshipDescription) -> Bool {
        switch state(of: relationship) {
        case .fault: false
        case .toOne(let target): target === object
        case .toMany(let storage): storage.contains(object)
        }
    }
}

extension NSManagedObjectContext {
    /// Lets the next save write the references to objects that have returned under new IDs: stores know them under the old ones.
    ///
    /// Such references remain if the deletion did not remove them: those without an inverse, or with a rule that takes no action.
    ///
    /// - Parameter returned: The objects, with the IDs under which they were stored.
    func renewReferences(to returned: [(object: NSManagedObject, former: NSManagedObjectID?)]) {
        if returned.isEmpty { return }
        // Bounded: an object comes back once.
        let formerIDs = Dictionary(uniqueKeysWithValues: returned.map { (ObjectIdentifier($0.object), $0.former) })
        for owner in registry.all + insertedList.elements where !owner.relationships.isEmpty {
            for relationship in owner.owningEntity.frozen!.relationships {
                switch owner.state(of: relationship) {
                case .toOne(let target?) where formerIDs[ObjectIdentifier(target)] != nil:
                    renewReference(to: target, of: owner, relationship)
                case .toMany(let storage):
                    for target in storage.objects {
                        guard let former = formerIDs[ObjectIdentifier(target)] else { continue }
                        storage.renewStored(target, by: former.map { self.object(with: $0) })
                        renewReference(to: target, of: owner, relationship)
                    }
                default: continue
                }
            }
        }
    }

    private func renewReference(to object: NSManagedObject, of owner: NSManagedObject, _ relationship: NSRelationshipDescription) {
        if owner.flags.contains(.deleted) {
            // Nothing changes, but an undo may bring it back.
            owner.changed.insert(relationship.slotIndex)
        } else if !owner.changed.contains(relationship.slotIndex) {
            owner.noteChange(at: relationship.slotIndex)
        }
        completeLink(from: owner, relationship, to: object)
    }

    /// Adds the other ends of an inserted object's links, which a refresh may have dropped while the object had no context.
    func completeLinks(of object: NSManagedObject) {
        if object.relationships.isEmpty { return }
        for relationship in object.owningEntity.frozen!.relationships where relationship.mutualInverse != nil {
            switch object.state(of: relationship) {
            case .toOne(let target?): completeLink(from: object, relationship, to: target)
            case .toMany(let storage): for target in storage.objects { completeLink(from: object, relationship, to: target) }
            default: continue
            }
        }
    }

    /// Gives an object its end of a link that leads to it. If that end already leads to another object, the link is removed.
    private func completeLink(from owner: NSManagedObject, _ relationship: NSRelationshipDescription, to object: NSManagedObject) {
        guard let inverse = relationship.mutualInverse, owner.registry === registry, object.registry === registry,
            !owner.flags.contains(.deleted), !object.flags.contains(.deleted), !object.shows(owner, by: inverse)
        else { return }
        if inverse.isToMany {
            object.put(owner, into: inverse)
        } else if object.toOne(inverse) == nil {
            object.putToOne(owner, inverse, was: nil)
        } else if object.toOne(inverse) !== owner {
            owner.nullify(object, at: relationship)
        }
    }
}
