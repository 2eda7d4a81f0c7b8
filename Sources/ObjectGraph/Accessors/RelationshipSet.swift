internal import Foundation

/// A mutable proxy of a to-many relationship with the methods of `NSMutableSet`: changing it changes the relationship and its inverses.
///
/// It always reflects the current relationship and belongs to the queue of the object's context. Foundation on Linux does not support
/// subclasses of `NSMutableSet` (cast to `Set`, they are empty), so this is a separate type; `set` and `allObjects` return plain values.
public final class RelationshipSet: Sequence {
    let owner: NSManagedObject
    let relationship: NSRelationshipDescription

    init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription) {
        self.owner = owner
        self.relationship = relationship
    }

    private var storage: ToManyStorage {
        if AccessHooks.isActive { owner.noteRead(at: relationship.slotIndex) }
        return owner.toMany(relationship)
    }

    /// The number of objects.
    public var count: Int { storage.objects.count }
    /// The objects.
    public var allObjects: [NSManagedObject] { storage.objects }
    /// The objects.
    public var set: Set<NSManagedObject> { Set(storage.objects) }
    /// Returns one of the objects; nil if there is none.
    public func anyObject() -> NSManagedObject? { storage.objects.first }
    /// Returns whether an object is in the set.
    public func contains(_ anObject: Any) -> Bool { (anObject as? NSManagedObject).map(storage.contains) ?? false }
    /// Returns the object if it is in the set.
    public func member(_ object: Any) -> NSManagedObject? { (object as? NSManagedObject).flatMap { storage.contains($0) ? $0 : nil } }
    /// Returns an iterator over the objects, in no order.
    public func makeIterator() -> IndexingIterator<[NSManagedObject]> { storage.objects.makeIterator() }

    /// Adds an object. A value that the relationship cannot hold is rejected; validation reports it at the save.
    public func add(_ object: Any) {
        guard let object = object as? NSManagedObject else { return owner.rejectMember(object, of: relationship) }
        owner.add(object, to: relationship)
    }

    /// Removes an object.
    public func remove(_ object: Any) { if let object = object as? NSManagedObject { owner.remove(object, from: relationship) } }
    /// Adds objects.
    public func addObjects(from array: [Any]) { for object in array { add(object) } }
    /// Removes all objects.
    public func removeAllObjects() { owner.setToMany([], relationship) }
    /// Adds objects.
    public func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }
    /// Removes objects.
    public func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }
    /// Removes the objects that are not in `otherSet`.
    public func intersect(_ otherSet: Set<AnyHashable>) { for object in allObjects where !otherSet.contains(object) { remove(object) } }
    /// Replaces the objects.
    public func setSet(_ otherSet: Set<AnyHashable>) { owner.setCurrentValue(otherSet.map(\.base), of: relationship) }
}
