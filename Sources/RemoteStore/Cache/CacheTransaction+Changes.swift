internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The changes that a transaction is about to write.
extension CacheTransaction {
    // MARK: The changes

    /// The changes to write.
    var changes: StoreChangeSet {
        var set = StoreChangeSet()
        var roots: Set<ObjectIdentifier> = []
        for row in order where row.isChanged {
            if row.isDeleted {
                set.deleted.append(row.change())
            } else if row.base == nil {
                set.inserted.append(row.change())
                roots.insert(row.entity.root)
            } else {
                set.updated.append(row.change())
            }
        }
        for base in replaced { set.deleted.append(StoreChange(row: nil, base: base)) }
        if set.inserted.count > 1 { set.inserted = set.inserted.sortedByKey }
        var isSorted = true
        for (root, rows) in new {
            set.inserted.reserveCapacity(set.inserted.count + rows.count)
            rows.forEach { set.inserted.append(StoreChange(row: $1, base: nil)) }
            isSorted = isSorted && rows.isOfOneEntity && !roots.contains(root)
        }
        if !isSorted { set.inserted = set.inserted.sortedByKey }
        return set
    }

    /// Whether changes are staged so far.
    var hasChanges: Bool { new.values.contains { $0.count > 0 } || order.contains(where: \.isChanged) }

    /// Rows of the program's entities that a transaction changes.
    struct Changed: Sendable {
        var inserted: [CacheKey] = []
        var updated: [CacheKey] = []
        var deleted: [CacheKey] = []
        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

        mutating func add(_ other: Changed) {
            inserted += other.inserted
            updated += other.updated
            deleted += other.deleted
        }
    }

    /// The keys of the written rows, for the notification of contexts.
    var changedKeys: Changed {
        var keys = Changed()
        for row in order where row.isChanged && row.entity.outer != nil {
            if row.isDeleted {
                keys.deleted.append(row.key)
            } else if row.base == nil {
                keys.inserted.append(row.key)
            } else {
                keys.updated.append(row.key)
            }
        }
        for rows in new.values { rows.forEach { key, _ in keys.inserted.append(key) } }
        return keys
    }

    /// The number of rows of the program's entities that the transaction creates.
    var insertedCount: Int {
        order.reduce(0) { $0 + ($1.base == nil && !$1.isDeleted && $1.entity.outer != nil ? 1 : 0) }
            + new.values.reduce(0) { $0 + $1.count }
    }
}

extension [StoreChange] {
    /// The changes by entity and key, so that fewer statements write them.
    fileprivate var sortedByKey: [StoreChange] {
        var parts: [ObjectIdentifier: [StoreChange]] = [:]
        var entities: [ObjectIdentifier] = []
        forEachRun { entity, range in
            let id = ObjectIdentifier(entity)
            if parts[id] == nil { entities.append(id) }
            parts[id, default: []] += self[range]
        }
        return entities.flatMap { id in
            let part = parts[id] ?? []
            let numbers = part.map { $0.objectID.number ?? 0 }
            if zip(numbers, numbers.dropFirst()).allSatisfy(<) { return part }
            return zip(numbers, part).sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
