internal import Foundation

extension SQLiteStore {
    func makePermanentIDs(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        let connection = try database()
        var counts: [Int64: (entity: SQLEntity, count: Int64)] = [:]
        var lastEntity: NSEntityDescription?
        var last: SQLEntity?
        for object in objects {
            if object.owningEntity !== lastEntity {
                last = try sqlEntity(object.owningEntity)
                lastEntity = object.owningEntity
            }
            counts[last!.rootNumber, default: (last!, 0)].count += 1
        }
        // Keys are given out by the file, so that connections of others take no equal ones. A key that a failed save leaves is lost.
        var next: [Int64: Int64] = [:]
        try connection.transaction {
            for (root, group) in counts {
                let end = try allocate(group.count, root, group.entity)
                next[root] = end - group.count + 1
            }
        }
        return try objects.mapUncounted { object in
            if object.owningEntity !== lastEntity {
                last = try sqlEntity(object.owningEntity)
                lastEntity = object.owningEntity
            }
            let root = last!.rootNumber
            let key = next[root].unsafelyUnwrapped
            next[root] = key + 1
            return values.id(key, of: object.owningEntity)
        }
    }

    /// Takes so many keys of a table. Within a transaction.
    ///
    /// - Returns: the last of them.
    func allocate(_ count: Int64, _ root: Int64, _ entity: SQLEntity) throws -> Int64 {
        let connection = try database()
        if checkedRoots.insert(root).inserted {
            // A file that others have written to may hold keys beyond its own count, or have none.
            try connection.with(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) SELECT ?1, ?2, 0, 0 "
                    + "WHERE NOT EXISTS (SELECT 1 FROM Z_PRIMARYKEY WHERE Z_ENT = ?1)"
            ) { statement in
                statement.bind(root, at: 1)
                statement.bind(entity.entity.rootEntity.name ?? "", at: 2)
                try statement.run()
            }
            try connection.with(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = max(ifnull(Z_MAX, 0), (SELECT ifnull(max(Z_PK), 0) FROM \(entity.table))) WHERE Z_ENT = ?"
            ) { statement in
                statement.bind(root, at: 1)
                try statement.run()
            }
        }
        try connection.with("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + ? WHERE Z_ENT = ?") { statement in
            statement.bind(count, at: 1)
            statement.bind(root, at: 2)
            try statement.run()
        }
        return try connection.with("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?") { statement in
            statement.bind(root, at: 1)
            return try statement.step() ? statement.int64(0) : count
        }
    }
}
