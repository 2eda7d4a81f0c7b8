internal import Foundation
internal import Platform

extension RowCache {
    /// The objects that contexts have.
    var heldIDs: [NSManagedObjectID] {
        entries.withLock { entries in entries.compactMap { $1.holders > 0 && !$0.isTemporaryID ? $0 : nil } }
    }

    /// Returns whether a context has the object.
    func isHeld(_ id: NSManagedObjectID) -> Bool { entries.withLock { ($0[id]?.holders ?? 0) > 0 } }

    /// Forgets lists of relationships that contradict new rows, and removes deleted objects from lists.
    ///
    /// - Returns: The owners of the forgotten lists.
    func adaptLists(to rows: [NSManagedObjectID: Row], gone: Set<NSManagedObjectID>) -> Set<NSManagedObjectID> {
        defer { checkInvariants() }
        var removed: [Content] = []
        defer { withExtendedLifetime(removed) {} }
        return entries.withLock { entries in
            var owners: Set<NSManagedObjectID> = []
            for (id, entry) in entries where !entry.related.isEmpty {
                for (name, known) in entry.related {
                    guard let relationship = id.owningEntity.frozenParts.byName[name] as? NSRelationshipDescription else { continue }
                    if Self.contradicts(known.ids, relationship, of: id, rows) {
                        entries[id]?.related[name] = nil
                        owners.insert(id)
                    } else if known.ids.contains(where: gone.contains) {
                        entries[id]?.related[name]?.ids.removeAll(where: gone.contains)
                    }
                }
            }
            // The objects that a row refers to, and whose lists do not contain the row.
            for (id, row) in rows {
                for relationship in id.owningEntity.frozenParts.relationships where !relationship.isToMany && !row.isUnknown(relationship) {
                    guard let inverse = relationship.storedInverse, inverse.isToMany, let owner = row.relatedIDs(relationship).first,
                        let entry = entries[owner]
                    else { continue }
                    if let known = entry.related[inverse.name], !known.ids.contains(id) {
                        entries[owner]?.related[inverse.name] = nil
                        owners.insert(owner)
                    }
                    if case .row(let old)? = entry.content, rows[owner] == nil,
                        let own = owner.owningEntity.frozenParts.byName[inverse.name] as? NSRelationshipDescription,
                        old.knowsList(own), !old.relatedIDs(own).contains(id)
                    {
                        removed.append(.row(old))
                        entries[owner]?.content = nil
                        owners.insert(owner)
                    }
                }
            }
            return owners
        }
    }

    private static func contradicts(
        _ list: [NSManagedObjectID], _ relationship: NSRelationshipDescription, of id: NSManagedObjectID, _ rows: [NSManagedObjectID: Row]
    ) -> Bool {
        let inverse = relationship.storedInverse
        // The rows of the other end decide, if that end is to-one.
        if rows[id] != nil, inverse?.isToMany ?? true { return true }
        guard let inverse else { return false }
        return list.contains { member in
            guard let row = rows[member], let own = member.owningEntity.frozenParts.byName[inverse.name] as? NSRelationshipDescription,
                !own.isToMany || row.knowsList(own), !row.isUnknown(own)
            else { return false }
            return !row.relatedIDs(own).contains(id)
        }
    }
}

extension Row {
    /// Whether the row contains the list of a to-many relationship.
    fileprivate func knowsList(_ relationship: NSRelationshipDescription) -> Bool { mayHaveUnknown && !isUnknown(relationship) }
}
