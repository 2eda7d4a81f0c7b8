public import Foundation

/// The objects of an ordered relationship, with the methods of `NSMutableOrderedSet`: changing it changes the relationship, inverses included.
///
/// It shows the relationship as it is at any time, and belongs to the queue of its context. An object stands in it once: adding it again does
/// nothing. An index beyond the end stops the program with a message. Foundation on Linux cannot be given a subclass of
/// `NSMutableOrderedSet` that behaves, so this is a type of its own; `array` and `orderedSet` give plain values.
public final class OrderedRelationshipSet: RandomAccessCollection {
    let owner: NSManagedObject
    let relationship: NSRelationshipDescription

    init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription) {
        self.owner = owner
        self.relationship = relationship
    }

    private var storage: ToManyStorage { owner.toMany(relationship) }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { storage.objects.count }
    /// The objects, in their order.
    public var array: [NSManagedObject] { storage.objects }
    /// The objects, in their order.
    public var orderedSet: NSOrderedSet { NSOrderedSet(array: storage.objects) }
    /// The objects, without their order.
    public var set: Set<NSManagedObject> { Set(storage.objects) }
    /// The object at a place. Setting it is as ``replaceObject(at:with:)``.
    public subscript(index: Int) -> NSManagedObject {
        get { storage.objects[index] }
        set { replaceObject(at: index, with: newValue) }
    }
    /// The object at a place.
    public func object(at index: Int) -> NSManagedObject { storage.objects[index] }
    /// The place of an object; `NSNotFound` where it is not among them.
    public func index(of object: Any) -> Int { (object as? NSManagedObject).flatMap { storage.index(of: $0) } ?? NSNotFound }
    /// Whether an object is among them.
    public func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }

    /// Adds an object at the end. Anything else than an object that may stand in the relationship is refused; validation reports it at save.
    public func add(_ object: Any) {
        guard let object = object as? NSManagedObject else { return owner.refuseMember(object, of: relationship) }
        owner.add(object, to: relationship)
    }

    /// Adds objects at the end.
    public func addObjects(from array: [Any]) { for object in array { add(object) } }

    /// Inserts an object. One that is there already stays where it is.
    public func insert(_ object: Any, at index: Int) {
        guard let object = object as? NSManagedObject else { return owner.refuseMember(object, of: relationship) }
        insert([object], at: [index])
    }

    /// Inserts objects: the first will stand at the first of `indexes`, and so on.
    public func insert(_ objects: [NSManagedObject], at indexes: IndexSet) {
        owner.insertObjects(objects, at: indexes, intoRelationship: relationship.name)
    }

    /// Takes an object out.
    public func remove(_ object: Any) { if let object = object as? NSManagedObject { owner.remove(object, from: relationship) } }
    /// Takes the object at a place out.
    public func removeObject(at index: Int) { removeObjects(at: [index]) }
    /// Takes the objects at some places out.
    public func removeObjects(at indexes: IndexSet) { owner.removeObjects(at: indexes, fromRelationship: relationship.name) }
    /// Takes objects out.
    public func removeObjects(in array: [Any]) { for object in array { remove(object) } }
    /// Takes all objects out.
    public func removeAllObjects() { owner.setToMany([], relationship) }

    /// Puts another object into the place of one. An object that is there already stays where it is, and so does the one to be replaced.
    public func replaceObject(at index: Int, with object: Any) {
        guard let object = object as? NSManagedObject else { return owner.refuseMember(object, of: relationship) }
        owner.replaceObjects(at: [index], with: [object], inRelationship: relationship.name)
    }

    /// Replaces the objects at some places.
    public func replaceObjects(at indexes: IndexSet, with objects: [NSManagedObject]) {
        owner.replaceObjects(at: indexes, with: objects, inRelationship: relationship.name)
    }

    /// Moves objects, keeping the order among them, so that the first of them stands at `index` afterwards.
    public func moveObjects(at indexes: IndexSet, to index: Int) {
        owner.editOrder(of: relationship) { order in
            let moved = indexes.map { order[$0] }
            for index in indexes.reversed() { order.remove(at: index) }
            order.insert(contentsOf: moved, at: index)
        }
    }

    /// Lets two objects change places.
    public func exchangeObject(at index1: Int, withObjectAt index2: Int) { owner.editOrder(of: relationship) { $0.swapAt(index1, index2) } }

    /// Sorts the objects.
    public func sort(comparator: (Any, Any) -> ComparisonResult) {
        owner.editOrder(of: relationship) { $0.sort { comparator($0, $1) == .orderedAscending } }
    }
}
