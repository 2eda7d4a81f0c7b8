internal import Foundation

/// The objects a context will insert, update or delete at the next save, in the order in which they came.
///
/// Each object knows its place, so that taking one out costs no search; an object stands in one list at most. Gaps are closed when they
/// are half of the list.
struct ObjectList {
    private var objects: [NSManagedObject?] = []
    private(set) var count = 0
    /// The objects as a set, once it has been asked for: of large saves it would be built again for each notification.
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

    /// Empties the list and answers what it held.
    mutating func removeAll() -> [NSManagedObject] {
        let all = elements
        all.forEachUncounted { $0.listIndex = -1 }
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

    /// Different objects as a set: the list's own, which is kept, where they are all that it holds.
    mutating func set(of objects: [NSManagedObject]) -> Set<NSManagedObject> {
        if objects.isEmpty { return [] }
        return objects.count == count && objects.allSatisfyUncounted(contains) ? set : objects.objectSet
    }

    private func contains(_ object: NSManagedObject) -> Bool {
        let index = Int(object.listIndex)
        return index >= 0 && index < objects.count && objects[index] === object
    }

    var elements: [NSManagedObject] {
        // Without gaps the array is one of objects already: an optional reference looks like the reference itself.
        count == objects.count ? uncheckedArray(objects, of: NSManagedObject.self) : objects.compactMap { $0 }
    }
}
