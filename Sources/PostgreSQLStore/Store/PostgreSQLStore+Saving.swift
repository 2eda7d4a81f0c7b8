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
        try await write(rounded.changes, data, content, for: caller)
        if let metadata { didWrite(metadata.values) }
        var outcome = SaveOutcome()
        outcome.rows = rounded.rows
        return outcome
    }

    /// Writes everything in one transaction.
    private func write(
        _ changes: StoreChangeSet, _ metadata: Data?, _ content: StoreContent, for caller: StoreCaller
    ) async throws {
        do {
            if metadata == nil, let save = try SmallSave(changes, content), try await combiners.run(save, content) { return }
            try await StoreTransaction(content: content).commit(repeatsUniqueness: true) { connection, commit in
                ((), try await SaveRun.write(changes, metadata, content, connection, commit: commit, for: caller))
            }
        } catch let error as ServerError { throw Self.failure(error, changes, content) }
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
            var places: [Int] = []
            try part.forEachRun { entity, range in
                let dates = try content.writer(entity).dateSlots
                if dates.isEmpty { return }
                for index in range where part[index].row.map({ row in dates.contains { Self.rounded(row, $0) != nil } }) ?? false {
                    places.append(index)
                }
            }
            for index in places {
                let old = part[index]
                guard let copy = old.row?.copy() else { continue }
                for slot in try content.writer(old.entity).dateSlots {
                    if let kept = Self.rounded(copy, slot) { copy.store(.double(kept), in: slot) }
                }
                rows.append(copy)
                part[index] = StoreChange(
                    row: copy, base: old.base, changed: old.changed, lists: old.lists, wasMissing: old.wasMissing,
                    identity: old.objectID)
            }
        }
        try round(&rounded.inserted)
        try round(&rounded.updated)
        return (rounded, rows)
    }

    /// Returns a date in seconds as PostgreSQL rounds it; nil for a missing date, and for one that PostgreSQL keeps unchanged.
    @inline(__always) private static func rounded(_ row: Row, _ slot: RowLayout.Slot) -> Double? {
        if row.isNil(at: slot) { return nil }
        let seconds = (row.slots + slot.location.offset).load(as: Double.self)
        guard let microseconds = ColumnValues.microseconds(seconds) else { return nil }
        let kept = ColumnValues.seconds(microseconds)
        return kept == seconds ? nil : kept
    }
}
#endif
