internal import Foundation

/// The objects of a to-many relationship, with the methods of `NSMutableSet`: changing it changes the relationship, inverses included.
///
/// It shows the relationship as it is at any time, and belongs to the queue of its context. Foundation on Linux cannot be given a subclass of
/// `NSMutableSet` that behaves (cast to `Set` it would be empty), so this is a type of its own; `set` and `allObjects` give plain values.
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
    /// One of the objects; nil where there is none.
    public func anyObject() -> NSManagedObject? { storage.objects.first }
    /// Whether an object is among them.
    public func contains(_ anObject: Any) -> Bool { (anObject as? NSManagedObject).map(storage.contains) ?? false }
    /// The object, if it is among them.
    public func member(_ object: Any) -> NSManagedObject? { (object as? NSManagedObject).flatMap { storage.contains($0) ? $0 : nil } }
    /// The objects, in no order.
    public func makeIterator() -> IndexingIterator<[NSManagedObject]> { storage.objects.makeIterator() }

    /// Adds an object. Anything else than an object that may stand in the relationship is refused; validation reports it at save.
    public func add(_ object: Any) {
        guard let object = object as? NSManagedObject else { return owner.refuseMember(object, of: relationship) }
        owner.add(object, to: relationship)
    }

    /// Takes an object out.
    public func remove(_ object: Any) { if let object = object as? NSManagedObject { owner.remove(object, from: relationship) } }
    /// Adds objects.
    public func addObjects(from array: [Any]) { for object in array { add(object) } }
    /// Takes all objects out.
    public func removeAllObjects() { owner.setToMany([], relationship) }
    /// Adds objects.
    public func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }
    /// Takes objects out.
    public func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }
    /// Takes out what is not among `otherSet`.
    public func intersect(_ otherSet: Set<AnyHashable>) { for object in allObjects where !otherSet.contains(object) { remove(object) } }
    /// Replaces the objects.
    public func setSet(_ otherSet: Set<AnyHashable>) { owner.setCurrentValue(otherSet.map(\.base), of: relationship) }
}
