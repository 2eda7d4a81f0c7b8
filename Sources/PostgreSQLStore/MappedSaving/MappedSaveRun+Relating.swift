#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension MappedSaveRun {
    // MARK: Deletions

    /// Deletes rows of an entity that are unchanged since they were read, or since the save itself has changed them.
    mutating func delete(_ entity: SQLEntity, _ deleted: [StoreChange]) async throws {
        let table = mapping.table(entity)
        func isLookedAt(_ change: StoreChange) -> Bool { change.baseVersion != nil && !parked.contains(change.objectID) }
        let (read, others) = (deleted.filter(isLookedAt), deleted.filter { !isLookedAt($0) })
        if !others.isEmpty {
            checks.append((calls.count, others.count, others, true))
            add(
                "DELETE FROM \(table.sql) AS \(MappedTable.alias) WHERE \(table.key.isIn("$1", of: MappedTable.alias))",
                [.array(try others.map { try key(of: $0, table) }, of: table.key.kind.type)])
        }
        if !read.isEmpty {
            checks.append((calls.count, read.count, read, true))
            add(
                "DELETE FROM \(table.sql) AS \(MappedTable.alias) USING unnest($1, $2) AS old (key, version) "
                    + "WHERE \(table.key.equal("old.key", of: MappedTable.alias)) "
                    + "AND \(table.version) IN (old.version, pg_current_xact_id()::xid::text::bigint)", try versions(of: read, table))
        }
        try await sendIfMany()
    }

    mutating func deletePairs(_ entity: SQLEntity, _ deleted: [StoreChange]) throws {
        for property in entity.properties {
            guard case .toMany(.join(let join)) = property else { continue }
            let (table, pair) = (mapping.table(entity), mapping.join(join))
            if pair.readOnlyReason != nil { continue }
            let keys = BinaryValue.array(try deleted.map { try key(of: $0, table) }, of: table.key.kind.type)
            let own = join.own == MappedJoin.firstColumn ? pair.first : pair.second
            add("DELETE FROM \(pair.sql) AS \(MappedTable.alias) WHERE \(own.isIn("$1", of: MappedTable.alias))", [keys])
            if join.isReflexive {
                add("DELETE FROM \(pair.sql) AS \(MappedTable.alias) WHERE \(pair.second.isIn("$1", of: MappedTable.alias))", [keys])
            }
        }
    }

    // MARK: Pairs

    /// Writes the pairs of many-to-many relationships. Deletions come before insertions, which may have to be unique.
    mutating func writePairs() async throws {
        for isNew in [false, true] {
            for change in changes.inserted + changes.updated where !change.lists.isEmpty {
                let entity = try content.sqlEntity(change.entity)
                for difference in change.lists {
                    guard case .toMany(.join(let join)) = entity.properties[difference.slotIndex],
                        let relationship = entity.entity.frozenParts.properties[difference.slotIndex] as? NSRelationshipDescription
                    else { continue }
                    for id in isNew ? difference.added : difference.removed {
                        // An object that was never saved, or belongs to another store, is in no pair.
                        if !isNew, resolved(id).isTemporaryID || resolved(id).token !== content.token { continue }
                        try write(change, id, relationship, join, isNew: isNew)
                    }
                    try await sendIfMany()
                }
            }
        }
    }

    private mutating func write(
        _ change: StoreChange, _ other: NSManagedObjectID, _ relationship: NSRelationshipDescription, _ join: SQLJoin, isNew: Bool
    ) throws {
        let table = mapping.join(join)
        if let reason = table.readOnlyReason {
            throw unsavable(relationship, reason, change.row ?? change.base.known("a change has a row"))
        }
        let isFirst = join.own == MappedJoin.firstColumn
        let (own, far) = isFirst ? (table.first, table.second) : (table.second, table.first)
        let keys = (try key(of: change.objectID, own.kind, for: relationship), try key(of: other, far.kind, for: relationship))
        let references = (resolved(change.objectID).reference, resolved(other).reference)
        let pair =
            isFirst
            ? MappedPair(table: join.table, first: references.0, second: references.1)
            : MappedPair(table: join.table, first: references.1, second: references.0)
        if join.isReflexive, pairs.contains(MappedPair(table: join.table, first: references.1, second: references.0)) { return }
        guard pairs.insert(pair).inserted else { return }
        let alias = MappedTable.alias
        if isNew {
            // Another transaction may insert the pair at the same time. Any other violation is an error.
            let columns = own.written("$1") + far.written("$2")
            let names = columns.map { LayoutNames.identifier($0.column).sql }.joined(separator: ", ")
            let tail = table.isUnique ? " ON CONFLICT (\(names)) DO NOTHING" : ""
            add(
                "INSERT INTO \(table.sql) (\(names)) SELECT \(columns.map(\.value).joined(separator: ", ")) WHERE NOT EXISTS "
                    + "(SELECT 1 FROM \(table.sql) AS \(alias) WHERE \(own.equal("$1", of: alias)) AND \(far.equal("$2", of: alias)))\(tail)",
                [keys.0, keys.1])
        } else {
            func deletion(_ first: KeyColumns, _ second: KeyColumns) -> String {
                "DELETE FROM \(table.sql) AS \(alias) WHERE \(first.equal("$1", of: alias)) AND \(second.equal("$2", of: alias))"
            }
            add(deletion(own, far), [keys.0, keys.1])
            if join.isReflexive { add(deletion(far, own), [keys.0, keys.1]) }
        }
    }
}
#endif
