#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

extension PostgreSQLStore {
    /// The number of attempts to save, where nothing of the earlier ones can have been seen.
    private static let attemptLimit = 6

    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome {
        let rounded = try roundingDates(changes)
        let metadata = try newMetadata()
        let (content, data) = (content!, metadata?.data)
        // On threads that are not the pool's, all of which may wait for saves; and not cancelled with the task, for a save has an outcome.
        try await Task(executorPreference: BlockingCall.executor) { try await Self.write(rounded.changes, data, content) }.value
        if let metadata { didWrite(metadata.values) }
        var outcome = SaveOutcome()
        outcome.rows = rounded.rows
        return outcome
    }

    /// Writes everything in one transaction, which is repeated where others were in its way.
    private static func write(_ changes: StoreChangeSet, _ metadata: Data?, _ content: StoreContent) async throws {
        var attempt = 0
        while true {
            attempt += 1
            do {
                if try await isWritten(changes, metadata, content) { return }
                // The commit was lost with its connection, and will never be.
            } catch let error as ServerError {
                guard attempt < attemptLimit, error.isSerialization || error.isConnectionLost || error.isUniqueness || error.isOutdatedPlan
                else { throw failure(error, changes, content) }
                Log.store.debug("A save to \(content.place) is repeated. \(error)")
            }
            if attempt >= attemptLimit {
                throw content.failure(
                    ServerError(code: "", message: "The connection was lost at each commit.", isConnectionLost: true), "cannot be saved")
            }
        }
    }

    /// Writes everything in one transaction.
    ///
    /// - Returns: Whether it is committed; false where the connection was lost and the transaction will never be.
    /// - Throws: ``ServerError`` where nothing is committed; code 134070 where that cannot be determined.
    private static func isWritten(_ changes: StoreChangeSet, _ metadata: Data?, _ content: StoreContent) async throws -> Bool {
        let commit = UUID()
        let lost: ServerError? = try await content.pool.with { connection in
            var run = SaveRun(content, connection, changes)
            try await run.write(commit: commit, metadata: metadata)
            do {
                try await connection.run([Call("COMMIT")], isCancellable: false)
                return nil
            } catch let error as ServerError where error.isConnectionLost { return error }
        }
        guard let lost else { return true }
        Log.store.notice("The answer to a commit at \(content.place) was lost; it is looked up. \(lost)")
        return try await isCommitted(commit, lost, content)
    }

    /// Returns whether a transaction is committed, by the row that it has written.
    ///
    /// Whoever writes that row next waits until the transaction has ended; if it was given up, it is not committed later either, for the row is
    /// there now.
    private static func isCommitted(_ commit: UUID, _ lost: ServerError, _ content: StoreContent) async throws -> Bool {
        var failures: [ServerError] = []
        // About a minute: a server needs some time to start again, or another to take over.
        for pause in [0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 30] {
            do {
                return try await content.pool.with { connection in
                    let result = try await connection.query(
                        "INSERT INTO \(PostgreSQLTables.commits) (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING true", [.uuid(commit)],
                        isCancellable: false)
                    return result.rowCount == 0
                }
            } catch let error as ServerError {
                failures.append(error)
                try await Task.sleep(for: .seconds(pause))
            }
        }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "It is not known whether a save to the store at \(content.place) was done.",
            reason: "The connection was lost at the commit (\(lost)), and the server cannot be asked: \(failures.last ?? lost)",
            next: "Fetch the objects when the server can be reached, and save again what is missing.")
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
