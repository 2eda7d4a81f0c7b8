internal import Dispatch

/// When a request was made: by the clock of the store's options, which freshness is measured by, and by the one that caches of rows go by.
struct AskTime: Sendable {
    let clock: Duration
    /// In nanoseconds of the system's uptime.
    let uptime: UInt64

    init(_ clock: Duration) {
        self.clock = clock
        uptime = DispatchTime.now().uptimeNanoseconds
    }
}
