internal import CSQLite
internal import CoreDataRuntime
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension SQLiteStore {
    func write(_ changes: StoreChangeSet, for caller: StoreCaller) throws {
        let inserted = try SQLRows(changes.inserted, of: self)
        let changed = try SQLRows(changes.updated.appending(contentsOf: changes.locked), of: self)
        try writeLock.withLock {
            func write(isCareful: Bool) throws -> [NSManagedObjectID] {
                try requireWriter().use { reader in
                    let connection = reader.database()
                    return try connection.withCache(cacheSize(changes, connection)) {
                        try self.write(changes, inserted, changed, isCareful, connection, for: caller)
                    }
                }
            }
            try checkConflicts(changes)
            let lost: [NSManagedObjectID]
            do { lost = try write(isCareful: false) } catch is SQLSave.UpdateMismatch { lost = try write(isCareful: true) }
            cacheRows(changes, inserted, changed)
            for id in lost { forgetRow(of: id) }
        }
        postRemoteChange()
        cache.sweepIfLarge()
    }

    /// Throws if objects violate a uniqueness constraint. If other clients have changed objects of the save, those are the conflict instead.
    ///
    /// Versions are compared first, as in every store: the owners of unique values are only known after the merge policy has merged the other
    /// clients' changes. Saves without a conflict compare the versions while they write.
    private func checkConflicts(_ changes: StoreChangeSet) throws {
        var constraints: StoreConflicts?
        do { try checkUniqueness(changes) } catch let conflicts as StoreConflicts { constraints = conflicts }
        var versions = try changes.returning.compactMap { id in try storedRow(of: id).map { StoreConflicts.Version(id, stored: $0) } }
        if constraints == nil, versions.isEmpty { return }
        for part in [changes.updated, changes.deleted, changes.locked] { versions += try part.compactMap(versionConflict) }
        if let constraints, versions.isEmpty { throw constraints }
        cache.advance()
        for conflict in versions { keep(conflict) }
        throw StoreConflicts(versions)
    }

    /// Returns the row that the file has now.
    private func storedRow(of id: NSManagedObjectID) throws -> Row? {
        guard let place = place(of: id) else { return nil }
        return try requireWriter().readRow(place.entity, place.key, isFresh: true)
    }

    /// Returns the conflict of a change whose row others have changed since.
    private func versionConflict(_ change: StoreChange) throws -> StoreConflicts.Version? {
        let id = change.objectID
        guard let base = change.baseVersion, place(of: id) != nil else { return nil }
        let row = try storedRow(of: id)
        return row?.version == base ? nil : StoreConflicts.Version(id, stored: row)
    }

    /// Caches the saved rows. Call it under the write lock, so that those of the next save follow.
    private func cacheRows(_ changes: StoreChangeSet, _ inserted: SQLRows, _ changed: SQLRows) {
        // First: rows read by others until now must not replace the ones cached here.
        cache.advance()
        related.removeAll()
        let derived = schema.derivedRoots
        for saved in [inserted, changed] {
            for (entity, range) in saved.runs where !derived.contains(entity.rootNumber) {
                cache.put(entity.rootNumber, range) { index in
                    let next = min(index + 12, saved.slots.count - 1)
                    coredata_prefetch(saved.slots[next] - RowPrefix.size)
                    coredata_prefetch(saved.slots[next] - RowBlock.distanceToFirstRow)
                    // The row that is replaced.
                    if let base = saved.changes[next].baseSlots { coredata_prefetch(base - RowPrefix.size) }
                    return (saved.slots[index], saved.keys[index])
                }
            }
        }
        // SQLite has computed values, also in rows that were not saved.
        for root in derived { cache.removeAll(of: root) }
        changes.deleted.forEachRun { description, range in
            guard let entity = place(of: description) else { return }
            cache.remove(entity.rootNumber, range) { index in
                try? changes.deleted[index].baseSlots.map { try Row.with($0, key(of:)) } ?? key(of: changes.deleted[index].objectID)
            }
        }
    }

    /// Writes the prepared rows.
    ///
    /// - Parameter isCareful: Whether to update each row separately. Otherwise an ``SQLSave/UpdateMismatch`` may require that.
    /// - Returns: The changed objects that have no row and for which nothing was written.
    private func write(
        _ changes: StoreChangeSet, _ inserted: SQLRows, _ changed: SQLRows, _ isCareful: Bool, _ connection: SQLConnection,
        for caller: StoreCaller
    ) throws -> [NSManagedObjectID] {
        var save = SQLSave(self, connection, isCareful: isCareful)
        historyNotes?.forget()
        var written: [String: Any]?
        do {
            try writing(connection) {
                try save.prepareOrders(changes)
                try save.delete(changes.deleted)
                try save.clearUniqueValues(of: changes.updated)
                do {
                    try save.update(changed)
                } catch let error as NSError
                    where error.code == NSManagedObjectConstraintMergeError && !(save.conflicts.isEmpty && save.mismatched.isEmpty)
                {
                    // A row that others have changed was not deleted or updated, and still has its unique values.
                    throw SQLSave.Mismatch()
                }
                if !save.conflicts.isEmpty || !save.mismatched.isEmpty { throw SQLSave.Mismatch() }
                try save.insert(inserted)
                try save.writeRelationships(changes)
                try save.writeOrders()
                written = try saveMetadata(connection)
                historyNotes?.noteRelationships(changes.updated, at: place(of:))
                try writeHistory(connection, for: caller)
            }
        } catch is SQLSave.Mismatch {
            let found = Set(save.conflicts.map(\.objectID))
            let others = try save.mismatched.filter { !found.contains($0.objectID) }.compactMap(versionConflict)
            // The merge policy uses the rows of the file, and the cache must agree with them afterwards.
            cache.advance()
            for conflict in save.conflicts { keep(conflict) }
            throw StoreConflicts(save.conflicts + others)
        }
        // Not earlier: a transaction that is not committed has written nothing.
        if let written { (savedMetadata, savedMetadataNumber) = (written, nil) }
        return save.lost
    }

    /// Returns the page cache size of a save in kilobytes: SQLite's default, and as much again for each index that many rows are added to or removed
    /// from. Returns 0 if the program has set the size.
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

    /// Returns the key of a row to be saved here.
    ///
    /// - Throws: Code 133000 for a row of another store.
    @inline(__always) func key(of row: Row) throws -> Int64 {
        let key: Int64? = row.block.withOrigin { origin in
            guard let origin else { return row.number(ofStoreWith: token) }
            return origin.store.token === token ? SlotPointer(row.slots).prefix.pointee.number : nil
        }
        if let key { return key }
        return try self.key(of: row.knownObjectID)
    }

    /// Returns the key of an object to be saved here.
    ///
    /// - Throws: Code 133000 for an object of another store.
    func key(of id: NSManagedObjectID) throws -> Int64 {
        if case .integer(let key) = id.reference, id.token === token { return key }
        throw CoreDataError.make(
            NSManagedObjectReferentialIntegrityError, "\(id) cannot be saved.",
            reason: "It does not belong to the store at \(url?.path ?? "no URL").", info: [NSAffectedObjectsErrorKey: [id]])
    }

    private func keep(_ conflict: StoreConflicts.Version) {
        guard let place = place(of: conflict.objectID) else { return }
        if let row = conflict.stored {
            cache.put(place.entity.rootNumber, 0..<1) { _ in (row.slots, place.key) }
        } else {
            cache.remove(place.entity.rootNumber, place.key)
        }
    }

    /// Writes changed metadata within the transaction of a save.
    ///
    /// - Returns: The written metadata; nil if they are unchanged.
    private func saveMetadata(_ connection: SQLConnection) throws -> [String: Any]? {
        guard let metadata = changedMetadata(since: savedMetadata, equal: &savedMetadataNumber) else { return nil }
        try SQLiteMetadata.write(metadata, to: connection)
        // A store that was opened whatever its version is of the model from its first save on.
        let hashes = [metadata, savedMetadata].map { $0[NSStoreModelVersionHashesKey] as? [String: Data] }
        if hashes[0] != hashes[1], let model = persistentStoreCoordinator?.managedObjectModel {
            try connection.execute("CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB); DELETE FROM Z_MODELCACHE")
            try SQLiteModelCache.write(model, to: connection)
        }
        return metadata
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
