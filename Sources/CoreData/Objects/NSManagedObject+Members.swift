public import Foundation

// What the methods that Xcode generates for to-many relationships do (`addToTracks(_:)`, `insertIntoTracks(_:at:)`, …), by key.
extension NSManagedObject {
    /// Adds objects to a to-many relationship, at the end of an order; those that are in it stay where they are. Keeps the inverses.
    ///
    /// An object that may not stand in the relationship is refused: validation reports it at save. A key that is no to-many relationship
    /// stops the program with a message. Call it on the context's queue.
    public func addObjects(_ objects: some Sequence<NSManagedObject>, toRelationship key: String) {
        let relationship = toManyRelationship(key)
        for object in objects { add(object, to: relationship) }
    }

    /// Takes objects out of a to-many relationship; those that are not in it are passed over. Keeps the inverses. See
    /// ``addObjects(_:toRelationship:)``.
    public func removeObjects(_ objects: some Sequence<NSManagedObject>, fromRelationship key: String) {
        let relationship = toManyRelationship(key)
        for object in objects { remove(object, from: relationship) }
    }

    /// Inserts objects into an ordered relationship: the first will stand at the first of `indexes`, and so on.
    ///
    /// Objects that are in the relationship already stay where they are, as on Apple's platforms. As many indexes as objects are needed, and
    /// none beyond the end; otherwise the program is stopped with a message, where Apple's raises. See ``addObjects(_:toRelationship:)``.
    public func insertObjects(_ objects: [NSManagedObject], at indexes: IndexSet, intoRelationship key: String) {
        precondition(objects.count == indexes.count, "\(objects.count) objects cannot be inserted at \(indexes.count) indexes.")
        editOrder(key) { order in
            var present = Set(order)
            for (object, index) in zip(objects, indexes) where present.insert(object).inserted {
                precondition(index <= order.count, "Index \(index) is beyond the end of “\(key)”, which has \(order.count) objects.")
                order.insert(object, at: index)
            }
        }
    }

    /// Takes the objects at some places out of an ordered relationship. See ``insertObjects(_:at:intoRelationship:)``.
    public func removeObjects(at indexes: IndexSet, fromRelationship key: String) {
        editOrder(key) { order in
            Self.check(indexes, key, order.count)
            for index in indexes.reversed() { order.remove(at: index) }
        }
    }

    /// Puts other objects into the places of those in an ordered relationship. An object that stands elsewhere in it leaves that place alone:
    /// it is passed over, as on Apple's platforms. See ``insertObjects(_:at:intoRelationship:)``.
    public func replaceObjects(at indexes: IndexSet, with objects: [NSManagedObject], inRelationship key: String) {
        precondition(objects.count == indexes.count, "\(objects.count) objects cannot replace those at \(indexes.count) indexes.")
        editOrder(key) { order in
            Self.check(indexes, key, order.count)
            var present = Set(order)
            for (object, index) in zip(objects, indexes) where present.insert(object).inserted {
                present.remove(order[index])
                order[index] = object
            }
        }
    }

    /// The objects of a to-many relationship, as something to change: what is added to it and taken out of it changes the relationship.
    ///
    /// - Parameter key: a to-many relationship without an order. Another key stops the program with a message.
    public func mutableSetValue(forKey key: String) -> RelationshipSet { RelationshipSet(self, toManyRelationship(key)) }

    /// As ``mutableSetValue(forKey:)``, at the end of a path of to-one relationships; nil where the path ends before.
    public func mutableSetValue(forKeyPath keyPath: String) -> RelationshipSet? {
        owner(atEndOf: keyPath).map { $0.object.mutableSetValue(forKey: $0.key) }
    }

    /// The objects of an ordered relationship, as something to change.
    ///
    /// - Parameter key: an ordered relationship. Another key stops the program with a message.
    public func mutableOrderedSetValue(forKey key: String) -> OrderedRelationshipSet {
        let relationship = toManyRelationship(key)
        precondition(relationship.isOrdered, "“\(relationship)” has no order: use mutableSetValue(forKey:).")
        return OrderedRelationshipSet(self, relationship)
    }

    /// As ``mutableOrderedSetValue(forKey:)``, at the end of a path of to-one relationships; nil where the path ends before.
    public func mutableOrderedSetValue(forKeyPath keyPath: String) -> OrderedRelationshipSet? {
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
            preconditionFailure("“\(owningEntity).\(key)” is no to-many relationship.")
        }
        return relationship
    }

    private func editOrder(_ key: String, _ edit: (inout [NSManagedObject]) -> Void) {
        let relationship = toManyRelationship(key)
        precondition(relationship.isOrdered, "“\(relationship)” has no order.")
        editOrder(of: relationship, edit)
    }

    func editOrder(of relationship: NSRelationshipDescription, _ edit: (inout [NSManagedObject]) -> Void) {
        var order = toMany(relationship).objects
        edit(&order)
        setToMany(order, relationship)
    }

    private static func check(_ indexes: IndexSet, _ key: String, _ count: Int) {
        precondition((indexes.last ?? -1) < count, "Index \(indexes.last ?? 0) is beyond the end of “\(key)”, which has \(count) objects.")
    }
}
