#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension PostgreSQLStore {
    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome {
        let rounded = try roundingDates(changes)
        let metadata = try newMetadata()
        let (content, data) = (content!, metadata?.data)
        // On threads that are not the pool's, and in a task that is not cancelled, as every save of a store is.
        try await Self.write(rounded.changes, data, content, for: caller)
        if let metadata { didWrite(metadata.values) }
        var outcome = SaveOutcome()
        outcome.rows = rounded.rows
        return outcome
    }

    /// Writes everything in one transaction.
    private static func write(
        _ changes: StoreChangeSet, _ metadata: Data?, _ content: StoreContent, for caller: StoreCaller
    ) async throws {
        do {
            try await StoreTransaction(content: content).commit(repeatsUniqueness: true) { connection, commit in
                ((), try await SaveRun.write(changes, metadata, content, connection, commit: commit, for: caller))
            }
        } catch let error as ServerError { throw failure(error, changes, content) }
    }

    private static func failure(_ error: ServerError, _ changes: StoreChangeSet, _ content: StoreContent) -> NSError {
        if error.isMissingReference {
            return CoreDataError.make(
                NSManagedObjectReferentialIntegrityError, "The store at \(content.place) cannot be saved.",
                reason: "An object refers to one that others have deleted. PostgreSQL says: \(error)",
                next: "Refresh the objects, and save again.",
                info: [NSAffectedObjectsErrorKey: (changes.inserted + changes.updated).map(\.objectID)])
        }
        return content.failure(error, "cannot be saved")
    }

    // MARK: Dates

    /// Returns the changes with dates as PostgreSQL keeps them, in microseconds; and the rows that differ therefore.
    private func roundingDates(_ changes: StoreChangeSet) throws -> (changes: StoreChangeSet, rows: [Row]) {
        var rounded = changes
        var rows: [Row] = []
        func round(_ part: inout [StoreChange]) throws {
            var slots: (entity: ObjectIdentifier, slots: [RowLayout.Slot])?
            for index in part.indices {
                guard let row = part[index].row else { continue }
                let entity = part[index].entity
                if slots?.entity != ObjectIdentifier(entity) { slots = (ObjectIdentifier(entity), try content.writer(entity).dateSlots) }
                guard let dates = slots?.slots, !dates.isEmpty else { continue }
                var copy: Row?
                for slot in dates where !row.isNil(at: slot) {
                    let seconds = (row.slots + slot.location.offset).load(as: Double.self)
                    guard let microseconds = ColumnValues.microseconds(seconds) else { continue }
                    let kept = ColumnValues.seconds(microseconds)
                    if kept == seconds { continue }
                    let own = copy ?? row.copy()
                    own.store(.double(kept), in: slot)
                    copy = own
                }
                guard let copy else { continue }
                rows.append(copy)
                let old = part[index]
                part[index] = StoreChange(
                    row: copy, base: old.base, changed: old.changed, lists: old.lists, wasMissing: old.wasMissing,
                    identity: old.objectID)
            }
        }
        try round(&rounded.inserted)
        try round(&rounded.updated)
        return (rounded, rows)
    }
}
#endif
