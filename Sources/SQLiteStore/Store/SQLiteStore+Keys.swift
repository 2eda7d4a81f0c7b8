internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    package func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        // New objects are mostly grouped by entity: a lookup serves a run of them.
        var runs: [(entity: SQLEntity, count: Int)] = []
        var counts: [Int64: (entity: SQLEntity, count: Int64)] = [:]
        for (description, count) in new.entityRuns {
            let entity = try sqlEntity(description)
            runs.append((entity, count))
            counts[entity.rootNumber, default: (entity, 0)].count += Int64(count)
        }
        // The file assigns the keys, so that other connections get different ones. Keys of a failed save are lost.
        var next: [Int64: Int64] = [:]
        try writeLock.withLock {
            do {
                try database().transaction {
                    for (root, group) in counts {
                        let end = try allocate(group.count, root, group.entity)
                        next[root] = end - group.count + 1
                    }
                }
            } catch {
                // The counters that were checked are as before.
                checkedRoots = []
                throw error
            }
        }
        var ids: [NSManagedObjectID] = []
        ids.reserveCapacity(new.count)
        for (entity, count) in runs {
            let first = next[entity.rootNumber].known("keys were allocated for each run")
            let keyBase = NSManagedObjectID.keyBase(of: entity.entity)
            for key in first..<first + Int64(count) {
                ids.append(NSManagedObjectID(entity: entity.entity, token: token, number: key, keyBase: keyBase))
            }
            next[entity.rootNumber] = first + Int64(count)
        }
        return ids
    }

    /// Reserves keys of a table. Call it within a transaction.
    ///
    /// - Returns: The last key.
    func allocate(_ count: Int64, _ root: Int64, _ entity: SQLEntity) throws -> Int64 {
        let connection = try database()
        if checkedRoots.insert(root).inserted {
            // A file written by others may contain keys beyond its counter, or have no counter.
            try connection.with(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) SELECT ?1, ?2, 0, 0 "
                    + "WHERE NOT EXISTS (SELECT 1 FROM Z_PRIMARYKEY WHERE Z_ENT = ?1)"
            ) { statement in
                statement.bind(root, at: 1)
                statement.bind(entity.entity.rootEntity.name ?? "", at: 2)
                try statement.run()
            }
            try connection.with(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = max(CAST(ifnull(Z_MAX, 0) AS INTEGER), (SELECT ifnull(max(Z_PK), 0) FROM \(entity.table))) "
                    + "WHERE Z_ENT = ?"
            ) { statement in
                statement.bind(root, at: 1)
                try statement.run()
            }
        }
        let known = try connection.with("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?") { statement in
            statement.bind(root, at: 1)
            return try statement.step() ? statement.int64(0) : 0
        }
        let (last, overflows) = known.addingReportingOverflow(count)
        if overflows {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "New objects cannot be saved to the store at \(connection.path).",
                reason: "The table \(entity.table.name) has keys up to \(known), the largest there can be.",
                next: "Copy the objects into a new store.", info: [NSAffectedStoresErrorKey: [self]])
        }
        try connection.with("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?") { statement in
            statement.bind(last, at: 1)
            statement.bind(root, at: 2)
            try statement.run()
        }
        return last
    }
}
