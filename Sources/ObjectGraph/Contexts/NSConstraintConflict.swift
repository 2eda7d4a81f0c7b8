public import Foundation

/// A conflict between objects that violate a uniqueness constraint of their entity.
///
/// A snapshot is a dictionary of values by property name.
///
/// Source: [NSConstraintConflict](https://developer.apple.com/documentation/coredata/nsconstraintconflict).
// Immutable; the objects in it belong to their context's queue.
open class NSConstraintConflict: NSObject, @unchecked Sendable {
    /// The names of the attributes.
    public let constraint: [String]
    /// The shared values, by attribute name.
    public let constraintValues: [String: Any]
    /// The object in the store that has the values, as registered in the saving context; nil where only objects of the save share them.
    public let databaseObject: NSManagedObject?
    /// The values of that object in the store.
    public let databaseSnapshot: [String: Any]?
    /// The objects of the save that have the values.
    public let conflictingObjects: [NSManagedObject]
    /// The values of the conflicting objects.
    public let conflictingSnapshots: [[AnyHashable: Any]]

    /// Creates a conflict, for stores that detect one themselves and throw it in an error of code 133021 under `"conflictList"`.
    ///
    /// - Parameters:
    ///   - constraint: The names of the attributes.
    ///   - databaseObject: The object in the store that has the values.
    ///   - databaseSnapshot: The values of that object.
    ///   - conflictingObjects: The objects of the save that have the same values.
    ///   - conflictingSnapshots: The values of the conflicting objects, in the same order.
    public init(
        constraint: [String], database databaseObject: NSManagedObject?, databaseSnapshot: [AnyHashable: Any]?,
        conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
    ) {
        let conflictingSnapshots = conflictingSnapshots.map { $0 as? [AnyHashable: Any] ?? [:] }
        self.constraint = constraint
        let values = conflictingSnapshots.first ?? databaseSnapshot ?? [:]
        constraintValues = Dictionary(constraint.compactMap { name in values[name].map { (name, $0) } }, uniquingKeysWith: { $1 })
        self.databaseObject = databaseObject
        self.databaseSnapshot = databaseSnapshot.map { snapshot in
            Dictionary(snapshot.compactMap { key, value in (key.base as? String).map { ($0, value) } }, uniquingKeysWith: { $1 })
        }
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots
    }

    /// A description of the attributes, their values and the objects that share them.
    open override var description: String {
        let values = constraint.map { "\($0) = \(constraintValues[$0] ?? "?")" }.joined(separator: ", ")
        let owner = databaseObject.map { "\($0.objectID) has them in the store" } ?? "no object in the store has them"
        return "NSConstraintConflict: \(conflictingObjects.count) unsaved objects have \(values); \(owner)"
    }

    /// Creates the error that passes conflicts to the merge policy and, if they stay unresolved, to the caller of the save.
    static func error(_ conflicts: [NSConstraintConflict]) -> NSError {
        CoreDataError.make(
            NSManagedObjectConstraintMergeError, "\(conflicts.count) uniqueness constraints would be broken.",
            reason: conflicts.map(\.description).joined(separator: "\n"), next: "Change the values, or set a merge policy.",
            info: [
                NSPersistentStoreSaveConflictsErrorKey: conflicts, NSAffectedObjectsErrorKey: conflicts.flatMap(\.conflictingObjects),
            ])
    }
}

extension NSManagedObjectContext {
    /// Resolves a conflict so that the save can be repeated: one object keeps the values.
    ///
    /// A saved object takes precedence over new ones, so that its identity survives repeated imports; the values of the new objects are
    /// copied to it unless the store wins.
    func settle(_ conflict: NSConstraintConflict, _ type: NSMergePolicyType) {
        func isHere(_ object: NSManagedObject) -> Bool { object.registry === registry && !object.isDeleted }
        let rivals = conflict.conflictingObjects.filter(isHere)
        let stored = conflict.databaseObject.flatMap { isHere($0) ? $0 : nil }
        var discarded: Set<NSManagedObject> = []
        var settled: [NSManagedObject] = []
        let saved = rivals.first { !$0.isInserted }
        if type == .rollbackMergePolicyType || type == .mergeByPropertyStoreTrumpMergePolicyType {
            let keeper = stored ?? saved ?? rivals.first
            for rival in rivals where rival !== keeper {
                if rival.isInserted {
                    discard(rival)
                    discarded.insert(rival)
                } else {
                    rival.giveUp(conflict.constraint, everything: type == .rollbackMergePolicyType)
                    settled.append(rival)
                }
            }
        } else if let keeper = saved ?? stored ?? rivals.first {
            for rival in rivals where rival !== keeper {
                if rival.isInserted {
                    keeper.takeOver(rival, everything: type == .overwriteMergePolicyType)
                    discard(rival)
                    discarded.insert(rival)
                    if settled.isEmpty { settled.append(keeper) }
                } else {
                    delete(rival)
                }
            }
            if let stored, stored !== keeper { delete(stored) }
        }
        for object in settled { object.awake(fromSnapshotEvents: .mergePolicy) }
        if !discarded.isEmpty { post(Self.didChangeObjectsNotification, ObjectChanges(deleted: discarded)) }
    }

    /// Discards a new object and removes it from relationships.
    private func discard(_ object: NSManagedObject) {
        object.undoInverses()
        forget(object)
    }
}

extension NSManagedObject {
    /// Copies the values that were set on a new object, or all of its values; relationships gain its objects.
    fileprivate func takeOver(_ new: NSManagedObject, everything: Bool) {
        for property in new.owningEntity.frozen!.properties where everything || new.changed.contains(property.slotIndex) {
            guard let own = owningEntity.frozen!.byName[property.name] else { continue }
            if let relationship = property as? NSRelationshipDescription, let ownRelationship = own as? NSRelationshipDescription {
                guard new.changed.contains(property.slotIndex) else { continue }
                if relationship.isToMany {
                    for object in new.toMany(relationship).objects { add(object, to: ownRelationship) }
                } else {
                    setToOne(new.toOne(relationship), ownRelationship)
                }
            } else {
                setCurrentValue(new.anyAttribute(property), of: own)
            }
        }
    }

    /// Restores the stored values of some attributes, or of everything.
    fileprivate func giveUp(_ names: [String], everything: Bool) {
        guard let snapshot, let context = registry?.context else { return }
        if everything { return context.putBack(context.dropChanges(of: self, for: snapshot)) }
        guard prepareRowForWriting() else { return }
        for name in names {
            guard let property = owningEntity.frozen!.byName[name] else { continue }
            if let relationship = property as? NSRelationshipDescription {
                let id = snapshot.objectID(at: slot(of: relationship))
                if id === NSManagedObjectID.unresolved { continue }
                setToOne(id.map(context.object(with:)), relationship)
                changed.remove(relationship.slotIndex)
                continue
            }
            row?.copyValue(from: snapshot, at: slot(of: property))
            changed.remove(property.slotIndex)
            if !flags.contains(.noted) { context.noteInEvent(self) }
        }
    }
}
