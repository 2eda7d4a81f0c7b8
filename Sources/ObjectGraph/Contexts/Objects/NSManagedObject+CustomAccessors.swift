public import Foundation

/// The kinds of change that a custom accessor makes to a to-many relationship.
///
/// Foundation on Linux lacks it; name, cases and raw values are Apple's.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Objects are added.
    case union = 1
    /// Objects are removed.
    case minus = 2
    /// All objects except some are removed.
    case intersect = 3
    /// All objects are replaced.
    case set = 4
}

/// The kinds of change that a custom accessor makes to an ordered relationship.
///
/// Foundation on Linux lacks it; name, cases and raw values are Apple's.
public enum NSKeyValueChange: UInt, Sendable {
    /// The value is replaced.
    case setting = 1
    /// Objects are inserted.
    case insertion = 2
    /// Objects are removed.
    case removal = 3
    /// Objects are replaced by others.
    case replacement = 4
}

extension NSManagedObject {
    /// Notifies the object that a custom accessor is about to change an ordered relationship, and marks the property as changed.
    ///
    /// - Parameters:
    ///   - changeKind: The kind of change.
    ///   - indexes: The indexes to be changed.
    ///   - key: The name of the relationship.
    public func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) { willChangeValue(forKey: key) }

    /// Ends a change announced by `willChange(_:valuesAt:forKey:)` and updates the inverse relationships.
    public func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) { didChangeValue(forKey: key) }

    /// Notifies the object that a custom accessor is about to change a to-many relationship, and marks the property as changed.
    ///
    /// - Parameters:
    ///   - key: The name of the relationship.
    ///   - mutationKind: The kind of change.
    ///   - objects: The objects of the change.
    public func willChangeValue(
        forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) {
        willChangeValue(forKey: key)
    }

    /// Ends a change announced by `willChangeValue(forKey:withSetMutation:using:)` and updates the inverse relationships.
    public func didChangeValue(forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>)
    {
        didChangeValue(forKey: key)
    }

    /// Marks a property as changed and, for a relationship, keeps its objects for ``endChange(of:)``.
    func beginChange(of property: NSPropertyDescription) {
        guard let relationship = property as? NSRelationshipDescription else { return noteChange(at: property.slotIndex) }
        if extras == nil { extras = ObjectExtras() }
        let objects = related(relationship)
        noteChange(at: property.slotIndex)
        extras?.objectsBeforeCustomChange[relationship.name] = objects
    }

    /// Updates the inverse of a relationship that a custom accessor has changed.
    func endChange(of property: NSPropertyDescription) {
        guard let relationship = property as? NSRelationshipDescription,
            let before = extras?.objectsBeforeCustomChange.removeValue(forKey: relationship.name)
        else { return }
        let now = related(relationship)
        let kept = Set(now)
        let old = Set(before)
        for object in before where !kept.contains(object) { object.forget(self, at: relationship.mutualInverse) }
        for object in now where !old.contains(object) { object.remember(self, at: relationship) }
    }

    /// Records that a value for a relationship is not a managed object.
    func rejectMember(_ member: Any, of relationship: NSRelationshipDescription) {
        reject(member, for: relationship, because: Self.mismatchReason(member, relationship))
    }
}
