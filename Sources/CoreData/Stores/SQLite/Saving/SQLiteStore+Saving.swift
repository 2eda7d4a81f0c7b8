internal import CSQLite
internal import CoreDataRuntime
internal import Foundation

extension SQLiteStore {
    func write(_ changes: StoreChangeSet, for caller: StoreCaller) throws {
        let inserted = try SQLRows(changes.inserted, of: self)
        let changed = try SQLRows(changes.updated.followed(by: changes.locked), of: self)
        try writeLock.withLock {
            func write(isCareful: Bool) throws -> [NSManagedObjectID] {
                try requireWriter().use { reader in
                    let connection = reader.database()
                    return try connection.withCache(cacheSize(changes, connection)) {
                        try self.write(changes, inserted, changed, isCareful, connection, for: caller)
                    }
                }
            }
            try refuseSharedValues(changes)
            let lost: [NSManagedObjectID]
            do { lost = try write(isCareful: false) } catch is SQLSave.UpdateMismatch { lost = try write(isCareful: true) }
            file(changes, inserted, changed)
            for id in lost { forgetRow(of: id) }
        }
        cache.sweepIfLarge()
    }

    /// Files the rows that were saved in the cache. Under the lock of writing, so that those of the next save come later.
    private func file(_ changes: StoreChangeSet, _ inserted: SQLRows, _ changed: SQLRows) {
        // First: what others have read until now must not come over what is filed here.
        cache.advance()
        related.removeAll()
        let derived = schema.derivedRoots
        for saved in [inserted, changed] {
            for (entity, range) in saved.runs where !derived.contains(entity.rootNumber) {
                cache.put(entity.rootNumber, range) { index in
                    coredata_prefetch(saved.slots[min(index + 12, saved.slots.count - 1)] - RowPrefix.size)
                    return (saved.slots[index], saved.keys[index])
                }
            }
        }
        // SQLite has computed values there, also of rows that were not saved.
        for root in derived { cache.removeAll(of: root) }
        changes.deleted.forEachRun { description, range in
            guard let entity = place(of: description) else { return }
            cache.remove(entity.rootNumber, range) { index in
                try? SlotPointer(changes.deleted[index].baseSlots)?.withRow(key(of:)) ?? key(of: changes.deleted[index].objectID)
            }
        }
    }

    /// Writes what was made ready.
    ///
    /// - Parameter isCareful: whether each row is updated by itself. Otherwise an ``SQLSave/UpdateMismatch`` may say that it must be done so.
    /// - Returns: changed objects that no table has, and of which nothing was to be written.
    private func write(
        _ changes: StoreChangeSet, _ inserted: SQLRows, _ changed: SQLRows, _ isCareful: Bool, _ connection: SQLConnection,
        for caller: StoreCaller
    ) throws -> [NSManagedObjectID] {
        var save = SQLSave(self, connection, isCareful: isCareful)
        historyNotes?.forget()
        do {
            try writing(connection) {
                try save.prepareOrders(changes)
                try save.delete(changes.deleted)
                try save.clearUniqueValues(of: changes.updated)
                try save.update(changed)
                if !save.conflicts.isEmpty || !save.mismatched.isEmpty { throw SQLSave.Mismatch() }
                try save.insert(inserted)
                try save.writeRelationships(changes)
                try save.writeOrders()
                try saveMetadata(connection)
                historyNotes?.noteRelationships(changes.updated, in: self)
                try writeHistory(connection, for: caller)
            }
        } catch is SQLSave.Mismatch {
            let deletions = try save.mismatched.compactMap { change -> StoreConflicts.Version? in
                let id = change.objectID
                guard let place = place(of: id) else { return nil }
                let row = try requireWriter().readRow(place.entity, place.key, isFresh: true)
                return row?.version == change.baseVersion ? nil : StoreConflicts.Version(id, stored: row)
            }
            // The policy settles with what the file has, and the cache must not dispute it afterwards.
            cache.advance()
            for conflict in save.conflicts { keep(conflict) }
            throw StoreConflicts(save.conflicts + deletions)
        }
        return save.lost
    }

    /// How many kilobytes of pages a save may keep: those of SQLite, and as many for each index that many rows come into or go from. 0 where
    /// the program has said how many.
    private func cacheSize(_ changes: StoreChangeSet, _ connection: SQLConnection) throws -> Int {
        if changes.inserted.count + changes.deleted.count < 2000 { return 0 }
        if try SQLiteOptions(options).pragmas.contains(where: { $0.name == "cache_size" }) { return 0 }
        var tables: Set<SQLIdentifier> = []
        for part in [changes.inserted, changes.deleted] {
            try part.forEachRun { entity, _ in tables.insert(try sqlEntity(entity).table) }
        }
        var indexes = 0
        for table in tables {
            indexes += try connection.with("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = ?") { statement in
                statement.bind(table.name, at: 1)
                return try statement.step() ? Int(statement.int64(0)) : 0
            }
        }
        return 2000 * min(1 + indexes, 8)
    }

    /// The key of a row that is to be saved here.
    ///
    /// - Throws: code 133000 for one of another store.
    @inline(__always) func key(of row: Row) throws -> Int64 {
        let key: Int64? = row.block.withOrigin { origin in
            guard let origin else { return nil }
            return origin.store.token === token ? SlotPointer(row.slots).prefix.pointee.number : nil
        }
        if let key { return key }
        return try self.key(of: row.knownObjectID)
    }

    /// The key of an object that is to be saved here.
    ///
    /// - Throws: code 133000 for one of another store.
    func key(of id: NSManagedObjectID) throws -> Int64 {
        if case .integer(let key) = id.reference, id.token === token { return key }
        throw CoreDataError.make(
            NSManagedObjectReferentialIntegrityError, "\(id) cannot be saved.",
            reason: "It does not belong to the store at \(url?.path ?? "no place").", info: [NSAffectedObjectsErrorKey: [id]])
    }

    private func keep(_ conflict: StoreConflicts.Version) {
        guard let place = place(of: conflict.objectID) else { return }
        if let row = conflict.stored {
            cache.put(place.entity.rootNumber, 0..<1) { _ in (row.slots, place.key) }
        } else {
            cache.remove(place.entity.rootNumber, place.key)
        }
    }

    private func saveMetadata(_ connection: SQLConnection) throws {
        guard let metadata, !NSDictionary(dictionary: metadata).isEqual(NSDictionary(dictionary: savedMetadata)) else { return }
        try SQLiteMetadata.write(metadata, to: connection)
        savedMetadata = metadata
    }

    func writer(_ entity: NSEntityDescription) throws -> SQLEntityWriter { try writer(sqlEntity(entity)) }

    func writer(_ entity: SQLEntity) throws -> SQLEntityWriter {
        if let known = writers[ObjectIdentifier(entity)] { return known }
        let writer = try SQLEntityWriter(
            entity, schema: schema, token: token, rows: requireWriter().schema(of: entity.entity), externalFiles: externalFiles)
        writers[ObjectIdentifier(entity)] = writer
        return writer
    }
}
