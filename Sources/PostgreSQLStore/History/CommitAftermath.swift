#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import Synchronization

/// Does the work that follows commits, outside of their transactions: wakes other programs, and deletes rows that are no longer needed.
///
/// A transaction that sent the notification itself would wait for all other notifying transactions. So one statement announces all commits since the
/// last one. If it is lost, other programs see the changes when they next look.
// `state` is guarded by its lock.
final class CommitAftermath: Sendable {
    private struct State {
        var isRunning = false
        /// When commits were last deleted, in nanoseconds of the system's uptime.
        var lastPurge: UInt64?
    }
    private let state = LockedBox(State())
    /// Whether there are unannounced commits. The caller that sets it ensures that they are announced; other callers need no lock.
    private let isPending = Atomic(false)
    private let pool: ConnectionPool
    let channel: String
    /// The time for which wake-ups are gathered.
    private static let pause = Duration.milliseconds(10)
    /// The seconds between deletions of old commits.
    private static let purgeInterval = 3600.0
    /// The maximum number of commits that one statement deletes.
    private static let purgeLimit = 10_000

    /// - Parameter channel: The channel on which the programs that have the store open listen.
    init(_ pool: ConnectionPool, channel: String) { (self.pool, self.channel) = (pool, channel) }

    /// Returns the channel of a store.
    static func channel(of storeID: String) -> String { "coredata_" + storeID.replacing("-", with: "").lowercased() }

    /// Called after each commit. Returns at once.
    func didCommit() {
        if isPending.exchange(true, ordering: .acquiringAndReleasing) { return }
        let starts = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Task.detached { await self.run() } }
    }

    private func run() async {
        while takePending() {
            do {
                let (isDue, channel) = (takePurge(), channel)
                try await pool.with { connection in
                    _ = try await connection.query("SELECT pg_notify($1, '')", [.text(channel)])
                    if isDue { try await Self.purge(connection) }
                }
                // Frequent commits are announced often enough.
                try await Task.sleep(for: Self.pause)
            } catch { Log.store.debug("Others are not told of a save to \(pool.settings.place); they see it when they look. \(error)") }
        }
    }

    private func takePending() -> Bool {
        state.withLock { state in
            state.isRunning = isPending.exchange(false, ordering: .acquiringAndReleasing)
            return state.isRunning
        }
    }

    private func takePurge() -> Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        return state.withLock { state in
            if let last = state.lastPurge, Double(now &- last) / 1e9 < Self.purgeInterval { return false }
            state.lastPurge = now
            return true
        }
    }

    /// Deletes the rows of commits that are older than a day: no one looks them up any more.
    private static func purge(_ connection: Connection) async throws {
        var count = purgeLimit
        while count == purgeLimit {
            count = try await connection.query(
                "DELETE FROM \(PostgreSQLTables.commits) WHERE id IN (SELECT id FROM \(PostgreSQLTables.commits) "
                    + "WHERE at < now() - interval '1 day' LIMIT \(purgeLimit) FOR UPDATE SKIP LOCKED)"
            ).changedCount
        }
    }
}
#endif
