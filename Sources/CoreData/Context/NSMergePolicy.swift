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
        for conflict in list {
            settle(conflict)
            let object = conflict.sourceObject
            if object.registry != nil, !object.isDeleted, conflict.newVersionNumber > 0 { object.awake(fromSnapshotEvents: .mergePolicy) }
        }
    }

    private func settle(_ conflict: NSMergeConflict) {
        let object = conflict.sourceObject
        guard let context = object.managedObjectContext else { return }
        let storeWins = mergeType == .rollbackMergePolicyType || mergeType == .mergeByPropertyStoreTrumpMergePolicyType
        guard let stored = conflict.rowToMerge else {
            if storeWins || object.isDeleted { context.acceptDeletion(of: object) } else { context.insertAgain(object) }
            return
        }
        if object.isDeleted, !storeWins {
            object.snapshot = stored
            return
        }
        switch mergeType {
        case .errorMergePolicyType: return
        case .rollbackMergePolicyType: context.dropChanges(of: object, for: stored)
        case .mergeByPropertyStoreTrumpMergePolicyType:
            if object.isDeleted { return context.dropChanges(of: object, for: stored) }
            let before = object.snapshot
            object.rebase(onto: stored) { property in
                // A property stays as it is here where the store has left it alone.
                guard let before else { return true }
                return !object.differs(before, stored, at: property)
            }
        case .mergeByPropertyObjectTrumpMergePolicyType: object.rebase(onto: stored)
        case .overwriteMergePolicyType:
            for property in object.owningEntity.frozen!.properties where !(property is NSRelationshipDescription) {
                object.changed.insert(property.slotIndex)
            }
            object.rebase(onto: stored)
        }
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

extension NSManagedObject {
    /// The changes of the object's relationships are given up: the objects at the other ends forget what was added here.
    func undoInverses() {
        for case let relationship as NSRelationshipDescription in changes {
            guard let inverse = relationship.inverseRelationship else { continue }
            if relationship.isToMany {
                for other in toManyWithoutLoading(relationship).changesOnly().objects { other.nullify(self, at: inverse) }
            } else {
                toOne(relationship)?.nullify(self, at: inverse)
            }
        }
    }
}

extension NSManagedObjectContext {
    /// The object is as the store has it; nothing of it is left to save.
    func dropChanges(of object: NSManagedObject, for stored: Row) {
        // First, for an object that leads to itself is changed by it.
        object.undoInverses()
        if object.flags.contains(.deleted) { deletedList.remove(object) } else { updatedList.remove(object) }
        object.flags.subtract([.deleted, .preparedForDeletion])
        object.snapshot = stored
        object.restoreSnapshot()
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

    /// The store has deleted the object, but it is to stay: it is inserted again under its old ID.
    func insertAgain(_ object: NSManagedObject) {
        updatedList.remove(object)
        object.flags.remove(.updated)
        object.flags.insert(.inserted)
        for relationship in object.owningEntity.frozen!.relationships where relationship.isToMany { _ = object.toMany(relationship) }
        object.snapshot = nil
        insertedList.append(object)
    }
}
