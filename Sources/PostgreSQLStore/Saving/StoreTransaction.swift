#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// The state that the statements of a transaction have reached.
enum TransactionEnd: Sendable {
    /// The transaction is open: a COMMIT must follow.
    case open
    /// It is committed: its last statements were sent with the commit.
    case committed
    /// The connection was lost after the last statements had been sent with the commit: it may be committed or not.
    case lost(ServerError)
}

/// A transaction that writes. It is retried if it conflicted with others, and looked up if the answer to its commit is lost.
struct StoreTransaction {
    let content: StoreContent
    /// The number of attempts, if no effect of the earlier ones can have been seen.
    private static let attemptLimit = 6

    /// Calls `body` with a connection and the ID of the transaction's own row, which `body` writes first; then commits.
    ///
    /// - Parameters:
    ///   - repeatsUniqueness: Whether the transaction is retried if it violates a uniqueness constraint, because `body` looks for conflicts first.
    ///   - body: Writes everything, up to the commit, or with it. Called again for each attempt.
    /// - Throws: ``ServerError`` where nothing is committed; code 134070 if that cannot be determined; the errors of `body`.
    func commit<Result: Sendable>(
        repeatsUniqueness: Bool, _ body: @escaping @Sendable (Connection, UUID) async throws -> (Result, TransactionEnd)
    ) async throws -> Result {
        var attempt = 0
        while true {
            attempt += 1
            do {
                if let result = try await committed(body) {
                    content.didCommit()
                    return result
                }
                // The commit was lost with its connection, and will never be.
            } catch let error as ServerError {
                guard attempt < Self.attemptLimit,
                    error.isSerialization || error.isOfConnection || error.isUniqueness && repeatsUniqueness || error.isOutdatedPlan
                        || error.isReadOnly
                else { throw error }
                Log.store.debug("A transaction at \(content.place) is repeated. \(error)")
                // A random pause keeps conflicting transactions from meeting again.
                if error.isSerialization || error.isReadOnly || error.isOfConnection && attempt > 1 {
                    try await Pause.wait(.random(in: 0...0.01) * Double(1 << attempt))
                }
            }
            if attempt >= Self.attemptLimit {
                throw ServerError(code: "", message: "The connection was lost at each commit.", isConnectionLost: true)
            }
        }
    }

    /// Makes one attempt.
    ///
    /// - Returns: The result; nil if the connection was lost and the transaction will never be committed.
    /// - Throws: ``ServerError`` if nothing is committed; code 134070 if that cannot be determined.
    private func committed<Result: Sendable>(
        _ body: @escaping @Sendable (Connection, UUID) async throws -> (Result, TransactionEnd)
    ) async throws -> Result? {
        let commit = UUID.ofNow()
        let (result, lost): (Result, ServerError?)
        do {
            (result, lost) = try await content.withConnection { connection in
                let (result, end) = try await body(connection, commit)
                switch end {
                case .open:
                    do {
                        try await connection.run([Call("COMMIT")], isCancellable: false)
                    } catch let error as ServerError where error.isConnectionLost { return (result, error) }
                case .committed: break
                case .lost(let error): return (result, error)
                }
                await content.pool.replicas?.require(over: connection)
                return (result, nil)
            }
        } catch {
            // A conflict contains other clients' changes, which were read.
            content.pool.replicas?.forget()
            throw error
        }
        guard let lost else { return result }
        content.pool.replicas?.forget()
        return try await isFound(commit, lost) ? result : nil
    }

    /// Looks up a transaction whose answer was lost.
    ///
    /// - Returns: Whether it is committed. If not, it never will be.
    /// - Throws: Code 134070 if that cannot be determined.
    func isFound(_ commit: UUID, _ lost: ServerError) async throws -> Bool {
        Log.store.notice("The answer to a commit at \(content.place) was lost; it is looked up. \(lost)")
        return try await isCommitted(commit, lost)
    }

    /// Returns whether a transaction is committed, by looking for the row that it has written.
    ///
    /// The statement writes that row itself, so it waits until the transaction has ended. If the transaction was given up, it is not committed later
    /// either, because the row then exists. This row has a time in the future, which no transaction gives it: the answer to this statement may be
    /// lost as well, and the next attempt must not take the row for that of the transaction.
    ///
    /// An existing row is written, too. A server that crashed while the commit waited for the synchronous standby has the row after a restart; the
    /// standby may not have it, and may take over without it. Like every commit, that of this statement waits for the standby, and a server that has
    /// a later part of the log has all earlier parts.
    private func isCommitted(_ commit: UUID, _ lost: ServerError) async throws -> Bool {
        // Also that of a pool whose connections all wait for another server to take over.
        var failure: (any Error)?
        // About a minute: a server needs some time to start again, or another to take over.
        let end = ContinuousClock.now + .seconds(60)
        for pause in [0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 30] {
            do {
                return try await content.pool.with { connection in
                    let result = try await connection.query(
                        "INSERT INTO \(PostgreSQLTables.commits) (id, at) VALUES ($1, now() + interval '1 day') "
                            + "ON CONFLICT (id) DO UPDATE SET at = \(PostgreSQLTables.commits).at RETURNING at < now() + interval '12 hours'",
                        [.uuid(commit)], isCancellable: false)
                    return result.integer(0, 0) != 0
                }
            } catch {
                failure = error
                // Obtaining a connection may have taken long, too.
                if ContinuousClock.now > end { break }
                try await Pause.wait(pause)
            }
        }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "It is not known whether a save to the store at \(content.place) was done.",
            reason: "The connection was lost at the commit (\(lost)), and the server cannot be asked: \(failure ?? lost)",
            next: "Fetch the objects when the server can be reached, and save again what is missing.")
    }
}
#endif
