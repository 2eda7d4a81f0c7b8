internal import CSQLite
internal import Foundation

extension SQLiteStore {
    func write(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {
        // Every row is made before the first is written: making one may read others.
        let insertedRows = try changes.inserted.mapUncounted { try $0.rowForSaving(keepsLists: false) }
        let changed = changes.updated.followed(by: changes.locked)
        let changedRows = try changed.mapUncounted { try $0.rowForSaving(keepsLists: false) }
        // Not before: what fires faults may begin to read.
        let connection = try database()
        var save = SQLSave(self, connection)
        historyNotes?.forget()
        do {
            try writing(connection) {
                try save.prepareOrders(changes)
                try save.delete(changes.deleted)
                try save.clearUniqueValues(of: changes.updated)
                try save.update(changed, changedRows)
                if !save.conflicts.isEmpty || !save.mismatched.isEmpty { throw SQLSave.Mismatch() }
                try save.insert(insertedRows)
                try save.writeRelationships(changes)
                try save.writeOrders()
                try saveMetadata(connection)
                historyNotes?.noteRelationships(changes.updated, in: self)
                try writeHistory(connection, in: context)
            }
        } catch is SQLSave.Mismatch {
            let deletions = try save.mismatched.compactMap { object -> NSMergeConflict? in
                guard let place = place(of: object.objectID) else { return nil }
                let row = try freshRow(place.entity, place.key)
                return row?.version == object.snapshot?.version ? nil : NSMergeConflict(object, stored: row)
            }
            // The policy settles with what the file has, and the cache must not dispute it afterwards.
            for conflict in save.conflicts { keep(conflict) }
            throw NSMergeConflict.error(save.conflicts + deletions)
        }
        cache.noteTime()
        forgetRelated()
        let derived = schema.derivedRoots
        for rows in [insertedRows, changedRows] { rows.forEachUncounted { keep($0, unlessIn: derived) } }
        // SQLite has computed values there, also of rows that were not saved.
        for root in derived { cache.removeAll(of: root) }
        for object in changes.deleted { forgetRow(of: object.objectID) }
        for id in save.lost { forgetRow(of: id) }
        cache.sweep()
    }

    private func keep(_ conflict: NSMergeConflict) {
        guard let place = place(of: conflict.sourceObject.objectID) else { return }
        if let row = conflict.storedRow {
            cache.set(row.slots, place.entity.rootNumber, place.key)
        } else {
            cache.remove(place.entity.rootNumber, place.key)
        }
    }

    private func keep(_ row: Row, unlessIn derived: Set<Int64>) {
        guard let id = row.objectID, let place = place(of: id), !derived.contains(place.entity.rootNumber) else { return }
        cache.set(row.slots, place.entity.rootNumber, place.key)
    }

    private func saveMetadata(_ connection: SQLConnection) throws {
        guard let metadata, !NSDictionary(dictionary: metadata).isEqual(NSDictionary(dictionary: savedMetadata)) else { return }
        try SQLiteMetadata.write(metadata, to: connection)
        savedMetadata = metadata
    }

    func writer(_ entity: NSEntityDescription) throws -> SQLEntityWriter {
        let entity = try sqlEntity(entity)
        if let known = writers[ObjectIdentifier(entity)] { return known }
        let writer = try SQLEntityWriter(
            entity, schema: schema, token: token, rows: self.schema(of: entity.entity), externalFiles: externalFiles)
        writers[ObjectIdentifier(entity)] = writer
        return writer
    }

    // MARK: Uniqueness

    func readHolders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [NSManagedObjectID] {
        // The first one with the constraint declares it: entities come before those that inherit from them.
        let owner = schema.entities.filter { $0.entity.frozen!.uniqueness.contains { $0 === constraint } }
            .min { $0.entity.frozen!.uniqueness.count < $1.entity.frozen!.uniqueness.count || $0.numbers.count > $1.numbers.count }
        guard let owner else { return [] }
        var conditions: [String] = []
        for index in constraint.slotIndexes {
            guard case .attribute(let place) = owner.properties[index] else { return [] }
            conditions.append("\(place.column) = ?")
        }
        if let kind = owner.condition(includingSubentities: true) { conditions.append(kind) }
        let sql = "SELECT Z_PK, Z_ENT FROM \(owner.table) WHERE \(conditions.joined(separator: " AND "))"
        return try database().with(sql) { statement in
            for (offset, value) in key.enumerated() { try statement.bind(value, at: offset + 1) }
            var ids: [NSManagedObjectID] = []
            while try statement.step() {
                guard let entity = schema.entity(numbered: statement.int64(1)) else { continue }
                ids.append(values.id(statement.int64(0), of: entity.entity))
            }
            return ids
        }
    }
}
