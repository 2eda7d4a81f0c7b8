public import Foundation
internal import Predicates

// The remaining methods of NSOrderedSet and NSMutableOrderedSet.
extension OrderedRelationshipSet {
    // MARK: Reading

    /// The first object; nil if there is none.
    public var firstObject: Any? { array.first }
    /// The last object; nil if there is none.
    public var lastObject: Any? { array.last }
    /// The objects in the reverse order.
    public var reversed: NSOrderedSet { NSOrderedSet(array: array.reversed()) }
    /// Returns the objects at indexes.
    public func objects(at indexes: IndexSet) -> [Any] { indexes.map { object(at: $0) } }
    /// Returns whether another ordered set has the same objects in the same order.
    public func isEqual(to other: NSOrderedSet) -> Bool { array.elementsEqual(other.objects, by: ===) }
    /// Returns whether an object is also in another ordered set.
    public func intersects(_ other: NSOrderedSet) -> Bool { intersectsSet(other.members) }
    /// Returns whether an object is also in a set.
    public func intersectsSet(_ set: Set<AnyHashable>) -> Bool { array.contains { set.contains($0) } }
    /// Returns whether every object is also in another ordered set, in the same order.
    public func isSubset(of other: NSOrderedSet) -> Bool {
        let indexes = array.map { other.index(of: $0) }
        return !indexes.contains(NSNotFound) && zip(indexes, indexes.dropFirst()).allSatisfy { $0 < $1 }
    }
    /// Returns whether every object is also in a set.
    public func isSubset(of set: Set<AnyHashable>) -> Bool { array.allSatisfy { set.contains($0) } }
    /// Returns an enumerator over the objects, in order.
    public func objectEnumerator() -> NSEnumerator { NSArray(array: array).objectEnumerator() }
    /// Returns an enumerator over the objects, the last one first.
    public func reverseObjectEnumerator() -> NSEnumerator { NSArray(array: array.reversed()).objectEnumerator() }
    /// Calls `block` with each object and its index, until it sets the flag.
    public func enumerateObjects(_ block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void) { array.enumerate(block) }
    /// Returns the index of the first object for which `predicate` is true; `NSNotFound` if there is none.
    public func index(ofObjectPassingTest predicate: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Bool) -> Int {
        var found = NSNotFound
        array.enumerate { object, index, stop in
            guard predicate(object, index, stop) else { return }
            found = index
            stop.pointee = true
        }
        return found
    }
    /// Returns the indexes of the objects for which `predicate` is true.
    public func indexes(ofObjectsPassingTest predicate: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Bool) -> IndexSet {
        var found = IndexSet()
        array.enumerate { object, index, stop in if predicate(object, index, stop) { found.insert(index) } }
        return found
    }
    /// Returns the objects sorted by a comparison.
    public func sortedArray(comparator: (Any, Any) -> ComparisonResult) -> [Any] {
        array.sorted { comparator($0, $1) == .orderedAscending }
    }
    /// Returns the objects sorted by sort descriptors. A descriptor that names no property stops the program with a message.
    public func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] { array.sortedOrStopping(using: sortDescriptors) }

    // MARK: Changing

    /// Adds the objects of another ordered set at the end, in their order.
    public func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
    /// Removes the objects of another ordered set.
    public func minus(_ other: NSOrderedSet) { removeObjects(in: other.array) }
    /// Removes the objects that are not in another ordered set.
    public func intersect(_ other: NSOrderedSet) { intersectSet(other.members) }
    /// Adds the objects of a set at the end, in no order.
    public func unionSet(_ other: Set<AnyHashable>) { addObjects(from: other.map(\.base)) }
    /// Removes the objects of a set.
    public func minusSet(_ other: Set<AnyHashable>) { removeObjects(in: other.map(\.base)) }
    /// Removes the objects that are not in a set.
    public func intersectSet(_ other: Set<AnyHashable>) { owner.editOrder(of: relationship) { $0.removeAll { !other.contains($0) } } }
    /// Replaces the object at an index, or appends it if the index is the end index.
    public func setObject(_ object: Any, at index: Int) { index == endIndex ? add(object) : replaceObject(at: index, with: object) }
    /// Removes the objects of a range of indexes.
    public func removeObjects(in range: NSRange) { removeObjects(at: IndexSet(integersIn: range.location..<range.location + range.length)) }
    /// Removes the objects that do not match a predicate; see ``Swift/Sequence/filtered(using:)``.
    public func filter(using predicate: NSPredicate) {
        let kept = Set(array.filtered(using: predicate))
        owner.editOrder(of: relationship) { $0.removeAll { !kept.contains($0) } }
    }
    /// Sorts the objects by sort descriptors. A descriptor that names no property stops the program with a message.
    public func sort(using sortDescriptors: [NSSortDescriptor]) {
        let sorted = array.sortedOrStopping(using: sortDescriptors)
        owner.editOrder(of: relationship) { $0 = sorted }
    }
    /// Sorts the objects by a comparison; equal objects keep their order.
    public func sort(options: NSSortOptions, usingComparator comparator: (Any, Any) -> ComparisonResult) { sort(comparator: comparator) }
    /// Sorts the objects of a range of indexes by a comparison; equal objects keep their order.
    public func sortRange(_ range: NSRange, options: NSSortOptions = [], usingComparator comparator: (Any, Any) -> ComparisonResult) {
        owner.editOrder(of: relationship) { order in
            order[range.location..<range.location + range.length].sort { comparator($0, $1) == .orderedAscending }
        }
    }
}

extension NSOrderedSet {
    fileprivate var objects: [AnyObject] { array.map { $0 as AnyObject } }
    fileprivate var members: Set<AnyHashable> { Set(array.compactMap { $0 as? AnyHashable }) }
}

extension [NSManagedObject] {
    func sortedOrStopping(using descriptors: [NSSortDescriptor]) -> [NSManagedObject] {
        do { return try sorted(using: descriptors) } catch { stopProgram("\(error)") }
    }

    func enumerate(_ block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void) {
        var stop = ObjCBool(false)
        for (index, object) in enumerated() {
            block(object, index, &stop)
            if stop.boolValue { return }
        }
    }
}
