internal import Foundation

extension StoreChangeSet {
    /// Creates the values of a save in one store. It may read from stores, so the caller must not hold a store's lock.
    ///
    /// - Parameter keepsLists: Whether rows contain the IDs of to-many relationships.
    /// - Throws: The error of a failing fault.
    init(_ objects: ChangeSet, keepsLists: Bool) throws {
        var lastEntity: UnsafeMutableRawPointer?
        var isPlain = false
        inserted = try objects.inserted.changes { object in
            // New objects mostly come grouped by entity, and many have only attributes.
            let entity = Unmanaged.passUnretained(object.owningEntity).toOpaque()
            if entity != lastEntity {
                lastEntity = entity
                isPlain = object.owningEntity.frozenParts.isPlain
            }
            if isPlain, let row = object.plainRowForSaving { return StoreChange(row: row, base: nil, changed: object.changed) }
            return StoreChange(
                row: try object.rowForSaving(keepsLists: keepsLists), base: nil, changed: object.changed,
                lists: object.relationships.isEmpty ? [] : try object.listDifferences())
        }
        if let known = objects.inserted.first?.registry?.context?.insertedAgain, !known.isEmpty {
            returning = objects.inserted.map(\.objectID).filter(known.contains)
        }
        updated = try objects.updated.changes { try StoreChange(changed: $0, keepsLists) }
        locked = try objects.locked.changes { try StoreChange(changed: $0, keepsLists) }
        deleted = objects.deleted.changes { object in
            let base = object.snapshot
            return StoreChange(
                row: nil, base: base, wasMissing: object.flags.contains(.inaccessible), identity: base == nil ? object.objectID : nil)
        }
    }
}

extension [NSManagedObject] {
    /// Returns a change for each object, iterating like ``Swift/Array/forEachUncounted(_:)``.
    @inline(__always) fileprivate func changes(_ make: (NSManagedObject) throws -> StoreChange) rethrows -> [StoreChange] {
        var changes: [StoreChange] = []
        changes.reserveCapacity(count)
        try forEachWithRow { changes.append(try make($0)) }
        return changes
    }
}

extension StoreChange {
    fileprivate init(changed object: NSManagedObject, _ keepsLists: Bool) throws {
        let row = try object.rowForSaving(keepsLists: keepsLists)
        self.init(
            row: row, base: object.snapshot, changed: object.changed,
            lists: object.relationships.isEmpty ? [] : try object.listDifferences(), wasMissing: object.flags.contains(.inaccessible))
    }
}

extension NSManagedObject {
    /// The row of an object without relationships and transient properties, prepared like ``rowForSaving(keepsLists:keepsTransients:)`` with fewer
    /// references counted; nil if the object needs that method.
    @inline(__always) fileprivate var plainRowForSaving: Row? {
        guard let slots, flags.contains(.hasExclusiveRow), origin == nil, let madeID else { return nil }
        let isPrepared = Row.with(slots) { row in
            row.version = (SlotPointer(snapshotSlots)?.prefix.pointee.version ?? 0) &+ 1
            return row.setFirstID(madeID)
        }
        return isPrepared ? Row(slots) : nil
    }

    /// Returns the changes of to-many relationships that a save writes: the changed ones, or all of a new object.
    fileprivate func listDifferences() throws -> [ListDifference] {
        var differences: [ListDifference] = []
        let isNew = flags.contains(.inserted)
        for relationship in owningEntity.frozen!.relationships where relationship.isToMany && !relationship.isTransient {
            guard isNew || changed.contains(relationship.slotIndex), case .toMany(let storage) = state(of: relationship) else { continue }
            let members = relationship.isOrdered ? toMany(relationship).objects : []
            let (added, removed) = isNew ? (storage.objects, []) : storage.differences
            differences.append(
                ListDifference(
                    slotIndex: relationship.slotIndex, name: relationship.name, added: added.map(\.objectID),
                    removed: removed.map(\.objectID), members: relationship.isOrdered ? members.map(\.objectID) : nil))
        }
        try registry?.context?.throwPendingFaultError()
        return differences
    }
}
