public import Foundation
internal import Predicates

// The methods that Xcode generates for to-many relationships (`addToTracks(_:)`, `insertIntoTracks(_:at:)`, …), by key.
extension NSManagedObject {
    /// Adds objects to a to-many relationship, at the end of an ordered one, and updates the inverses; objects already in it keep their
    /// place.
    ///
    /// An object that the relationship cannot hold is rejected; validation reports it at the save. A key that does not name a to-many
    /// relationship stops the program with a message. Call it on the context's queue.
    public func addObjects(_ objects: some Sequence<NSManagedObject>, toRelationship key: String) {
        let relationship = toManyRelationship(key)
        for object in objects { add(object, to: relationship) }
    }

    /// Removes objects from a to-many relationship and updates the inverses; objects not in it are skipped. See
    /// ``addObjects(_:toRelationship:)``.
    public func removeObjects(_ objects: some Sequence<NSManagedObject>, fromRelationship key: String) {
        let relationship = toManyRelationship(key)
        for object in objects { remove(object, from: relationship) }
    }

    /// Inserts objects into an ordered relationship so that they have the given indexes afterwards.
    ///
    /// Objects already in the relationship keep their place, as on Apple's platforms. The number of indexes must equal that of the
    /// objects, and none may exceed the end; otherwise the program stops with a message, where Apple's framework raises an exception. See
    /// ``addObjects(_:toRelationship:)``.
    public func insertObjects(_ objects: [NSManagedObject], at indexes: IndexSet, intoRelationship key: String) {
        stopProgram(unless: objects.count == indexes.count, "\(objects.count) objects cannot be inserted at \(indexes.count) indexes.")
        editOrder(key) { order in
            var present = Set(order)
            for (object, index) in zip(objects, indexes) where present.insert(object).inserted {
                stopProgram(unless: index <= order.count, "Index \(index) is beyond the end of “\(key)”, which has \(order.count) objects.")
                order.insert(object, at: index)
            }
        }
    }

    /// Removes the objects at indexes from an ordered relationship. See ``insertObjects(_:at:intoRelationship:)``.
    public func removeObjects(at indexes: IndexSet, fromRelationship key: String) {
        editOrder(key) { order in
            Self.check(indexes, key, order.count)
            for index in indexes.reversed() { order.remove(at: index) }
        }
    }

    /// Replaces the objects at indexes of an ordered relationship. An object that is elsewhere in the relationship is skipped, as on
    /// Apple's platforms. See ``insertObjects(_:at:intoRelationship:)``.
    public func replaceObjects(at indexes: IndexSet, with objects: [NSManagedObject], inRelationship key: String) {
        stopProgram(unless: objects.count == indexes.count, "\(objects.count) objects cannot replace those at \(indexes.count) indexes.")
        editOrder(key) { order in
            Self.check(indexes, key, order.count)
            var present = Set(order)
            for (object, index) in zip(objects, indexes) where present.insert(object).inserted {
                present.remove(order[index])
                order[index] = object
            }
        }
    }

    /// Returns a mutable proxy of a to-many relationship: changing it changes the relationship.
    ///
    /// - Parameter key: The name of an unordered to-many relationship. Another key stops the program with a message.
    public func mutableSetValue(forKey key: String) -> RelationshipSet { RelationshipSet(self, toManyRelationship(key)) }

    /// Works like ``mutableSetValue(forKey:)`` for a key path over to-one relationships.
    ///
    /// - Returns: The proxy; nil if one of the to-one relationships is nil.
    public func mutableSetValue(forKeyPath keyPath: String) -> RelationshipSet! {
        owner(atEndOf: keyPath).map { $0.object.mutableSetValue(forKey: $0.key) }
    }

    /// Returns a mutable proxy of an ordered relationship: changing it changes the relationship.
    ///
    /// - Parameter key: The name of an ordered relationship. Another key stops the program with a message.
    public func mutableOrderedSetValue(forKey key: String) -> OrderedRelationshipSet {
        let relationship = toManyRelationship(key)
        stopProgram(unless: relationship.isOrdered, "“\(relationship)” has no order: use mutableSetValue(forKey:).")
        return OrderedRelationshipSet(self, relationship)
    }

    /// Works like ``mutableOrderedSetValue(forKey:)`` for a key path over to-one relationships.
    ///
    /// - Returns: The proxy; nil if one of the to-one relationships is nil.
    public func mutableOrderedSetValue(forKeyPath keyPath: String) -> OrderedRelationshipSet! {
        owner(atEndOf: keyPath).map { $0.object.mutableOrderedSetValue(forKey: $0.key) }
    }

    private func owner(atEndOf keyPath: String) -> (object: NSManagedObject, key: String)? {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        guard let owner = value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject else { return nil }
        return (owner, String(keyPath[keyPath.index(after: dot)...]))
    }

    private func toManyRelationship(_ key: String) -> NSRelationshipDescription {
        if AccessHooks.isActive, let relationship = relationship(named: key) { noteRead(at: relationship.slotIndex) }
        guard let relationship = relationship(named: key), relationship.isToMany else {
            stopProgram("“\(owningEntity).\(key)” is not a to-many relationship.")
        }
        return relationship
    }

    private func editOrder(_ key: String, _ edit: (inout [NSManagedObject]) -> Void) {
        let relationship = toManyRelationship(key)
        stopProgram(unless: relationship.isOrdered, "“\(relationship)” has no order.")
        editOrder(of: relationship, edit)
    }

    func editOrder(of relationship: NSRelationshipDescription, _ edit: (inout [NSManagedObject]) -> Void) {
        var order = toMany(relationship).objects
        edit(&order)
        setToMany(order, relationship)
    }

    private static func check(_ indexes: IndexSet, _ key: String, _ count: Int) {
        stopProgram(
            unless: (indexes.last ?? -1) < count, "Index \(indexes.last ?? 0) is beyond the end of “\(key)”, which has \(count) objects.")
    }
}
