#if PostgreSQL
internal import Foundation
internal import Logging
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Saves changes to the tables of another program.
struct MappedSaving: Sendable {
    private let content: StoreContent
    /// The number of attempts to save, if no effect of the earlier ones can have been seen.
    private static let attemptLimit = 6

    init(_ content: StoreContent) { self.content = content }

    /// Writes everything in one transaction, which is retried if it conflicted with others.
    func save(_ changes: StoreChangeSet) async throws -> SaveOutcome {
        if let mapping = content.mapping {
            try MappedSaveOrder<PostgreSQLTableDialect>.checkWritable(changes, mapping, content.sqlEntity)
        }
        var attempt = 0
        var looksAtValues = false
        while true {
            attempt += 1
            do {
                if let outcome = try await outcome(of: changes, looksAtValues: looksAtValues) { return outcome }
                // The commit was lost with its connection, and will never be.
            } catch let error as ServerError {
                // A violated constraint of the model is detected when its owners are searched for again. Rows of the save may exchange unique values.
                let mayExchange = error.isUniqueness && changes.count > 1 && !looksAtValues
                let isFound = error.isUniqueness && content.hasUniqueness && attempt < 3
                if mayExchange { looksAtValues = true }
                guard attempt < Self.attemptLimit,
                    error.isSerialization || error.isOfConnection || isFound || mayExchange || error.isOutdatedPlan || error.isReadOnly
                else {
                    throw failure(error, changes)
                }
                Log.store.debug("A save to \(content.place) is repeated. \(error)")
            }
            if attempt >= Self.attemptLimit {
                throw content.failure(
                    ServerError(code: "", message: "The connection was lost at each commit.", isConnectionLost: true), "cannot be saved")
            }
        }
    }

    /// The transaction of a save, by which it is looked up.
    struct Transaction: Sendable {
        let number: String
        /// The history of the server since it became the primary one: numbers are given again after another has taken over.
        let timeline: String

        /// The statement that reads both.
        static let query = "SELECT pg_current_xact_id()::text, left(pg_walfile_name(pg_current_wal_lsn()), 8)"
    }

    /// Writes everything in one transaction.
    ///
    /// - Parameter looksAtValues: Whether unique values are given up before other rows take them.
    /// - Returns: The saved rows; nil if the connection was lost and the transaction will never be committed.
    /// - Throws: ``ServerError`` if nothing is committed; code 134070 if that cannot be determined.
    private func outcome(of changes: StoreChangeSet, looksAtValues: Bool) async throws -> SaveOutcome? {
        let (content, changes) = (content, changes)
        typealias Written = (outcome: SaveOutcome, lost: (error: ServerError, transaction: Transaction)?)
        let written: Written
        do {
            written = try await content.withConnection { connection in
                var run = MappedSaveRun(content, connection, changes)
                let (outcome, transaction) = try await run.write(looksAtValues: looksAtValues)
                do {
                    try await connection.run([Call("COMMIT")], isCancellable: false)
                } catch let error as ServerError where error.isConnectionLost { return (outcome, (error, transaction)) }
                await content.pool.replicas?.require(over: connection)
                return (outcome, nil)
            }
        } catch {
            // A conflict contains other clients' changes, which were read.
            content.pool.replicas?.forget()
            throw error
        }
        guard let (lost, transaction) = written.lost else { return written.outcome }
        content.pool.replicas?.forget()
        Log.store.notice("The answer to a commit at \(content.place) was lost; it is looked up. \(lost)")
        return try await isCommitted(transaction, lost) ? written.outcome : nil
    }

    /// Returns whether a transaction is committed, according to the server.
    ///
    /// The statement writes a message that has no reader, so that its own commit waits for the synchronous standby, which then has the transaction,
    /// too. A server that crashed while the commit waited still has the transaction after a restart, and the standby may take over without it.
    private func isCommitted(_ transaction: Transaction, _ lost: ServerError) async throws -> Bool {
        var reason = "\(lost)"
        // About a minute: a server needs some time to start again, or another to take over.
        let end = ContinuousClock.now + .seconds(60)
        for pause in [0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 30] {
            do {
                let (status, timeline): (String, String) = try await content.pool.with { connection in
                    let result = try await connection.query(
                        "SELECT coalesce(pg_xact_status($1::xid8), ''), left(pg_walfile_name(pg_current_wal_lsn()), 8), "
                            + "pg_logical_emit_message(true, 'OpenCoreData', ''::text)",
                        [.text(transaction.number)], isCancellable: false)
                    return (result.text(0, 0), result.text(0, 1))
                }
                if timeline != transaction.timeline {
                    reason = "Another server has taken over, and does not know the transaction."
                    break
                }
                if status == "committed" { return true }
                if status == "aborted" { return false }
                reason = "The transaction has not ended."
            } catch { reason = "\(error)" }
            // Obtaining a connection may have taken long, too.
            if ContinuousClock.now > end { break }
            try await Pause.wait(pause)
        }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "It is not known whether a save to the store at \(content.place) was done.",
            reason: "The connection was lost at the commit (\(lost)), and the server cannot tell: \(reason)",
            next: "Fetch the objects when the server can be reached, and save again what is missing.")
    }

    /// Returns the error of a statement that the database refuses.
    private func failure(_ error: ServerError, _ changes: StoreChangeSet) -> NSError {
        let code: Int? =
            switch error.code {
            case "23505", "23P01": NSManagedObjectConstraintValidationError
            case "23502": NSValidationMissingMandatoryPropertyError
            case "23503": NSManagedObjectReferentialIntegrityError
            case "23514", "22001", "22003", "22P02", "22007", "22008": NSManagedObjectValidationError
            case "42501": NSPersistentStoreSaveError
            default: nil
            }
        guard let code else { return content.failure(error, "cannot be saved") }
        return CoreDataError.make(
            code, "The store at \(content.place) cannot be saved.", reason: "PostgreSQL says: \(error)",
            next: "Change the objects so that the rules of the table allow them, and save again.",
            info: [NSAffectedObjectsErrorKey: (changes.inserted + changes.updated + changes.deleted).map(\.objectID)])
    }
}
#endif
