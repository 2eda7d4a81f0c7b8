#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Waits for a single server that is temporarily unavailable, for example during a restart.
///
/// It waits if the server was reachable before and no longer is, and if the server reports that it is starting up or shutting down. It does not wait
/// for a server that refuses a connection, for example because of its user.
// `wasReached` is guarded by its lock.
final class RestartWait: Sendable {
    private let wasReached = LockedBox(false)
    private let settings: ConnectionSettings
    /// The seconds for which the server may be away.
    private let patience: Double
    private static let longestPause = 1.0

    init(_ settings: ConnectionSettings, patience: Double) { (self.settings, self.patience) = (settings, patience) }

    /// Returns a connection.
    ///
    /// - Parameters:
    ///   - check: Throws if the connection is no longer needed.
    ///   - open: Connects.
    /// - Throws: The error of the server that refuses; ``ServerError`` with `wasAwaited` if the server did not come back in time; the errors of
    ///   `check`; `CancellationError`.
    func connection(_ check: () throws -> Void, _ open: () async throws -> Connection) async throws -> Connection {
        let start = ContinuousClock.now
        var pause = 0.05
        while true {
            do {
                let connection = try await open()
                wasReached.withLock { $0 = true }
                return connection
            } catch let error as ServerError where error.isConnectionLost {
                switch await settings.presence() {
                case .there: throw error
                case .away where !wasReached.withLock({ $0 }): throw error
                case .away, .busy: break
                }
                guard ContinuousClock.now + .seconds(pause) <= start + .seconds(patience) else { throw error.awaited(for: patience) }
                if pause == 0.05 { Log.store.notice("The server of \(settings.place) is waited for. \(error)") }
            }
            try await Pause.wait(pause)
            try check()
            pause = min(pause * 2, Self.longestPause)
        }
    }
}
#endif
