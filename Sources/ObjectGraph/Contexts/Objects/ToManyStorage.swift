internal import Foundation

/// The state of an object's relationship.
enum RelationshipState {
    /// Not loaded.
    case fault
    /// The destination object.
    case toOne(NSManagedObject?)
    /// The destination objects, or the additions and removals made before they were loaded.
    case toMany(ToManyStorage)
}

/// The objects of a to-many relationship: an array with an index by identity.
///
/// Until ``isLoaded`` is true, it contains only additions and removals, so that an inverse is updated without a query.
final class ToManyStorage {
    let isOrdered: Bool
    // Both are read for each object that a predicate examines, in single steps, so accesses cannot overlap.
    @exclusivity(unchecked) private(set) var isLoaded: Bool
    @exclusivity(unchecked) private(set) var objects: [NSManagedObject] = []
    private(set) var removed: [ObjectIdentifier: NSManagedObject] = [:]
    /// The stored objects as loaded, or as of the last save.
    private var stored: [NSManagedObject] = []
    var storedObjects: [NSManagedObject] { stored }
    private(set) var pendingSave: PendingSave?
    /// The positions of the objects; created when there are more than a few.
    var positions: [ObjectIdentifier: Int]?

    init(isOrdered: Bool, isLoaded: Bool) {
        self.isOrdered = isOrdered
        self.isLoaded = isLoaded
    }

    /// Completes the storage with the store's objects, each once: a damaged file, or a store of others, may name one twice.
    func load(_ list: [NSManagedObject]) {
        defer { checkInvariants() }
        let found = list.distinct
        let added = objects
        var stored = found
        if case .changes(let added, let gone)? = pendingSave {
            let known = Set(found.map(ObjectIdentifier.init))
            stored.removeAll { gone[ObjectIdentifier($0)] != nil }
            stored += added.filter { !known.contains(ObjectIdentifier($0)) }
            pendingSave = .stored(found)
        }
        self.stored = stored
        objects = removed.isEmpty ? stored : stored.filter { removed[ObjectIdentifier($0)] == nil }
        positions = nil
        removed = [:]
        isLoaded = true
        for object in added where index(of: object) == nil { append(object) }
    }

    /// Returns whether objects were added, removed or moved since the storage was loaded or last saved.
    ///
    /// - Parameter ids: The stored IDs, if they are known without a query.
    func isChanged(from ids: [NSManagedObjectID]?) -> Bool {
        if !isLoaded {
            let changes = changesOnly(from: ids)
            return !changes.objects.isEmpty || !changes.removed.isEmpty
        }
        if objects.count != stored.count { return true }
        if zip(objects, stored).allSatisfy({ $0 === $1 }) { return false }
        return isOrdered || !stored.allSatisfy(contains)
    }

    /// Marks the current objects as saved.
    func didSave() {
        stored = objects
        checkInvariants()
    }

    // MARK: While a save is suspended

    /// The changes that a save has taken: they count as stored, although the store may not have them yet.
    enum PendingSave {
        /// The objects stored before, for a loaded list.
        case stored([NSManagedObject])
        /// The additions and removals, for a list that is not loaded.
        case changes(added: [NSManagedObject], removed: [ObjectIdentifier: NSManagedObject])
    }

    /// Marks the changes as taken by an asynchronous save; later changes start from them.
    func beginSave() {
        defer { checkInvariants() }
        if isLoaded {
            pendingSave = .stored(stored)
            stored = objects
        } else {
            pendingSave = .changes(added: objects, removed: removed)
            objects = []
            removed = [:]
            positions = nil
        }
    }

    /// Ends the save. Returns whether the storage contains nothing that the store does not have.
    func endSave() -> Bool {
        defer { checkInvariants() }
        pendingSave = nil
        return !isLoaded && objects.isEmpty && removed.isEmpty
    }

    /// Makes the changes of a failed save unsaved again, together with later ones.
    func cancelSave() {
        defer { checkInvariants() }
        switch pendingSave {
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
        pendingSave = nil
    }

    /// The storage without the changes made since the save began.
    var withoutLaterChanges: ToManyStorage {
        let storage = ToManyStorage(isOrdered: isOrdered, isLoaded: isLoaded)
        storage.stored = stored
        storage.objects = stored
        storage.pendingSave = pendingSave
        return storage
    }

    /// Returns a storage that contains only the additions and removals since the last save.
    ///
    /// - Parameter ids: The stored IDs, if they are known without a query: objects among them do not count as added.
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

    /// The objects added and removed since the last save, as far as they are known.
    var differences: (added: [NSManagedObject], removed: [NSManagedObject]) {
        if !isLoaded { return (objects, Array(removed.values)) }
        if stored.isEmpty { return (objects, []) }
        let before = Set(stored.map(ObjectIdentifier.init))
        let now = Set(objects.map(ObjectIdentifier.init))
        return (
            objects.filter { !before.contains(ObjectIdentifier($0)) }, stored.filter { !now.contains(ObjectIdentifier($0)) }
        )
    }

    /// Returns whether an object was added or removed while it is unknown whether the store has it.
    func isUncertain(_ object: NSManagedObject) -> Bool {
        if isLoaded { return false }
        if removed[ObjectIdentifier(object)] != nil || index(of: object) != nil { return true }
        guard case .changes(let added, let gone)? = pendingSave else { return false }
        return gone[ObjectIdentifier(object)] != nil || added.contains { $0 === object }
    }

    /// The stored objects that were removed since.
    var removedObjects: [NSManagedObject] {
        if !isLoaded { return Array(removed.values) }
        return stored.filter { !contains($0) }
    }

    /// Restores a removed object, if the store has it.
    func restore(_ object: NSManagedObject) {
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

    /// Records that an object has returned as a new one: the store knows the deleted object, for which `former` stands.
    func renewStored(_ object: NSManagedObject, by former: NSManagedObject?) {
        guard let index = stored.firstIndex(where: { $0 === object }) else { return }
        if let former { stored[index] = former } else { stored.remove(at: index) }
    }

    /// Returns whether the store contained these objects, in this order for an ordered relationship.
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
            // A damaged file may contain one twice.
            positions = Dictionary(objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
        }
        return positions![ObjectIdentifier(object)]
    }

    /// Inserts `object` at the end, or at an index of an ordered relationship. Returns false when it is already there.
    func insert(_ object: NSManagedObject, at index: Int? = nil) -> Bool {
        defer { checkInvariants() }
        // In an ordered relationship, an object that is added again moves to the end: it remains removed from its stored position.
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

    /// Removes `object`. Returns false if it is known to be absent.
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

    /// Replaces all objects.
    func replace(by new: [NSManagedObject]) {
        defer { checkInvariants() }
        objects = new
        removed = [:]
        positions = nil
        isLoaded = true
    }
}
