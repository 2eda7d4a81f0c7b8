public import Foundation

/// How the objects of a to-many relationship are changed by a custom accessor.
///
/// Foundation on Linux does not have it; name, cases and raw values are those of Apple's.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Objects are added.
    case union = 1
    /// Objects are taken out.
    case minus = 2
    /// All but some objects are taken out.
    case intersect = 3
    /// All objects are replaced.
    case set = 4
}

/// How the objects of an ordered relationship are changed by a custom accessor.
///
/// Foundation on Linux does not have it; name, cases and raw values are those of Apple's.
public enum NSKeyValueChange: UInt, Sendable {
    /// The value is replaced.
    case setting = 1
    /// Objects are inserted.
    case insertion = 2
    /// Objects are taken out.
    case removal = 3
    /// Objects are replaced by others.
    case replacement = 4
}

extension NSManagedObject {
    /// Announces that a custom accessor changes the objects of an ordered relationship: the property counts as changed from here on.
    ///
    /// - Parameters:
    ///   - changeKind: how it is about to change.
    ///   - indexes: the places it is about to change at.
    ///   - key: the relationship.
    public func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) { willChangeValue(forKey: key) }

    /// Ends the change that `willChange(_:valuesAt:forKey:)` has announced: the inverses follow what has become of the relationship.
    public func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) { didChangeValue(forKey: key) }

    /// Announces that a custom accessor changes the objects of a to-many relationship: the property counts as changed from here on.
    ///
    /// - Parameters:
    ///   - key: the relationship.
    ///   - mutationKind: how it is about to change.
    ///   - objects: the objects it is about to change by.
    public func willChangeValue(
        forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) {
        willChangeValue(forKey: key)
    }

    /// Ends the change that `willChangeValue(forKey:withSetMutation:using:)` has announced: the inverses follow what has become of the
    /// relationship.
    public func didChangeValue(forKey key: String, withSetMutation mutationKind: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>)
    {
        didChangeValue(forKey: key)
    }

    /// Marks a property as changed; of a relationship, remembers what it has led to.
    func announceChange(of property: NSPropertyDescription) {
        guard let relationship = property as? NSRelationshipDescription else { return noteChange(at: property.slotIndex) }
        if rarities == nil { rarities = Rarities() }
        let objects = related(relationship)
        noteChange(at: property.slotIndex)
        rarities?.announced[relationship.name] = objects
    }

    /// Keeps the inverse of a relationship that a custom accessor has changed at this end.
    func endChange(of property: NSPropertyDescription) {
        guard let relationship = property as? NSRelationshipDescription,
            let before = rarities?.announced.removeValue(forKey: relationship.name)
        else { return }
        let now = related(relationship)
        let kept = Set(now)
        let old = Set(before)
        for object in before where !kept.contains(object) { object.forget(self, at: relationship.keptInverse) }
        for object in now where !old.contains(object) { object.remember(self, at: relationship) }
    }

    /// Something that is no managed object was to come into a relationship.
    func refuseMember(_ member: Any, of relationship: NSRelationshipDescription) {
        refuse(member, for: relationship, because: Self.misfit(member, relationship))
    }
}
