#if PostgreSQL
internal import CPostgreSQL

extension Connection {
    /// Waits for notifications on the channels that the connection listens to.
    ///
    /// - Parameter timeout: The seconds to wait.
    /// - Returns: The number of notifications that arrived together; 0 if none arrived before the timeout.
    /// - Throws: ``ServerError`` where the connection is lost; `CancellationError`.
    func wakeUps(timeout: Double) async throws -> Int {
        while true {
            guard PQconsumeInput(handle) == 1 else { throw ServerError(nil, handle) }
            var count = 0
            while let notification = PQnotifies(handle) {
                PQfreemem(notification)
                count += 1
            }
            if count > 0 { return count }
            let socket = PQsocket(handle)
            guard socket >= 0, isUsable else { throw ServerError(nil, handle) }
            switch await SocketReadiness.wait(socket, reads: true, writes: false, timeout: timeout, isCancellable: true) {
            case .ready: continue
            case .timedOut: return 0
            case .cancelled: throw CancellationError()
            case .refused: throw lost()
            }
        }
    }
}
#endif
