internal import CSQLite
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

extension SQLiteTableSave {
    // MARK: Unique values

    /// Gives one of the columns of a row a temporary value, so that other rows can take its value.
    func park(_ change: StoreChange, _ columns: [CatalogueColumn<SQLiteTableDialect>]) throws {
        let table = mapping.table(try tables.sqlEntity(change.entity))
        // The rules of the table are for the values that the row has in the end.
        try connection.execute("PRAGMA ignore_check_constraints = ON")
        let outcome = Result { try giveFreeValue(change, columns, table) }
        // Later statements must not escape the rules: if this fails, the save fails.
        try connection.execute("PRAGMA ignore_check_constraints = OFF")
        try outcome.get()
    }

    /// Gives a value that no row has to the first column that accepts one.
    private func giveFreeValue(_ change: StoreChange, _ columns: [CatalogueColumn<SQLiteTableDialect>], _ table: Table) throws {
        for column in columns {
            for value in SQLiteTableDialect.parkingValues(of: column, table) {
                do {
                    try execute(
                        "UPDATE \(table.sql) AS \(Table.alias) SET \(TableNames.identifier(column.name)) = \(value) "
                            + "WHERE \(table.key.equal("?1", of: Table.alias))", [try key(of: change, table)])
                    return
                } catch let error as NSError
                    // A rule with ON CONFLICT ROLLBACK has ended the transaction.
                    where error.userInfo[NSSQLiteErrorDomain] as? Int == Int(SQLITE_CONSTRAINT) && connection.isInTransaction
                { continue }
            }
        }
        // The statement that needs the value reports the error.
    }

    /// Returns the membership test for partial indexes, for the rows to be changed.
    func membership() throws -> Order.Membership {
        struct Place: Hashable {
            let id: NSManagedObjectID
            let rule: Int
        }
        var places: Set<Place> = []
        for (entity, changes) in try grouped(changes.updated + changes.deleted) {
            let table = mapping.table(entity)
            let keys = changes.compactMap { entity.keyKind.value(resolved($0.objectID).reference) }
            for rule in table.relation.uniqueRules {
                guard let condition = rule.condition else { continue }
                let sql =
                    "SELECT \(table.key.selected(of: Table.alias)) FROM \(table.sql) AS \(Table.alias) "
                    + "WHERE \(table.key.isIn("?1", of: Table.alias)) AND (\(condition))"
                try connection.with(sql) { statement in
                    SQLArray(keys).bind(to: statement.handle, at: 1)
                    while try statement.step() {
                        places.insert(Place(id: try reader.rows(entity).id(statement.handle, 0), rule: rule.number))
                    }
                }
            }
        }
        return { _, rule, id in places.contains(Place(id: id, rule: rule.number)) }
    }

    // MARK: Versions

    func grouped(_ changes: [StoreChange]) throws -> [(entity: SQLEntity, changes: [StoreChange])] {
        var groups: [ObjectIdentifier: (entity: SQLEntity, changes: [StoreChange])] = [:]
        for change in changes {
            let entity = try tables.sqlEntity(change.entity)
            groups[ObjectIdentifier(entity), default: (entity, [])].changes.append(change)
        }
        return groups.values.sorted { $0.entity.number < $1.entity.number }
    }

    /// Throws if a row that the save changes, deletes, or requires to be unchanged differs from the version that was read.
    func checkVersions() throws {
        let updated = try changes.updated.filter { !mapping.table(try tables.sqlEntity($0.entity)).columnSlots(of: $0).isEmpty }
        var mismatched: [StoreChange] = []
        for (entity, read) in try grouped((updated + changes.deleted + changes.locked).filter { $0.baseVersion != nil }) {
            let table = mapping.table(entity)
            let keys = read.compactMap { entity.keyKind.value(resolved($0.objectID).reference) }
            let sql =
                "SELECT \(table.key.selected(of: Table.alias)), \(table.version) FROM \(table.sql) AS \(Table.alias) "
                + "WHERE \(table.key.isIn("?1", of: Table.alias))"
            var versions: [NSManagedObjectID: Int64] = [:]
            try connection.with(sql) { statement in
                SQLArray(keys).bind(to: statement.handle, at: 1)
                while try statement.step() { versions[try reader.rows(entity).id(statement.handle, 0)] = statement.int64(1) }
            }
            mismatched += read.filter { versions[resolved($0.objectID)] != $0.baseVersion }
        }
        if !mismatched.isEmpty { throw StoreConflicts(try versionConflicts(mismatched)) }
    }

    /// Returns the rows of deleted objects that were never read: their references determine the order.
    func unreadRows() throws -> [NSManagedObjectID: Row] {
        let unread = changes.deleted.filter { $0.base == nil }
        if unread.isEmpty { return [:] }
        var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
        let rows = try reader.readRows(unread.map(\.objectID), &failures)
        return Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Throws if a row that should have been written or deleted was not.
    func checkWritten() throws {
        var left = unwritten
        if !undeleted.isEmpty {
            // The other rows are gone because the save has deleted the rows that they referred to.
            var failures: [NSManagedObjectID: UnreadObjects.Failure] = [:]
            let there = Set(try reader.readRows(undeleted.map(\.objectID), &failures).map(\.knownObjectID)).union(failures.keys)
            left += undeleted.filter { there.contains(resolved($0.objectID)) }
        }
        if left.isEmpty { return }
        throw CoreDataError.make(
            NSPersistentStoreSaveError, "The store at \(tables.url.path) cannot be saved.",
            reason:
                "SQLite did not change the rows of \(left.map { "\($0.objectID)" }.joined(separator: ", ")), which were as they had been read: "
                + "a trigger prevents it, or has deleted them.", next: "Undo the change.",
            info: [NSAffectedObjectsErrorKey: left.map(\.objectID)])
    }

    // MARK: Conflicts

    func checkUniqueness() throws {
        guard tables.hasUniqueness else { return }
        do { try SQLiteTableOwners(reader: reader, tables: tables).checkUniqueness(changes) } catch let constraints as StoreConflicts {
            let versions = try versionConflicts(changes.updated + changes.deleted + changes.locked)
            throw versions.isEmpty ? constraints : StoreConflicts(versions)
        }
    }

    /// Returns the conflicts of changes whose rows others have changed or deleted.
    private func versionConflicts(_ changes: [StoreChange]) throws -> [StoreConflicts.Version] {
        let rows = try reader.allRows(changes.map(\.objectID))
        let byID = Dictionary(rows.map { ($0.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        return changes.compactMap { change in
            let row = byID[change.objectID]
            if let row, change.baseVersion == nil || row.version == change.baseVersion { return nil }
            return StoreConflicts.Version(change.objectID, stored: row)
        }
    }
}

/// Finds the rows that have the values of uniqueness constraints, within the transaction of a save.
private struct SQLiteTableOwners: ConflictFinding {
    let reader: SQLiteTableReader
    let tables: SQLiteTables

    /// Returns `.unknown`: the statements of a save detect conflicts.
    func latestRow(for id: NSManagedObjectID) -> LatestRow { .unknown }

    func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        guard let entity = tables.mapping.schema.entities.first(where: { $0.entity.frozenParts.uniqueness.contains { $0 === constraint } })
        else {
            return []
        }
        // No stored row refers to an object that is yet to be inserted.
        let isNew = key.contains { value in
            if case .object(let reference) = value, let id = reference.object as? NSManagedObjectID { id.isTemporaryID } else { false }
        }
        if isNew { return [] }
        let parts = zip(constraint.names, key).map { name, value in
            PredicateTree.compare(.keyPath([name]), .equal, .constant(value))
        }
        var query = StoreQuery(entity.entity).with(predicate: NSPredicate(tree: .and(parts)))
        // Transformed values have no SQL.
        query.allowsEvaluationInMemory = true
        guard case .rows(let rows) = try reader.answer(query, entity) else { return [] }
        // A predicate finds every canonically equivalent spelling of a text, but the table distinguishes them.
        return rows.filter { row in
            guard let found = constraint.key(of: row), found == key else { return true }
            return UniqueValues(found) == UniqueValues(key)
        }
    }
}
