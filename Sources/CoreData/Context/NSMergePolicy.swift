public import Foundation

/// How a conflict between this context's changes and those of others is settled.
public enum NSMergePolicyType: UInt, Sendable {
    /// The save fails.
    case errorMergePolicyType = 0
    /// Property by property; where both changed one, the store's value stays.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Property by property; where both changed one, this context's value stays.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// This context's object replaces the store's.
    case overwriteMergePolicyType = 3
    /// The store's object stays, and the changes here are dropped.
    case rollbackMergePolicyType = 4
}

/// Settles conflicts when a context saves.
///
/// Subclass it and override ``resolve(mergeConflicts:)``, ``resolve(optimisticLockingConflicts:)`` or ``resolve(constraintConflicts:)`` for rules of
/// your own; they are called on the context's queue, and the save is repeated after them.
///
/// Source: [NSMergePolicy](https://developer.apple.com/documentation/coredata/nsmergepolicy).
// Immutable.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    /// How the policy settles a conflict.
    public let mergeType: NSMergePolicyType

    /// Makes a policy.
    public init(merge ty: NSMergePolicyType) { mergeType = ty }

    /// The save fails with the conflicts.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)
    /// The store's value stays where both changed a property.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    /// This context's value stays where both changed a property.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// This context's object replaces the store's.
    public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    /// The changes here are dropped.
    public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// Settles conflicts of every kind: hands them to ``resolve(optimisticLockingConflicts:)`` and ``resolve(constraintConflicts:)``.
    ///
    /// - Parameter list: ``NSMergeConflict``s and ``NSConstraintConflict``s.
    /// - Throws: what these throw.
    open func resolve(mergeConflicts list: [Any]) throws {
        let versions = list.compactMap { $0 as? NSMergeConflict }
        if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Settles `list` so that one object is left with the values of each constraint, and the save can be repeated.
    ///
    /// Where the store wins, new objects are given up and changed ones take their stored values back. Otherwise a saved object takes what was
    /// set on new ones, which are given up; a saved object that was changed to the values takes the place of the one that has them in the store.
    ///
    /// - Throws: code 133021 with the conflicts, where the policy leaves them unsettled.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        if mergeType == .errorMergePolicyType { throw NSConstraintConflict.error(list) }
        for conflict in list { conflict.conflictingObjects.first { $0.registry != nil }?.managedObjectContext?.settle(conflict, mergeType) }
    }

    /// Settles `list` by bringing each object onto the store's version, so that the save can be repeated.
    ///
    /// - Throws: code 133020 with the conflicts, where the policy leaves them unsettled.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        if mergeType == .errorMergePolicyType { throw NSMergeConflict.error(list) }
        var links: [RemovedLink] = []
        var returning: [NSManagedObject] = []
        for conflict in list {
            links += settle(conflict, &returning)
            let object = conflict.sourceObject
            if object.registry != nil, !object.isDeleted, conflict.newVersionNumber > 0 { object.awake(fromSnapshotEvents: .mergePolicy) }
        }
        let context = list.first { $0.sourceObject.registry != nil }?.sourceObject.managedObjectContext
        context?.insertAgain(returning)
        context?.putBack(links)
    }

    /// Answers what is back in the relationships of an object whose changes are dropped.
    ///
    /// - Parameter returning: gets the object if others have deleted it and it is to stay.
    private func settle(_ conflict: NSMergeConflict, _ returning: inout [NSManagedObject]) -> [RemovedLink] {
        let object = conflict.sourceObject
        guard let context = object.managedObjectContext else { return [] }
        let storeWins = mergeType == .rollbackMergePolicyType || mergeType == .mergeByPropertyStoreTrumpMergePolicyType
        guard let stored = conflict.rowToMerge else {
            if storeWins || object.isDeleted { context.acceptDeletion(of: object) } else { returning.append(object) }
            return []
        }
        if object.isDeleted {
            if storeWins { return context.dropChanges(of: object, for: stored) }
            context.deleteAgain(object, for: stored)
            return []
        }
        switch mergeType {
        case .errorMergePolicyType: break
        case .rollbackMergePolicyType: return context.dropChanges(of: object, for: stored)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            let before = object.snapshot
            object.rebase(onto: stored) { property in
                // A property stays as it is here where the store has left it alone.
                guard let before else { return true }
                return !object.differs(before, stored, at: property)
            }
        case .mergeByPropertyObjectTrumpMergePolicyType: object.rebase(onto: stored)
        case .overwriteMergePolicyType: object.rebase(onto: stored, overwrites: true)
        }
        return []
    }
}

/// The policy of a new context: the save fails with the conflicts.
public let NSErrorMergePolicy: NSMergePolicy = .error
/// See ``NSMergePolicy/mergeByPropertyStoreTrump``.
public let NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy = .mergeByPropertyStoreTrump
/// See ``NSMergePolicy/mergeByPropertyObjectTrump``.
public let NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump
/// See ``NSMergePolicy/overwrite``.
public let NSOverwriteMergePolicy: NSMergePolicy = .overwrite
/// See ``NSMergePolicy/rollback``.
public let NSRollbackMergePolicy: NSMergePolicy = .rollback

extension NSManagedObject {
    /// Whether a property has other values in two rows of the object.
    func differs(_ first: Row, _ second: Row, at property: NSPropertyDescription) -> Bool {
        let slot = slot(of: property)
        if let relationship = property as? NSRelationshipDescription, relationship.isToMany, !relationship.isOrdered {
            return first.objectIDs(at: slot).map { Set($0.ids) } != second.objectIDs(at: slot).map { Set($0.ids) }
        }
        return !first.hasEqualValue(as: second, at: slot)
    }
}
