public import Foundation

/// A mutable proxy of an ordered relationship with the methods of `NSMutableOrderedSet`: changing it changes the relationship and its
/// inverses.
///
/// It always reflects the current relationship and belongs to the queue of the object's context. An object is in it once: adding it again
/// has no effect. An index out of range stops the program with a message. Foundation on Linux does not support subclasses of
/// `NSMutableOrderedSet`, so this is a separate type; `array` and `orderedSet` return plain values.
public final class OrderedRelationshipSet: RandomAccessCollection {
    let owner: NSManagedObject
    let relationship: NSRelationshipDescription

    init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription) {
        self.owner = owner
        self.relationship = relationship
    }

    private var storage: ToManyStorage { owner.toMany(relationship) }

    /// The first index, 0.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { storage.objects.count }
    /// The objects, in order.
    public var array: [NSManagedObject] { storage.objects }
    /// The objects, in order.
    public var orderedSet: NSOrderedSet { NSOrderedSet(array: storage.objects) }
    /// The objects, unordered.
    public var set: Set<NSManagedObject> { Set(storage.objects) }
    /// The object at an index. Setting it works like ``replaceObject(at:with:)``.
    public subscript(index: Int) -> NSManagedObject {
        get { storage.objects[index] }
        set { replaceObject(at: index, with: newValue) }
    }
    /// Returns the object at an index.
    public func object(at index: Int) -> NSManagedObject { storage.objects[index] }
    /// Returns the index of an object; `NSNotFound` if it is not in the set.
    public func index(of object: Any) -> Int { (object as? NSManagedObject).flatMap { storage.index(of: $0) } ?? NSNotFound }
    /// Returns the index of an object; `NSNotFound` if it is not in the set.
    public func index(of object: NSManagedObject) -> Int { storage.index(of: object) ?? NSNotFound }
    /// Returns whether an object is in the set.
    public func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }

    /// Adds an object at the end. A value that the relationship cannot hold is rejected; validation reports it at the save.
    public func add(_ object: Any) {
        guard let object = object as? NSManagedObject else { return owner.rejectMember(object, of: relationship) }
        owner.add(object, to: relationship)
    }

    /// Adds objects at the end.
    public func addObjects(from array: [Any]) { for object in array { add(object) } }

    /// Inserts an object. An object already in the set keeps its place.
    public func insert(_ object: Any, at index: Int) {
        guard let object = object as? NSManagedObject else { return owner.rejectMember(object, of: relationship) }
        insert([object], at: [index])
    }

    /// Inserts objects so that they have the given indexes afterwards.
    public func insert(_ objects: [NSManagedObject], at indexes: IndexSet) {
        owner.insertObjects(objects, at: indexes, intoRelationship: relationship.name)
    }

    /// Removes an object.
    public func remove(_ object: Any) { if let object = object as? NSManagedObject { owner.remove(object, from: relationship) } }
    /// Removes the object at an index.
    public func removeObject(at index: Int) { removeObjects(at: [index]) }
    /// Removes the objects at indexes.
    public func removeObjects(at indexes: IndexSet) { owner.removeObjects(at: indexes, fromRelationship: relationship.name) }
    /// Removes objects.
    public func removeObjects(in array: [Any]) { for object in array { remove(object) } }
    /// Removes all objects.
    public func removeAllObjects() { owner.setToMany([], relationship) }

    /// Replaces the object at an index. If the new object is already in the set, nothing changes.
    public func replaceObject(at index: Int, with object: Any) {
        guard let object = object as? NSManagedObject else { return owner.rejectMember(object, of: relationship) }
        owner.replaceObjects(at: [index], with: [object], inRelationship: relationship.name)
    }

    /// Replaces the objects at indexes.
    public func replaceObjects(at indexes: IndexSet, with objects: [NSManagedObject]) {
        owner.replaceObjects(at: indexes, with: objects, inRelationship: relationship.name)
    }

    /// Moves objects, in their order, so that the first of them is at `index` afterwards.
    public func moveObjects(at indexes: IndexSet, to index: Int) {
        owner.editOrder(of: relationship) { order in
            let moved = indexes.map { order[$0] }
            for index in indexes.reversed() { order.remove(at: index) }
            order.insert(contentsOf: moved, at: index)
        }
    }

    /// Exchanges two objects.
    public func exchangeObject(at index1: Int, withObjectAt index2: Int) { owner.editOrder(of: relationship) { $0.swapAt(index1, index2) } }

    /// Sorts the objects.
    public func sort(comparator: (Any, Any) -> ComparisonResult) {
        owner.editOrder(of: relationship) { $0.sort { comparator($0, $1) == .orderedAscending } }
    }
}
