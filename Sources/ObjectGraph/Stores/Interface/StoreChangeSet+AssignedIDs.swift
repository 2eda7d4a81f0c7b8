internal import Foundation

extension StoreChangeSet {
    /// Returns the changes with the IDs that a store has assigned when it saved them, in place of temporary ones.
    ///
    /// Rows that contain no temporary ID stay unchanged.
    func naming(_ assigned: [NSManagedObjectID: NSManagedObjectID]) -> StoreChangeSet {
        if assigned.isEmpty { return self }
        var named = self
        named.inserted = inserted.map { $0.naming(assigned) }
        named.updated = updated.map { $0.naming(assigned) }
        named.locked = locked.map { $0.naming(assigned) }
        return named
    }

    /// The rows in which ``naming(_:)`` has replaced an ID.
    func renamedRows(since before: StoreChangeSet) -> [Row] {
        [(inserted, before.inserted), (updated, before.updated), (locked, before.locked)].flatMap { new, old in
            zip(new, old).compactMap { $0.row !== $1.row ? $0.row : nil }
        }
    }
}

extension StoreChange {
    fileprivate func naming(_ assigned: [NSManagedObjectID: NSManagedObjectID]) -> StoreChange {
        guard let row = row?.naming(assigned), row !== self.row else { return self }
        return StoreChange(row: row, base: base, changed: changed, lists: lists, wasMissing: wasMissing)
    }
}

extension Row {
    /// Returns the row with other IDs in place of temporary ones: both its own and those that it refers to.
    package func naming(_ assigned: [NSManagedObjectID: NSManagedObjectID]) -> Row {
        var copy: Row?
        func exclusive() -> Row {
            let row = copy ?? self.copy()
            copy = row
            return row
        }
        if let id = objectID, let new = assigned[id] { exclusive().objectID = new }
        for slot in layout.managed {
            switch slot.kind {
            case .objectID:
                if let id = objectID(at: slot), let new = assigned[id] { exclusive().setObjectID(new, at: slot) }
            case .objectIDs:
                guard let ids = objectIDs(at: slot)?.ids, ids.contains(where: { assigned[$0] != nil }) else { continue }
                exclusive().setObjectIDs(ObjectIDList(ids.map { assigned[$0] ?? $0 }), at: slot)
            default: continue
            }
        }
        return copy ?? self
    }
}
