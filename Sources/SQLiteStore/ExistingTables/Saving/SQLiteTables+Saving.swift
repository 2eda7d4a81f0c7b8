internal import CSQLite
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension SQLiteTables {
    /// Writes everything in one transaction.
    ///
    /// - Throws: ``StoreConflicts`` if others have changed the rows since they were read; code 134030 for values that cannot be written; 1551, 1550,
    ///   1570 and 133000 for the rules of the tables; 134090 if others keep the file locked for too long.
    func save(_ changes: StoreChangeSet) throws -> SaveOutcome {
        try MappedSaveOrder<SQLiteTableDialect>.checkWritable(changes, mapping, sqlEntity)
        return try writing { reader in
            do {
                do { return try write(changes, reader, looksAtValues: false) } catch let error as NSError
                    where changes.count > 1 && (Self.isOfUniqueness(error) || error.code == NSPersistentStoreSaveError)
                {
                    // Rows of the save may exchange unique values. A rule with ON CONFLICT REPLACE deletes the row that has one.
                    return try write(changes, reader, looksAtValues: true)
                }
            } catch { throw refusal(error as NSError, changes) ?? error }
        }
    }

    private static func isOfUniqueness(_ error: NSError) -> Bool {
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError, cause.domain == NSSQLiteErrorDomain else { return false }
        // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID
        return cause.code & 0xFF == Int(SQLITE_CONSTRAINT) && [6, 8, 10].contains(cause.code >> 8)
    }

    private func write(_ changes: StoreChangeSet, _ reader: SQLiteTableReader, looksAtValues: Bool) throws -> SaveOutcome {
        try reader.connection.transaction {
            var save = SQLiteTableSave(self, reader, changes)
            return try save.write(looksAtValues: looksAtValues)
        }
    }

    /// Returns the error of a statement that a rule of the tables forbids; nil for another error.
    private func refusal(_ error: NSError, _ changes: StoreChangeSet) -> NSError? {
        if let refusal = collationRefusal(error, changes) { return refusal }
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError, cause.domain == NSSQLiteErrorDomain,
            cause.code & 0xFF == Int(SQLITE_CONSTRAINT)
        else { return nil }
        let detail = cause.code >> 8
        let code =
            switch detail {
            // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID
            case 6, 8, 10: NSManagedObjectConstraintValidationError
            // SQLITE_CONSTRAINT_NOTNULL
            case 5: NSValidationMissingMandatoryPropertyError
            // SQLITE_CONSTRAINT_FOREIGNKEY
            case 3: NSManagedObjectReferentialIntegrityError
            default: NSManagedObjectValidationError
            }
        return CoreDataError.make(
            code, "The store at \(url.path) cannot be saved.", reason: "SQLite says: \(cause.localizedDescription) (\(cause.code))",
            next: detail == 3
                ? "Save objects together with those that they refer to, and delete those that refer to them before."
                : "Change the objects so that the rules of the table allow them, and save again.", cause: cause,
            info: [NSAffectedObjectsErrorKey: (changes.inserted + changes.updated + changes.deleted).map(\.objectID)])
    }

    /// Returns the error for rows of tables that have an order of their program; nil for another error.
    private func collationRefusal(_ error: NSError, _ changes: StoreChangeSet) -> NSError? {
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError, cause.domain == NSSQLiteErrorDomain,
            cause.code & 0xFF == Int(SQLITE_ERROR)
        else { return nil }
        let changed = changes.inserted + changes.updated + changes.deleted
        let columns = changed.compactMap { mapping.schema.entity($0.entity) }.flatMap { mapping.table($0).relation.columns }
        let column = columns.first { $0.type.hasUnknownCollation }
        // If a table's rows are in such an order, SQLite only reports that it cannot read the table.
        guard SQLiteLimits.isMissingCollation(error) || column != nil else { return nil }
        let name = (column?.type.collation).map { " (\($0))" } ?? ""
        return CoreDataError.make(
            NSPersistentStoreSaveError, "The store at \(url.path) cannot be saved.",
            reason:
                "SQLite says: \(cause.localizedDescription). A table, an index or a rule of what is changed compares texts by a collation\(name) that only the "
                + "program has which made the file: without it, the index would be out of order.",
            next: "Let that program change these rows, or give the store the collation by SQLiteConnectionPreparationOption.", cause: cause,
            info: [NSAffectedObjectsErrorKey: changed.map(\.objectID)])
    }
}
