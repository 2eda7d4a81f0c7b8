internal import Foundation

/// The clock of a cache and its outbox.
///
/// The two times serve different purposes. The wall time is stored in the file and displayed, for example as the age of an object. It may jump when a person or
/// a time server sets the clock. The uptime only grows. It is used for measurements within one run: how long to wait before a change is retried, and which of
/// two answers was requested first. Times of two machines are never compared.
///
/// Tests use `ManualClock` of `RemoteStoreTesting`. The methods may be called on any thread.
public protocol CacheClock: Sendable {
    /// The wall time, in seconds since 2001-01-01 00:00:00 UTC.
    var now: Double { get }
    /// The time since some moment of this run. It never decreases.
    var uptime: Duration { get }

    /// Suspends until ``uptime`` has reached a time; returns at once if it already has.
    ///
    /// - Parameter time: A time on the scale of ``uptime``.
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    func sleep(until time: Duration) async throws
}

extension CacheClock {
    /// Suspends for a time.
    ///
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    public func sleep(for time: Duration) async throws { try await sleep(until: uptime + time) }
}

/// The clock of the system: the default of a cache.
public struct SystemCacheClock: CacheClock {
    private static let start = ContinuousClock.now

    /// Creates a clock. All of them show the same time.
    public init() {}

    /// The time of the system's clock.
    public var now: Double { Date().timeIntervalSinceReferenceDate }
    /// The time since the first use of such a clock, including the time that the machine was asleep.
    public var uptime: Duration { ContinuousClock.now - Self.start }

    /// Suspends until ``uptime`` has reached a time.
    ///
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    public func sleep(until time: Duration) async throws {
        try await ContinuousClock().sleep(until: Self.start + time)
    }
}

extension CacheClock where Self == SystemCacheClock {
    /// The clock of the system.
    public static var system: SystemCacheClock { SystemCacheClock() }
}

extension Duration {
    /// The number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
