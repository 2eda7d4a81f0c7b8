internal import Foundation

/// An object removed from a relationship, recorded before the owner's changes are discarded.
struct RemovedLink {
    let object: NSManagedObject
    let relationship: NSRelationshipDescription
    /// The destination object, as the context read it.
    let target: NSManagedObject
}

extension NSManagedObject {
    /// The objects removed from the relationships since they were read; all destination objects for a deleted object.
    var removedLinks: [RemovedLink] {
        let isDeleted = flags.contains(.deleted)
        var links: [RemovedLink] = []
        for relationship in owningEntity.frozen!.relationships where relationship.mutualInverse != nil {
            guard isDeleted || changed.contains(relationship.slotIndex) else { continue }
            links += removedObjects(relationship, isDeleted).map { RemovedLink(object: self, relationship: relationship, target: $0) }
        }
        return links
    }

    private func removedObjects(_ relationship: NSRelationshipDescription, _ isDeleted: Bool) -> [NSManagedObject] {
        if relationship.isToMany {
            let storage = toManyWithoutLoading(relationship)
            return storage.removedObjects + (isDeleted ? toMany(relationship).objects : [])
        }
        guard snapshot != nil, let target = storedTarget(of: relationship), isDeleted || target !== toOne(relationship) else { return [] }
        return [target]
    }

    /// Returns the stored destination of a to-one relationship if it is registered with the context.
    private func storedTarget(of relationship: NSRelationshipDescription) -> NSManagedObject? {
        guard let id = snapshot?.objectID(at: slot(of: relationship)), let context = registry?.context else { return nil }
        if id !== NSManagedObjectID.unresolved { return context.registry.object(with: id) }
        do {
            return try context.source.relatedIDs(of: relationship, for: objectID, in: context).first.flatMap(context.registry.object)
        } catch {
            context.noteFaultError(error, of: self)
            return nil
        }
    }

    /// Removes the object from the relationships of the objects it was related to here, because its own changes are discarded.
    ///
    /// - Returns: The objects that it was related to before, for ``NSManagedObjectContext/restore(_:)``.
    func withdrawLinks() -> [RemovedLink] {
        let links = removedLinks
        removeFromInverses()
        return links
    }

    /// Undoes the additions of this object at the inverse relationships, because its own changes are discarded. A deleted object that
    /// refers to itself keeps that reference for a later undo.
    func removeFromInverses() {
        let isDeleted = flags.contains(.deleted)
        for case let relationship as NSRelationshipDescription in changes {
            guard let inverse = relationship.mutualInverse else { continue }
            if relationship.isToMany {
                for other in toManyWithoutLoading(relationship).changesOnly().objects where !isDeleted || other !== self {
                    other.nullify(self, at: inverse)
                }
            } else if differsFromSnapshot(relationship), let other = toOne(relationship), !isDeleted || other !== self {
                other.nullify(self, at: inverse)
            }
        }
    }

    /// Restores the inverse of a removed link, unless the other object now refers elsewhere; the link is then removed at this end as
    /// well.
    fileprivate func restore(_ link: RemovedLink) {
        guard let inverse = link.relationship.mutualInverse, let context = registry?.context, link.target.registry === registry else {
            return
        }
        let target = link.target
        if target.flags.contains(.deleted) { context.repeatDeletion(of: target) }
        if inverse.isToMany { return target.toManyWithoutLoading(inverse).restore(self) }
        guard target.snapshot != nil, target.storedTarget(of: inverse) === self else { return }
        switch target.toOne(inverse) {
        case nil: target.setState(.toOne(self), of: inverse)
        case let current?: if current !== self { nullify(target, at: link.relationship) }
        }
    }
}

extension NSManagedObjectContext {
    /// Restores removed links at both ends after the changes of objects were discarded.
    func restore(_ links: [RemovedLink]) {
        for link in links where link.object.registry === registry && !link.object.flags.contains(.deleted) { link.object.restore(link) }
    }

    /// Discards the changes of an object and gives it the stored values.
    ///
    /// - Returns: The restored links, for ``restore(_:)`` after other objects have their final state.
    func discardChanges(of object: NSManagedObject, for stored: Row) -> [RemovedLink] {
        // First, because a self-reference changes the object.
        let links = object.withdrawLinks()
        putBack(object, to: stored)
        return links
    }

    /// Gives an object the stored values, after its links were withdrawn.
    func putBack(_ object: NSManagedObject, to stored: Row) {
        if object.flags.contains(.deleted) { deletedList.remove(object) } else { updatedList.remove(object) }
        object.flags.subtract([.deleted, .preparedForDeletion])
        object.snapshot = stored
        object.restoreSnapshot()
    }

    /// Removes an object that the store has deleted.
    func mergeDeletion(of object: NSManagedObject) {
        // First, because a self-reference changes the object.
        object.removeFromInverses()
        if object.flags.contains(.deleted) { deletedList.remove(object) } else { updatedList.remove(object) }
        object.flags.subtract([.updated, .deleted, .inEvent])
        release([object])
        registry.unregister(object)
        object.setRegistry(nil)
    }

    /// Inserts objects again, under their old IDs, that the store has deleted; relationships to objects that still exist are kept.
    func insertAgain(_ objects: [NSManagedObject]) {
        var related: [(NSManagedObject, NSRelationshipDescription, [NSManagedObject])] = []
        // All objects first, because they may refer to each other.
        for object in objects {
            for relationship in object.owningEntity.frozen!.relationships {
                related.append((object, relationship, object.related(relationship)))
            }
        }
        for object in objects {
            updatedList.remove(object)
            object.flags.remove(.updated)
            object.flags.insert(.inserted)
            object.snapshot = nil
            insertedList.append(object)
            insertedAgain.insert(object.objectID)
        }
        for (object, relationship, others) in related {
            for other in others { restoreInverse(other, to: object, relationship) }
        }
    }

    /// Turns an object that was to be reinserted into a changed one: its row exists.
    func treatAsUpdated(_ object: NSManagedObject) {
        insertedList.remove(object)
        object.flags.remove(.inserted)
        object.flags.insert(.updated)
        updatedList.append(object)
    }

    /// Restores the inverse of a relationship of a reinserted object, from which others removed the object.
    private func restoreInverse(_ other: NSManagedObject, to object: NSManagedObject, _ relationship: NSRelationshipDescription) {
        if other === object || other.flags.contains(.inserted) {
            // The inverse may be unread, and no store knows the link any more.
            if let inverse = relationship.mutualInverse, inverse.isToMany { other.put(object, into: inverse) }
            return
        }
        guard refreshFromStore(other) else {
            // Others have deleted it; merging the deletion removes it here.
            return relationship.isToMany ? object.take(other, outOf: relationship) : object.putToOne(nil, relationship, was: other)
        }
        guard let inverse = relationship.mutualInverse else { return }
        if inverse.isToMany { return other.put(object, into: inverse) }
        switch other.toOne(inverse) {
        case nil: other.putToOne(object, inverse, was: nil)
        case let rival?: if rival !== object { object.nullify(other, at: relationship) }
        }
    }

    /// Updates an object to the stored row, so that links can be removed from it. Returns false when there is no row.
    @discardableResult
    func refreshFromStore(_ object: NSManagedObject) -> Bool {
        if object.isFault, !object.hasChanges { object.relationships = [] }
        // Another process may have saved it unnoticed.
        forgetRow(of: object.objectID)
        do {
            guard let row = try source.row(for: object.objectID, in: self) else { return false }
            if let known = object.snapshot, isNewer(row, than: known, of: object) { object.rebase(onto: row) }
        } catch {
            noteFaultError(error, of: object)
        }
        return true
    }

    /// Returns whether a row differs in version from the object's row. Rows that a parent has not saved have no version.
    private func isNewer(_ row: Row, than known: Row, of object: NSManagedObject) -> Bool {
        if row.version != known.version { return true }
        guard parent != nil, row !== known else { return false }
        return !object.owningEntity.frozen!.layout.slots.allSatisfy { row.hasEqualValue(as: known, at: $0) }
    }

    /// Applies the delete rules of a deleted object to links that others have added.
    func reapplyDeletion(_ object: NSManagedObject) {
        for relationship in object.owningEntity.frozen!.relationships {
            // An object that was never saved no longer exists.
            for other in object.related(relationship) where other.registry === registry && !other.flags.contains(.inserted) {
                refreshFromStore(other)
            }
        }
        repeatDeletion(of: object)
    }

    /// Schedules the delete rules of a deleted object again for the end of the event.
    func repeatDeletion(of object: NSManagedObject) {
        eventDeletions.append(object)
        if !object.flags.contains(.inEvent) { noteInEvent(object) }
    }
}
