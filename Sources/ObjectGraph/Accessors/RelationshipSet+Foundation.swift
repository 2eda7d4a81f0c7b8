public import Foundation
internal import Predicates

// The remaining methods of NSSet and NSMutableSet.
extension RelationshipSet {
    /// Returns whether an object is also in another set.
    public func intersects(_ otherSet: Set<AnyHashable>) -> Bool { allObjects.contains { otherSet.contains($0) } }
    /// Returns whether every object is also in another set.
    public func isSubset(of otherSet: Set<AnyHashable>) -> Bool { allObjects.allSatisfy { otherSet.contains($0) } }
    /// Returns whether another set has the same objects.
    public func isEqual(to otherSet: Set<AnyHashable>) -> Bool { count == otherSet.count && isSubset(of: otherSet) }
    /// Returns an enumerator over the objects, in no order.
    public func objectEnumerator() -> NSEnumerator { NSArray(array: allObjects).objectEnumerator() }
    /// Calls `block` with each object, in no order, until it sets the flag.
    public func enumerateObjects(_ block: (Any, UnsafeMutablePointer<ObjCBool>) -> Void) { allObjects.enumerate { block($0, $2) } }
    /// Returns the objects for which `predicate` is true.
    public func objects(passingTest predicate: (Any, UnsafeMutablePointer<ObjCBool>) -> Bool) -> Set<AnyHashable> {
        var found: Set<AnyHashable> = []
        allObjects.enumerate { object, _, stop in
            if predicate(object, stop), let object = object as? NSManagedObject { found.insert(object) }
        }
        return found
    }
    /// Returns the objects sorted by sort descriptors. A descriptor that names no property stops the program with a message.
    public func sortedArray(using sortDescriptors: [NSSortDescriptor]) -> [Any] { allObjects.sortedOrStopping(using: sortDescriptors) }
    /// Removes the objects that do not match a predicate; see ``Swift/Sequence/filtered(using:)``.
    public func filter(using predicate: NSPredicate) {
        let kept = Set(allObjects.filtered(using: predicate))
        for object in allObjects where !kept.contains(object) { remove(object) }
    }
}
