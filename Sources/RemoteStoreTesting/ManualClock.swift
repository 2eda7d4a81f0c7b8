internal import Platform
internal import Predicates
public import RemoteStore

/// A clock that a test sets: time passes only when ``advance(by:)`` is called.
///
/// ```swift
/// let clock = ManualClock()
/// options.clock = clock
/// clock.advance(by: .seconds(60))
/// ```
///
/// Its methods may be called on any thread.
public final class ManualClock: CacheClock {
    private struct Sleeper {
        let number: Int
        let time: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Double
        var uptime = Duration.zero
        var sleepers: [Sleeper] = []
        var lastNumber = 0
        /// The numbers of sleepers that were cancelled before they slept.
        var cancelled: Set<Int> = []
    }

    private let state: LockedBox<State>

    /// Creates a clock.
    ///
    /// - Parameter now: The initial wall time, in seconds since 2001-01-01 00:00:00 UTC.
    public init(now: Double = 800_000_000) { state = LockedBox(State(now: now)) }

    /// The wall time, in seconds since 2001-01-01 00:00:00 UTC.
    public var now: Double { state.withLock { $0.now } }
    /// The time that has passed since the clock was created.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// Advances the time, and wakes the tasks that have slept until then, the earliest first.
    public func advance(by time: Duration) {
        let (seconds, attoseconds) = time.components
        let woken = state.withLock { state in
            state.uptime += time
            state.now += Double(seconds) + Double(attoseconds) / 1e18
            let woken = state.sleepers.filter { $0.time <= state.uptime }.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
            state.sleepers.removeAll { $0.time <= state.uptime }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Advances the time until the next sleeper wakes.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func advanceToNextSleeper() -> Bool {
        let rest = state.withLock { state in state.sleepers.map(\.time).min().map { max(.zero, $0 - state.uptime) } }
        guard let rest else { return false }
        advance(by: rest)
        return true
    }

    /// Sets the wall clock forward or back, as a person does. The uptime does not change, and no task wakes.
    ///
    /// - Parameter seconds: The number of seconds to set it forward; negative for back.
    public func jump(by seconds: Double) { state.withLock { $0.now += seconds } }

    /// The number of sleeping tasks.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// Suspends until a number of tasks sleep.
    public func untilSleeping(_ count: Int = 1) async { while sleepers < count { await Task.yield() } }

    /// Suspends until ``uptime`` has reached a time.
    ///
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    public func sleep(until time: Duration) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
                    if time <= state.uptime { return .success(()) }
                    state.sleepers.append(Sleeper(number: number, time: time, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
                    state.cancelled.insert(number)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(number) }
    }
}
