internal import Foundation

extension NSManagedObjectContext {
    /// Looks for references that a save would write to objects which are neither stored nor saved with them: readers would find no object there.
    ///
    /// A saved reference without an inverse that the program leaves unchanged may lead to a deleted object: the save does not write it.
    ///
    /// - Throws: Code 1550 with the two objects of such a reference; several are combined.
    func checkReferences(_ changes: ChangeSet) throws {
        var errors: [NSError] = []
        let isChild = parent != nil
        for objects in [changes.inserted, changes.updated] {
            objects.forEachUncounted { object in
                if !object.relationships.isEmpty { object.collectDanglingReferences(&errors, isChild: isChild) }
            }
        }
        if !errors.isEmpty { throw CoreDataError.combined(errors) }
    }
}

extension NSManagedObject {
    fileprivate func collectDanglingReferences(_ errors: inout [NSError], isChild: Bool) {
        let isNew = snapshot == nil
        for relationship in owningEntity.frozen!.relationships {
            // A parent receives transient relationships, too.
            guard isNew || changed.contains(relationship.slotIndex), isChild || !relationship.isTransient else { continue }
            switch state(of: relationship) {
            case .fault: continue
            case .toOne(let target):
                guard let target, let invalidity = invalidity(of: target, isChild: isChild), differsFromSnapshot(relationship) else {
                    continue
                }
                errors.append(danglingReference(relationship, to: target, invalidity))
            case .toMany(let storage):
                // A list may be long: its members are examined without counting references, and mostly nothing else is done.
                let doubtful = storage.objects.keeping { !canRefer(to: $0, isChild: isChild) }
                if doubtful.isEmpty { continue }
                let stored = Set(storage.storedObjects.map(ObjectIdentifier.init))
                for target in doubtful where !stored.contains(ObjectIdentifier(target)) {
                    guard let invalidity = invalidity(of: target, isChild: isChild) else { continue }
                    errors.append(danglingReference(relationship, to: target, invalidity))
                }
            }
        }
    }

    /// Whether a save of this object can refer to another one of its context.
    @inline(__always) private func canRefer(to target: NSManagedObject, isChild: Bool) -> Bool {
        guard target.registry === registry, target.flags.isDisjoint(with: [.deleted, .inaccessible]) else { return false }
        // An object that a parent has inserted and not saved has no permanent ID in a child. A child may refer to an object that the parent has
        // discarded since.
        return isChild || target.flags.contains(.inserted) || target.hasPermanentID
    }

    /// The reason why a save of this object cannot refer to another one, and the action that the program can take.
    private typealias Invalidity = (reason: String, next: String)

    /// Returns the reason why a save of this object cannot refer to another one; nil if it can.
    private func invalidity(of target: NSManagedObject, isChild: Bool) -> Invalidity? {
        if canRefer(to: target, isChild: isChild) { return nil }
        if target.registry === registry {
            if target.flags.contains(.deleted) { return ("is deleted", "Take it out of the relationship.") }
            if target.flags.contains(.inaccessible) { return ("is gone from its store", "Take it out of the relationship.") }
            return ("was never saved, and is not to be", "Take it out of the relationship.")
        }
        // It belongs to another queue, or to none.
        if let other = target.sharedRegistry {
            return other.livingContext == nil
                ? ("belongs to a context that is gone", "Keep the context, or take the object out of the relationship.")
                : ("belongs to another context", "Use object(with:) to get it into this one, once it is saved there.")
        }
        if target.flags.contains(.gaveWay) {
            // Its ID may be that of the object that has replaced it.
            return target.hasPermanentID
                ? nil
                : ("gave way to another object when it was saved", "Refer to that one: object(with:) returns it for the ID of either.")
        }
        if target.flags.contains(.deletedUnsaved) { return ("was deleted before it was saved", "Take it out of the relationship.") }
        return target.hasPermanentID
            ? ("has left its context, which was reset or has deleted it", "Fetch it again, or take it out of the relationship.")
            : ("is in no context", "Insert it, or take it out of the relationship.")
    }

    private func danglingReference(
        _ relationship: NSRelationshipDescription, to target: NSManagedObject, _ invalidity: Invalidity
    ) -> NSError {
        CoreDataError.make(
            NSManagedObjectValidationError, "\(objectID) cannot be saved.",
            reason: "Its “\(relationship)” has a dangling reference to an invalid object: \(target.nameOnAnyQueue) \(invalidity.reason).",
            next: invalidity.next,
            info: [
                NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: relationship.name, NSValidationValueErrorKey: target,
                NSAffectedObjectsErrorKey: [self, target],
            ])
    }

    /// The ID in words. An object of another context does not get an ID here.
    private var nameOnAnyQueue: String {
        if sharedRegistry == nil { return "\(objectID)" }
        if let madeID { return "\(madeID)" }
        return origin.map { "\($0.id(number))" } ?? "an object of the entity “\(owningEntity)”"
    }
}
