#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Listens for the commits of all programs that have a store open, over a connection of its own.
// `task` is guarded by its lock.
final class RemoteChangeListener: Sendable {
    private let pool: ConnectionPool
    private let channel: String
    private let task = LockedBox<Task<Void, Never>?>(nil)
    /// The seconds after which the listener looks at the store without a notification: notifications may be lost.
    private let interval: Double
    /// The same interval if notifications are impossible: a proxy lends sessions for single transactions.
    private static let deafInterval = 2.0
    /// The longest pause between attempts to connect, in seconds.
    private static let longestPause = 30.0

    /// - Parameter pool: Opens the connection, which does not count as one of the pool's.
    init(_ pool: ConnectionPool, channel: String, interval: Double) {
        (self.pool, self.channel, self.interval) = (pool, channel, interval)
    }

    deinit { stop() }

    /// A state of the store that shows whether there were commits.
    struct Look: Sendable {
        /// A text that changes with commits.
        let state: String
        /// The end of the history, if there is one.
        let position: HistoryPosition?

        /// Reads the present state of a store.
        init(_ connection: Connection, keepsHistory: Bool) async throws {
            if keepsHistory {
                position = try await HistoryReader.end(connection)
                state = position?.detail ?? ""
                return
            }
            position = nil
            let last = try await connection.query("SELECT id::text FROM \(PostgreSQLTables.commits) ORDER BY at DESC LIMIT 1")
            state = last.rowCount > 0 ? last.text(0, 0) : ""
        }
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - since: The last known state.
    ///   - post: Called after commits, once for commits that arrive together.
    func start(since: Look, _ history: StoreHistory, post: @escaping @Sendable (Look) -> Void) {
        let (pool, channel, longInterval) = (pool, channel, interval)
        let made = Task.detached {
            var known = since.state
            var pause = 0.1
            while !Task.isCancelled {
                do {
                    let connection = try await pool.open()
                    if connection.ownsSession {
                        try await connection.execute("LISTEN \(channel)")
                    } else {
                        connection.prelude = pool.settings.prelude(.none)
                    }
                    let interval = connection.ownsSession ? longInterval : min(longInterval, Self.deafInterval)
                    pause = 0.1
                    // Missed commits are detected at first, and whenever no notification has come for long.
                    var isWoken = false
                    while true {
                        let look = try await Look(connection, keepsHistory: history.isKept)
                        if isWoken || look.state != known {
                            // A notified context fetches the present state.
                            await pool.replicas?.require(over: connection)
                            post(look)
                        }
                        known = look.state
                        isWoken = try await connection.wakeUps(timeout: interval) > 0
                    }
                } catch is CancellationError { return } catch {
                    Log.store.debug("The connection that listens to \(pool.settings.place) is opened again. \(error)")
                }
                do { try await Task.sleep(for: .seconds(pause)) } catch { return }
                pause = min(pause * 2, Self.longestPause)
            }
        }
        task.withLock { $0 = made }
    }

    func stop() { task.withLock { $0 }?.cancel() }
}
#endif
