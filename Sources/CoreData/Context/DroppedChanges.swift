internal import Foundation

/// What was taken out of the relationships of an object, noted before the object's changes are given up.
struct RemovedLink {
    let object: NSManagedObject
    let relationship: NSRelationshipDescription
    /// The object that the relationship has led to, as the context read it.
    let target: NSManagedObject
}

extension NSManagedObject {
    /// What was taken out of the object's relationships since they were read; of a deleted object all that they led to.
    var removedLinks: [RemovedLink] {
        let isDeleted = flags.contains(.deleted)
        var links: [RemovedLink] = []
        for relationship in owningEntity.frozen!.relationships where relationship.keptInverse != nil {
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

    /// The object that a to-one relationship led to when it was read, if it lives in the context.
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

    /// The changes of the object's relationships are given up: the objects at the other ends forget what was added here. A deleted object that
    /// leads to itself keeps that, in case an undo brings it back.
    func undoInverses() {
        let isDeleted = flags.contains(.deleted)
        for case let relationship as NSRelationshipDescription in changes {
            guard let inverse = relationship.keptInverse else { continue }
            if relationship.isToMany {
                for other in toManyWithoutLoading(relationship).changesOnly().objects where !isDeleted || other !== self {
                    other.nullify(self, at: inverse)
                }
            } else if differsFromSnapshot(relationship), let other = toOne(relationship), !isDeleted || other !== self {
                other.nullify(self, at: inverse)
            }
        }
    }

    /// The other end of a link that is back: it leads here again, unless it was made to lead elsewhere. Then it goes from this end, too.
    fileprivate func putBack(_ link: RemovedLink) {
        guard let inverse = link.relationship.keptInverse, let context = registry?.context, link.target.registry === registry else {
            return
        }
        let target = link.target
        if target.flags.contains(.deleted) { context.repeatDeletion(of: target) }
        if inverse.isToMany { return target.toManyWithoutLoading(inverse).putBack(self) }
        guard target.snapshot != nil, target.storedTarget(of: inverse) === self else { return }
        switch target.toOne(inverse) {
        case nil: target.setState(.toOne(self), of: inverse)
        case let current?: if current !== self { nullify(target, at: link.relationship) }
        }
    }
}

extension NSManagedObjectContext {
    /// Objects have lost their changes: what was taken out of their relationships is back at both ends.
    func putBack(_ links: [RemovedLink]) {
        for link in links where link.object.registry === registry && !link.object.flags.contains(.deleted) { link.object.putBack(link) }
    }

    /// The object is as the store has it; nothing of it is left to save.
    ///
    /// - Returns: what is back in its relationships, for ``putBack(_:)`` once other objects are as they are to be.
    func dropChanges(of object: NSManagedObject, for stored: Row) -> [RemovedLink] {
        let links = object.removedLinks
        // First, for an object that leads to itself is changed by it.
        object.undoInverses()
        if object.flags.contains(.deleted) { deletedList.remove(object) } else { updatedList.remove(object) }
        object.flags.subtract([.deleted, .preparedForDeletion])
        object.snapshot = stored
        object.restoreSnapshot()
        return links
    }

    /// The store has deleted the object: it goes from here too.
    func acceptDeletion(of object: NSManagedObject) {
        // First, for an object that leads to itself is changed by it.
        object.undoInverses()
        if object.flags.contains(.deleted) { deletedList.remove(object) } else { updatedList.remove(object) }
        object.flags.subtract([.updated, .deleted, .noted])
        release([object])
        registry.unregister(object)
        object.registry = nil
    }

    /// The store has deleted the objects, but they are to stay: they are inserted again under their old IDs, with what they lead to as far as that
    /// is there.
    func insertAgain(_ objects: [NSManagedObject]) {
        var related: [(NSManagedObject, NSRelationshipDescription, [NSManagedObject])] = []
        // All of them first, for they may lead to each other.
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
            for other in others { leadBack(other, to: object, relationship) }
        }
    }

    /// The other end of a relationship of an object that is inserted again: others have taken the object out of it.
    private func leadBack(_ other: NSManagedObject, to object: NSManagedObject, _ relationship: NSRelationshipDescription) {
        if other === object || other.flags.contains(.inserted) {
            // It comes back, too. Its end may be unread, and then no store knows it any more.
            if let inverse = relationship.keptInverse, inverse.isToMany { other.put(object, into: inverse) }
            return
        }
        guard catchUp(other) else {
            // Others have deleted it. It goes from here when that is merged.
            return relationship.isToMany ? object.take(other, outOf: relationship) : object.putToOne(nil, relationship, was: other)
        }
        guard let inverse = relationship.keptInverse else { return }
        if inverse.isToMany { return other.put(object, into: inverse) }
        switch other.toOne(inverse) {
        case nil: other.putToOne(object, inverse, was: nil)
        case let rival?: if rival !== object { object.nullify(other, at: relationship) }
        }
    }

    /// Brings an object up to the row that the store has, so that what is taken out of its relationships is there to be taken. False when there
    /// is none.
    @discardableResult
    func catchUp(_ object: NSManagedObject) -> Bool {
        if object.isFault, !object.hasChanges { object.relationships = [] }
        // Another process may have saved it, of which no one has told.
        source.forgetRow(of: object.objectID)
        do {
            guard let row = try source.row(for: object.objectID, in: self) else { return false }
            if let known = object.snapshot, isNews(row, to: object, known) { object.rebase(onto: row) }
        } catch {
            noteFaultError(error, of: object)
        }
        return true
    }

    /// Whether a row is other than the one that the object goes by. What a parent has not saved has no version of its own.
    private func isNews(_ row: Row, to object: NSManagedObject, _ known: Row) -> Bool {
        if row.version != known.version { return true }
        guard parent != nil, row !== known else { return false }
        return !object.owningEntity.frozen!.layout.slots.allSatisfy { row.hasEqualValue(as: known, at: $0) }
    }

    /// The delete rules of a deleted object hold for what others have related to it. Its attributes stay, for an undo that brings it back.
    func deleteAgain(_ object: NSManagedObject, for stored: Row) {
        object.rebase(onto: stored, overwrites: true)
        for relationship in object.owningEntity.frozen!.relationships {
            // What was never saved is gone already.
            for other in object.related(relationship) where other.registry === registry && !other.flags.contains(.inserted) {
                catchUp(other)
            }
        }
        repeatDeletion(of: object)
    }

    /// The delete rules of a deleted object are carried out again at the end of the event.
    func repeatDeletion(of object: NSManagedObject) {
        eventDeletions.append(object)
        if !object.flags.contains(.noted) { noteInEvent(object) }
    }
}
