internal import Foundation

/// The objects that a context inserts, updates or deletes at the next save, in the order of their changes.
///
/// Each object knows its position, so removal takes constant time; an object is in one list at most. Gaps are closed when they make up
/// half of the list.
struct ObjectList {
    private var objects: [NSManagedObject?] = []
    private(set) var count = 0
    /// The cached set of the objects; large saves would otherwise build it for each notification.
    private var knownSet: Set<NSManagedObject>?

    var isEmpty: Bool { count == 0 }

    mutating func append(_ object: NSManagedObject) {
        object.listIndex = Int32(truncatingIfNeeded: objects.count)
        objects.append(object)
        count += 1
        knownSet = nil
    }

    mutating func remove(_ object: NSManagedObject) {
        let index = Int(object.listIndex)
        guard index >= 0, index < objects.count, objects[index] === object else { return }
        objects[index] = nil
        object.listIndex = -1
        count -= 1
        knownSet = nil
        if objects.count > 32, count < objects.count / 2 { compact() }
    }

    private mutating func compact() {
        objects = objects.filter { $0 != nil }
        for (index, object) in objects.enumerated() {
            object.known("the gaps have been closed").listIndex = Int32(truncatingIfNeeded: index)
        }
    }

    /// Empties the list and returns its objects. They keep their positions; a position only counts if the object is at it.
    mutating func removeAll() -> [NSManagedObject] {
        let all = elements
        self = ObjectList()
        return all
    }

    /// The objects as a set.
    var set: Set<NSManagedObject> {
        mutating get {
            if let knownSet { return knownSet }
            let set = elements.objectSet
            knownSet = set
            return set
        }
    }

    /// Returns distinct objects as a set, which is the cached set of the list if they are all of its objects.
    mutating func set(of objects: [NSManagedObject]) -> Set<NSManagedObject> {
        if objects.isEmpty { return [] }
        let areAll = objects.count == count && (areTheSame(objects) || objects.allSatisfyUncounted(contains))
        return areAll ? set : objects.objectSet
    }

    /// Returns whether these are the objects of the list in their order, as far as is known without reading them.
    private func areTheSame(_ other: [NSManagedObject]) -> Bool {
        // An optional reference has the layout of the reference.
        other.withUnsafeBytes { other in
            objects.withUnsafeBytes { own in
                guard own.count == other.count, let first = own.baseAddress, let second = other.baseAddress else { return false }
                return memcmp(first, second, own.count) == 0
            }
        }
    }

    private func contains(_ object: NSManagedObject) -> Bool {
        let index = Int(object.listIndex)
        return index >= 0 && index < objects.count && objects[index] === object
    }

    var elements: [NSManagedObject] {
        // Without gaps, the array is an array of objects: an optional reference has the layout of the reference.
        count == objects.count ? uncheckedArray(objects, of: NSManagedObject.self) : objects.compactMap { $0 }
    }
}
