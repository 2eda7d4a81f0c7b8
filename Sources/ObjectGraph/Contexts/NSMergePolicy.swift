public import Foundation

/// The ways to resolve a conflict between this context's changes and those of others.
public enum NSMergePolicyType: UInt, Sendable {
    /// The save fails.
    case errorMergePolicyType = 0
    /// Merges property by property; if both have changed one, the store's value wins.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Merges property by property; if both have changed one, this context's value wins.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// This context's object replaces the one in the store.
    case overwriteMergePolicyType = 3
    /// The store's object is kept, and the changes of this context are discarded.
    case rollbackMergePolicyType = 4
}

/// Resolves conflicts when a context saves.
///
/// To implement other rules, override ``resolve(mergeConflicts:)``, ``resolve(optimisticLockingConflicts:)`` or
/// ``resolve(constraintConflicts:)`` in a subclass. They are called on the context's queue, and the save is repeated after them.
///
/// Source: [NSMergePolicy](https://developer.apple.com/documentation/coredata/nsmergepolicy).
// Immutable.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    /// The way the policy resolves a conflict.
    public let mergeType: NSMergePolicyType

    /// Creates a policy.
    public init(merge ty: NSMergePolicyType) { mergeType = ty }

    /// Fails the save with the conflicts.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)
    /// Keeps the store's value if both have changed a property.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    /// Keeps this context's value if both have changed a property.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// Replaces the store's object by this context's object.
    public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    /// Discards the changes of this context.
    public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// Resolves conflicts of every kind by calling ``resolve(optimisticLockingConflicts:)`` and ``resolve(constraintConflicts:)``.
    ///
    /// - Parameter list: ``NSMergeConflict``s and ``NSConstraintConflict``s.
    /// - Throws: The errors of these methods.
    open func resolve(mergeConflicts list: [Any]) throws {
        let versions = list.compactMap { $0 as? NSMergeConflict }
        if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves constraint conflicts so that one object keeps the values of each constraint and the save can be retried.
    ///
    /// If the store wins, new objects are discarded, and changed ones get their stored values back. Otherwise a saved object takes the values that
    /// were set on new ones, which are discarded; a saved object that was changed to the values replaces the one in the store that has them. All
    /// references to a replaced object then lead to the one that stays.
    ///
    /// A replaced new object has no context, and its ``NSManagedObject/isDeleted`` is true. Its ID leads to the object that stays:
    /// ``NSManagedObjectContext/object(with:)->NSManagedObject`` returns that one. A change to the replaced object is not saved, and is an error of
    /// code 133000 that the next fetch or save of the context throws.
    ///
    /// - Throws: Code 133021 with the conflicts that the policy leaves unresolved, and for an object in a relationship that the remaining object does
    ///   not have.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        if mergeType == .errorMergePolicyType { throw NSConstraintConflict.error(list) }
        let context = list.lazy.flatMap(\.conflictingObjects).first { $0.registry != nil }?.managedObjectContext
        try context?.resolve(list, mergeType)
    }

    /// Resolves conflicts by rebasing each object onto the store's version, so that the save can be repeated.
    ///
    /// - Throws: Code 133020 with the conflicts that the policy leaves unresolved.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        if mergeType == .errorMergePolicyType { throw NSMergeConflict.error(list) }
        // This comes first, because discarded changes must not remove stored links of other objects.
        let links = list.filter(isDiscarded).flatMap { $0.sourceObject.withdrawLinks() }
        var returning: [NSManagedObject] = []
        // All objects come before the consequences, which may refresh other objects: their own conflicts would be missed then.
        let rebased = list.compactMap { resolve($0, &returning) }
        for object in rebased { object.dropRivals() }
        for object in rebased { object.reapplyDeletion() }
        for conflict in list {
            let object = conflict.sourceObject
            if object.registry != nil, !object.isDeleted, conflict.newVersionNumber > 0 { object.awake(fromSnapshotEvents: .mergePolicy) }
        }
        let context = list.first { $0.sourceObject.registry != nil }?.sourceObject.managedObjectContext
        context?.insertAgain(returning)
        context?.restore(links)
    }

    /// Whether the store wins, so that the changes or the deletion of the object are discarded as a whole.
    private func isDiscarded(_ conflict: NSMergeConflict) -> Bool {
        let object = conflict.sourceObject
        guard object.managedObjectContext != nil, conflict.rowToMerge != nil else { return false }
        return mergeType == .rollbackMergePolicyType || (mergeType == .mergeByPropertyStoreTrumpMergePolicyType && object.isDeleted)
    }

    /// Resolves one conflict, as far as the object itself is concerned.
    ///
    /// - Parameter returning: Collects the object if others deleted it and the policy keeps it.
    /// - Returns: The object, if it has the store's version with its own changes.
    private func resolve(_ conflict: NSMergeConflict, _ returning: inout [NSManagedObject]) -> RebasedObject? {
        let object = conflict.sourceObject
        guard let context = object.managedObjectContext else { return nil }
        let storeWins = mergeType == .rollbackMergePolicyType || mergeType == .mergeByPropertyStoreTrumpMergePolicyType
        guard let stored = conflict.rowToMerge else {
            if storeWins || object.isDeleted { context.mergeDeletion(of: object) } else { returning.append(object) }
            return nil
        }
        if object.isInserted {
            // Others have restored it, too, or have an object with the identifier of a new one, which becomes that object from now on.
            let id = stored.knownObjectID
            if object.objectID.isTemporaryID, !id.isTemporaryID, context.registeredObject(for: id) == nil {
                context.assign(permanentID: id, to: object)
                context.notifySourceOfRegistration([id])
            }
            context.treatAsUpdated(object)
        }
        if isDiscarded(conflict) {
            context.putBack(object, to: stored)
            return nil
        }
        // Attributes of a deleted object are kept for an undo.
        if object.isDeleted { return object.rebaseItself(onto: stored, overwrites: true) }
        switch mergeType {
        case .errorMergePolicyType, .rollbackMergePolicyType: return nil
        case .mergeByPropertyStoreTrumpMergePolicyType:
            // If an object is new here and the store has it, it had no values before.
            let before = object.snapshot ?? object.owningEntity.frozenParts.layout.usedDefaultRow
            // A property keeps its local value if the store's value is unchanged.
            return object.rebaseItself(onto: stored) { !object.differs(before, stored, at: $0) }
        case .mergeByPropertyObjectTrumpMergePolicyType: return object.rebaseItself(onto: stored)
        case .overwriteMergePolicyType: return object.rebaseItself(onto: stored, overwrites: true)
        }
    }
}

/// Fails the save with the conflicts: the default policy of a context.
public let NSErrorMergePolicy: NSMergePolicy = .error
/// Merges property by property; the store's value wins. See ``NSMergePolicy/mergeByPropertyStoreTrump``.
public let NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy = .mergeByPropertyStoreTrump
/// Merges property by property; this context's value wins. See ``NSMergePolicy/mergeByPropertyObjectTrump``.
public let NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump
/// Replaces the store's objects by this context's. See ``NSMergePolicy/overwrite``.
public let NSOverwriteMergePolicy: NSMergePolicy = .overwrite
/// Discards the changes of this context. See ``NSMergePolicy/rollback``.
public let NSRollbackMergePolicy: NSMergePolicy = .rollback

extension NSManagedObject {
    /// Returns whether the values of a property differ in two rows of the object.
    func differs(_ first: Row, _ second: Row, at property: NSPropertyDescription) -> Bool {
        let slot = slot(of: property)
        if let relationship = property as? NSRelationshipDescription, relationship.isToMany, !relationship.isOrdered {
            return first.objectIDs(at: slot).map { Set($0.ids) } != second.objectIDs(at: slot).map { Set($0.ids) }
        }
        return !first.hasEqualValue(as: second, at: slot)
    }
}
