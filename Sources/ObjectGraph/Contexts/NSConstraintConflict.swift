public import Foundation
internal import PropertyLists

/// A conflict between objects that violate a uniqueness constraint of their entity.
///
/// A snapshot is a dictionary of values by property name.
///
/// Source: [NSConstraintConflict](https://developer.apple.com/documentation/coredata/nsconstraintconflict).
// Immutable once it is passed on; the objects in it belong to their context's queue.
open class NSConstraintConflict: NSObject, @unchecked Sendable {
    /// The names of the attributes.
    public let constraint: [String]
    /// The shared values, by attribute name.
    public let constraintValues: [String: Any]
    /// The object in the store that has the values, as registered in the saving context; nil if only objects of the save share them.
    public let databaseObject: NSManagedObject?
    /// The values of that object in the store.
    public let databaseSnapshot: [String: Any]?
    /// The objects of the save that have the values.
    public let conflictingObjects: [NSManagedObject]
    /// The values of the conflicting objects.
    public let conflictingSnapshots: [[AnyHashable: Any]]
    /// The row of the object in the store, as the store has found it; set before the conflict is passed on.
    final var storedRow: Row?

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

    /// Creates a conflict of no constraint, without objects and values, for tests of code that handles conflicts.
    public override convenience init() {
        self.init(constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
    }

    /// A description of the attributes, their values and the objects that share them.
    open override var description: String {
        let values = constraint.map { "\($0) = \(constraintValues[$0] ?? "?")" }.joined(separator: ", ")
        let owner = databaseObject.map { "\($0.objectID) has them in the store" } ?? "no object in the store has them"
        return "NSConstraintConflict: \(conflictingObjects.count) unsaved objects have \(values); \(owner)".shortened
    }

    /// Creates the error that passes conflicts to the merge policy and, if they stay unresolved, to the caller of the save.
    static func error(_ conflicts: [NSConstraintConflict]) -> NSError {
        CoreDataError.make(
            NSManagedObjectConstraintMergeError, "\(conflicts.count) uniqueness constraints would be broken.",
            reason: CoreDataError.list(conflicts, \.description), next: "Change the values, or set a merge policy.",
            info: [
                NSPersistentStoreSaveConflictsErrorKey: conflicts, NSAffectedObjectsErrorKey: conflicts.flatMap(\.conflictingObjects),
            ])
    }
}

extension NSManagedObjectContext {
    /// Resolves conflicts so that the save can be retried: one object keeps the values of each conflict.
    ///
    /// A saved object takes precedence over new ones, so that its identity survives repeated imports. The values of the new objects are copied to it
    /// unless the store wins. References to a replaced object are redirected to the one that stays.
    ///
    /// - Throws: Code 133021 for references that the remaining object cannot take; a store's error; validation errors of objects that have lost a
    ///   destination.
    func resolve(_ conflicts: [NSConstraintConflict], _ type: NSMergePolicyType) throws {
        for conflict in conflicts { conflict.stored(in: registry)?.bringUpToDate(with: conflict.storedRow) }
        // This comes first, and alone: only then is it known which object has which values, and which new object has to be replaced.
        if type.keepsStored, restoreValues(of: conflicts, type) { return }
        for conflict in conflicts { try checkReferences(conflict, type) }
        var outcome = ConstraintOutcome()
        // New objects among themselves come first: the values that they leave to each other are not yet taken from the saved ones.
        let (new, saved) = (conflicts.filter { $0.isAmongNew(registry) }, conflicts.filter { !$0.isAmongNew(registry) })
        for conflict in new + saved { resolve(conflict, type, &outcome) }
        // The object that blocked a reference may have been replaced after it.
        let final = outcome
        outcome.lost.removeAll { $0.restore(final.staying) }
        try leadReferencesWithoutInverse(outcome)
        let discarded = outcome.replaced.lazy.filter { $0.flags.contains(.gaveWay) }
        if !discarded.isEmpty { post(Self.didChangeObjectsNotification, ObjectChanges(deleted: Set(discarded))) }
        try validate(cut: outcome.lost.filter { $0.other !== $0.keeper }.map(\.other))
    }

    /// Restores the stored values of saved objects that were changed to values of others. Returns whether there were any.
    private func restoreValues(of conflicts: [NSConstraintConflict], _ type: NSMergePolicyType) -> Bool {
        var restored: [NSManagedObject] = []
        for conflict in conflicts {
            guard let keeper = conflict.keeper(type, in: registry) else { continue }
            for rival in conflict.rivals(in: registry) where rival !== keeper && !rival.isInserted {
                rival.restoreStoredValues(conflict.constraint, everything: type == .rollbackMergePolicyType)
                restored.append(rival)
            }
        }
        for object in restored { object.awake(fromSnapshotEvents: .mergePolicy) }
        return !restored.isEmpty
    }

    private func resolve(_ conflict: NSConstraintConflict, _ type: NSMergePolicyType, _ outcome: inout ConstraintOutcome) {
        guard let keeper = conflict.keeper(type, in: registry) else { return }
        var takesValues = false
        for rival in conflict.rivals(in: registry) where rival !== keeper {
            if !rival.isInserted {
                replace(rival, by: keeper, &outcome)
                continue
            }
            if !type.keepsStored {
                keeper.copyValues(from: rival, everything: type == .overwriteMergePolicyType)
                takesValues = true
            }
            outcome.lost += rival.leadReferences(to: keeper, keepsDestination: type.keepsStored, outcome.staying)
            discard(rival, inFavorOf: keeper, &outcome)
        }
        if !type.keepsStored, let stored = conflict.stored(in: registry), stored !== keeper { replace(stored, by: keeper, &outcome) }
        if takesValues { keeper.awake(fromSnapshotEvents: .mergePolicy) }
    }

    /// Discards a new object that has no references left.
    private func discard(_ object: NSManagedObject, inFavorOf keeper: NSManagedObject, _ outcome: inout ConstraintOutcome) {
        object.removeFromInverses()
        forget(object)
        object.giveWay(to: keeper)
        outcome.note(object, keeper)
    }

    /// Deletes a saved object that another one replaces.
    private func replace(_ object: NSManagedObject, by keeper: NSManagedObject, _ outcome: inout ConstraintOutcome) {
        // References that others have made to it since are redirected to the other object, too, and are removed from both ends.
        refreshFromStore(object)
        refreshOtherEnds(of: object)
        outcome.lost += object.leadReferences(to: keeper, keepsDestination: true, outcome.staying)
        delete(object)
        outcome.note(object, keeper)
    }

    /// Updates the objects that an object is related to, so that it can be taken out of their ends.
    private func refreshOtherEnds(of object: NSManagedObject) {
        for relationship in object.owningEntity.frozen!.relationships where relationship.mutualInverse != nil {
            for other in object.related(relationship) where other !== object && other.registry === registry {
                if other.flags.contains(.inserted) || other.flags.contains(.deleted) { continue }
                // Faults are read together.
                if other.isFault, !other.hasChanges { other.relationships = [] } else { refreshFromStore(other) }
            }
        }
    }

    /// - Throws: Code 133021 if objects refer to a replaced object and cannot refer to the one that stays.
    private func checkReferences(_ conflict: NSConstraintConflict, _ type: NSMergePolicyType) throws {
        guard let keeper = conflict.keeper(type, in: registry) else { return }
        var leaving = conflict.rivals(in: registry).filter { $0 !== keeper && ($0.isInserted || !type.keepsStored) }
        if !type.keepsStored, let stored = conflict.stored(in: registry), stored !== keeper { leaving.append(stored) }
        for object in leaving {
            guard let relationship = object.relationshipToLose(inFavorOf: keeper) else { continue }
            throw CoreDataError.make(
                NSManagedObjectConstraintMergeError, "A uniqueness constraint cannot be kept by the merge policy.",
                reason: "\(object.objectID) would give way to \(keeper.objectID), but is in a relationship, “\(relationship.name)”, "
                    + "that the entity “\(keeper.owningEntity)” does not have.",
                next: "Change the values, or take the object out of the relationship.",
                info: [
                    NSPersistentStoreSaveConflictsErrorKey: [conflict], NSAffectedObjectsErrorKey: conflict.conflictingObjects,
                ])
        }
    }

    /// Validates objects that have lost a destination to another object.
    private func validate(cut objects: [NSManagedObject]) throws {
        var errors: [NSError] = []
        for object in Set(objects) where object.registry === registry && !object.isDeleted {
            CoreDataError.collect(&errors) {
                if object.isInserted { try object.validateForInsert() } else { try object.validateForUpdate() }
            }
        }
        if !errors.isEmpty { throw CoreDataError.combined(errors) }
    }
}

/// The outcome of constraint conflicts for their objects.
struct ConstraintOutcome {
    /// The objects that have given way, new ones and saved ones.
    private(set) var replaced: [NSManagedObject] = []
    /// The objects that have replaced them.
    private var keepers: [ObjectIdentifier: NSManagedObject] = [:]
    /// The references that the remaining objects could not take, because they have other destinations.
    fileprivate(set) var lost: [LostReference] = []

    /// Records that an object was replaced.
    fileprivate mutating func note(_ object: NSManagedObject, _ keeper: NSManagedObject) {
        replaced.append(object)
        keepers[ObjectIdentifier(object)] = keeper
    }

    /// Returns the object that has replaced an object, or nil.
    func keeper(of object: NSManagedObject) -> NSManagedObject? {
        var found = keepers[ObjectIdentifier(object)]
        while let next = found.flatMap({ keepers[ObjectIdentifier($0)] }) { found = next }
        return found
    }

    /// Returns the object itself, or the one that has replaced it.
    func staying(_ object: NSManagedObject) -> NSManagedObject { keeper(of: object) ?? object }
}

extension NSMergePolicyType {
    /// Whether the store's object stays unchanged.
    fileprivate var keepsStored: Bool { self == .rollbackMergePolicyType || self == .mergeByPropertyStoreTrumpMergePolicyType }
}

extension NSConstraintConflict {
    /// The conflicting objects that are still to be saved.
    fileprivate func rivals(in registry: ObjectRegistry) -> [NSManagedObject] {
        conflictingObjects.filter { $0.registry === registry && !$0.isDeleted }
    }

    /// Whether only new objects have the values.
    fileprivate func isAmongNew(_ registry: ObjectRegistry) -> Bool {
        stored(in: registry) == nil && rivals(in: registry).allSatisfy(\.isInserted)
    }

    fileprivate func stored(in registry: ObjectRegistry) -> NSManagedObject? {
        databaseObject.flatMap { $0.registry === registry && !$0.isDeleted ? $0 : nil }
    }

    /// Returns the object that keeps the values.
    fileprivate func keeper(_ type: NSMergePolicyType, in registry: ObjectRegistry) -> NSManagedObject? {
        let rivals = rivals(in: registry)
        if rivals.isEmpty { return nil }
        let (stored, saved) = (stored(in: registry), rivals.first { !$0.isInserted })
        guard type.keepsStored else { return saved ?? stored ?? rivals.first }
        // A saved object that had the values before is the one in the store, even if it is saved with other changes.
        return stored ?? rivals.first { !$0.isInserted && $0.hasStoredValues(constraint) } ?? saved ?? rivals.first
    }
}

extension NSManagedObject {
    /// Takes the store's present row, unless the object has changes: these cause a version conflict instead.
    fileprivate func bringUpToDate(with stored: Row?) {
        if hasChanges { return }
        if isFault { return relationships = [] }
        if let stored, let snapshot, snapshot.version != stored.version { rebase(onto: stored) }
    }

    /// Returns whether the values of some properties are the stored ones.
    fileprivate func hasStoredValues(_ names: [String]) -> Bool {
        names.allSatisfy { name in owningEntity.frozen!.byName[name].map { !differsFromSnapshot($0) } ?? false }
    }

    /// Copies the attributes that were set on a new object, or all of them.
    fileprivate func copyValues(from new: NSManagedObject, everything: Bool) {
        for property in new.owningEntity.frozen!.properties where everything || new.changed.contains(property.slotIndex) {
            guard !(property is NSRelationshipDescription), let own = owningEntity.frozen!.byName[property.name] else { continue }
            setCurrentValue(new.anyAttribute(property), of: own)
        }
    }

    /// Restores the stored values of some attributes, or of everything.
    fileprivate func restoreStoredValues(_ names: [String], everything: Bool) {
        guard let snapshot, let context = registry?.context else { return }
        if everything { return context.restore(context.discardChanges(of: self, for: snapshot)) }
        guard makeRowExclusive() else { return }
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
            if !flags.contains(.inEvent) { context.noteInEvent(self) }
        }
    }
}
