internal import Dispatch

/// The time of a request: by the clock of the store's options, which measures freshness, and by the clock of row caches.
struct AskTime: Sendable {
    let clock: Duration
    /// The system's uptime in nanoseconds.
    let uptime: UInt64

    init(_ clock: Duration) {
        self.clock = clock
        uptime = DispatchTime.now().uptimeNanoseconds
    }
}
