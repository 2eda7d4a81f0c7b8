#if PostgreSQL
internal import Dispatch
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Reads from a replica that has everything that the store has written and read.
///
/// A store stays with its chosen replica: what the replica has replayed stays replayed, so reads never go back in time. If the replica is lost, the
/// store no longer knows which state it has read there, so the next read goes to the primary.
// `state` is guarded by its lock.
final class Replicas: Sendable {
    private struct State {
        /// The position that a replica must have replayed; nil if only the primary certainly has everything.
        var floor: LogPosition?
        /// The number of times that the floor was lost: positions that were requested before a loss are too low.
        var losses = 0
        /// The number of the chosen host.
        var chosen: Int?
        /// The position that the chosen replica is known to have replayed.
        var replayed: LogPosition?
        /// The time at which a replica is tried next, in nanoseconds of the system's uptime.
        var retry: UInt64 = 0
        /// The pause after the next attempt at which no replica is new enough, in seconds.
        var pause = shortestPause
        var readCount = 0
        /// The hosts that could not be reached, each with the time until which it is not tried.
        var unreachable: [Int: UInt64] = [:]

        /// Stops using replicas for some time.
        mutating func rest() {
            // Bounded: seconds to a minute.
            retry = DispatchTime.now().uptimeNanoseconds + UInt64(pause * 1e9)
            pause = min(pause * 2, Replicas.longestPause)
        }

        /// Gives up the chosen replica, and with it the knowledge of the state that was read there.
        mutating func lose() {
            (chosen, replayed, floor) = (nil, nil, nil)
            losses += 1
        }
    }
    private let state = LockedBox(State())
    private let pools: [ConnectionPool]
    private let search: PrimarySearch
    private static let shortestPause = 0.02
    private static let longestPause = 1.0
    /// The seconds for which a host that could not be reached is left alone.
    private static let absence = 10.0
    /// The seconds for which a replica is waited for: most need some milliseconds.
    private static let waits = [0.001, 0.004, 0.01]

    /// - Parameters:
    ///   - pools: The connections to each host.
    ///   - search: Knows which of them is the primary.
    init(_ pools: [ConnectionPool], _ search: PrimarySearch) { (self.pools, self.search) = (pools, search) }

    /// The number of reads that replicas have answered, for tests.
    var readCount: Int { state.withLock { $0.readCount } }

    func close() { for pool in pools { pool.close() } }

    // MARK: Required position

    /// Requires replicas to have everything that the primary has now. Called with the connection to the primary that has read or committed.
    func require(over connection: Connection) async {
        let losses = state.withLock { $0.losses }
        do {
            let position = try await connection.writtenPosition()
            state.withLock { state in
                // The position that was lost meanwhile may be later.
                if state.losses != losses { return }
                if let floor = state.floor, !position.follows(floor) { return }
                state.floor = position
            }
        } catch {
            Log.store.debug("It is not known what replicas must have: the next read is the primary's. \(error)")
            forget()
        }
    }

    /// Drops the floor. Called if it is not known which state was read or written.
    func forget() {
        state.withLock { state in
            state.floor = nil
            state.losses += 1
        }
    }

    // MARK: Reading

    /// Reads with a connection to a replica that is new enough.
    ///
    /// - Returns: The result of `body`; nil if no replica is new enough, or can answer.
    /// - Throws: The errors of `body` that the primary would have, too; `CancellationError`.
    func read<Result: Sendable>(
        _ settings: DatabaseSettings, _ body: @Sendable (Connection) async throws -> Result
    ) async throws -> Result? {
        guard let host = choice() else { return nil }
        do {
            let result: Result? = try await pools[host].with(settings) { connection in
                guard try await self.isNewEnough(host, connection) else { return nil }
                return try await body(connection)
            }
            if result != nil { state.withLock { $0.readCount += 1 } } else { rest() }
            return result
        } catch let error as ServerError where !error.isCancellation {
            Log.store.debug("A read is not answered by a replica, but by the primary. \(error)")
            // The replica stays chosen if the statement conflicted with replay, or concerns tables that are not replicated yet.
            if error.isConnectionLost { lose(host) } else { rest() }
            return nil
        }
    }

    /// Returns the host to read from; nil for the primary.
    private func choice() -> Int? {
        let primary = search.primary
        return state.withLock { state in
            guard state.floor != nil, DispatchTime.now().uptimeNanoseconds >= state.retry else { return nil }
            if let chosen = state.chosen, chosen != primary { return chosen }
            // The state that was read from a replica which has since become the primary is not known here.
            if state.chosen != nil {
                state.lose()
                return nil
            }
            let now = DispatchTime.now().uptimeNanoseconds
            state.chosen = pools.indices.filter { $0 != primary && state.unreachable[$0] ?? 0 <= now }.randomElement()
            return state.chosen
        }
    }

    private func isNewEnough(_ host: Int, _ connection: Connection) async throws -> Bool {
        func isKnown() -> Bool {
            state.withLock { state in
                guard state.chosen == host, let floor = state.floor else { return false }
                return state.replayed?.contains(floor) ?? false
            }
        }
        if isKnown() { return true }
        for wait in Self.waits + [0] {
            guard let position = try await connection.replayedPosition() else {
                lose(host)
                return false
            }
            state.withLock { state in
                if state.chosen == host, state.replayed.map(position.follows) ?? true { state.replayed = position }
            }
            if isKnown() {
                state.withLock { $0.pause = Self.shortestPause }
                return true
            }
            if wait > 0 { try await Pause.wait(wait) }
        }
        return false
    }

    private func rest() { state.withLock { $0.rest() } }

    /// Gives up a host that cannot be reached, or is not a replica.
    private func lose(_ host: Int) {
        state.withLock { state in
            // Bounded: seconds to a minute.
            state.unreachable[host] = DispatchTime.now().uptimeNanoseconds + UInt64(Self.absence * 1e9)
            if state.chosen == host { state.lose() }
        }
    }
}
#endif
