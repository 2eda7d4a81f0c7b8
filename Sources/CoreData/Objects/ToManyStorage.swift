internal import Foundation

/// What an object knows about one of its relationships.
enum RelationshipState {
    /// Nothing yet.
    case fault
    /// The object at the other end.
    case toOne(NSManagedObject?)
    /// The objects at the other end, or what was added and removed before the store was asked for them.
    case toMany(ToManyStorage)
}

/// The objects of a to-many relationship: an array with an index by identity.
///
/// Until ``isLoaded`` is true it holds only what was added and removed, so that an inverse can be kept without asking the store.
final class ToManyStorage {
    let isOrdered: Bool
    private(set) var isLoaded: Bool
    private(set) var objects: [NSManagedObject] = []
    private(set) var removed: [ObjectIdentifier: NSManagedObject] = [:]
    /// What the store had when it was asked, or has since the last save.
    private var stored: [NSManagedObject] = []
    var storedObjects: [NSManagedObject] { stored }
    private(set) var taken: Taken?
    /// Where each object stands; built when there are more than a few.
    var positions: [ObjectIdentifier: Int]?

    init(isOrdered: Bool, isLoaded: Bool) {
        self.isOrdered = isOrdered
        self.isLoaded = isLoaded
    }

    /// Completes the storage with what the store has.
    func load(_ found: [NSManagedObject]) {
        defer { checkInvariants() }
        let added = objects
        var stored = found
        if case .changes(let added, let gone)? = taken {
            let known = Set(found.map(ObjectIdentifier.init))
            stored.removeAll { gone[ObjectIdentifier($0)] != nil }
            stored += added.filter { !known.contains(ObjectIdentifier($0)) }
            taken = .stored(found)
        }
        self.stored = stored
        objects = removed.isEmpty ? stored : stored.filter { removed[ObjectIdentifier($0)] == nil }
        positions = nil
        removed = [:]
        isLoaded = true
        for object in added where index(of: object) == nil { append(object) }
    }

    /// Whether anything was added, removed or moved since the store was asked, or since the last save.
    ///
    /// - Parameter ids: what the store had, if that is known without asking it.
    func isChanged(from ids: [NSManagedObjectID]?) -> Bool {
        if !isLoaded {
            let changes = changesOnly(from: ids)
            return !changes.objects.isEmpty || !changes.removed.isEmpty
        }
        if objects.count != stored.count { return true }
        if zip(objects, stored).allSatisfy({ $0 === $1 }) { return false }
        return isOrdered || !stored.allSatisfy(contains)
    }

    /// The objects have been saved.
    func didSave() {
        stored = objects
        checkInvariants()
    }

    // MARK: While a save is suspended

    /// What a save has taken: it counts as stored, though the store may not have it yet.
    enum Taken {
        /// What the store had before, of a list that is loaded.
        case stored([NSManagedObject])
        /// What was added and removed, of one that is not.
        case changes(added: [NSManagedObject], removed: [ObjectIdentifier: NSManagedObject])
    }

    /// An asynchronous save takes what was changed: from here on it is what the next change starts from.
    func beginSave() {
        defer { checkInvariants() }
        if isLoaded {
            taken = .stored(stored)
            stored = objects
        } else {
            taken = .changes(added: objects, removed: removed)
            objects = []
            removed = [:]
            positions = nil
        }
    }

    /// The save is done. Answers whether nothing is known here that the store does not have.
    func endSave() -> Bool {
        defer { checkInvariants() }
        taken = nil
        return !isLoaded && objects.isEmpty && removed.isEmpty
    }

    /// The save has failed: what it has taken is unsaved again, and what was changed since.
    func takeBackSave() {
        defer { checkInvariants() }
        switch taken {
        case .stored(let before)?: stored = before
        case .changes(let added, let gone)?:
            let later = objects
            objects = added.filter { removed[ObjectIdentifier($0)] == nil }
            positions = nil
            for object in later where index(of: object) == nil { append(object) }
            let back = Set(later.map(ObjectIdentifier.init))
            removed.merge(gone.filter { isOrdered || !back.contains($0.key) }) { first, _ in first }
        case nil: break
        }
        taken = nil
    }

    /// The storage without what was changed since the save has begun.
    var withoutLaterChanges: ToManyStorage {
        let storage = ToManyStorage(isOrdered: isOrdered, isLoaded: isLoaded)
        storage.stored = stored
        storage.objects = stored
        storage.taken = taken
        return storage
    }

    /// A storage that knows no more than what was added and removed here since the last save.
    ///
    /// - Parameter ids: what the store had, if that is known without asking it: what was in it already was not added.
    func changesOnly(from ids: [NSManagedObjectID]? = nil) -> ToManyStorage {
        if !isLoaded {
            guard let ids, !objects.isEmpty || !removed.isEmpty else { return self }
            // A parent may have saved them since.
            let known = Set(ids.map(\.current))
            let changes = ToManyStorage(isOrdered: isOrdered, isLoaded: false)
            changes.objects = objects.filter { !known.contains($0.objectID.current) || removed[ObjectIdentifier($0)] != nil }
            changes.removed = removed.filter { known.contains($1.objectID.current) }
            return changes
        }
        let changes = ToManyStorage(isOrdered: isOrdered, isLoaded: false)
        let before = Set(stored.map(ObjectIdentifier.init))
        let now = Set(objects.map(ObjectIdentifier.init))
        changes.objects = objects.filter { !before.contains(ObjectIdentifier($0)) }
        for object in stored where !now.contains(ObjectIdentifier(object)) { changes.removed[ObjectIdentifier(object)] = object }
        return changes
    }

    /// The objects that were added here since the last save and those that were removed, each as far as is known here.
    var differences: (added: [NSManagedObject], removed: [NSManagedObject]) {
        if !isLoaded { return (objects, Array(removed.values)) }
        if stored.isEmpty { return (objects, []) }
        let before = Set(stored.map(ObjectIdentifier.init))
        let now = Set(objects.map(ObjectIdentifier.init))
        return (
            objects.filter { !before.contains(ObjectIdentifier($0)) }, stored.filter { !now.contains(ObjectIdentifier($0)) }
        )
    }

    /// Whether an object was added or removed, and whether the store has it is not known.
    func isUncertain(_ object: NSManagedObject) -> Bool {
        if isLoaded { return false }
        if removed[ObjectIdentifier(object)] != nil || index(of: object) != nil { return true }
        guard case .changes(let added, let gone)? = taken else { return false }
        return gone[ObjectIdentifier(object)] != nil || added.contains { $0 === object }
    }

    /// What the store had and what was taken out here since.
    var removedObjects: [NSManagedObject] {
        if !isLoaded { return Array(removed.values) }
        return stored.filter { !contains($0) }
    }

    /// An object that was taken out is back, where the store has it.
    func putBack(_ object: NSManagedObject) {
        defer { checkInvariants() }
        if !isLoaded {
            removed[ObjectIdentifier(object)] = nil
        } else if !contains(object), stored.contains(where: { $0 === object }) {
            let known = Set(stored.map(ObjectIdentifier.init))
            let added = objects.filter { !known.contains(ObjectIdentifier($0)) }
            objects = stored.filter { $0 === object || contains($0) } + added
            positions = nil
        }
    }

    /// Whether the store had these objects, in this order if order counts.
    func hadStored(_ ids: [NSManagedObjectID]) -> Bool {
        guard isLoaded, ids.count == stored.count else { return false }
        let before = stored.map(\.objectID.current)
        let ids = ids.map(\.current)
        return isOrdered ? before == ids : Set(before) == Set(ids)
    }

    func contains(_ object: NSManagedObject) -> Bool { index(of: object) != nil }

    func index(of object: NSManagedObject) -> Int? {
        if objects.count <= 8 { return objects.firstIndex { $0 === object } }
        if positions == nil {
            // A damaged file may name one twice.
            positions = Dictionary(objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
        }
        return positions![ObjectIdentifier(object)]
    }

    /// Adds `object` at the end, or at a place of an order. False when it is there already.
    func insert(_ object: NSManagedObject, at index: Int? = nil) -> Bool {
        defer { checkInvariants() }
        // In an order, what comes back comes to the end: it stays taken out of the place that the store has for it.
        if !isLoaded, !isOrdered { removed[ObjectIdentifier(object)] = nil }
        if self.index(of: object) != nil { return false }
        if let index, isOrdered, index < objects.count {
            objects.insert(object, at: index)
            positions = nil
        } else {
            append(object)
        }
        return true
    }

    private func append(_ object: NSManagedObject) {
        positions?[ObjectIdentifier(object)] = objects.count
        objects.append(object)
    }

    /// Takes `object` out. False when it is known not to be there.
    func remove(_ object: NSManagedObject) -> Bool {
        defer { checkInvariants() }
        let known = index(of: object)
        if let known {
            if isOrdered {
                objects.remove(at: known)
                positions = nil
            } else {
                let last = objects.removeLast()
                if last !== object {
                    objects[known] = last
                    positions?[ObjectIdentifier(last)] = known
                }
                positions?[ObjectIdentifier(object)] = nil
            }
        }
        if !isLoaded {
            removed[ObjectIdentifier(object)] = object
            return true
        }
        return known != nil
    }

    /// Replaces everything.
    func replace(by new: [NSManagedObject]) {
        defer { checkInvariants() }
        objects = new
        removed = [:]
        positions = nil
        isLoaded = true
    }
}
